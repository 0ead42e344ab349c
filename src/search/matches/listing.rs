//! The files of an output: the tables of verdicts and matches, keep.txt and drop.txt.
//!
//! The ids come in portions. All workers make lines of a portion each; then the lines are written in the order of
//! the portions, each file by one worker.

use std::fmt::Write as _;
use std::iter::Peekable;

use super::dropped_examples::{DroppedExample, Examples};
use super::hosts::{self, HostOf};
use super::ids::{IdShards, Ranked, Shard};
use super::match_row::MatchRow;
use super::numbers::{IdRank, Number};
use super::recrawl::Recrawl;
use super::result_columns::{MATCHES, VERDICTS, match_columns, verdict_columns};
use crate::error::Result;
use crate::output::{OutputFile, Staging, Sum};
use crate::parallel::{both, in_parallel};
use crate::progress::{self, Activity};
use crate::results::{ResultColumn, ResultFile, ResultFormat};
use crate::runs::{Record, SortedRecords, next_if};
use crate::store::{EmptyIds, Segment};

/// A file of the output by its name.
pub(crate) type Named = (String, Sum);

pub const KEEP: &str = "keep.txt";
const DROP: &str = "drop.txt";
/// Rows are written once their lines have so many bytes.
const LINES_BYTES: usize = 64 << 10;

/// What is listed, all of it in the order of ids.
pub(super) struct Listing<'a> {
    pub segment: &'a Segment,
    /// The ids of all documents that are not empty, and the rank of each row of the segment.
    pub ids: &'a IdShards,
    pub ranks: &'a [IdRank],
    /// The match that the verdict on each dropped document names.
    pub verdicts: SortedRecords<MatchRow>,
    pub matches: SortedRecords<MatchRow>,
    /// The duplicates of each document, where it is known which share of a page another page contains.
    pub duplicates: Option<Duplicates>,
    /// What became of each document since the former page of its key, where documents have keys.
    pub recrawls: Option<SortedRecords<Recrawl>>,
    /// The newest page of the key of each document that is superseded, where the newest is kept.
    pub superseded: Option<SortedRecords<MatchRow>>,
    pub checked: bool,
    pub format: ResultFormat,
    pub workers: usize,
}

pub(super) struct Listed {
    pub files: [Named; 4],
    pub matches: u64,
    /// How many documents are superseded, where the newest of a key is kept.
    pub superseded: Option<u64>,
    pub examples: Vec<DroppedExample>,
}

pub(super) struct Duplicates {
    /// How many pages, by the rank of the document.
    pub(super) copies: Vec<u32>,
    /// The hosts of these pages, by the rank of the document.
    pub(super) hosts: SortedRecords<HostOf>,
}

struct Section<'a> {
    ids: Ranked<'a>,
    verdicts: Vec<MatchRow>,
    hosts: Vec<HostOf>,
    recrawls: Option<Vec<Recrawl>>,
    superseded: Vec<MatchRow>,
}

/// The lines of one portion, except those of its matches and of the empty documents, which may be too many.
struct Lines<'a> {
    portion: Ranked<'a>,
    ids: Shard,
    dropped: Vec<bool>,
    verdicts: String,
    keep: String,
    drop: String,
    examples: Examples,
}

struct Files {
    verdicts: ResultFile,
    /// The line on an empty document, behind its id.
    empty: String,
    keep: OutputFile,
    drop: OutputFile,
    matches: ResultFile,
    count: u64,
}

