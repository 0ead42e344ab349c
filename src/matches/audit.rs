//! The files of a join held against each other: verdicts, lists and matches must tell one story.
//!
//! All of them are read once, in their order, and what is looked up out of order is sorted on disk,
//! so that an output of any size is audited in bounded memory.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::matches::lines::Lines;
use crate::matches::{Detail, Outcome, Row};
use crate::runs::{Record, Sorted, Sorter};

/// An output to be audited.
#[derive(Debug)]
pub struct Audit<'a> {
    /// Its folder.
    pub output: &'a Path,
    /// What was counted when it was written.
    pub outcome: &'a Outcome,
    /// How many documents of the batch have no fingerprint.
    pub empty: u64,
    /// The largest distance that counts as near.
    pub distance: u32,
    /// Which matches were to be written.
    pub detail: Detail,
    /// Whether they were confirmed by a check.
    pub checked: bool,
    /// Whether the outcome's distances are those of the rows. Older outputs with [`Detail::Best`] tell
    /// of all near pairs there.
    pub counts_rows: bool,
    /// A place for spilled runs.
    pub spill: &'a Path,
    /// Memory that each of three sorts may use, in bytes.
    pub memory_bytes: usize,
}

/// A row of matches.tsv by its texts, ordered as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Match {
    new: String,
    distance: u32,
    existing: String,
    against: String,
}

impl Record for Match {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.new.len() + self.existing.len() + self.against.len()
    }
}

/// The id of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct DocumentId(String);

impl Record for DocumentId {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.len()
    }
}

/// A document of the batch, ordered by its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Document {
    /// Its id.
    pub id: String,
    /// Whether it has no fingerprint, so that its verdict is `empty`.
    pub empty: bool,
}

impl Record for Document {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len()
    }
}

/// What a pass over the verdicts asks of the matches and of the kept pages.
struct Claims {
    /// The pair that each verdict names.
    named: Sorter<Match>,
    /// Pages of the batch in whose favour others were dropped.
    favoured: Sorter<DocumentId>,
}

