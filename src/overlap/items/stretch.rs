//! The stretch of a page that has most of an item.

use std::collections::VecDeque;

use super::reference::Item;

/// The best stretch so far, while the shingles of an item are met in the order of the page.
///
/// Only the shingles of one stretch are held, which has at most one and a half times the words of the item.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    width: usize,
    longest: usize,
    /// How often the stretch at hand has each shingle of the item.
    counts: Vec<u32>,
    /// The words at which shingles of the item begin in that stretch, and which shingles these are.
    met: VecDeque<(usize, u32)>,
    /// How many distinct ones that are.
    inside: usize,
    /// How many distinct ones the best stretch has.
    pub(super) shared: usize,
    pub(super) start: usize,
    /// The word after its last one.
    pub(super) end: usize,
}

impl Stretch {
    pub(super) fn of(item: &Item) -> Stretch {
        Stretch {
            width: item.width(),
            longest: item.longest(),
            counts: vec![0; item.shingles.len()],
            ..Stretch::default()
        }
    }

    /// Meets a shingle of the item, which begins at this word of the page.
    pub(super) fn meet(&mut self, at: usize, shingle: u32) {
        let count = &mut self.counts[shingle as usize];
        *count += 1;
        self.inside += usize::from(*count == 1);
        self.met.push_back((at, shingle));
        let end = at + self.width;
        while let Some(&(first, left)) = self.met.front()
            && end - first > self.longest
        {
            self.met.pop_front();
            let count = &mut self.counts[left as usize];
            *count -= 1;
            self.inside -= usize::from(*count == 0);
        }
        if self.inside > self.shared {
            let start = self.met.front().map_or(at, |first| first.0);
            (self.shared, self.start, self.end) = (self.inside, start, end);
        }
    }
}
