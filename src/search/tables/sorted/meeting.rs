//! Fingerprints with the same key are compared; if they are too many, the bits outside the key divide them.

use std::ops::Range;

use crate::fingerprint::Fingerprint;
use crate::tables::buckets::{Buckets, Entry, hash};

/// More fingerprints that meet under one key than this are sorted again.
pub(super) const CROWD: usize = 512;

/// About how many fingerprints of a crowd are sampled for their bits.
const ASKED: usize = 256;

pub(super) type TakePair<'a, F> = &'a mut dyn FnMut(&Entry<F>, &Entry<F>, u8);

pub(super) struct Join<'a, F> {
    pub(super) k: u32,
    /// How many high bits of the hash all have in common where the key is no more than the lead.
    pub(super) shared: u32,
    pub(super) spare: &'a mut Vec<Buckets<F>>,
}

impl<F: Fingerprint> Join<'_, F> {
    /// Joins `entries` with `others`, or with themselves, under those of `keys` whose `turns` it is.
    pub(super) fn under(
        &mut self,
        keys: &[F],
        turns: Range<usize>,
        entries: &[Entry<F>],
        others: Option<&[Entry<F>]>,
        found: TakePair<'_, F>,
    ) {
        let fewest = others.map_or(entries.len() / 2, |others| entries.len().min(others.len()));
        if fewest == 0 {
            return;
        }
        let most = entries.len().max(others.map_or(0, <[_]>::len));
        let bits = bucket_bits(most);
        let shared = self.shared;
        let [mut ours, mut theirs] = [(); 2].map(|()| self.spare.pop().unwrap_or_default());
        for turn in turns {
            let key = keys[turn];
            let bucket = |fingerprint: F| bucket(fingerprint, key, shared, bits);
            let mut first = |a: &Entry<F>, b: &Entry<F>, distance| {
                if first_meeting(keys, a.fingerprint ^ b.fingerprint) == Some(turn) {
                    found(a, b, distance);
                }
            };
            ours.sort(entries.iter().copied(), 1 << bits, bucket);
            match others {
                None => {
                    for bucket in ours.buckets().filter(|bucket| bucket.len() > 1) {
                        self.bucket(key, bucket, None, &mut first);
                    }
                }
                Some(others) => {
                    theirs.sort(others.iter().copied(), 1 << bits, bucket);
                    for (bucket, others) in ours.buckets().zip(theirs.buckets()) {
                        self.bucket(key, bucket, Some(others), &mut first);
                    }
                }
            }
        }
        self.spare.extend([ours, theirs]);
    }

    #[inline]
    fn bucket(
        &mut self,
        key: F,
        entries: &[Entry<F>],
        others: Option<&[Entry<F>]>,
        found: TakePair<'_, F>,
    ) {
        let most = entries.len().max(others.map_or(0, <[_]>::len));
        if most > CROWD && self.divide(key, entries, others, found) {
            return;
        }
        for (at, entry) in entries.iter().enumerate() {
            for other in others.unwrap_or(&entries[at + 1..]) {
                let distance = entry.fingerprint.distance(other.fingerprint);
                if distance <= self.k {
                    found(entry, other, distance as u8);
                }
            }
        }
    }

    /// Joins a crowd under keys made of the bits in which it differs, if that at least halves the
    /// comparisons; says whether it did. Fingerprints that are together by a collision only, and do not
    /// agree in `key`, are joined under another key.
    #[cold]
    fn divide(
        &mut self,
        key: F,
        entries: &[Entry<F>],
        others: Option<&[Entry<F>]>,
        found: TakePair<'_, F>,
    ) -> bool {
        let keys = dealt(key, entries, others.unwrap_or_default(), self.k + 1);
        let all = entries.len() as u64 * others.unwrap_or(entries).len() as u64;
        let divides = self.meetings(&keys, entries, others.unwrap_or(entries)) <= all / 2;
        if divides {
            self.under(&keys, 0..keys.len(), entries, others, found);
        }
        divides
    }

    fn meetings(&mut self, keys: &[F], entries: &[Entry<F>], others: &[Entry<F>]) -> u64 {
        let [mut ours, mut theirs] = [(); 2].map(|()| self.spare.pop().unwrap_or_default());
        let bits = bucket_bits(entries.len().max(others.len()));
        let shared = self.shared;
        let mut meetings = 0;
        for &key in keys {
            let bucket = |fingerprint: F| bucket(fingerprint, key, shared, bits);
            ours.sort(entries.iter().copied(), 1 << bits, bucket);
            theirs.sort(others.iter().copied(), 1 << bits, bucket);
            let pairs = ours.buckets().zip(theirs.buckets());
            meetings += pairs.map(|(ours, theirs)| (ours.len() * theirs.len()) as u64).sum::<u64>();
        }
        self.spare.extend([ours, theirs]);
        meetings
    }
}

/// `count` keys: each is `key` with some of the other bits. These are given to the keys in turn, beginning
/// with the bits that divide the crowd most evenly. In any case `count - 1` differing bits leave some key
/// untouched.
fn dealt<F: Fingerprint>(key: F, entries: &[Entry<F>], others: &[Entry<F>], count: u32) -> Vec<F> {
    let asked = |side: &[Entry<F>]| side.len().div_ceil(ASKED).max(1);
    let some = entries.iter().step_by(asked(entries));
    let some: Vec<F> =
        some.chain(others.iter().step_by(asked(others))).map(|entry| entry.fingerprint).collect();
    let bit = |at: u32| F::from_u128(1 << at);
    let evenness = |at: u32| {
        let set = some.iter().filter(|&&fingerprint| fingerprint & bit(at) != F::default()).count();
        set.min(some.len() - set)
    };
    let free = (0..F::BITS).filter(|&at| key & bit(at) == F::default());
    let mut free: Vec<(usize, u32)> = free.map(|at| (evenness(at), at)).collect();
    free.sort_unstable_by(|a, b| b.cmp(a));
    let mut keys = vec![key; count as usize];
    for (turn, &(_, at)) in free.iter().enumerate() {
        let key = &mut keys[turn % count as usize];
        *key = *key | bit(at);
    }
    keys
}

/// The number of buckets for this many entries, as a power of two.
fn bucket_bits(entries: usize) -> u32 {
    entries.max(1).ilog2() + 1
}

/// The bucket of a fingerprint under `key`, by the bits of its hash behind those that are `shared`.
#[inline]
fn bucket<F: Fingerprint>(fingerprint: F, key: F, shared: u32, bits: u32) -> usize {
    (hash(fingerprint & key) << shared >> (64 - bits)) as usize
}

fn first_meeting<F: Fingerprint>(keys: &[F], differing: F) -> Option<usize> {
    keys.iter().position(|&key| differing & key == F::default())
}
