//! Candidates confirmed: which of them can cover each other.
//!
//! A probe finds candidates by fingerprints, and by anchors. The batch is grouped by fingerprint and [`GroupKey`], and what was found is taken
//! [apart] into pairs of groups. Each of these is confirmed: by the sketches, or, where there are none, by the classes. The keep rule works on
//! pairs of groups as on any others.
//!
//! The workers of a process do it together, and each process for a range of the batch. The sketches of a range may take more memory than there is.
//! So it is taken window by window. A worker opens a window: it reads the keys of its pages into memory, and sorts the pairs of which the new page is in
//! it by the row that they ask, of the batch before the window or of the store. Then all workers take pieces of these, each a stretch of the disk,
//! and look up and compare. Neighbouring rows of the store with one fingerprint and one key are confirmed together.
//!
//! ```text
//! one worker    open window 1 | piece 1 | piece 4 | open window 2 | ...
//! another                     | piece 2 | piece 3 |               | ...
//! ```
//!
//! An example: fingerprint 4 of the batch has two groups, 6 and 7. The pair (4, three rows of the store, of which the first two have
//! one sketch) becomes the pairs (6, the first two rows), (7, the first two rows), (6, the third row) and (7, the third row).

mod apart;

use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(super) use apart::MOST_MET;
use apart::{Apart, FoundPairs, Met, Within};

use super::comparing::{Comparer, WindowKeys};
use super::confirmed::{Candidates, Certificate, Confirmed, Detail, too_many};
use super::group_key::{GroupKey, GroupKeyReader};
use super::groups::Groups;
use super::numbers::{FingerprintIndex, Group, KeepRank, Span};
use super::pair::{Pair, Place};
use super::similarity::Confirm;
use super::store_pair::{StorePair, each_place};
use crate::error::Result;
use crate::parallel::{both, lock};
use crate::progress::{self, Activity};
use crate::runs::SortSpace;
use crate::store::{Column, Dated, Segment, Shown};
use crate::work_queues::Claim;

const PIECE: usize = 1 << 12;

/// What a batch is matched with, what counts as a match, and which matches are written.
#[derive(Clone, Debug)]
pub struct Terms {
    pub segment: Segment,
    /// The segments of the store, and the days of their rows.
    pub store: Vec<Dated>,
    /// The check that confirms; without one, classes do.
    pub confirm: Option<Confirm>,
    pub distance: u32,
    /// With [`Detail::All`], pairs that both fingerprints and anchors find are confirmed once.
    pub detail: Detail,
    /// How many rows may be confirmed, and written, with [`Detail::All`].
    pub max_matches: u64,
    /// Memory of each sort, in bytes. Up to seven sorts run at once.
    pub memory_bytes: usize,
    /// Memory for the sketches of a window, and for those of a crowd, in bytes.
    pub signatures_bytes: usize,
    pub workers: usize,
}

#[derive(Clone, Debug)]
pub struct Confirming {
    pub terms: Terms,
    pub groups: Arc<Groups>,
    /// The place of each group in keep order, where the check compares whole pages.
    pub order: Option<Arc<[KeepRank]>>,
    pub folder: PathBuf,
}

/// The windows of a range of the batch, while the workers of a process confirm them.
pub struct PairWindows {
    how: Confirming,
    /// The group of each row of the batch's segment.
    of_rows: Vec<Group>,
    /// With how many groups of a fingerprint a group is compared. Without sketches, a fingerprint has as many groups as there are classes.
    most_met: usize,
    most_rows: usize,
    rows: AtomicU64,
    stage: Mutex<Stage>,
}

/// How far the workers of a process are.
enum Stage {
    Between(UnopenedPairs),
    Opening,
    Open(Window),
    Done,
}

pub(crate) struct UnopenedPairs {
    fingerprints: Span<FingerprintIndex>,
    found: std::iter::Peekable<FoundPairs>,
}

struct Window {
    keys: Arc<WindowKeys>,
    within: Distinct<Within>,
    with_store: Distinct<StorePair>,
    rest: UnopenedPairs,
}

type Distinct<R> = Box<dyn Iterator<Item = Result<R>> + Send>;

pub struct Task(Work);

enum Work {
    Open(UnopenedPairs),
    Within(Arc<WindowKeys>, Vec<Within>),
    WithStore(Arc<WindowKeys>, Vec<StorePair>),
}

