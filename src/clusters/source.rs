//! The matches of one output of a join, read back.

use std::path::{Path, PathBuf};

use super::measure::Measure;
use super::method::Method;
use super::page::PageDay;
use crate::error::{Error, Result};
use crate::matches::Lines;

/// The word in place of a day, where both pages are of one batch.
const BATCH: &str = "batch";

/// An output folder whose files were checked, and the day of its batch.
#[derive(Clone, Debug)]
pub struct Source {
    /// The folder with verdicts.tsv and matches.tsv.
    pub folder: PathBuf,
    /// The day of the pages that were new.
    pub day: PageDay,
}

/// A match as it is read.
pub(super) struct Met<'a> {
    pub(super) new: &'a str,
    pub(super) existing: &'a str,
    /// The day of `existing`.
    pub(super) day: PageDay,
    pub(super) apart: u32,
    pub(super) is_verdict: bool,
}

impl Source {
    /// What its matches are measured in.
    pub fn measure(&self) -> Result<Measure> {
        Table::open(&self.folder, "verdicts.tsv", Column::OfVerdict).map(|table| table.measure)
    }

    /// Calls `take` with every match that counts for `method`: for stars those that the verdicts name, for
    /// components all.
    pub(super) fn each_match(
        &self,
        method: Method,
        take: &mut dyn FnMut(Met<'_>) -> Result<()>,
    ) -> Result<()> {
        match method {
            Method::Star => self.each_verdict(take),
            Method::Components => self.each_row(take),
        }
    }

    fn each_verdict(&self, take: &mut dyn FnMut(Met<'_>) -> Result<()>) -> Result<()> {
        let mut verdicts = Table::open(&self.folder, "verdicts.tsv", Column::OfVerdict)?;
        let measure = verdicts.measure;
        while let Some([new, verdict, existing, apart, against]) = verdicts.next()? {
            if verdict != "drop" {
                continue;
            }
            let read = (measure.read(apart), self.day_of(against));
            let (Some(apart), Some(day)) = read else { return Err(verdicts.wrong()) };
            take(Met { new, existing, day, apart, is_verdict: true })?;
        }
        Ok(())
    }

    /// Both files are sorted by the new page, so the verdicts are passed along with the matches.
    fn each_row(&self, take: &mut dyn FnMut(Met<'_>) -> Result<()>) -> Result<()> {
        let mut matches = Table::open(&self.folder, "matches.tsv", Column::OfMatch)?;
        let mut verdicts = Table::open(&self.folder, "verdicts.tsv", Column::OfVerdict)?;
        let measure = matches.measure;
        let mut verdict: Option<[String; 3]> = None;
        while let Some([new, existing, apart, against, _]) = matches.next()? {
            while verdict.as_ref().is_none_or(|[id, ..]| id.as_str() < new) {
                let Some([id, _, of, _, place]) = verdicts.next()? else {
                    return Err(matches.wrong());
                };
                verdict = Some([id, of, place].map(str::to_owned));
            }
            let read = (measure.read(apart), self.day_of(against));
            let (Some(apart), Some(day)) = read else { return Err(matches.wrong()) };
            let is_verdict =
                verdict.as_ref().is_some_and(|named| named == &[new, existing, against]);
            take(Met { new, existing, day, apart, is_verdict })?;
        }
        Ok(())
    }

    fn day_of(&self, against: &str) -> Option<PageDay> {
        match against {
            BATCH => Some(self.day),
            "" => None,
            day => PageDay::read(day),
        }
    }
}

/// Which columns a table has.
#[derive(Clone, Copy)]
enum Column {
    OfVerdict,
    OfMatch,
}

/// A table of an output, line by line.
struct Table {
    lines: Lines,
    measure: Measure,
}

impl Table {
    fn open(folder: &Path, name: &str, columns: Column) -> Result<Table> {
        let mut lines = Lines::open(folder.join(name))?;
        let header = |measure: &Measure| match columns {
            Column::OfVerdict => format!("id\tverdict\tof\t{measure}\tagainst"),
            Column::OfMatch => format!("new\texisting\t{measure}\tagainst"),
        };
        let found = lines.next()?.unwrap_or_default();
        let is_header = |measure: &Measure| {
            let rest = found.strip_prefix(&header(measure));
            rest.is_some_and(|rest| {
                matches!((columns, rest), (_, "") | (Column::OfMatch, "\tcheck"))
            })
        };
        let measure = Measure::ALL.into_iter().find(is_header);
        let measure = measure.ok_or_else(|| {
            lines.wrong("not the expected header").expected(header(&Measure::Distance))
        })?;
        Ok(Table { lines, measure })
    }

    /// The first five columns of the next line; those that are not there are empty.
    fn next(&mut self) -> Result<Option<[&str; 5]>> {
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let mut columns = line.split('\t');
        Ok(Some(std::array::from_fn(|_| columns.next().unwrap_or_default())))
    }

    fn wrong(&self) -> Error {
        self.lines.wrong("dupsieve does not write such a line; the file was changed")
    }
}