impl Listing<'_> {
    pub(super) fn write(self, staging: &Staging) -> Result<Listed> {
        let Listing { segment, ids, ranks, verdicts, matches, duplicates, .. } = self;
        let Listing { recrawls, superseded, checked, format, workers, .. } = self;
        let columns = verdict_columns(duplicates.is_some(), recrawls.is_some());
        let mut files = Files::create(staging, format, checked, &columns)?;
        let mut recrawls = recrawls.map(Iterator::peekable);
        let mut count = superseded.is_some().then_some(0);
        let mut superseded = superseded.into_iter().flatten().peekable();
        let (copies, hosts) = duplicates.map(|it| (it.copies, it.hosts.peekable())).unzip();
        let mut hosts: Option<Peekable<SortedRecords<HostOf>>> = hosts;
        let mut portions = ids.ranked(ranks);
        let mut empties = segment.empty_ids().peekable();
        let mut verdicts = verdicts.peekable();
        let mut matches = matches.peekable();
        let mut examples = Examples::default();
        loop {
            let sections = portions.by_ref().take(workers.max(1)).map(|ids| {
                let end = IdRank::from(ids.ranks().end);
                let verdicts = while_below(&mut verdicts, |row: &MatchRow| row.new < end)?;
                let hosts = hosts.as_mut().map(|it| while_below(it, |host| host.of < end));
                let hosts = hosts.transpose()?.unwrap_or_default();
                let recrawls = recrawls.as_mut().map(|it| while_below(it, |page| page.new < end));
                let superseded = while_below(&mut superseded, |row: &MatchRow| row.new < end)?;
                count = count.map(|count| count + superseded.len() as u64);
                Ok(Section { ids, verdicts, hosts, recrawls: recrawls.transpose()?, superseded })
            });
            let sections = sections.collect::<Result<Vec<_>>>()?;
            if sections.is_empty() {
                break;
            }
            let copies: Option<&[u32]> = copies.as_deref();
            let lines = in_parallel(workers, &sections, |section| section.lines(copies));
            let lines = lines.into_iter().collect::<Result<Vec<_>>>()?;
            files.write(&lines, &mut empties, &mut matches, workers)?;
            lines.into_iter().for_each(|lines| examples.append(lines.examples));
        }
        files.empties(empties)?;
        let (files, matches) = files.finish(workers)?;
        Ok(Listed { files, matches, superseded: count, examples: examples.listed() })
    }
}

fn while_below<R: Record>(
    records: &mut Peekable<impl Iterator<Item = Result<R>>>,
    below: impl Fn(&R) -> bool,
) -> Result<Vec<R>> {
    std::iter::from_fn(|| next_if(records, &below).transpose()).collect()
}

impl<'a> Section<'a> {
    fn lines(&self, copies: Option<&[u32]>) -> Result<Lines<'a>> {
        progress::tick(Activity::Working);
        let mut lines = Lines {
            portion: self.ids,
            ids: self.ids.load()?,
            dropped: Vec::with_capacity(self.ids.ranks().len()),
            verdicts: String::new(),
            keep: String::new(),
            drop: String::new(),
            examples: Examples::default(),
        };
        let Lines { ids, dropped, verdicts, keep, drop, examples, .. } = &mut lines;
        let mut named = self.verdicts.iter().peekable();
        let mut hosts = self.hosts.iter().copied().peekable();
        let mut recrawls = self.recrawls.iter().flatten();
        let mut superseded = self.superseded.iter().peekable();
        for (rank, id) in self.ids.ranks().map(IdRank::from).zip(ids.ids()) {
            let of = named.next_if(|row| row.new == rank);
            let counted =
                copies.map(|copies| (copies[rank.index()], hosts::count(id, rank, &mut hosts)));
            let newest = superseded.next_if(|row| row.new == rank);
            match newest {
                Some(newest) => add_superseded(verdicts, id, counted.is_some(), newest),
                None => add_verdict(verdicts, id, counted, of),
            }
            if let Some(recrawl) = recrawls.next() {
                write!(verdicts, "\t{recrawl}").expect("a string takes any text");
            }
            verdicts.push('\n');
            if let Some(row) = of {
                let containment = row.similarity.filter(|_| counted.is_some());
                examples.add([id, &row.existing], row.distance.into(), row.origin, containment);
            }
            let is_dropped = of.is_some() || newest.is_some();
            dropped.push(is_dropped);
            let listed = if is_dropped { &mut *drop } else { &mut *keep };
            listed.push_str(id);
            listed.push('\n');
        }
        Ok(lines)
    }
}

impl Lines<'_> {
    /// Writes the verdicts, with those on the empty documents of this range between them.
    fn write_verdicts(
        &self,
        empties: &mut Peekable<EmptyIds>,
        file: &mut ResultFile,
        behind_id: &str,
    ) -> Result<()> {
        let bound = self.portion.bound();
        let is_here = |empty: &String| bound.is_none_or(|bound| **empty < *bound);
        let mut rest = self.verdicts.as_str();
        while let Some(empty) = next_if(empties, is_here)? {
            let is_before = |line: &&str| line.split('\t').next() < Some(empty.as_str());
            let before = rest.split_inclusive('\n').take_while(is_before).map(str::len).sum();
            let (before, behind) = rest.split_at(before);
            file.rows(before)?;
            file.row(format_args!("{empty}{behind_id}"))?;
            rest = behind;
        }
        file.rows(rest)
    }
}

