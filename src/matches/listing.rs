//! The files of an output: verdicts.tsv, keep.txt, drop.txt and matches.tsv.
//!
//! The ids come in portions. All workers make lines of a portion each; then the lines are written in the order of
//! the portions, each file by one worker.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::ops::Range;

use super::ids::{Portion, Shard};
use super::match_row::{MatchRow, match_header};
use super::nearness::Nearness;
use super::numbers::IdRank;
use crate::error::Result;
use crate::output::{OutputFile, Staging, Sum};
use crate::parallel::{both, in_parallel};
use crate::progress::{self, Activity};
use crate::runs::SortedRecords;

/// A file of the output by its name.
pub(crate) type Named = (&'static str, Sum);

/// What is listed, all of it in the order of ids.
pub(crate) struct Listing<P, E, D> {
    /// The ids of all documents that are not empty, in portions.
    pub(crate) ids: P,
    /// The ids of the empty documents.
    pub(crate) empties: E,
    /// The match that the verdict on each dropped document names.
    pub(crate) verdicts: SortedRecords<MatchRow<D>>,
    /// The rows of matches.tsv.
    pub(crate) matches: SortedRecords<MatchRow<D>>,
    /// Whether they were checked.
    pub(crate) checked: bool,
    /// How many threads there are.
    pub(crate) workers: usize,
}

/// What is listed of one portion.
struct Section<P, D> {
    ids: P,
    verdicts: Vec<MatchRow<D>>,
}

/// The lines of one portion, except those of its matches and of the empty documents, which may be too many.
struct Lines {
    ids: Shard,
    ranks: Range<u32>,
    /// The least id that belongs behind the portion, if there is one.
    bound: Option<String>,
    verdicts: String,
    keep: String,
    drop: String,
}

/// The files that are being written.
struct Files {
    verdicts: OutputFile,
    keep: OutputFile,
    drop: OutputFile,
    matches: OutputFile,
    /// How many matches were written.
    count: u64,
}

impl<I, P, E, D> Listing<P, E, D>
where
    I: Portion,
    P: Iterator<Item = Result<I>>,
    E: Iterator<Item = Result<String>>,
    D: Nearness,
{
    /// Writes all files, and gives the number of matches too.
    pub(crate) fn write(self, staging: &Staging) -> Result<([Named; 4], u64)> {
        let Listing { mut ids, empties, verdicts, matches, checked, workers } = self;
        let mut files = Files::create::<D>(staging, checked)?;
        let mut empties = empties.peekable();
        let mut verdicts = verdicts.peekable();
        let mut matches = matches.peekable();
        loop {
            let sections = ids.by_ref().take(workers.max(1)).map(|ids| {
                let ids = ids?;
                let verdicts = below(ids.ranks().end, &mut verdicts)?;
                Ok(Section { ids, verdicts })
            });
            let sections = sections.collect::<Result<Vec<_>>>()?;
            if sections.is_empty() {
                break;
            }
            let lines = in_parallel(workers, &sections, Section::lines);
            let lines = lines.into_iter().collect::<Result<Vec<Lines>>>()?;
            files.write(&lines, &mut empties, &mut matches, workers)?;
        }
        files.empties(&mut empties)?;
        files.finish(workers)
    }
}

/// The rows whose new document has a rank below `end`.
fn below<D: Nearness>(
    end: u32,
    rows: &mut Peekable<SortedRecords<MatchRow<D>>>,
) -> Result<Vec<MatchRow<D>>> {
    let is_below =
        |row: &Result<MatchRow<D>>| row.as_ref().map_or(true, |row| row.new < end.into());
    std::iter::from_fn(|| rows.next_if(is_below)).collect()
}

impl<P: Portion, D: Nearness> Section<P, D> {
    fn lines(&self) -> Result<Lines> {
        progress::tick(Activity::Working);
        let mut lines = Lines {
            ids: self.ids.load()?,
            ranks: self.ids.ranks(),
            bound: self.ids.bound().map(str::to_owned),
            verdicts: String::new(),
            keep: String::new(),
            drop: String::new(),
        };
        let Lines { ids, ranks, verdicts, keep, drop, .. } = &mut lines;
        let mut dropped = self.verdicts.iter().peekable();
        for (rank, id) in ranks.clone().map(IdRank::from).zip(ids.ids()) {
            let of = dropped.next_if(|row| row.new == rank);
            add_verdict(verdicts, id, if of.is_none() { "keep" } else { "drop" }, of);
            let listed = if of.is_none() { &mut *keep } else { &mut *drop };
            listed.push_str(id);
            listed.push('\n');
        }
        Ok(lines)
    }
}

impl Lines {
    /// Writes the verdicts, with those on the empty documents of this range between them.
    fn write_verdicts<E: Iterator<Item = Result<String>>>(
        &self,
        empties: &mut Peekable<E>,
        file: &mut OutputFile,
    ) -> Result<()> {
        let is_here = |empty: &Result<String>| {
            self.bound
                .as_ref()
                .is_none_or(|bound| empty.as_ref().map_or(true, |empty| empty < bound))
        };
        let mut rest = self.verdicts.as_str();
        while let Some(empty) = empties.next_if(is_here).transpose()? {
            let is_before = |line: &&str| line.split('\t').next() < Some(empty.as_str());
            let before = rest.split_inclusive('\n').take_while(is_before).map(str::len).sum();
            let (before, behind) = rest.split_at(before);
            file.write(|out| writeln!(out, "{before}{empty}\tempty\t\t\t"))?;
            rest = behind;
        }
        file.write(|out| out.write_all(rest.as_bytes()))
    }
}

/// Adds the line on a document, which is dropped because of another one, or not.
fn add_verdict<D: Nearness>(lines: &mut String, id: &str, verdict: &str, of: Option<&MatchRow<D>>) {
    lines.extend([id, "\t", verdict, "\t"]);
    match of {
        None => lines.push_str("\t\t\n"),
        Some(MatchRow { existing, distance, origin, .. }) => {
            writeln!(lines, "{existing}\t{distance}\t{origin}").expect("a string takes any text");
        }
    }
}

impl Files {
    fn create<D: Nearness>(staging: &Staging, checked: bool) -> Result<Files> {
        let mut files = Files {
            verdicts: staging.create("verdicts.tsv")?,
            keep: staging.create("keep.txt")?,
            drop: staging.create("drop.txt")?,
            matches: staging.create("matches.tsv")?,
            count: 0,
        };
        files.verdicts.write(|out| writeln!(out, "id\tverdict\tof\t{}\tagainst", D::COLUMN))?;
        let header = match_header(D::COLUMN, checked);
        files.matches.write(|out| out.write_all(header.as_bytes()))?;
        Ok(files)
    }

    /// Writes the verdicts on empty documents that come after all others.
    fn empties(&mut self, empties: &mut impl Iterator<Item = Result<String>>) -> Result<()> {
        empties.try_for_each(|empty| {
            let empty = empty?;
            self.verdicts.write(|out| writeln!(out, "{empty}\tempty\t\t\t"))
        })
    }

    /// Writes the lines of some portions, and what there is of `empties` and `rows` among them.
    fn write<E: Iterator<Item = Result<String>>, D: Nearness>(
        &mut self,
        portions: &[Lines],
        empties: &mut Peekable<E>,
        rows: &mut Peekable<SortedRecords<MatchRow<D>>>,
        workers: usize,
    ) -> Result<()> {
        let Files { verdicts, keep, drop, matches, count } = self;
        let add = |file: &mut OutputFile, text: fn(&Lines) -> &str| {
            portions
                .iter()
                .try_for_each(|lines| file.write(|out| out.write_all(text(lines).as_bytes())))
        };
        let verdicts =
            || portions.iter().try_for_each(|lines| lines.write_verdicts(empties, verdicts));
        let others = || {
            add(keep, |lines| &lines.keep)?;
            add(drop, |lines| &lines.drop)?;
            for Lines { ids, ranks, .. } in portions {
                let is_here = |row: &Result<MatchRow<D>>| {
                    row.as_ref().map_or(true, |it| it.new < ranks.end.into())
                };
                while let Some(row) = rows.next_if(is_here).transpose()? {
                    let place = u32::from(row.new) - ranks.start;
                    matches.write(|out| row.write(ids.id(place as usize), out))?;
                    *count += 1;
                }
            }
            Ok(())
        };
        let (others, verdicts) = both(workers, others, verdicts);
        verdicts.and(others)
    }

    fn finish(self, workers: usize) -> Result<([Named; 4], u64)> {
        let Files { verdicts, keep, drop, matches, count } = self;
        let lists = || Ok([keep.finish()?, drop.finish()?, matches.finish()?]);
        let (verdicts, lists) = both(workers, || verdicts.finish(), lists);
        let [keep, drop, matches] = lists?;
        let files = [
            ("verdicts.tsv", verdicts?),
            ("keep.txt", keep),
            ("drop.txt", drop),
            ("matches.tsv", matches),
        ];
        Ok((files, count))
    }
}
