//! The texts of a batch, read once more: which share of a page another page holds, exactly.
//!
//! A signature estimates that share with an error, and a share near the least one is then a guess. Where the texts are at hand, signatures
//! only name candidates, with an [allowance](super::Confirm) for the error. The inputs are read a second time, and of the pages
//! that are in a pair of candidates or in a crowd the [shingles](crate::features::shingle_hashes) are kept. Two of these pages are compared run by run
//! when the verdicts are drawn.
//!
//! The runs go to files without a name, one for each thread that reads, so memory holds some 80 bytes for each page that is compared. A page takes
//! eight bytes on disk for each run. The pages of a group have one fingerprint and one signature, and count as copies of its leader; of these only a digest
//! of the runs is kept, which says whether they are. How many pairs are compared is bounded as their number is: for each page 16 pairs of neighbours within the
//! distance ([`Sieve`](super::Sieve)), 32 in each of 16 bands (`shared_bands`), and, of a crowd, the kept pages near it.
//!
//! The text of a page must be the one that its signature was made of. The runs give that signature again, so a text that was changed in between
//! is found out, and the join fails.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::batch::Batch;
use super::group_key::GroupKeys;
use super::keep_order::Leaders;
use super::numbers::{Group, Number, Row, SegmentRow, below};
use super::similarity::Confirm;
use super::standing::Standings;
use crate::desk::Piles;
use crate::document::{self, Content, Document, Inputs, Position, ReadOptions, Share};
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::check::held_run_set;
use crate::fingerprint::{HeldShare, ShingleSet};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::store::Segment;

/// What to do where texts cannot be compared.
const HELP: &str = "compare signatures instead";
/// The setting that does so.
const SETTING: &str = "compare signatures";

/// How many pages fall in each part of all keys, on average.
const TOGETHER: usize = 4;

/// How many bytes of runs are written at once.
const WRITTEN_BYTES: usize = 256 << 10;

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
                .help(HELP)
                .setting(SETTING)),
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
    /// Whether it is wanted which pages of a group have the runs of its leader.
    pub(super) copies: bool,
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

/// The pages whose texts are wanted.
struct Wanted {
    /// The leaders of the groups that are compared, then the pages of groups of several.
    rows: Vec<SegmentRow>,
    /// How many the leaders are.
    leaders: usize,
    /// By the XXH3-128 of their ids, ascending: their places among the rows.
    places: Vec<([u8; 16], u32)>,
    /// Where the places begin whose keys fall in each part of all keys, and where the last ones end.
    starts: Vec<u32>,
}

impl Wanted {
    /// The pages of these rows, of which the first lead groups. The `places` are in the order of their keys.
    fn new(rows: Vec<SegmentRow>, leaders: usize, places: Vec<([u8; 16], u32)>) -> Wanted {
        let mut starts = vec![0; places.len() / TOGETHER + 2];
        let parts = starts.len() - 1;
        places.iter().for_each(|place| starts[part(place.0, parts) + 1] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        Wanted { rows, leaders, places, starts }
    }

    /// The pages with this id: the numbers of their places.
    fn with_id(&self, id: &str) -> Range<usize> {
        let key = key(id);
        let first = part(key, self.starts.len() - 1);
        let [start, end] = [self.starts[first], self.starts[first + 1]].map(|it| it as usize);
        let start = start + self.places[start..end].partition_point(|place| place.0 < key);
        let same = self.places[start..end].iter().take_while(|place| place.0 == key).count();
        start..start + same
    }
}

/// The part in which a key falls, of so many equal parts of all keys. Keys are hashes, so few of them fall in each.
fn part(key: [u8; 16], parts: usize) -> usize {
    (((u128::from_be_bytes(key) >> 64) * parts as u128) >> 64) as usize
}

/// A page that was read.
#[derive(Clone, Copy)]
struct ReadPage {
    /// Its place among the wanted ones.
    at: u32,
    position: Position,
    /// The XXH3-64 of its runs.
    digest: u64,
    /// Where its runs were written, if they are compared.
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
        let shares = if wanted.rows.is_empty() { 0 } else { self.workers as u32 };
        let desk = Arc::new(Piles::default());
        let shares: Vec<Share> =
            (0..shares).map(|share| Share::new(desk.clone(), share, shares)).collect();
        let read = in_parallel(self.workers, &shares, |share| self.share(share, &wanted));
        let mut files = Vec::new();
        let mut pages = Vec::new();
        for share in read {
            let (file, found) = share?;
            files.push(file);
            pages.extend(found);
        }
        // Of records with one id the first counts.
        pages.sort_unstable_by_key(|it: &ReadPage| (it.at, it.position));
        pages.dedup_by_key(|it| it.at);
        let found = pages.iter().map(|it| it.at).chain([u32::MAX]);
        if let Some((&row, _)) =
            wanted.rows.iter().zip((0..).zip(found)).find(|(_, (at, found))| at != found)
        {
            return Err(self.error("a page of the batch is not in the inputs any more", row)?);
        }
        let copies = self.whole_copies(&pages[wanted.leaders..]);
        let pages = pages[..wanted.leaders].iter().map(|it| it.part).collect();
        let folder = self.folder.to_path_buf();
        let (confirm, held) = (self.confirm, RefCell::default());
        let runs = PageRuns { confirm, folder, files, groups, pages, copies, held };
        self.check(keys, &runs)?;
        Ok(runs)
    }

