//! The nearest pages up to a limit, and the number of the others.

use std::collections::BinaryHeap;

use crate::matches::{Answer, NearPage, Similarity};
use crate::store::{Day, FingerprintedDocument};

pub(super) struct Nearest {
    limit: usize,
    /// The nearest so far; the farthest of them is on top.
    held: BinaryHeap<NearPage>,
    found: u64,
}

impl Nearest {
    pub(super) fn new(limit: usize) -> Nearest {
        Nearest { limit, held: BinaryHeap::new(), found: 0 }
    }

    pub(super) fn take(
        &mut self,
        page: &FingerprintedDocument,
        distance: u8,
        similarity: Option<Similarity>,
        day: Option<Day>,
    ) {
        self.found += 1;
        let is_full = self.held.len() == self.limit;
        let place = (distance, page.id.as_str(), day);
        let is_nearer = |it: &NearPage| place < (it.distance, it.id.as_str(), it.day);
        if is_full && !self.held.peek().is_some_and(is_nearer) {
            return;
        }
        if is_full {
            self.held.pop();
        }
        self.held.push(NearPage { distance, id: page.id.clone(), day, similarity });
    }

    pub(super) fn finish(self, is_cut: bool) -> Answer {
        let more = self.found - self.held.len() as u64;
        Answer { near: self.held.into_sorted_vec(), more, is_cut }
    }
}
