//! The files of an output compared with each other: verdicts, lists and matches must agree.
//!
//! Each file is read once, in its order. What has to be looked up out of order is sorted on disk, so an
//! output of any size is audited in bounded memory.
//!
//! An example: verdicts.tsv drops `b` because of `a` at distance 1. Then drop.txt must list `b`, keep.txt
//! must list `a`, and matches.tsv must hold the row `b a 1 batch drop`. A row of matches.tsv between two
//! kept pages is an error.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::detail::Detail;
use super::dropped_examples::Examples;
use super::dropped_pages::DroppedTally;
use super::hosts::HostTally;
use super::origin::Origin;
use super::outcome::Outcome;
use super::recrawl::Recrawls;
use super::replaced::REPLACED;
use super::result_columns::{MATCHES, VERDICTS, match_columns, verdict_columns};
use super::similarity::Confirm;
use crate::document::host;
use crate::error::{Error, Kind, Result};
use crate::results::{Lines, ResultReader};
use crate::runs::{Record, SortedRecords, Sorter, Space};

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
    /// The check that confirmed them, if there was one.
    pub confirm: Option<Confirm>,
    /// A place for spilled runs.
    pub spill: &'a Path,
    /// Memory that each of three sorts may use, in bytes.
    pub memory_bytes: usize,
}

/// What is wrong with a row of pages that are too far apart.
const NOT_NEAR: &str = "not a distance of near pages";

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

/// A page that another one is a duplicate of, and the host of that one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct DroppedFor {
    of: String,
    host: Option<String>,
}

impl DroppedFor {
    fn new(of: &str, dropped: &str) -> DroppedFor {
        DroppedFor { of: of.to_owned(), host: host(dropped).map(Cow::into_owned) }
    }
}

impl Record for DroppedFor {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.of.len() + self.host.as_ref().map_or(0, String::len)
    }
}

/// A document of the batch, ordered by its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BatchDocument {
    /// Its id.
    pub id: String,
    /// Whether it has no fingerprint; its verdict is then `empty`.
    pub empty: bool,
}

impl Record for BatchDocument {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len()
    }
}

/// What the verdicts require of the other files.
struct Required {
    /// The pair that each verdict names; it must be a row of the matches.
    named: Sorter<Match>,
    /// Pages of the batch that others were dropped for; they must be kept.
    kept: Sorter<DroppedFor>,
    /// The hosts of the dropped pages.
    dropped_hosts: HostTally,
    /// The dropped pages, counted.
    dropped_pages: DroppedTally,
    /// Some of them.
    examples: Examples,
    /// How many pages came again, if that is told.
    recrawls: Option<Recrawls>,
}