    /// The pages that lead these groups and, if copies are wanted, those of groups of several.
    fn wanted(self, groups: &[Group]) -> Result<Wanted> {
        let mut rows: Vec<SegmentRow> = groups.iter().map(|&group| self.row(group)).collect();
        let leaders = rows.len();
        let of_copies = self.of_several().flat_map(|group| self.batch.rows_of(group).iter());
        rows.extend(of_copies.map(|row| self.batch.segment_row(row)));
        let mut places: Vec<(SegmentRow, u32)> = rows.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let mut ids = self.segment.ids();
        let id = |(row, at)| Ok((key(ids.get(u32::from(row).into())?), at));
        let mut places = places.into_iter().map(id).collect::<Result<Vec<_>>>()?;
        places.sort_unstable();
        Ok(Wanted::new(rows, leaders, places))
    }

    /// The groups of several pages, if copies are wanted.
    fn of_several(self) -> impl Iterator<Item = Group> {
        let groups = if self.copies { self.batch.groups() } else { 0 };
        below::<Group>(groups).filter(move |&group| self.batch.rows_of(group).len() > 1)
    }

    /// The rows that have the runs of the leaders of their groups, with their number. `pages` are those of groups of several.
    fn whole_copies(self, mut pages: &[ReadPage]) -> Vec<(Row, u64)> {
        let mut copies = Vec::new();
        for group in self.of_several() {
            let rows = self.batch.rows_of(group);
            let (of_group, rest) = pages.split_at(rows.len());
            pages = rest;
            let leader = self.leaders.row(group).index() - rows.start.index();
            let digest = of_group[leader].digest;
            let same = rows.iter().zip(of_group).filter(|(_, page)| page.digest == digest);
            copies.extend(same.map(|(row, page)| (row, page.part.runs.into())));
        }
        copies
    }

    /// The row of the page that leads a group.
    fn row(self, group: Group) -> SegmentRow {
        self.batch.segment_row(self.leaders.row(group))
    }

    /// Reads a share of the inputs.
    fn share(self, share: &Share, wanted: &Wanted) -> Result<(File, Vec<ReadPage>)> {
        let file = tempfile::tempfile_in(self.folder).at(self.folder)?;
        let mut writer = RunsWriter {
            reading: self,
            out: BufWriter::with_capacity(WRITTEN_BYTES, file),
            share: share.index(),
            bytes: 0,
            wanted,
            is_taken: vec![false; wanted.places.len()],
            read: Vec::new(),
        };
        let Texts { inputs, options } = self.texts;
        let ahead_bytes = options.ahead_bytes / self.workers;
        let options = &ReadOptions { ahead_bytes, ..options.clone() };
        let mut outcome = Ok(());
        let read = document::read(inputs, share, options, &AtomicU64::new(0), &mut |records| {
            progress::tick(Activity::Reading);
            records.parse(&options.fields, &mut |position, document| {
                if let (Ok(document), Ok(())) = (document, &outcome) {
                    outcome = writer.take(position, &document);
                }
            });
            outcome.is_ok()
        });
        read.map_err(|error| error.help(HELP).setting(SETTING))?;
        outcome?;
        let file = writer.out.into_inner().map_err(std::io::IntoInnerError::into_error);
        Ok((file.at(self.folder)?, writer.read))
    }

