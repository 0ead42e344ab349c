//! Pages whose witness has left the store: they are duplicates of a page that is there no more.
//!
//! Such a page was held back because another stood for it. When that one has gone, nothing does. So these pages are listed, and the
//! next crawl can bring them back. A page that was replaced is such a page too, and the page that replaced it stands for what was dropped for it. For example, if
//! `a` is removed:
//!
//! ```text
//! verdicts of 20     b  drop  of a 1 2026-11-19        b comes back
//!                    c  drop  of d 0 2026-11-19
//! verdicts of 21     a  drop  of e 2 2026-11-20        a was removed itself
//!                    f  drop  of a 3 batch             f comes back
//! replaced of 22     d  2026-11-19  by a               d comes back, and c, which is contained in a by now
//! ```
//!
//! A newest page of a key takes the place of the former ones whatever its text. What was dropped for one of these is lost if the newest lacks any of its text.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::join_report::Report;
use super::made::Made;
use super::parameters::RECRAWLED;
use super::verdicts::folder;
use crate::error::{Error, Kind, Result};
use crate::matches::{Recrawled, VERDICTS, each_replaced};
use crate::results::ResultReader;
use crate::runs::Sorter;
use crate::store::Day;

#[derive(Clone, Copy, Debug)]
pub struct Dropped<'a> {
    pub id: &'a str,
    /// Its day, if `run` has made the output.
    pub day: Option<Day>,
    /// The id of the page in whose favour it was dropped, or of the one that replaced that page.
    pub of: &'a str,
    /// The day under which the store held that page; none if it was a page of the same batch, which has not been replaced.
    pub against: Option<Day>,
    /// Whether it was dropped for a page whose place the newest page of a key took, without all of the text.
    pub is_lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GaveWay {
    Dropped,
    Superseded,
    Replaced,
}

#[derive(Debug)]
pub struct Outputs(Vec<(PathBuf, Report)>);

impl Outputs {
    /// Opens outputs: folders that `dedup` wrote, or the output of a day, which has a folder `dedup`. Those of days that are not wanted are left out.
    pub fn open(paths: &[PathBuf], is_wanted: impl Fn(Day) -> bool) -> Result<Outputs> {
        let open = |path: &PathBuf| {
            let output = folder(path);
            let report = Report::read(&output)?.ok_or_else(|| {
                Error::new(Kind::Missing, "there is no finished output of dedup here").at(path)
            })?;
            Ok((output, report))
        };
        let mut outputs = paths.iter().map(open).collect::<Result<Vec<(PathBuf, Report)>>>()?;
        outputs.retain(|(_, report)| report.day.is_none_or(&is_wanted));
        Ok(Outputs(outputs))
    }

    /// The dropped pages, and the replaced ones, for which `is_readmitted`. The sort takes about `memory_bytes` and writes into `folder` what has no
    /// room there.
    pub fn readmit(
        &self,
        is_readmitted: impl Fn(Dropped<'_>) -> bool,
        folder: &Path,
        memory_bytes: usize,
    ) -> Result<impl Iterator<Item = Result<String>>> {
        let mut ids = Sorter::new(folder, memory_bytes);
        self.each_dropped(|page, how| {
            // A former version is not wanted back.
            let is_lost = page.is_lost && how == GaveWay::Dropped;
            match is_readmitted(Dropped { is_lost, ..page }) {
                true => ids.push(page.id.to_owned()),
                false => Ok(()),
            }
        })?;
        Ok(ids.sorted()?.distinct())
    }

    /// Calls `each` with the dropped pages and the replaced ones, each with the page that stands for it now.
    pub(super) fn each_dropped(
        &self,
        mut each: impl FnMut(Dropped<'_>, GaveWay) -> Result<()>,
    ) -> Result<()> {
        let successors = self.successors()?;
        for (output, report) in &self.0 {
            let mut dropped = 0;
            let verdicts = ResultReader::of(output, VERDICTS)?;
            let path = verdicts.path().to_path_buf();
            each_dropped(verdicts, report.day, |page, how| {
                dropped += 1;
                each(successors.follow(page), how)
            })?;
            if dropped != report.outcome.dropped {
                let what = "the verdicts drop another number of pages than the report says";
                let error = Error::new(Kind::BadData, what).at(path);
                return Err(error.expected(report.outcome.dropped).found(dropped));
            }
        }
        self.each_replaced(|page| each(successors.follow(page), GaveWay::Replaced))
    }

    fn successors(&self) -> Result<Successors> {
        let mut successors = HashMap::new();
        self.each_replaced(|Dropped { id, day, of, against, is_lost }| {
            if let (Some(day), Some(by_day)) = (day, against) {
                let successor = (of.to_owned(), by_day, is_lost);
                successors.insert((xxh3_128(id.as_bytes()), day), successor);
            }
            Ok(())
        })?;
        Ok(Successors { successors, outputs: self.0.len() })
    }

    fn each_replaced(&self, mut each: impl FnMut(Dropped<'_>) -> Result<()>) -> Result<()> {
        for (output, report) in &self.0 {
            let (Some(1..), Some(_)) = (report.outcome.replaced, report.day) else { continue };
            let recrawled = report.parameters.get(RECRAWLED);
            let by_key = recrawled.is_some_and(|it| *it == Recrawled::Newest.to_string());
            each_replaced(output, |id, day, of, containment| {
                let is_lost = by_key && containment < 1.0;
                each(Dropped { id, day: Some(day), of, against: report.day, is_lost })
            })?;
        }
        Ok(())
    }
}

struct Successors {
    /// The id and the day of each and whether it may lack text of the page that it replaced, by the hash of the id and the day of that page.
    successors: HashMap<(u128, Day), (String, Day, bool)>,
    /// How many outputs there are. Each replaces a page once, so no page has more successors.
    outputs: usize,
}

impl Successors {
    /// The page, with the one that covers it now.
    fn follow<'a>(&'a self, page: Dropped<'a>) -> Dropped<'a> {
        let mut last = page;
        for _ in 0..self.outputs {
            let Some(day) = last.against.or(last.day) else { break };
            let of = (xxh3_128(last.of.as_bytes()), day);
            let Some((by, day, lacks_text)) = self.successors.get(&of) else { break };
            let is_lost = last.is_lost || *lacks_text;
            last = Dropped { of: by, against: Some(*day), is_lost, ..last };
        }
        last
    }
}

fn each_dropped(
    mut verdicts: ResultReader,
    day: Option<Day>,
    mut each: impl FnMut(Dropped<'_>, GaveWay) -> Result<()>,
) -> Result<()> {
    while let Some(row) = verdicts.next_row()? {
        let columns: Vec<&str> = row.split('\t').collect();
        let dropped = match columns[..] {
            [_, "keep" | "empty", ..] => continue,
            [id, verdict @ ("drop" | "superseded"), of, _, against, ..] => {
                let against = match against {
                    "batch" => Some(None),
                    day => day.parse().ok().map(Some),
                };
                let how = if verdict == "drop" { GaveWay::Dropped } else { GaveWay::Superseded };
                against.map(|against| (Dropped { id, day, of, against, is_lost: false }, how))
            }
            _ => None,
        };
        match dropped {
            Some((dropped, how)) => each(dropped, how)?,
            None => return Err(verdicts.wrong("not the verdict on a page")),
        }
    }
    Ok(())
}