impl Audit<'_> {
    /// Checks that every document has one verdict, that the lists are those verdicts, that every
    /// dropped page is near to a kept one by a row of the matches, that no two kept pages are near by
    /// any row, and that all counts are those of the outcome. With `documents`, all of the batch's in
    /// their order, also that no document is missing, none is strange, and those without a fingerprint
    /// are the empty ones.
    ///
    /// # Errors
    /// What does not agree is [`BadData`](crate::Kind::BadData), with its file and line.
    pub fn run(&self, documents: Option<Sorted<Document>>) -> Result<()> {
        let Claims { named, favoured } = self.verdicts(documents)?;
        let outvoted = self.matches(named.sorted()?)?;
        self.check_kept(favoured.sorted()?, true)?;
        self.check_kept(outvoted.sorted()?, false)
    }

    fn verdicts(&self, mut documents: Option<Sorted<Document>>) -> Result<Claims> {
        let mut claims = Claims { named: self.sorter(), favoured: self.sorter() };
        let (mut keep, mut drop) = (self.open("keep.txt")?, self.open("drop.txt")?);
        let mut verdicts = self.open("verdicts.tsv")?;
        verdicts.expect_header("id\tverdict\tof\tdistance\tagainst")?;
        let (mut counts, mut last) = ([0; 3], String::new());
        while let Some(line) = verdicts.next()? {
            let fields: Vec<&str> = line.split('\t').collect();
            let [id, verdict, of, distance, against] = fields[..] else {
                return Err(verdicts.wrong("not five columns"));
            };
            if id <= last.as_str() {
                return Err(verdicts.wrong("the ids do not ascend"));
            }
            if let Some(documents) = &mut documents {
                match documents.next().transpose()? {
                    Some(document) if document.id == id => {
                        if document.empty != (verdict == "empty") {
                            let what =
                                "the pages without a fingerprint are the empty ones, no others";
                            return Err(verdicts.wrong(what));
                        }
                    }
                    _ => return Err(verdicts.wrong("not the next document of the batch")),
                }
            }
            last.replace_range(.., id);
            let kind = match verdict {
                "keep" => 0,
                "drop" => 1,
                "empty" => 2,
                _ => return Err(verdicts.wrong("no such verdict")),
            };
            counts[kind] += 1;
            match kind {
                0 => keep.expect(id)?,
                1 => drop.expect(id)?,
                _ => {}
            }
            if kind == 1 {
                let Some(distance) = self.near(distance) else {
                    return Err(verdicts.wrong("not a distance of near pages"));
                };
                if against == "batch" {
                    claims.favoured.push(DocumentId(of.to_owned()))?;
                }
                claims.named.push(Match::of(id, of, distance, against))?;
            } else if !(of.is_empty() && distance.is_empty() && against.is_empty()) {
                return Err(verdicts.wrong("a page that is not dropped names another"));
            }
        }
        keep.expect_end()?;
        drop.expect_end()?;
        if let Some(missing) = documents.and_then(|mut rest| rest.next()).transpose()? {
            return Err(verdicts.wrong("a document of the batch is missing").expected(missing.id));
        }
        let told = [self.outcome.kept, self.outcome.dropped, self.empty];
        match counts == told {
            true => Ok(claims),
            false => Err(verdicts
                .wrong("not as many kept, dropped and empty pages as the report tells of")
                .expected(format_args!("{told:?}"))
                .found(format_args!("{counts:?}"))),
        }
    }

    /// Checks the matches, each of those `named` among them. Gives the pages that must not be kept,
    /// for a row says that they are near to a kept one.
    fn matches(&self, named: Sorted<Match>) -> Result<Sorter<DocumentId>> {
        let mut named = named.peekable();
        let (mut matches, mut kept) =
            (self.open("matches.tsv")?, Kept::new(self.open("keep.txt")?));
        let mut outvoted = self.sorter();
        matches.expect_header(Row::header(self.checked).trim_end())?;
        let (mut distances, mut rows, mut last) = (BTreeMap::new(), 0, None);
        while let Some(line) = matches.next()? {
            let fields: Vec<&str> = line.split('\t').collect();
            let [new, existing, distance, against, ref check @ ..] = fields[..] else {
                return Err(matches.wrong("not four columns"));
            };
            if check.len() != usize::from(self.checked)
                || !check.iter().all(|check| is_share(check))
            {
                return Err(matches.wrong("not the column of a check"));
            }
            let Some(distance) = self.near(distance) else {
                return Err(matches.wrong("not a distance of near pages"));
            };
            let row = Match::of(new, existing, distance, against);
            if last.as_ref() >= Some(&row) || row.new != new {
                return Err(matches.wrong("the rows do not ascend"));
            }
            rows += 1;
            *distances.entry(distance).or_default() += 1;
            let claim = named.next_if(|claim| claim.as_ref().map_or(true, |claim| *claim <= row));
            match claim.transpose()? {
                Some(claim) if claim != row => return Err(lacks(&matches, &claim)),
                None if self.detail == Detail::Best => {
                    return Err(matches.wrong("no verdict names this row"));
                }
                _ => {}
            }
            if kept.holds(&row.new)? {
                match against {
                    "batch" => outvoted.push(DocumentId(existing.to_owned()))?,
                    _ => return Err(matches.wrong("a kept page is near to a page of the store")),
                }
            }
            last = Some(row);
        }
        if let Some(claim) = named.next().transpose()? {
            return Err(lacks(&matches, &claim));
        }
        let counted = !self.counts_rows || distances == self.outcome.distances;
        match counted && rows == self.outcome.matches {
            true => Ok(outvoted),
            false => Err(matches
                .wrong("not as many rows at each distance as the report tells of")
                .expected(format_args!("{} rows", self.outcome.matches))
                .found(format_args!("{rows} rows"))),
        }
    }

    /// Checks that all of `ids` are kept, or that none is.
    fn check_kept(&self, ids: Sorted<DocumentId>, expected: bool) -> Result<()> {
        let mut kept = Kept::new(self.open("keep.txt")?);
        for id in ids {
            let DocumentId(id) = id?;
            if kept.holds(&id)? != expected {
                let what = match expected {
                    true => "a page was dropped in favour of one that is not kept",
                    false => "a page is kept beside one that it is near to",
                };
                return Err(kept.list.wrong(what).found(format_args!("`{id:.100}`")));
            }
        }
        Ok(())
    }

    /// The distance in this text, if it counts as near.
    fn near(&self, text: &str) -> Option<u32> {
        text.parse().ok().filter(|distance| *distance <= self.distance)
    }

    fn open(&self, name: &str) -> Result<Lines> {
        Lines::open(self.output.join(name))
    }

    fn sorter<R: Record>(&self) -> Sorter<R> {
        Sorter::new(self.spill, self.memory_bytes)
    }
}

impl Match {
    /// The row for a pair of pages: of two in the batch, the larger id is the new one.
    fn of(a: &str, b: &str, distance: u32, against: &str) -> Match {
        let (new, existing) = if against == "batch" && a < b { (b, a) } else { (a, b) };
        let [new, existing, against] = [new, existing, against].map(str::to_owned);
        Match { new, distance, existing, against }
    }
}

/// The list of kept pages, asked for ids that ascend.
struct Kept {
    list: Lines,
    /// The first one that is not below all that was asked for.
    next: Option<String>,
    begun: bool,
}

impl Kept {
    fn new(list: Lines) -> Kept {
        Kept { list, next: None, begun: false }
    }

    fn holds(&mut self, id: &str) -> Result<bool> {
        while !self.begun || self.next.as_deref().is_some_and(|next| next < id) {
            self.begun = true;
            self.next = self.list.next()?.map(str::to_owned);
        }
        Ok(self.next.as_deref() == Some(id))
    }
}

/// Whether this is a number from 0 to 1.
fn is_share(text: &str) -> bool {
    text.parse().is_ok_and(|share: f64| (0.0..=1.0).contains(&share))
}

/// A pair that a verdict names is missing.
fn lacks(matches: &Lines, Match { new, existing, distance, against }: &Match) -> Error {
    matches
        .wrong("a pair is missing that a verdict names")
        .expected(format_args!("{new:.100}\t{existing:.100}\t{distance}\t{against}"))
}
