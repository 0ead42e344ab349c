//! The texts of a batch, read once more: which share of a page another page holds, exactly.
//!
//! A signature estimates that share with an error, and a share near the least one is then a guess. Where the texts are at hand, signatures
//! only name candidates, with an [allowance](super::Confirm) for the error. The inputs are read a second time, and of the pages
//! that are in a pair of candidates or in a crowd the [runs](crate::features::held_runs) are kept. Two of these pages are compared run by run
//! when the verdicts are drawn.
//!
//! The runs go to files without a name, one for each thread that reads, so memory holds some 70 bytes for each page that is compared. A page takes
//! eight bytes on disk for each run. How many pairs are compared is bounded as their number is: for each page 16 pairs of neighbours within the
//! distance ([`Sieve`](super::Sieve)), 32 in each of 16 bands (`shared_bands`), and, of a crowd, the kept pages near it.
//!
//! The text of a page must be the one that its signature was made of. The runs give that signature again, so a text that was changed in between
//! is found out, and the join fails.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::xxh3_128;

use super::batch::Batch;
use super::group_key::GroupKeys;
use super::keep_order::Leaders;
use super::numbers::{Group, Number, SegmentRow, below};
use super::similarity::Confirm;
use super::standing::Standings;
use crate::document::{self, Content, Document, Inputs, Position, ReadOptions, Share as Portion};
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::check::held_run_set;
use crate::fingerprint::{Share, ShingleSet};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::store::Segment;

/// What to do where texts cannot be compared.
const HELP: &str = "compare signatures instead, with --compare signatures";

/// Where the texts of a batch are, and how they are read.
#[derive(Clone, Debug)]
pub struct Texts {
    inputs: Inputs,
    options: ReadOptions,
}

impl Texts {
    /// The texts of these inputs.
    ///
    /// # Errors
    /// [`Kind::Usage`] if one of them is a stream, which can be read only once.
    pub fn new(inputs: Inputs, options: ReadOptions) -> Result<Texts> {
        match inputs.files().iter().find(|input| input.is_stream()) {
            None => Ok(Texts { inputs, options }),
            Some(stream) => Err(Error::new(Kind::Usage, "a stream cannot be read once more")
                .at(stream.path())
                .help(HELP)),
        }
    }
}

/// Reads the texts of a batch.
#[derive(Clone, Copy)]
pub(super) struct TextReading<'a> {
    pub(super) texts: &'a Texts,
    pub(super) segment: &'a Segment,
    pub(super) batch: &'a Batch,
    pub(super) leaders: &'a Leaders,
    pub(super) confirm: Confirm,
    /// Where the runs are kept.
    pub(super) folder: &'a Path,
    pub(super) workers: usize,
}

/// The groups whose texts are compared.
#[derive(Debug, Default)]
pub(super) struct ComparedGroups(Vec<bool>);

impl ComparedGroups {
    /// None so far, of so many.
    pub(super) fn new(groups: u32) -> ComparedGroups {
        ComparedGroups(vec![false; groups as usize])
    }

    /// Takes groups, if any may be compared.
    pub(super) fn add<const N: usize>(&mut self, groups: [Group; N]) {
        for group in groups {
            if let Some(is_compared) = self.0.get_mut(group.index()) {
                *is_compared = true;
            }
        }
    }

    /// All of them, ascending.
    fn groups(&self) -> impl Iterator<Item = Group> {
        let all = below::<Group>(self.0.len() as u32);
        all.zip(&self.0).filter(|(_, is_compared)| **is_compared).map(|(group, _)| group)
    }
}

/// A page whose text is wanted: the XXH3-128 of its id, and its place among the wanted groups.
type WantedPage = ([u8; 16], u32);

/// Runs that were written to a file.
#[derive(Clone, Copy)]
struct Written {
    /// The place of the page among the wanted groups.
    at: u32,
    position: Position,
    part: RunsOnDisk,
}

/// The runs of a page in one of the files: its signature, then its runs in eight bytes each.
#[derive(Clone, Copy, Debug)]
struct RunsOnDisk {
    file: u32,
    runs: u32,
    start: u64,
}

