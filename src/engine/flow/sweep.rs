//! A pass over many segments at once, a window of keys at a time.
//!
//! A window holds some fingerprints of each segment, up to a key that is the same for all segments. What a
//! probe builds for a prefix therefore serves every segment. Copies of a fingerprint appear once. A pass goes on
//! from one chunk to the next: what was read beyond the end of a chunk is kept, so a block is read once however
//! many chunks it is in.
//!
//! An example: of one segment the keys `2 2 5 9` have been read, of another `3 5 7`, and both have more to
//! come. The window ends before key 7, because of the second segment nothing is known beyond, not even whether 7
//! has copies. The runs are `2 5` and `3 5`; the keys 7 and 9 wait for the next window. In the first run, 2 stands
//! for the rows 0 and 1, and 5 for row 2.

use std::ops::Range;

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::store::{BLOCK_ROWS, Dated, KeyRange, Scan};

/// About how many bytes are read at once from all segments together, if memory allows; at least one block of each.
const PIECES_BYTES: u64 = 4 << 20;

/// How many pieces of a segment there may be: one that is decoded, one that is read ahead, and one that was decoded.
const PIECES: u64 = 3;

#[derive(Debug)]
pub(super) struct Sweep<F: Fingerprint> {
    feeds: Vec<Feed<F>>,
    /// About how many fingerprints a window has, of all segments together.
    window: usize,
    /// How many fingerprints each segment reads ahead, if it has as many.
    least: usize,
    high: F,
}

/// One segment's part of the windows.
#[derive(Debug)]
struct Feed<F: Fingerprint> {
    /// None when all has been read.
    scan: Option<Scan<F>>,
    /// Distinct fingerprints: those before the window are done with, those after it are read ahead.
    held: Vec<F>,
    /// Which of `held` are in the window.
    window: Range<usize>,
    /// The rows of the fingerprints from the window on.
    rows: CopyCounts,
}

/// The rows of a segment that distinct fingerprints stand for.
#[derive(Debug, Default)]
struct CopyCounts {
    first: u64,
    /// The fingerprints that have copies, ascending, each with the number of copies up to and including it.
    copies: Vec<(usize, u64)>,
}

impl<F: Fingerprint> Sweep<F> {
    /// How many segments a pass may take if it reads in `memory_bytes`: of each, it holds at least a block as it is
    /// coded and as it is decoded. The windows are counted with what is probed.
    pub(super) fn most_segments(memory_bytes: u64) -> usize {
        let block_bytes = BLOCK_ROWS * size_of::<F>();
        (memory_bytes as usize / (2 * block_bytes)).max(1)
    }

    /// A pass over `segments` that begins with `range`. Together they have about `window` fingerprints in a window, and are read
    /// in `memory_bytes`.
    pub(super) fn new(
        segments: &[Dated],
        range: KeyRange<F>,
        window: usize,
        memory_bytes: u64,
    ) -> Sweep<F> {
        let pieces_bytes = PIECES_BYTES.min(memory_bytes / (2 * PIECES));
        let pieces = pieces_bytes / segments.len().max(1) as u64;
        // A window leaves the last one out, which may have more copies.
        let least = (window / segments.len().max(1)).max(2);
        let KeyRange { low, high } = range;
        let all = KeyRange { low, high: F::MAX };
        // What is needed, and at most one block more.
        let most = |rows: u64| (least + BLOCK_ROWS).min(rows as usize);
        let feed = |dated: &Dated| Feed {
            scan: Some(dated.segment().scan(all).in_pieces_of(pieces)),
            held: Vec::with_capacity(most(dated.segment().rows())),
            window: 0..0,
            rows: CopyCounts::default(),
        };
        Sweep { feeds: segments.iter().map(feed).collect(), window, least, high }
    }

    /// The pass gone on to `range`, if that is the one after its own.
    pub(super) fn go_on(self, range: KeyRange<F>) -> Option<Sweep<F>> {
        let follows = self.high.to_u128().checked_add(1) == Some(range.low.to_u128());
        follows.then_some(Sweep { high: range.high, ..self })
    }

    /// Moves to the next window and returns how many fingerprints it has, copies included; `None` after the last
    /// window of the chunk. `run` is memory to read in.
    pub(super) fn next(&mut self, run: &mut Vec<F>) -> Result<Option<u64>> {
        for feed in &mut self.feeds {
            feed.leave();
            feed.fill(self.least, self.high, run)?;
        }
        // The window ends before the last fingerprint read of a segment that has more.
        let unfinished = self.feeds.iter().filter(|feed| feed.scan.is_some());
        let unknown = unfinished.filter_map(|feed| feed.held.last()).min().copied();
        let high = self.high;
        self.end_with(|it| it <= high && unknown.is_none_or(|unknown| it < unknown));
        if let Some(nearer) = self.nearer() {
            self.end_with(|it| it <= nearer);
        }
        let rows = self.feeds.iter().map(|feed| feed.rows.row(feed.window.len()) - feed.rows.first);
        Ok(Some(rows.sum()).filter(|&rows: &u64| rows > 0))
    }