impl PairWindows {
    /// The windows of these fingerprints of the batch, of which this was `found`.
    pub fn new(how: Confirming, fingerprints: Range<u32>, found: FoundPairs) -> PairWindows {
        let Confirming { terms, groups, order, .. } = &how;
        let Terms { segment, confirm, signatures_bytes, .. } = terms;
        let Range { start, end } = fingerprints;
        let fingerprints = Span { start: start.into(), end: end.into() };
        PairWindows {
            of_rows: groups.of_segment_rows(),
            most_met: if order.is_some() { MOST_MET } else { usize::MAX },
            most_rows: WindowKeys::most(segment, confirm.as_ref(), *signatures_bytes),
            rows: AtomicU64::new(0),
            stage: Mutex::new(Stage::Between(UnopenedPairs {
                fingerprints,
                found: found.peekable(),
            })),
            how,
        }
    }

    /// The next piece of work. Each is [done](PairWindows::run) before its window is over, so no more than one is in memory.
    pub fn claim(&self) -> Result<Claim<Task>> {
        let mut stage = lock(&self.stage);
        let rest = match mem::replace(&mut *stage, Stage::Opening) {
            Stage::Opening => return Ok(Claim::Later),
            Stage::Done => None,
            Stage::Between(rest) => Some(rest),
            Stage::Open(mut window) => {
                let piece = window.next()?;
                if piece.is_some() || Arc::strong_count(&window.keys) > 1 {
                    *stage = Stage::Open(window);
                    return Ok(piece.map_or(Claim::Later, Claim::Unit));
                }
                Some(window.rest)
            }
        };
        if let Some(rest) = rest.filter(|rest| rest.fingerprints.len() > 0) {
            return Ok(Claim::Unit(Task(Work::Open(rest))));
        }
        *stage = Stage::Done;
        Ok(Claim::Done)
    }

    /// Does a piece of work. Gives the pairs that are confirmed.
    pub fn run(&self, piece: Task) -> Result<(Vec<Confirmed>, Certificate)> {
        let mut certificate = Certificate::default();
        let confirmed = match piece.0 {
            Work::Open(rest) => return self.open(rest),
            Work::Within(keys, pairs) => self.within(&keys, pairs)?,
            Work::WithStore(keys, pairs) => {
                self.with_store(&keys, pairs, &mut certificate.candidates)?
            }
        };
        if self.how.terms.detail == Detail::All {
            let rows = confirmed.iter().map(|it| self.how.groups.rows_of_pair(&it.pair));
            let rows = u64::try_from(rows.sum::<u128>()).unwrap_or(u64::MAX);
            let before = self.rows.fetch_add(rows, Ordering::Relaxed);
            let most = self.how.terms.max_matches;
            if before.saturating_add(rows) > most {
                return Err(too_many(format_args!("more than {most}"), most));
            }
        }
        Ok((confirmed, certificate))
    }

    /// Opens the next window. Gives the marks of crowds.
    fn open(&self, mut rest: UnopenedPairs) -> Result<(Vec<Confirmed>, Certificate)> {
        let Confirming { terms, groups, order, folder } = &self.how;
        let Terms { segment, confirm, detail, distance, memory_bytes, workers, .. } = terms;
        let Span { start, end } = rest.fingerprints;
        let window = Span { start, end: groups.window(start, self.most_rows).min(end) };
        let [first, end] = [window.start, window.end].map(|it| groups.first_row(it));
        let held = first..end.min(first.saturating_add(self.most_rows));
        let keys = WindowKeys::read(segment, held, confirm.as_ref(), *workers)?;
        let known = (*detail == Detail::All).then_some(*distance);
        let space = SortSpace { folder, memory_bytes: *memory_bytes };
        let met = Met { of_rows: &self.of_rows, order: order.as_deref(), most: self.most_met };
        let mut apart = Apart::new(groups, met, window, known, space);
        apart.take(&mut rest.found)?;
        let Apart { within, with_store, crowded, candidates, taken, .. } = apart;
        let fingerprints = window.len() as u32;
        let certificate = Certificate { fingerprints, taken, candidates };
        rest.fingerprints.start = window.end;
        let (with_store, within) = both(*workers, || with_store.sorted(), || within.sorted());
        *lock(&self.stage) = Stage::Open(Window {
            keys: Arc::new(keys),
            within: Box::new(within?.distinct()),
            with_store: Box::new(with_store?.distinct()),
            rest,
        });
        Ok((crowded, certificate))
    }

