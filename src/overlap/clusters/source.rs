//! The matches of one output of a join, read back: all of them, or those that the verdicts name.

use std::iter::Peekable;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::page::PageDay;
use crate::error::{Error, Result, named};
use crate::matches::{MATCHES, RECRAWL, VERDICTS};
use crate::results::ResultReader;
use crate::runs::{SortSpace, SortedRecords, next_if, record};

/// The word in place of a day, where both pages are of one batch.
const BATCH: &str = "batch";

/// Which pages are one cluster, and what its id is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// A kept page and all its duplicates. Where that page was itself dropped, on its
    /// own day, its verdict is followed. The id is that of the kept page. Versions of one id that were kept
    /// on several days are one cluster.
    #[default]
    Star,
    /// All pages that a chain of matches connects. Versions of one id count as connected. The id is the
    /// smallest of its members.
    Components,
}

named!(pub Method { Star = "star", Components = "components" } or "not a method of clustering");

/// An output folder whose files were checked, and the day of its batch.
#[derive(Clone, Debug)]
pub struct Source {
    /// The folder with the verdicts and the matches.
    pub folder: PathBuf,
    /// The day of the pages that were new.
    pub day: PageDay,
}

pub(super) struct Met<'a> {
    pub(super) new: &'a str,
    pub(super) existing: &'a str,
    pub(super) day: PageDay,
    pub(super) apart: u32,
    pub(super) is_verdict: bool,
}

impl Source {
    /// Calls `take` with every match that counts for `method`: for stars those that the verdicts name, for
    /// components all.
    pub(super) fn each_match(
        &self,
        method: Method,
        space: SortSpace<'_>,
        take: &mut dyn FnMut(Met<'_>) -> Result<()>,
    ) -> Result<()> {
        match method {
            Method::Star => self.each_verdict(take),
            Method::Components => self.each_row(space, take),
        }
    }

    fn each_verdict(&self, take: &mut dyn FnMut(Met<'_>) -> Result<()>) -> Result<()> {
        let mut verdicts = Table::open(&self.folder, VERDICTS, OF_VERDICT)?;
        while let Some([new, verdict, existing, apart, against]) = verdicts.next()? {
            if verdict != "drop" {
                continue;
            }
            let read = (distance(apart), self.day_of(against));
            let (Some(apart), Some(day)) = read else { return Err(verdicts.wrong()) };
            take(Met { new, existing, day, apart, is_verdict: true })?;
        }
        Ok(())
    }

    /// Both files are sorted by the new page, so the verdicts are passed along with the matches. A match is
    /// turned round where the verdict is that of its existing page.
    fn each_row(
        &self,
        space: SortSpace<'_>,
        take: &mut dyn FnMut(Met<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut turned = self.turned(space)?.peekable();
        let mut matches = Table::open(&self.folder, MATCHES, OF_MATCH)?;
        let mut verdicts = Table::open(&self.folder, VERDICTS, OF_VERDICT)?;
        let mut verdict: Option<[String; 3]> = None;
        while let Some([new, existing, apart, against, _]) = matches.next()? {
            while verdict.as_ref().is_none_or(|[id, ..]| id.as_str() < new) {
                let Some([id, _, of, _, place]) = verdicts.next()? else {
                    return Err(matches.wrong());
                };
                verdict = Some([id, of, place].map(str::to_owned));
            }
            let read = (distance(apart), self.day_of(against));
            let (Some(apart), Some(day)) = read else { return Err(matches.wrong()) };
            if against == BATCH && is_next(&mut turned, (new, apart, existing))? {
                take(Met { new: existing, existing: new, day, apart, is_verdict: true })?;
                continue;
            }
            let is_verdict =
                verdict.as_ref().is_some_and(|named| named == &[new, existing, against]);
            take(Met { new, existing, day, apart, is_verdict })?;
        }
        Ok(())
    }

    /// The verdicts whose matches have the dropped page as the existing one: of two pages of one batch the
    /// larger id is the new one. In the order of the matches.
    fn turned(&self, space: SortSpace<'_>) -> Result<SortedRecords<Kept>> {
        let mut turned = space.sorter();
        self.each_verdict(&mut |met| {
            let Met { new: dropped, existing: kept, day, apart, .. } = met;
            if day != self.day || kept < dropped {
                return Ok(());
            }
            turned.push(Kept { kept: kept.to_owned(), apart, dropped: dropped.to_owned() })
        })?;
        turned.sorted()
    }

    fn day_of(&self, against: &str) -> Option<PageDay> {
        match against {
            BATCH => Some(self.day),
            "" => None,
            day => PageDay::read(day),
        }
    }
}

/// A verdict. Ordered as matches.tsv is where the kept page is the new one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Kept {
    kept: String,
    apart: u32,
    dropped: String,
}

record!(Kept, kept, dropped);

/// Passes the verdicts before a match, and says whether the next one is of this match.
fn is_next(turned: &mut Peekable<SortedRecords<Kept>>, matched: (&str, u32, &str)) -> Result<bool> {
    let of = |it: &Kept| (&*it.kept, it.apart, &*it.dropped).cmp(&matched);
    while next_if(turned, |it| of(it).is_lt())?.is_some() {}
    Ok(turned.peek().and_then(|it| it.as_ref().ok()).is_some_and(|it| of(it).is_eq()))
}

/// The columns of a table, and what may follow them.
const OF_VERDICT: Columns =
    (&["id", "verdict", "of", "distance", "against"], [&[], &["containment", "copies", "hosts"]]);
const OF_MATCH: Columns =
    (&["new", "existing", "distance", "against"], [&["verdict"], &["check", "verdict"]]);

type Columns = (&'static [&'static str], [&'static [&'static str]; 2]);

fn distance(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&bits| bits <= 1 << 16)
}

struct Table(ResultReader);

impl Table {
    fn open(folder: &Path, name: &str, (names, rest): Columns) -> Result<Table> {
        let rows = ResultReader::of(folder, name)?;
        // A table without a row may not tell its columns.
        let is_right = rows.columns().is_none_or(|found| {
            let recrawl = RECRAWL.map(|column| column.name);
            let keyed = found.iter().map(String::as_str).collect::<Vec<_>>();
            let found = keyed.strip_suffix(&recrawl).unwrap_or(&keyed);
            let (first, others) = found.split_at(found.len().min(names.len()));
            first == names && rest.contains(&others)
        });
        match is_right {
            true => Ok(Table(rows)),
            false => Err(rows.wrong("not the expected header").expected(names.join("\t"))),
        }
    }

    fn next(&mut self) -> Result<Option<[&str; 5]>> {
        let Some(row) = self.0.next_row()? else { return Ok(None) };
        let mut columns = row.split('\t');
        Ok(Some(std::array::from_fn(|_| columns.next().unwrap_or_default())))
    }

    fn wrong(&self) -> Error {
        self.0.wrong("dupsieve does not write such a line; the file was changed")
    }
}
