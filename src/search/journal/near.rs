//! Finds near fingerprints among those held in memory, while more are added.
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
use std::sync::LazyLock;

use crate::fingerprint::Width;
use crate::work::Work;

const BLOCK_BITS: u32 = 16;
const VALUES: usize = 1 << BLOCK_BITS;
const END: u32 = u32::MAX;

/// All values of a block, those with few bits first.
static FLIPS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut flips: Vec<u16> = (0..=u16::MAX).collect();
    flips.sort_by_key(|flip| flip.count_ones());
    flips
});

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
            for &flip in FLIPS.iter().take_while(|flip| flip.count_ones() <= within) {
                let mut at = self.heads[block * VALUES + (own ^ usize::from(flip))];
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

/// The first block with at most so many bits set. One fingerprint may be met in several tables, and counts in the
/// first.
fn first_within(differing: u128, within: u32) -> usize {
    (0..).find(|&block| value(differing, block).count_ones() <= within).unwrap_or_default()
}