    /// Ends the window with the last fingerprint that `is_in` it.
    fn end_with(&mut self, is_in: impl Fn(F) -> bool) {
        for Feed { held, window, .. } in &mut self.feeds {
            let ahead = &held[window.start..];
            window.end = window.start + ahead.partition_point(|&fingerprint| is_in(fingerprint));
        }
    }

    /// If the window has too many fingerprints, a key that shortens it, taken from the longest run.
    fn nearer(&self) -> Option<F> {
        let count: usize = self.feeds.iter().map(|feed| feed.window.len()).sum();
        let longest = self.feeds.iter().max_by_key(|feed| feed.window.len())?;
        let Range { start, end } = longest.window;
        let nearer = start + (end - start).div_ceil(count / self.window + 1);
        (count > 2 * self.window).then(|| longest.held[nearer - 1])
    }

    /// The distinct fingerprints of the window, segment by segment.
    pub(super) fn runs(&self) -> Vec<&[F]> {
        self.feeds.iter().map(|feed| &feed.held[feed.window.clone()]).collect()
    }

    /// The first row that fingerprint `at` of `run` stands for, and how many there are.
    pub(super) fn rows(&self, run: u32, at: u32) -> (u64, u64) {
        let rows = &self.feeds[run as usize].rows;
        let start = rows.row(at as usize);
        (start, rows.row(at as usize + 1) - start)
    }
}

impl<F: Fingerprint> Feed<F> {
    fn leave(&mut self) {
        self.rows.leave(self.window.len());
        self.window.start = self.window.end;
    }

    /// Reads until `least` fingerprints are held ahead, or one beyond `high`.
    fn fill(&mut self, least: usize, high: F, run: &mut Vec<F>) -> Result<()> {
        while self.held.len() - self.window.start < least
            && self.held.last().is_none_or(|&last| last <= high)
            && let Some(scan) = &mut self.scan
        {
            self.held.drain(..self.window.start);
            self.window = 0..0;
            match scan.next(run)? {
                None => self.scan = None,
                Some(row) => self.take(row, run),
            }
        }
        Ok(())
    }

    fn take(&mut self, row: u64, run: &[F]) {
        if self.held.is_empty() {
            self.rows.first = row;
        }
        let ascends = run.windows(2).fold(true, |ascends, pair| ascends & (pair[0] != pair[1]));
        if ascends && self.held.last() != run.first() {
            return self.held.extend_from_slice(run);
        }
        for &fingerprint in run {
            match self.held.last() {
                Some(&last) if last == fingerprint => self.rows.copy(self.held.len() - 1),
                _ => self.held.push(fingerprint),
            }
        }
    }
}

impl CopyCounts {
    fn row(&self, at: usize) -> u64 {
        let before = self.copies.partition_point(|&(of, _)| of < at);
        let copies = before.checked_sub(1).map_or(0, |last| self.copies[last].1);
        self.first + at as u64 + copies
    }

    /// Counts one more copy of fingerprint `at`, the last so far.
    fn copy(&mut self, at: usize) {
        let all = self.copies.last().map_or(0, |&(_, copies)| copies) + 1;
        match self.copies.last_mut() {
            Some(last) if last.0 == at => last.1 = all,
            _ => self.copies.push((at, all)),
        }
    }

    fn leave(&mut self, count: usize) {
        let first = self.row(count);
        let copies = first - self.first - count as u64;
        self.first = first;
        self.copies.retain_mut(|(at, all)| {
            let kept = *at >= count;
            if kept {
                *at -= count;
                *all -= copies;
            }
            kept
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn copies_are_counted_through_windows(
            runs in prop::collection::vec(prop::collection::vec(0u64..40, 1..20), 1..5),
            steps in prop::collection::vec(0usize..9, 1..9),
        ) {
            let mut all = runs.concat();
            all.sort_unstable();
            let mut feed = Feed { scan: None, held: Vec::new(), window: 0..0, rows: CopyCounts::default() };
            let (mut row, mut seen, mut steps) = (0, Vec::new(), steps.into_iter().cycle());
            for run in all.chunks(7) {
                feed.take(row, run);
                row += run.len() as u64;
                feed.window.end = steps.next().unwrap().min(feed.held.len());
                for at in 0..feed.window.len() {
                    let (start, end) = (feed.rows.row(at), feed.rows.row(at + 1));
                    seen.extend((start..end).map(|row| (row, feed.held[at])));
                }
                feed.leave();
                feed.held.drain(..feed.window.start);
                feed.window = 0..0;
            }
            let known = seen.iter().all(|&(row, fingerprint)| all[row as usize] == fingerprint);
            prop_assert!(known && seen.iter().map(|&(row, _)| row).eq(0..seen.len() as u64));
        }
    }
}