    fn reader(&self) -> Result<GroupKeyReader> {
        GroupKeyReader::new(&self.how.terms.segment, self.how.terms.confirm.as_ref())
    }

    /// The pairs of the batch of which one group can cover the other.
    fn within(&self, keys: &WindowKeys, pairs: Vec<Within>) -> Result<Vec<Confirmed>> {
        let mut comparer = Comparer::new(self.how.terms.confirm.as_ref(), keys, self.reader()?);
        let row = |group| self.how.groups.key_row(group);
        let mut confirmed = Vec::new();
        for pairs in pairs.chunk_by(|one, other| one.existing == other.existing) {
            let group = pairs[0].existing;
            comparer.with_row(row(group))?;
            for &Within { new, distance, .. } in pairs {
                progress::tick(Activity::Working);
                let coverages = comparer.compare(row(new), distance)?;
                let (new, group, coverages) = match new > group {
                    true => (new, group, coverages),
                    false => (group, new, coverages.turned()),
                };
                let pair = Pair { new, existing: Place::Batch { group }, distance };
                confirmed.extend(coverages.any().then_some(Confirmed { pair, coverages }));
            }
        }
        Ok(confirmed)
    }

    /// The pairs with the store of which one side can cover the other.
    fn with_store(
        &self,
        keys: &WindowKeys,
        pairs: Vec<StorePair>,
        candidates: &mut Candidates,
    ) -> Result<Vec<Confirmed>> {
        let Confirming { terms: Terms { store, confirm, .. }, groups, .. } = &self.how;
        let confirm = confirm.as_ref();
        let mut comparer = Comparer::new(confirm, keys, self.reader()?);
        let mut reader: Option<(u32, GroupKeyReader, Shown)> = None;
        let mut signature = Vec::new();
        let mut confirmed = Vec::new();
        let columns = [Column::Classes, Column::Checks];
        each_place(pairs.into_iter().map(Ok), store, &columns, |place, near| {
            let (_, reader, shown) = match &mut reader {
                Some(reader) if reader.0 == place.segment => reader,
                other => {
                    let dated = &store[place.segment as usize];
                    let reader = GroupKeyReader::new(dated.segment(), confirm)?;
                    other.insert((place.segment, reader, dated.shown()))
                }
            };
            let mut row = place.row;
            let mut left = place.rows;
            for _ in 0..self.most_met {
                if left == 0 {
                    break;
                }
                let first = shown.next(row)?;
                let key = reader.get(first)?;
                key.signature.clone_into(&mut signature);
                let key = GroupKey { class: key.class, signature: &signature };
                let mut rows = 0;
                row = first;
                while left > 0 && reader.get(row)? == key {
                    rows += 1;
                    left -= 1;
                    row = if left > 0 { shown.next(row + 1)? } else { row };
                }
                let existing = Place::Store { segment: place.segment, row: first, rows };
                comparer.with_key(key);
                for &StorePair { new, distance, .. } in near {
                    progress::tick(Activity::Working);
                    let coverages = comparer.compare(groups.key_row(new), distance)?;
                    let pair = Pair { new, existing, distance };
                    confirmed.extend(coverages.any().then_some(Confirmed { pair, coverages }));
                }
            }
            candidates.left_out += left * near.len() as u64;
            Ok(())
        })?;
        Ok(confirmed)
    }
}

impl Window {
    /// The next pairs to compare, those of the batch first.
    fn next(&mut self) -> Result<Option<Task>> {
        let keys = || Arc::clone(&self.keys);
        let pairs = self.within.by_ref().take(PIECE).collect::<Result<Vec<_>>>()?;
        if !pairs.is_empty() {
            return Ok(Some(Task(Work::Within(keys(), pairs))));
        }
        let pairs = self.with_store.by_ref().take(PIECE).collect::<Result<Vec<_>>>()?;
        Ok(if pairs.is_empty() { None } else { Some(Task(Work::WithStore(keys(), pairs))) })
    }
}

#[cfg(test)]
mod tests;
