//! The fingerprints that have a marked key, until they are compared.

use crate::hamming::bitmap::{BLOCK, Bitmap};

const FEWEST: usize = 4096;
/// How many bits there are for the key of each candidate.
const SPARSITY: usize = 16;

/// A fingerprint that has one of the keys, in the list of those that may have the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate<F> {
    pub(super) fingerprint: F,
    pub(super) key: u32,
    pub(super) run: u32,
    pub(super) at: u32,
    next: u32,
}

#[derive(Debug, Default)]
pub(super) struct Candidates<F> {
    /// The first `count` are candidates, the others are memory for more.
    all: Vec<Candidate<F>>,
    count: usize,
    /// Where each list begins, counted from 1. A power of two.
    heads: Vec<u32>,
    /// The keys of all candidates, and a few others.
    pub(super) keys: Bitmap,
}

impl<F: Copy + Default> Candidates<F> {
    /// Forgets all, and makes room for about as many as there are marked keys.
    pub(super) fn reset(&mut self, marked: usize) {
        let room = marked.next_power_of_two().max(FEWEST);
        self.heads.resize(room, 0);
        self.all.resize(room, Candidate::default());
        self.count = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the fingerprints of another block may have no room.
    pub(super) fn is_full(&self) -> bool {
        self.count + 2 * BLOCK >= self.all.len()
    }

    /// Notes fingerprint `at` of `run` as a candidate if `is` says so. The processor cannot predict
    /// `is`, so the code has no branch.
    #[inline(always)]
    pub(super) fn note(&mut self, is: bool, fingerprint: F, key: u32, run: u32, at: u32) {
        self.all[self.count] = Candidate { fingerprint, key, run, at, next: 0 };
        self.count += usize::from(is);
    }

    pub(super) fn arrange(&mut self) {
        self.keys.reset(SPARSITY * self.count);
        self.heads.fill(0);
        let bits = self.heads.len().ilog2();
        for (candidate, number) in self.all[..self.count].iter_mut().zip(1..) {
            self.keys.insert(candidate.key);
            let head = &mut self.heads[head(candidate.key, bits)];
            candidate.next = std::mem::replace(head, number);
        }
    }

    #[inline(always)]
    pub(super) fn with(&self, key: u32, mut each: impl FnMut(&Candidate<F>)) {
        let mut next = self.heads[head(key, self.heads.len().ilog2())];
        while let Some(at) = next.checked_sub(1) {
            let candidate = &self.all[at as usize];
            next = candidate.next;
            if candidate.key == key {
                each(candidate);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}

/// Which of 2^`bits` lists a key is in, by its hash: the last bits of the keys may all be the same.
#[inline(always)]
fn head(key: u32, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9) >> (u32::BITS - bits)) as usize
}