impl Audit<'_> {
    /// Checks that every document has one verdict, that the lists repeat the verdicts, that every dropped
    /// page is near a kept one by a row of the matches, that no two kept pages are near by any row, and
    /// that all counts are those of the outcome. `documents`, if given, are all documents of the batch in
    /// order; then it also checks that none is missing, none is foreign, and the empty ones are those
    /// without a fingerprint.
    ///
    /// # Errors
    /// A contradiction is [`BadData`](crate::Kind::BadData), with its file and line.
    pub fn run(&self, documents: Option<SortedRecords<BatchDocument>>) -> Result<()> {
        self.check_replaced()?;
        let Required { named, kept, dropped_hosts, dropped_pages, examples, recrawls } =
            self.verdicts(documents)?;
        self.check_told("recrawls", Some(&self.outcome.recrawls), &recrawls)?;
        let Outcome { dropped_pages: counted, dropped_examples: shown, .. } = self.outcome;
        self.check_told("dropped_pages", counted.as_ref(), &dropped_pages.counted())?;
        self.check_told("dropped_examples", shown.as_ref(), &examples.listed())?;
        if self.holds() {
            let found = Some(dropped_hosts.most()?);
            self.check_told("dropped_hosts", Some(&self.outcome.dropped_hosts), &found)?;
        }
        let near_kept = self.matches(named.sorted()?)?;
        if self.holds() {
            self.check_copies(kept.sorted()?)?;
        } else {
            self.check_kept(kept.sorted()?.map(|it| Ok(it?.of)), true)?;
        }
        self.check_kept(near_kept.sorted()?, false)
    }

    /// Checks that the table of replaced pages ascends and has as many rows as the report says. Only an output that tells which share
    /// of a page another page holds has the table.
    fn check_replaced(&self) -> Result<()> {
        let mut counted = None;
        if self.holds() {
            let mut table = ResultReader::of(self.output, REPLACED)?;
            let (mut rows, mut last) = (0, None);
            while let Some(row) = table.next_row()? {
                let page = row.split('\t').take(2).map(str::to_owned).collect::<Vec<_>>();
                if last.as_ref() >= Some(&page) {
                    return Err(table.wrong("the rows do not ascend"));
                }
                last = Some(page);
                rows += 1;
            }
            counted = Some(rows);
        }
        self.check_told("replaced", Some(&self.outcome.replaced), &counted)
    }

    fn verdicts(&self, mut documents: Option<SortedRecords<BatchDocument>>) -> Result<Required> {
        let mut required = Required {
            named: self.space().sorter(),
            kept: self.space().sorter(),
            dropped_hosts: HostTally::new(self.space()),
            dropped_pages: DroppedTally::default(),
            examples: Examples::default(),
            recrawls: self.outcome.recrawls.map(|_| Recrawls::default()),
        };
        let mut keep = self.open("keep.txt")?;
        let mut drop = self.open("drop.txt")?;
        let mut verdicts = ResultReader::of(self.output, VERDICTS)?;
        let columns = verdict_columns(self.holds(), self.outcome.recrawls.is_some());
        verdicts.expect_columns(columns.iter().map(|column| column.name))?;
        let mut counts = [0; 3];
        let mut last = String::new();
        while let Some(line) = verdicts.next_row()? {
            let fields: Vec<&str> = line.split('\t').collect();
            let [id, verdict, of, distance, against, ref rest @ ..] = fields[..] else {
                return Err(verdicts.wrong("too few columns"));
            };
            let (shares, recrawl) = rest.split_at(if self.holds() { rest.len().min(3) } else { 0 });
            let is_told = match (verdict, &mut required.recrawls) {
                ("empty", _) => recrawl.iter().all(|it| it.is_empty()),
                (_, Some(counted)) => counted.take(recrawl),
                (_, None) => recrawl.is_empty(),
            };
            if !is_told {
                return Err(verdicts.wrong("not what became of a page that came again"));
            }
            if !self.are_shares(shares, verdict) {
                return Err(
                    verdicts.wrong("not the containment, and the numbers of copies and hosts")
                );
            }
            if id <= last.as_str() {
                return Err(verdicts.wrong("the ids do not ascend"));
            }
            if let Some(what) = unlike_the_batch(&mut documents, id, verdict == "empty")? {
                return Err(verdicts.wrong(what));
            }
            last.replace_range(.., id);
            match verdict {
                "keep" => {
                    counts[0] += 1;
                    keep.expect(id)?;
                }
                "drop" => {
                    counts[1] += 1;
                    drop.expect(id)?;
                    required.dropped_hosts.take(id)?;
                    let (Ok(from), Ok(containment)) = (
                        against.parse::<Origin>(),
                        shares.first().map(|containment| containment.parse()).transpose(),
                    ) else {
                        return Err(verdicts.wrong("not a day, or not the containment"));
                    };
                    required.dropped_pages.add(from, containment);
                    let Some(distance) = self.distance(distance) else {
                        return Err(verdicts.wrong(NOT_NEAR));
                    };
                    required.examples.add([id, of], distance, from, containment);
                    if against == "batch" {
                        required.kept.push(DroppedFor::new(of, id))?;
                    }
                    required.named.push(Match::of(id, of, distance, against))?;
                    continue;
                }
                "empty" => counts[2] += 1,
                _ => return Err(verdicts.wrong("no such verdict")),
            }
            if !(of.is_empty() && distance.is_empty() && against.is_empty()) {
                return Err(verdicts.wrong("a page that is not dropped names another"));
            }
        }
        keep.expect_end()?;
        drop.expect_end()?;
        if let Some(missing) = documents.and_then(|mut rest| rest.next()).transpose()? {
            return Err(verdicts.wrong("a document of the batch is missing").expected(missing.id));
        }
        let reported = [self.outcome.kept, self.outcome.dropped, self.empty];
        if counts != reported {
            return Err(verdicts
                .wrong("the report has other counts of kept, dropped and empty pages")
                .expected(format_args!("{reported:?}"))
                .found(format_args!("{counts:?}")));
        }
        Ok(required)
    }

    /// Checks that the matches ascend and hold each `named` pair. Gives the pages that must not be kept,
    /// because a row says that they are near a kept one.
    fn matches(&self, named: SortedRecords<Match>) -> Result<Sorter<String>> {
        let mut named = named.peekable();
        let mut matches = ResultReader::of(self.output, MATCHES)?;
        let mut kept = Kept::new(self.open("keep.txt")?);
        let mut near_kept = self.space().sorter();
        let columns = match_columns(self.confirm.is_some());
        matches.expect_columns(columns.iter().map(|column| column.name))?;
        let mut distances: BTreeMap<u32, u128> = BTreeMap::new();
        let mut rows = 0;
        let mut last = None;
        while let Some(line) = matches.next_row()? {
            let (row, verdict) = self.read_match(line).map_err(|what| matches.wrong(&what))?;
            if last.as_ref() >= Some(&row) {
                return Err(matches.wrong("the rows do not ascend"));
            }
            rows += 1;
            *distances.entry(row.distance).or_default() += 1;
            let claim = named.next_if(|claim| claim.as_ref().map_or(true, |claim| *claim <= row));
            match claim.transpose()? {
                Some(claim) if claim != row => return Err(self.lacks(&matches, &claim)),
                None if self.detail == Detail::Best => {
                    return Err(matches.wrong("no verdict names this row"));
                }
                _ => {}
            }
            let is_kept = kept.contains(&row.new)?;
            let expected = if is_kept { "keep" } else { "drop" };
            if verdict != expected {
                let what = "not the verdict on the new page";
                return Err(matches.wrong(what).expected(expected).found(verdict));
            }
            // With a share, a row may say that the page of the store, or the shorter of two kept pages, is the one that is contained.
            if is_kept && !self.holds() {
                if row.against != "batch" {
                    return Err(matches.wrong("a kept page is near to a page of the store"));
                }
                near_kept.push(row.existing.clone())?;
            }
            last = Some(row);
        }
        if let Some(claim) = named.next().transpose()? {
            return Err(self.lacks(&matches, &claim));
        }
        if distances != self.outcome.distances || rows != self.outcome.matches {
            return Err(matches
                .wrong("the report has other counts of rows at each distance")
                .expected(format_args!("{} rows", self.outcome.matches))
                .found(format_args!("{rows} rows")));
        }
        Ok(near_kept)
    }

    /// The row in a line of the matches with the verdict that it tells, or what is wrong with it.
    fn read_match(&self, line: &str) -> Result<(Match, String), String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [new, existing, distance, against, ref check @ .., verdict] = fields[..] else {
            return Err("too few columns".to_owned());
        };
        let is_checked = check.len() == usize::from(self.confirm.is_some());
        if !is_checked || !check.iter().all(|check| is_share(check)) {
            return Err("not the column of a check".to_owned());
        }
        let distance = self.distance(distance).ok_or(NOT_NEAR)?;
        let row = Match::of(new, existing, distance, against);
        if row.new != new {
            return Err("the rows do not ascend".to_owned());
        }
        Ok((row, verdict.to_owned()))
    }

    /// The distance in this text, if it is one of near pages. Pages that share keys can match at any distance.
    fn distance(&self, text: &str) -> Option<u32> {
        let is_any = self.confirm.is_some_and(|confirm| confirm.check.is_whole());
        text.parse().ok().filter(|&distance| is_any || distance <= self.distance)
    }

    /// Whether the verdicts tell which share of a page another page holds.
    fn holds(&self) -> bool {
        self.confirm.is_some_and(|confirm| confirm.has_direction())
    }

    /// Whether these are the last columns of a row with this verdict.
    fn are_shares(&self, columns: &[&str], verdict: &str) -> bool {
        match (columns, verdict) {
            ([], _) => !self.holds(),
            ([containment, copies, hosts], "drop") => {
                is_share(containment) && copies.is_empty() && hosts.is_empty()
            }
            // The numbers are compared with those of the dropped pages.
            ([containment, _, _], "keep") => containment.is_empty(),
            ([containment, copies, hosts], _) => {
                containment.is_empty() && copies.is_empty() && hosts.is_empty()
            }
            _ => false,
        }
    }

    /// Checks that the report says of `name` what the tables give, if it says so.
    fn check_told<T: PartialEq + Serialize>(
        &self,
        name: &str,
        told: Option<&T>,
        found: &T,
    ) -> Result<()> {
        let Some(told) = told.filter(|told| *told != found) else { return Ok(()) };
        let what = format!("the tables give another `{name}` than the report");
        let error = Error::new(Kind::BadData, what).at(self.output.join("report.json"));
        Err(error.expected(serde_json::json!(found)).found(serde_json::json!(told)))
    }

    /// Checks that each page that others were dropped for is kept, that so many were, and that they are of so many hosts.
    fn check_copies(&self, dropped_for: SortedRecords<DroppedFor>) -> Result<()> {
        let mut dropped_for = dropped_for.peekable();
        let mut verdicts = ResultReader::of(self.output, VERDICTS)?;
        while let Some(line) = verdicts.next_row()? {
            let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
            let [id, verdict, _, _, _, _, copies, hosts, ..] = &fields[..] else {
                return Err(verdicts.wrong("too few columns"));
            };
            let is_here = |next: &Result<DroppedFor>| next.as_ref().map_or(true, |it| it.of == *id);
            let mut found = 0_u64;
            let mut found_hosts: BTreeSet<String> =
                host(id).map(Cow::into_owned).into_iter().collect();
            while let Some(dropped) = dropped_for.next_if(is_here).transpose()? {
                found += 1;
                found_hosts.extend(dropped.host);
            }
            if verdict == "keep" && *copies != found.to_string() {
                let what = "not the number of the duplicates of this page";
                return Err(verdicts.wrong(what).expected(found).found(copies));
            }
            let found_hosts = match found_hosts.len() {
                0 => String::new(),
                count => count.to_string(),
            };
            if verdict == "keep" && *hosts != found_hosts {
                let what = "not the number of hosts of this page and its duplicates";
                return Err(verdicts.wrong(what).expected(found_hosts).found(hosts));
            }
            let before = |next: &&Result<DroppedFor>| next.as_ref().is_ok_and(|it| it.of < *id);
            let stray = dropped_for.peek().filter(before).is_some();
            if stray || verdict != "keep" && found > 0 {
                return Err(verdicts
                    .wrong("a page was dropped for one that is not kept")
                    .found(id));
            }
        }
        match dropped_for.next().transpose()? {
            Some(DroppedFor { of, .. }) => {
                Err(verdicts.wrong("a page was dropped for one that is not kept").found(of))
            }
            None => Ok(()),
        }
    }

    /// Checks that all of `ids` are kept, or that none is.
    fn check_kept(&self, ids: impl Iterator<Item = Result<String>>, expected: bool) -> Result<()> {
        let mut kept = Kept::new(self.open("keep.txt")?);
        for id in ids {
            let id = id?;
            if kept.contains(&id)? != expected {
                let what = if expected {
                    "a page was dropped for one that is not kept"
                } else {
                    "a page is kept beside one that it is near to"
                };
                return Err(kept.list.wrong(what).found(format_args!("`{id:.100}`")));
            }
        }
        Ok(())
    }

    /// The error for a missing pair that a verdict names.
    fn lacks(&self, matches: &ResultReader, claim: &Match) -> Error {
        let Match { new, existing, distance, against } = claim;
        matches
            .wrong("a pair is missing that a verdict names")
            .expected(format_args!("{new:.100}\t{existing:.100}\t{distance}\t{against}"))
    }

    fn open(&self, name: &str) -> Result<Lines> {
        Lines::open(self.output.join(name))
    }

    fn space(&self) -> Space<'_> {
        Space { folder: self.spill, memory_bytes: self.memory_bytes }
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

/// The list of kept pages. It must be asked for ids in ascending order.
struct Kept {
    list: Lines,
    /// The first id that is not below all that was asked for.
    next: Option<String>,
    begun: bool,
}

impl Kept {
    fn new(list: Lines) -> Kept {
        Kept { list, next: None, begun: false }
    }

    fn contains(&mut self, id: &str) -> Result<bool> {
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

/// Why the next verdict does not fit the documents of the batch, if it does not.
fn unlike_the_batch(
    documents: &mut Option<SortedRecords<BatchDocument>>,
    id: &str,
    empty: bool,
) -> Result<Option<&'static str>> {
    let Some(documents) = documents else { return Ok(None) };
    Ok(match documents.next().transpose()? {
        Some(document) if document.id == id && document.empty == empty => None,
        Some(document) if document.id == id => {
            Some("the pages without a fingerprint are the empty ones, no others")
        }
        _ => Some("not the next document of the batch"),
    })
}