/// Adds the line, without its end, on a document that is dropped because of another one, or kept in place of copies of so many hosts.
fn add_verdict(lines: &mut String, id: &str, counted: Option<(u32, u64)>, of: Option<&MatchRow>) {
    let added = match (of, counted) {
        (None, None) => write!(lines, "{id}\tkeep\t\t\t"),
        (None, Some((copies, 0))) => write!(lines, "{id}\tkeep\t\t\t\t\t{copies}\t"),
        (None, Some((copies, hosts))) => {
            write!(lines, "{id}\tkeep\t\t\t\t\t{copies}\t{hosts}")
        }
        (Some(MatchRow { existing, distance, origin, similarity, .. }), counted) => {
            let row = format_args!("{id}\tdrop\t{existing}\t{distance}\t{origin}");
            match similarity.filter(|_| counted.is_some()) {
                Some(containment) => write!(lines, "{row}\t{containment}\t\t"),
                None => write!(lines, "{row}"),
            }
        }
    };
    added.expect("a string takes any text");
}

/// Adds the line, without its end, on a document of whose key there is a newer page.
fn add_superseded(lines: &mut String, id: &str, holds: bool, newest: &MatchRow) {
    let MatchRow { existing, distance, origin, .. } = newest;
    let shares = if holds { "\t\t\t" } else { "" };
    let row = format_args!("{id}\tsuperseded\t{existing}\t{distance}\t{origin}{shares}");
    write!(lines, "{row}").expect("a string takes any text");
}

impl Files {
    fn create(
        staging: &Staging,
        format: ResultFormat,
        checked: bool,
        verdicts: &[ResultColumn],
    ) -> Result<Files> {
        let matches = match_columns(checked);
        Ok(Files {
            empty: format!("\tempty{}", "\t".repeat(verdicts.len() - 2)),
            verdicts: ResultFile::create(staging, format, VERDICTS, verdicts)?,
            keep: staging.create(KEEP)?,
            drop: staging.create(DROP)?,
            matches: ResultFile::create(staging, format, MATCHES, &matches)?,
            count: 0,
        })
    }

    /// Writes the verdicts on empty documents that come after all others.
    fn empties(&mut self, mut empties: Peekable<EmptyIds>) -> Result<()> {
        empties.try_for_each(|empty| {
            let empty = empty?;
            self.verdicts.row(format_args!("{empty}{}", self.empty))
        })
    }

    /// Writes the lines of some portions, and what there is of `empties` and `rows` among them.
    fn write(
        &mut self,
        portions: &[Lines<'_>],
        empties: &mut Peekable<EmptyIds>,
        rows: &mut Peekable<SortedRecords<MatchRow>>,
        workers: usize,
    ) -> Result<()> {
        let Files { verdicts, empty, keep, drop, matches, count } = self;
        let add = |file: &mut OutputFile, text: for<'l> fn(&'l Lines<'_>) -> &'l str| {
            portions
                .iter()
                .try_for_each(|lines| file.write(|out| out.write_all(text(lines).as_bytes())))
        };
        let verdicts =
            || portions.iter().try_for_each(|lines| lines.write_verdicts(empties, verdicts, empty));
        let others = || {
            add(keep, |lines| &lines.keep)?;
            add(drop, |lines| &lines.drop)?;
            let mut lines = String::new();
            for Lines { portion, ids, dropped, .. } in portions {
                let ranks = portion.ranks();
                while let Some(row) = next_if(rows, |row| row.new < ranks.end.into())? {
                    let place = (u32::from(row.new) - ranks.start) as usize;
                    row.add_to(ids.id(place), dropped[place], &mut lines);
                    *count += 1;
                    if lines.len() >= LINES_BYTES {
                        matches.rows(&lines)?;
                        lines.clear();
                    }
                }
            }
            matches.rows(&lines)
        };
        let (others, verdicts) = both(workers, others, verdicts);
        verdicts.and(others)
    }

    fn finish(self, workers: usize) -> Result<([Named; 4], u64)> {
        let Files { verdicts, keep, drop, matches, count, .. } = self;
        let lists = || Ok((keep.finish()?, drop.finish()?, matches.finish()?));
        let (verdicts, lists) = both(workers, || verdicts.finish(), lists);
        let (keep, drop, matches) = lists?;
        let [keep, drop] = [(KEEP, keep), (DROP, drop)].map(|(name, sum)| (name.to_owned(), sum));
        Ok(([verdicts?, keep, drop, matches], count))
    }
}