impl TextReading<'_> {
    /// Reads the inputs once more, and keeps the runs of these groups.
    ///
    /// # Errors
    /// [`Kind::Missing`] if a page is not there, or has another text than its signature says.
    pub(super) fn read(self, keys: &GroupKeys, compared: &ComparedGroups) -> Result<PageRuns> {
        let groups: Vec<Group> = compared.groups().collect();
        let wanted = self.wanted(&groups)?;
        let shares: Vec<u32> =
            (0..if groups.is_empty() { 0 } else { self.workers as u32 }).collect();
        let read = in_parallel(self.workers, &shares, |&share| self.share(share, &wanted));
        let mut files = Vec::new();
        let mut written = Vec::new();
        for share in read {
            let (file, found) = share?;
            files.push(file);
            written.extend(found);
        }
        // Of records with one id the first counts.
        written.sort_unstable_by_key(|it: &Written| (it.at, it.position));
        written.dedup_by_key(|it| it.at);
        let found = written.iter().map(|it| it.at).chain([u32::MAX]);
        if let Some((at, _)) = (0..).zip(found).find(|(at, found)| at != found)
            && let Some(&group) = groups.get(at as usize)
        {
            return Err(self.error("a page of the batch is not in the inputs any more", group)?);
        }
        let pages = written.into_iter().map(|it| it.part).collect();
        let folder = self.folder.to_path_buf();
        let held = RefCell::default();
        let runs = PageRuns { confirm: self.confirm, folder, files, groups, pages, held };
        self.check(keys, &runs)?;
        Ok(runs)
    }

    /// The pages that lead these groups, by their ids.
    fn wanted(self, groups: &[Group]) -> Result<Vec<WantedPage>> {
        let mut rows: Vec<(SegmentRow, u32)> =
            groups.iter().copied().map(|group| self.row(group)).zip(0..).collect();
        rows.sort_unstable();
        let mut ids = self.segment.ids();
        let mut wanted = Vec::with_capacity(rows.len());
        for (row, at) in rows {
            let id = ids.get(u32::from(row).into())?;
            wanted.push((key(id), at));
        }
        wanted.sort_unstable();
        Ok(wanted)
    }

    /// The row of the page that leads a group.
    fn row(self, group: Group) -> SegmentRow {
        self.batch.segment_row(self.leaders.row(group))
    }

    /// Reads a share of the inputs.
    fn share(self, share: u32, wanted: &[WantedPage]) -> Result<(File, Vec<Written>)> {
        let file = tempfile::tempfile_in(self.folder).at(self.folder)?;
        let mut writer = RunsWriter {
            reading: self,
            out: BufWriter::new(file),
            share,
            bytes: 0,
            is_taken: vec![false; wanted.len()],
            written: Vec::new(),
        };
        let Texts { inputs, options } = self.texts;
        let portion = Portion { index: share, of: self.workers as u32 };
        let mut outcome = Ok(());
        let read = document::read(inputs, portion, options, &AtomicU64::new(0), &mut |records| {
            progress::tick(Activity::Reading);
            records.parse(&options.fields, &mut |position, document| {
                if let (Ok(document), Ok(())) = (document, &outcome) {
                    outcome = writer.take(position, &document, wanted);
                }
            });
            outcome.is_ok()
        });
        read.map_err(|error| error.help(HELP))?;
        outcome?;
        let file = writer.out.into_inner().map_err(std::io::IntoInnerError::into_error);
        Ok((file.at(self.folder)?, writer.written))
    }

    /// Fails unless the runs of each page give the signature that the batch has of it.
    fn check(self, keys: &GroupKeys, runs: &PageRuns) -> Result<()> {
        let mut found = vec![0; self.confirm.check.bytes()];
        for (&group, part) in runs.groups.iter().zip(&runs.pages) {
            progress::tick(Activity::Working);
            runs.files[part.file as usize].read_exact_at(&mut found, part.start).at(self.folder)?;
            if !keys.is_signed(self.row(group), &found)? {
                let what = "the text of a page is not the one that its fingerprint was made of";
                return Err(self.error(what, group)?);
            }
        }
        Ok(())
    }

    /// The error for the page that leads a group.
    fn error(self, what: &str, group: Group) -> Result<Error> {
        let mut ids = self.segment.ids();
        let id = ids.get(u32::from(self.row(group)).into())?;
        Ok(Error::new(Kind::Missing, what)
            .at(self.segment.path())
            .expected("the inputs as they were when the fingerprints were made")
            .found(format_args!("the page `{id:.100}`"))
            .help(format!("make the fingerprints again, or {HELP}")))
    }
}