    /// Fails unless the runs of each page give the signature that the batch has of it.
    fn check(self, keys: &GroupKeys, runs: &PageRuns) -> Result<()> {
        let mut found = vec![0; self.confirm.check.bytes()];
        for (&group, part) in runs.groups.iter().zip(&runs.pages) {
            progress::tick(Activity::Working);
            runs.files[part.file as usize].read_exact_at(&mut found, part.start).at(self.folder)?;
            if !keys.is_signed(self.row(group), &found)? {
                let what = "the text of a page is not the one that its fingerprint was made of";
                return Err(self.error(what, self.row(group))?);
            }
        }
        Ok(())
    }

    /// The error for a page.
    fn error(self, what: &str, row: SegmentRow) -> Result<Error> {
        let mut ids = self.segment.ids();
        let id = ids.get(u32::from(row).into())?;
        Ok(Error::new(Kind::Missing, what)
            .at(self.segment.path())
            .expected("the inputs as they were when the fingerprints were made")
            .found(format_args!("the page `{id:.100}`"))
            .help(format_args!("make the fingerprints again, or {HELP}"))
            .setting(SETTING))
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
    wanted: &'a Wanted,
    /// Which of the wanted pages were met.
    is_taken: Vec<bool>,
    read: Vec<ReadPage>,
}

impl RunsWriter<'_> {
    /// Takes a page, if it is wanted: as the leader of a group, as one of several pages of a group, or both.
    fn take(&mut self, position: Position, document: &Document<'_>) -> Result<()> {
        let Wanted { places, leaders, .. } = self.wanted;
        let same = self.wanted.with_id(&document.id);
        if same.is_empty() || std::mem::replace(&mut self.is_taken[same.start], true) {
            return Ok(());
        }
        let Content::Text(text) = &document.content else {
            return Err(Error::new(Kind::Usage, "the document has no text").found(&document.id));
        };
        let runs = held_run_set(text);
        let bytes: Vec<[u8; 8]> = runs.hashes().iter().map(|run| run.to_le_bytes()).collect();
        let digest = xxh3_64(bytes.as_flattened());
        for &(_, at) in &places[same] {
            let start = self.bytes;
            if (at as usize) < *leaders {
                self.write(&runs, bytes.as_flattened())?;
            }
            let part = RunsOnDisk { file: self.share, runs: runs.len() as u32, start };
            self.read.push(ReadPage { at, position, digest, part });
        }
        Ok(())
    }

    /// Writes the signature of these runs, and the runs.
    fn write(&mut self, runs: &ShingleSet, bytes: &[u8]) -> Result<()> {
        let TextReading { confirm, folder, .. } = self.reading;
        let signature = confirm.check.of_runs(runs).unwrap_or_default();
        for part in [&signature, bytes] {
            self.out.write_all(part).at(folder)?;
            self.bytes += part.len() as u64;
        }
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
    /// The rows that have the runs of the leaders of their groups, ascending, with the number of these runs.
    copies: Vec<(Row, u64)>,
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
        let share =
            |of: &ShingleSet| HeldShare { held: shared / of.len().max(1) as f64, error: 0.0 };
        Ok(Standings::of_shares(&self.confirm, [share(one), share(other)], distance))
    }

    /// The number of runs of a group, if its page was read.
    pub(super) fn count(&self, group: Group) -> Option<u64> {
        self.groups.binary_search(&group).ok().map(|at| self.pages[at].runs.into())
    }

    /// The number of runs of a row, if these are the runs of the leader of its group, which has other pages too.
    pub(super) fn copied(&self, row: Row) -> Option<u64> {
        self.copies.binary_search_by_key(&row, |copy| copy.0).ok().map(|at| self.copies[at].1)
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
