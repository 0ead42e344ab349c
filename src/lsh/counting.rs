//! A page compared with very many: how many slots of their evidence differ, and the similarity that this stands for.
//!
//! In a crowded bucket this is nearly all of the work. The slots are counted word by word with the instructions of the
//! processor, and the similarities stand in a table. [`Comparison::compare`] is the meaning.

use super::batch::Slab;
use super::confirmation::Comparison;
use crate::hamming::multiversion::{Multiversion, widest};
use crate::matches::Unlikeness;

/// The bits of a word.
const WORD: u32 = u64::BITS;

/// Evidence in slots of equal length, by which alone pages are compared.
pub(super) struct Counting {
    /// The bits of a slot, a power of two.
    slot_bits: u32,
    /// How far pages are apart that differ in so many slots; none if they do not match.
    table: Vec<Option<Unlikeness>>,
}

impl Counting {
    /// For evidence of so many `bytes`, if it is compared by slots only.
    pub(super) fn of(comparison: &Comparison, bytes: usize) -> Option<Counting> {
        let slot_bits = comparison.slot_bits()?;
        let slots = 8 * bytes as u32 / slot_bits;
        let is_whole = bytes.is_multiple_of(8) && slot_bits.is_power_of_two() && slot_bits <= WORD;
        let table = || (0..=slots).map(|differing| comparison.of_differing(differing, slots));
        is_whole.then(|| Counting { slot_bits, table: table().collect() })
    }

    /// Calls `near` with the number of each group that matches `evidence`, and how far it is apart. The groups of the `slab`
    /// are numbered from `first` on.
    pub(super) fn each_match(
        &self,
        evidence: &[u8],
        slab: &Slab<'_>,
        first: usize,
        numbers: &[u32],
        counts: &mut Vec<u32>,
        mut near: impl FnMut(u32, Unlikeness),
    ) {
        counts.clear();
        let slot_bits = self.slot_bits;
        widest(Differing { evidence, slab, first, numbers, slot_bits, counts: &mut *counts });
        for (&number, &differing) in numbers.iter().zip(&*counts) {
            if let Some(distance) = self.table[differing as usize] {
                near(number, distance);
            }
        }
    }
}

/// Counts the slots in which evidence differs from that of each group.
struct Differing<'a> {
    evidence: &'a [u8],
    slab: &'a Slab<'a>,
    first: usize,
    numbers: &'a [u32],
    slot_bits: u32,
    counts: &'a mut Vec<u32>,
}

impl Multiversion for Differing<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Differing { evidence, slab, first, numbers, slot_bits, counts } = self;
        // The lowest bit of each slot.
        let lowest = u64::MAX / (u64::MAX >> (WORD - slot_bits));
        let words = evidence.as_chunks::<8>().0;
        for &number in numbers {
            let others = slab.evidence(first + number as usize).as_chunks::<8>().0;
            let mut differing = 0;
            for (one, other) in words.iter().zip(others) {
                let mut any = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
                let mut shift = slot_bits / 2;
                while shift > 0 {
                    any |= any >> shift;
                    shift /= 2;
                }
                differing += (any & lowest).count_ones();
            }
            counts.push(differing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Width;
    use crate::lsh::batch::Slab;
    use crate::lsh::confirmation::Compared;
    use crate::lsh::{Banding, Bands, Confirmation};
    use crate::matches::Similarity;
    use proptest::prelude::*;

    /// Comparisons of evidence of 32 bytes, or 16 of fingerprints.
    fn comparisons(least: Similarity, most: u32) -> Vec<(Comparison, usize)> {
        let check = |name: &str| Compared::Signatures(name.parse().unwrap());
        let mut scheme = "minhash-4x2".parse::<Bands>().unwrap().scheme();
        scheme.least = least;
        assert_eq!(scheme.banding, Banding { bands: 4, rows: 2 });
        let of = |compared, confirmation| Comparison { compared, confirmation, least };
        vec![
            (of(check("minhash-32x8"), Confirmation::Signature), 32),
            (of(check("minhash-64x4"), Confirmation::Signature), 32),
            (of(check("minhash-256x1"), Confirmation::Signature), 32),
            (scheme.comparison(), 32),
            (of(Compared::Bits(Width::W64), Confirmation::SimHash(most)), 16),
            (of(Compared::Bits(Width::W128), Confirmation::Exact), 16),
        ]
    }

    proptest! {
        #[test]
        fn many_are_compared_as_one_is(
            evidence in prop::collection::vec(prop::collection::vec(0..3_u8, 32), 1..20),
            least in 0..=10_u32,
            most in 0..=64_u32,
        ) {
            let least = Similarity::nearest(f64::from(least) / 10.0);
            for (comparison, bytes) in comparisons(least, most) {
                let cut = |it: &Vec<u8>| {
                    let mut it = it[..bytes].to_vec();
                    // A fingerprint of 64 bits leaves the other half empty.
                    if bytes == 16 && matches!(comparison.compared, Compared::Bits(Width::W64)) {
                        it[8..].fill(0);
                    }
                    // Without this a page without words would be compared by another rule.
                    it[0] |= 1;
                    it
                };
                let evidence: Vec<Vec<u8>> = evidence.iter().map(cut).collect();
                let memory = evidence.concat();
                let items: Vec<u32> = (0..evidence.len() as u32).collect();
                let slab = Slab { memory: &memory, items: &items, stride: bytes, offset: 0 };
                let counting = Counting::of(&comparison, bytes).unwrap();
                let one = &evidence[0];
                let expected: Vec<(usize, Unlikeness)> = evidence
                    .iter()
                    .enumerate()
                    .filter_map(|(at, other)| Some((at, comparison.compare(one, other)?.into())))
                    .collect();
                let mut found = Vec::new();
                counting.each_match(one, &slab, 0, &items, &mut Vec::new(), |at, distance| {
                    found.push((at as usize, distance));
                });
                prop_assert_eq!(found, expected);
            }
        }
    }
}