/// What pages are found by.
fn key(id: &str) -> [u8; 16] {
    xxh3_128(id.as_bytes()).to_be_bytes()
}

/// Writes the runs of the pages of a share.
struct RunsWriter<'a> {
    reading: TextReading<'a>,
    out: BufWriter<File>,
    share: u32,
    bytes: u64,
    /// Which of the wanted pages were met.
    is_taken: Vec<bool>,
    written: Vec<Written>,
}

impl RunsWriter<'_> {
    /// Takes a page, if it is wanted.
    fn take(
        &mut self,
        position: Position,
        document: &Document<'_>,
        wanted: &[WantedPage],
    ) -> Result<()> {
        let id = key(&document.id);
        let Ok(place) = wanted.binary_search_by_key(&id, |page| page.0) else { return Ok(()) };
        if std::mem::replace(&mut self.is_taken[place], true) {
            return Ok(());
        }
        let Content::Text(text) = &document.content else {
            return Err(Error::new(Kind::Usage, "the document has no text").found(&document.id));
        };
        let runs = held_run_set(text);
        let signature = self.reading.confirm.check.of_runs(&runs).unwrap_or_default();
        let hashes = runs.hashes();
        let folder = self.reading.folder;
        self.out.write_all(&signature).at(folder)?;
        hashes.iter().try_for_each(|run| self.out.write_all(&run.to_le_bytes())).at(folder)?;
        let part = RunsOnDisk { file: self.share, runs: hashes.len() as u32, start: self.bytes };
        self.bytes += (signature.len() + size_of_val(hashes)) as u64;
        self.written.push(Written { at: wanted[place].1, position, part });
        Ok(())
    }
}

/// The runs of pages, on disk.
#[derive(Debug)]
pub(super) struct PageRuns {
    confirm: Confirm,
    folder: PathBuf,
    files: Vec<File>,
    /// The groups whose pages are there, ascending.
    groups: Vec<Group>,
    /// The runs of each of these groups.
    pages: Vec<RunsOnDisk>,
    /// What was compared last: the first of two groups, and the second one.
    held: RefCell<[Option<(Group, ShingleSet)>; 2]>,
}

impl PageRuns {
    /// How well each of two groups at this distance stands for the other one.
    pub(super) fn standings(&self, groups: [Group; 2], distance: u8) -> Result<Standings> {
        let mut held = self.held.borrow_mut();
        for (held, group) in held.iter_mut().zip(groups) {
            if held.as_ref().is_none_or(|held| held.0 != group) {
                *held = Some((group, self.runs(group)?));
            }
        }
        let [Some((_, one)), Some((_, other))] = &*held else { return Ok(Standings::default()) };
        let shared = one.shared(other) as f64;
        let share = |of: &ShingleSet| Share { held: shared / of.len().max(1) as f64, error: 0.0 };
        Ok(Standings::of_shares(&self.confirm, [share(one), share(other)], distance))
    }

    /// The number of runs of a group, if its page was read.
    pub(super) fn count(&self, group: Group) -> Option<u64> {
        self.groups.binary_search(&group).ok().map(|at| self.pages[at].runs.into())
    }

    /// The runs of a group.
    fn runs(&self, group: Group) -> Result<ShingleSet> {
        let at = self.groups.binary_search(&group).expect("the page was read");
        let RunsOnDisk { file, runs, start } = self.pages[at];
        let mut bytes = vec![0; 8 * runs as usize];
        let start = start + self.confirm.check.bytes() as u64;
        self.files[file as usize].read_exact_at(&mut bytes, start).at(&self.folder)?;
        let runs = bytes.as_chunks().0.iter().map(|run| u64::from_le_bytes(*run)).collect();
        Ok(ShingleSet::of_ascending(runs))
    }
}
