//! Finds near fingerprints, and pages that share anchors, among those held in memory, while more are added.
//!
//! A fingerprint is cut into blocks of 16 bits: 4 of 64 bits, 8 of 128. If two differ in at most k bits, then in one
//! of `b` blocks they differ in at most k / b. So each block has a table of chains by its 16 bits, and a search
//! follows the chains of the block's value and of the values within k / b bits of it:
//!
//! ```text
//! 64 bits, k = 3     1 chain in each of 4 tables
//! 64 bits, k = 7     17 chains in each of 4 tables
//! 128 bits, k = 7    1 chain in each of 8 tables
//! ```
//!
//! A chain has one in 65,536 of what is held, if fingerprints are spread evenly. Copies are no matter: each distinct
//! fingerprint stands in a table once.

use std::collections::HashMap;

use crate::fingerprint::Width;
use crate::hamming::words;
use crate::matches::anchors_of;
use crate::work::Work;

const BLOCK_BITS: u32 = 16;
const VALUES: usize = 1 << BLOCK_BITS;
pub(super) const END: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct NearTables {
    blocks: usize,
    fingerprints: Vec<u128>,
    numbers: HashMap<u128, u32>,
    heads: Vec<u32>,
    before: Vec<u32>,
}

impl NearTables {
    pub(super) fn new(width: Width) -> NearTables {
        let blocks = (width.bits() / BLOCK_BITS) as usize;
        NearTables {
            blocks,
            fingerprints: Vec::new(),
            numbers: HashMap::new(),
            heads: vec![END; blocks * VALUES],
            before: Vec::new(),
        }
    }

    /// The number of a fingerprint, which is added if it is new.
    pub(super) fn add(&mut self, fingerprint: u128) -> u32 {
        let next = self.fingerprints.len() as u32;
        let number = *self.numbers.entry(fingerprint).or_insert(next);
        if number == next {
            self.fingerprints.push(fingerprint);
            for block in 0..self.blocks {
                let head = &mut self.heads[block * VALUES + value(fingerprint, block)];
                self.before.push(*head);
                *head = next;
            }
        }
        number
    }

    /// Calls `found` with the number and the distance of each fingerprint within `distance` bits of `asked`, in
    /// no particular order, as far as `work` goes.
    pub(super) fn search(
        &self,
        asked: u128,
        distance: u32,
        work: &mut Work<'_>,
        mut found: impl FnMut(u32, u8, &mut Work<'_>),
    ) {
        let within = distance / self.blocks as u32;
        for block in 0..self.blocks {
            let own = value(asked, block);
            for flip in (0..=within).flat_map(|weight| words(BLOCK_BITS, weight)) {
                let mut at = self.heads[block * VALUES + (own ^ flip as usize)];
                while at != END && work.spend(1) {
                    let differing = self.fingerprints[at as usize] ^ asked;
                    let apart = differing.count_ones();
                    if apart <= distance && first_within(differing, within) == block {
                        found(at, apart as u8, work);
                    }
                    at = self.before[at as usize * self.blocks + block];
                }
            }
        }
    }
}

fn value(fingerprint: u128, block: usize) -> usize {
    (fingerprint >> (block as u32 * BLOCK_BITS)) as usize % VALUES
}

/// The first block with at most so many bits set: what is met in several tables counts in the first.
fn first_within(differing: u128, within: u32) -> usize {
    (0..).find(|&block| value(differing, block).count_ones() <= within).unwrap_or_default()
}

/// The pages with each anchor, in chains. Pages are numbered as they came.
#[derive(Debug, Default)]
pub(super) struct AnchorTables {
    pages: u32,
    /// The last link of each anchor.
    last: HashMap<u64, u32>,
    /// A page with an anchor, and the link before it.
    links: Vec<(u32, u32)>,
}

impl AnchorTables {
    pub(super) fn add(&mut self, anchors: &[u8]) {
        for anchor in anchors_of(anchors) {
            let before = self.last.insert(anchor, self.links.len() as u32).unwrap_or(END);
            self.links.push((self.pages, before));
        }
        self.pages += 1;
    }

    /// The pages that share anchors, as far as `work` goes, each as often as it shares one.
    pub(super) fn sharing(&self, anchors: &[u8], work: &mut Work<'_>) -> Vec<u32> {
        let mut pages = Vec::new();
        for anchor in anchors_of(anchors) {
            let mut at = self.last.get(&anchor).copied().unwrap_or(END);
            while at != END && work.spend(1) {
                let (page, before) = self.links[at as usize];
                pages.push(page);
                at = before;
            }
        }
        pages
    }
}
