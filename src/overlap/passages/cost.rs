//! What the passages of a day take, by the numbers of pages and their words: an estimate. The search divides its memory by the same rules.

use super::anchors::mean_anchors;
use super::page_words::MEAN_BYTES;
use super::window_filter::WindowFilter;
use crate::tables::keys::KEY_BYTES;

/// The bytes of memory for an anchor: its number, and bits of the filter in front of it.
const ANCHOR_MEMORY: u64 = 16;
/// The bytes of memory for a page of the day that is put in order, with its id.
const PAGE_MEMORY: u64 = 100;
/// What a row takes beside its anchors.
const ROW_BYTES: f64 = 4.0;
/// Time of one thread for a word of the day, and for an anchor that streams past those of the day, in nanoseconds.
const WORD_TIME: f64 = 200.0;
const ANCHOR_TIME: f64 = 20.0;

/// How a search for the passages of a day divides its memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory(pub(super) usize);

impl Memory {
    pub(super) fn pages(self) -> usize {
        self.0 / 4
    }

    pub(super) fn windows(self) -> usize {
        self.0 / 2
    }

    pub(super) fn filter(self) -> usize {
        self.0 / 4
    }

    fn anchors(self) -> u64 {
        (self.0 / 2).max(1) as u64
    }

    /// How often all anchors are read for so many of the day.
    pub(super) fn passes(self, anchors: u64) -> u64 {
        anchors.saturating_mul(ANCHOR_MEMORY).div_ceil(self.anchors())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassageCost {
    /// The bytes of the words of a page in its segment. Pages that are alike take less.
    pub word_bytes: f64,
    /// The bytes of its anchors there.
    pub anchor_bytes: f64,
    /// How often the anchors of the store are read.
    pub passes: u64,
    /// The bytes of anchors and words that are read of the store and the day, if no page of the store has a passage in common with the day.
    pub bytes_read: u64,
    /// The memory for the anchors of the day and its pages, or for the filter of its windows, if that is more.
    pub memory_bytes: u64,
    /// Time of one thread, in seconds, beside that of the fingerprints.
    pub seconds: f64,
}

impl PassageCost {
    /// That of a `batch` and a `store` of so many pages, of `words` each, in so much memory for passages.
    pub fn of(batch: u64, store: u64, words: u64, memory_bytes: usize) -> PassageCost {
        let memory = Memory(memory_bytes);
        let [new, kept, words] = [batch, store, words].map(|it| it as f64);
        let anchors = mean_anchors(words);
        let (word_bytes, anchor_bytes) =
            (words * MEAN_BYTES, anchors * KEY_BYTES as f64 + ROW_BYTES);
        let passes = memory.passes((new * anchors) as u64);
        let of_pages = batch.saturating_mul(PAGE_MEMORY).min(memory.pages() as u64);
        let of_anchors = ((new * anchors) as u64).saturating_mul(ANCHOR_MEMORY);
        let of_filter = WindowFilter::bytes((new * word_bytes) as u64, memory.filter()) as u64;
        // The words of the day are read twice, to fill a filter and by it.
        let bytes_read =
            (kept + new) * passes as f64 * anchor_bytes + new * (anchor_bytes + 2.0 * word_bytes);
        PassageCost {
            word_bytes,
            anchor_bytes,
            passes,
            bytes_read: bytes_read as u64,
            memory_bytes: of_filter.max(of_pages + of_anchors.min(memory.anchors())),
            seconds: (new * words * WORD_TIME + kept * passes as f64 * anchors * ANCHOR_TIME) / 1e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_anchors_than_fit_are_read_in_passes() {
        let cost = |memory| PassageCost::of(1_000_000, 10_000_000, 200, memory);
        let [one, many] = [1 << 30, 16 << 20].map(cost);
        assert_eq!((one.passes, many.passes), (1, 16));
        assert!(many.memory_bytes <= 16 << 20 && many.bytes_read > 3 * one.bytes_read);
        assert_eq!(PassageCost::of(1_000, 0, 49, 1 << 20).passes, 0);
    }
}
