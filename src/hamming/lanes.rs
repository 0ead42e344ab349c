//! Many fingerprints side by side, compared with another one at once.
//!
//! A group has [`LANES`] fingerprints, of each the lowest 48 bits in three columns of 16 bits. The bits in which
//! a pair differs are folded: the three words of differing bits are joined by OR. The fold has no more bits
//! than the pair differs in, so a pair within k bits has at most k of them there. Of random pairs hardly one
//! has: at k = 6 three of a million. So one count of 16 bits decides on a pair, and a vector of 512 bits on 32 of
//! them. Where the limit is larger, only two of the words are joined, and the bits of the third are added.
//!
//! An example with columns of 4 bits and k = 2:
//!
//! | pair | differing bits | their fold |
//! |---|---|---|
//! | `0110 1010 0001`, `0110 1110 0001` | `0000 0100 0000` | `0100`: one bit, it may be near |
//! | `0110 1010 0001`, `1010 0011 1001` | `1100 1001 1000` | `1101`: three bits, it is not near |
//!
//! ```
//! use dupsieve::rooms::hamming::lanes::{Lanes, columns};
//!
//! let mut lanes = Lanes::default();
//! lanes.set(7, columns(0b0111_u64));
//! assert!(lanes.may_have(columns(0b0100_u64), 2));
//! assert!(!lanes.may_have(columns(u64::MAX), 2));
//! ```

use crate::fingerprint::Fingerprint;

/// How many fingerprints a group has.
pub const LANES: usize = 32;

/// Above this limit the fold of three words is within it for more than 3 of 100,000 random pairs.
const MOST_FOLDED: u32 = 7;

/// The lowest 48 bits of a fingerprint, the last ones first.
pub type Columns = [u16; 3];

/// The columns of `fingerprint`.
#[inline(always)]
pub fn columns<F: Fingerprint>(fingerprint: F) -> Columns {
    let low = fingerprint.to_u128() as u64;
    [low as u16, (low >> 16) as u16, (low >> 32) as u16]
}

/// In how many bits two fingerprints with these columns differ there.
#[inline(always)]
pub fn apart(a: Columns, b: Columns) -> u32 {
    (a[0] ^ b[0]).count_ones() + (a[1] ^ b[1]).count_ones() + (a[2] ^ b[2]).count_ones()
}

/// A group of fingerprints, column by column; all zero at first.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Lanes {
    columns: [[u16; LANES]; 3],
}

impl Lanes {
    /// Puts a fingerprint of these columns into `lane`.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, columns: Columns) {
        for (lanes, column) in self.columns.iter_mut().zip(columns) {
            lanes[lane] = column;
        }
    }

    /// Whether any lane may be within `limit` bits of a fingerprint with these `columns`. If it says no, none
    /// is.
    #[inline(always)]
    pub fn may_have(&self, columns: Columns, limit: u32) -> bool {
        let mut any = false;
        if limit <= MOST_FOLDED {
            for lane in 0..LANES {
                any |= self.fold(lane, columns) <= limit as u16;
            }
        } else {
            for lane in 0..LANES {
                any |= self.half_fold(lane, columns) <= limit as u16;
            }
        }
        any
    }

    /// The lanes that may be within `limit` bits of a fingerprint with these `columns`.
    pub fn within(&self, columns: Columns, limit: u32) -> impl Iterator<Item = usize> + '_ {
        (0..LANES).filter(move |&lane| u32::from(self.sum(lane, columns)) <= limit)
    }

    /// In how many bits the words of differing bits have a one in any column.
    #[inline(always)]
    fn fold(&self, lane: usize, columns: Columns) -> u16 {
        let [a, b, c] = self.differing(lane, columns);
        (a | b | c).count_ones() as u16
    }

    /// The same of two words, and how many bits differ in the third.
    #[inline(always)]
    fn half_fold(&self, lane: usize, columns: Columns) -> u16 {
        let [a, b, c] = self.differing(lane, columns);
        ((a | b).count_ones() + c.count_ones()) as u16
    }

    /// In how many bits the columns differ.
    #[inline(always)]
    fn sum(&self, lane: usize, columns: Columns) -> u16 {
        let [a, b, c] = self.differing(lane, columns);
        (a.count_ones() + b.count_ones() + c.count_ones()) as u16
    }

    /// The differing bits. (The compiler does not inline closures into code for other instructions,
    /// so there are none.)
    #[inline(always)]
    fn differing(&self, lane: usize, columns: Columns) -> Columns {
        let [a, b, c] = &self.columns;
        [a[lane] ^ columns[0], b[lane] ^ columns[1], c[lane] ^ columns[2]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hamming::multiversion::{Multiversion, counting, widest};

    /// Which of some fingerprints a group may have.
    #[derive(Clone, Copy)]
    struct Ask<'a>(&'a Lanes, &'a [u64], u32);

    impl Multiversion for Ask<'_> {
        type Output = Vec<bool>;

        #[inline(always)]
        fn run(self) -> Vec<bool> {
            let Ask(lanes, fingerprints, limit) = self;
            fingerprints.iter().map(|&f| lanes.may_have(columns(f), limit)).collect()
        }
    }

    const LOW: u64 = (1 << 48) - 1;

    proptest! {
        /// Random fingerprints and some a few bits away, in every version: none that is near is missed, and
        /// the lanes named are those whose columns are near.
        #[test]
        fn what_is_near_is_never_missed(
            group in prop::collection::vec(any::<u64>(), LANES),
            others: Vec<u64>,
            flips: [u64; 3],
            limit in 0_u32..20,
        ) {
            let mut lanes = Lanes::default();
            (0..).zip(&group).for_each(|(lane, &f)| lanes.set(lane, columns(f)));
            let near = group.iter().map(|f| f ^ (flips[0] & flips[1] & flips[2]));
            let asked: Vec<u64> = near.chain(others).collect();
            let work = Ask(&lanes, &asked, limit);
            let answers = work.run();
            prop_assert_eq!(&counting(work), &answers);
            prop_assert_eq!(&widest(work), &answers);
            for (&f, answer) in asked.iter().zip(answers) {
                let off = |lane: &usize| ((group[*lane] ^ f) & LOW).count_ones();
                let near: Vec<usize> = (0..LANES).filter(|lane| off(lane) <= limit).collect();
                prop_assert!(answer || near.is_empty());
                let first = apart(columns(group[0]), columns(f));
                prop_assert_eq!(first, off(&0));
                prop_assert!(lanes.within(columns(f), limit).eq(near));
            }
        }
    }

    #[test]
    fn random_pairs_are_seldom_taken_for_near() {
        let random = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ i << 40;
        let mut lanes = Lanes::default();
        (0..LANES).for_each(|lane| lanes.set(lane, columns(random(lane as u64))));
        for limit in 0..=12 {
            let taken = (100..5100).filter(|&i| lanes.may_have(columns(random(i)), limit)).count();
            assert!(taken < 1000, "{taken} of 5000 at {limit}");
        }
    }
}
