//! Many fingerprints side by side, compared with another one at once.
//!
//! Of each fingerprint the lowest 48 bits are held, in three columns of 16 bits. [`LANES`] neighbours are a group. The bits in
//! which a pair differs are folded: the three words of differing bits are joined by OR. The fold has no more bits
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

use std::ops::Range;

use crate::fingerprint::Fingerprint;

pub const LANES: usize = 32;

/// Above this limit the fold of three words is within it for more than 3 of 100,000 random pairs.
const MOST_FOLDED: u32 = 7;

/// The lowest 48 bits of a fingerprint, the last ones first.
pub type Columns = [u16; 3];

type Group<'a> = [&'a [u16; LANES]; 3];

/// A vector of 512 bits reads fastest from a multiple of so many bytes.
const ALIGNMENT: usize = 64;

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

/// Fingerprints, column by column; all zero at first.
#[derive(Debug, Default)]
pub struct Lanes {
    columns: [Vec<u16>; 3],
    /// Where each column begins: at a multiple of [`ALIGNMENT`].
    begin: [usize; 3],
}

/// Neighbouring fingerprints of some [`Lanes`].
#[derive(Clone, Copy, Debug)]
pub struct Strip<'a> {
    /// Whole groups: those of the fingerprints, and part of one behind them at least.
    columns: [&'a [u16]; 3],
    count: usize,
}

impl Lanes {
    pub fn new(count: usize) -> Lanes {
        let mut lanes = Lanes::default();
        lanes.make_room(count);
        lanes
    }

    /// Makes room for so many. What was there need not be there any more.
    pub fn make_room(&mut self, count: usize) {
        // Before them up to a group to align them, behind them a group to copy or compare.
        let length = count + 3 * LANES;
        for (column, begin) in self.columns.iter_mut().zip(&mut self.begin) {
            if column.len() < length {
                *column = vec![0; length];
                *begin = column.as_ptr().align_offset(ALIGNMENT).min(LANES);
            }
        }
    }

    pub fn memory_bytes(&self) -> usize {
        self.columns.iter().map(|column| size_of_val(&column[..])).sum()
    }

    #[inline(always)]
    pub fn set(&mut self, place: usize, columns: Columns) {
        for ((column, begin), bits) in self.columns.iter_mut().zip(self.begin).zip(columns) {
            column[begin + place] = bits;
        }
    }

    /// Copies the first `N` of a strip, or what is behind a shorter one, to `place` and the places behind it.
    #[inline(always)]
    pub fn copy<const N: usize>(&mut self, place: usize, strip: Strip<'_>) {
        for ((column, begin), from) in self.columns.iter_mut().zip(self.begin).zip(strip.columns) {
            column[begin + place..][..N].copy_from_slice(&from[..N]);
        }
    }

    #[inline(always)]
    pub fn strip(&self, places: Range<usize>) -> Strip<'_> {
        let count = places.len();
        let length = (count / LANES + 1) * LANES;
        let [a, b, c] = &self.columns;
        let [of_a, of_b, of_c] = self.begin;
        let columns = [
            &a[of_a + places.start..][..length],
            &b[of_b + places.start..][..length],
            &c[of_c + places.start..][..length],
        ];
        Strip { columns, count }
    }
}

impl Strip<'_> {
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    pub fn groups(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    #[inline(always)]
    pub fn columns(&self, at: usize) -> Columns {
        let [a, b, c] = self.columns;
        [a[at], b[at], c[at]]
    }

    /// Calls `near` with the place of each that is within `limit` bits of a fingerprint with these `columns`, in these bits.
    #[inline(always)]
    pub fn near(&self, columns: Columns, limit: u32, near: &mut dyn FnMut(usize)) {
        let mut group = self.next_group(0, columns, limit);
        while group < self.groups() {
            self.near_in(group, columns, limit, near);
            group = self.next_group(group + 1, columns, limit);
        }
    }

    /// The first group from `from` on that may have one within `limit` bits, or the number of groups. Nothing is called in this
    /// loop, so all that it needs stays in registers.
    #[inline(always)]
    fn next_group(&self, from: usize, columns: Columns, limit: u32) -> usize {
        let groups = self.groups();
        let [a, b, c] = self.columns;
        let (a, b, c) = (a.as_chunks().0, b.as_chunks().0, c.as_chunks().0);
        let (a, b, c) = (&a[from..groups], &b[from..groups], &c[from..groups]);
        for (at, ((a, b), c)) in a.iter().zip(b).zip(c).enumerate() {
            if may_have([a, b, c], columns, limit) {
                return from + at;
            }
        }
        groups
    }

    /// As [`Strip::near`], in one group.
    #[inline(never)]
    fn near_in(&self, group: usize, columns: Columns, limit: u32, near: &mut dyn FnMut(usize)) {
        let places = group * LANES..self.count.min((group + 1) * LANES);
        places.filter(|&at| apart(self.columns(at), columns) <= limit).for_each(near);
    }
}

/// Whether any of a group may be within `limit` bits of a fingerprint with these `columns`. If it says no, none
/// is.
#[inline(always)]
fn may_have(group: Group<'_>, columns: Columns, limit: u32) -> bool {
    let mut any = false;
    if limit <= MOST_FOLDED {
        for lane in 0..LANES {
            let [a, b, c] = differing(group, lane, columns);
            any |= (a | b | c).count_ones() as u16 <= limit as u16;
        }
    } else {
        for lane in 0..LANES {
            let [a, b, c] = differing(group, lane, columns);
            any |= ((a | b).count_ones() + c.count_ones()) as u16 <= limit as u16;
        }
    }
    any
}

/// The differing bits. (The compiler does not inline closures into code for other instructions,
/// so there are none.)
#[inline(always)]
fn differing(group: Group<'_>, lane: usize, columns: Columns) -> Columns {
    let [a, b, c] = group;
    [a[lane] ^ columns[0], b[lane] ^ columns[1], c[lane] ^ columns[2]]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hamming::multiversion::{Multiversion, counting, widest};

    /// Which of some fingerprints are near which of a strip.
    #[derive(Clone, Copy)]
    struct Ask<'a>(Strip<'a>, &'a [u64], u32);

    impl Multiversion for Ask<'_> {
        type Output = Vec<(usize, usize)>;

        #[inline(always)]
        fn run(self) -> Vec<(usize, usize)> {
            let Ask(strip, fingerprints, limit) = self;
            let mut found = Vec::new();
            for (at, &fingerprint) in fingerprints.iter().enumerate() {
                strip.near(columns(fingerprint), limit, &mut |place| found.push((at, place)));
            }
            found
        }
    }

    const LOW: u64 = (1 << 48) - 1;

    proptest! {
        /// Random fingerprints and some a few bits away, in every version: all that are near are named, and none else.
        #[test]
        fn what_is_near_is_found(
            held in prop::collection::vec(any::<u64>(), 1..3 * LANES),
            others: Vec<u64>,
            flips: [u64; 3],
            limit in 0_u32..20,
            from: prop::sample::Index,
        ) {
            let mut lanes = Lanes::new(held.len());
            (0..).zip(&held).for_each(|(place, &f)| lanes.set(place, columns(f)));
            let near = held.iter().map(|f| f ^ (flips[0] & flips[1] & flips[2]));
            let asked: Vec<u64> = near.chain(others).collect();
            let from = from.index(held.len());
            let work = Ask(lanes.strip(from..held.len()), &asked, limit);
            let pairs = (0..asked.len()).flat_map(|at| (from..held.len()).map(move |place| (at, place)));
            let is_near = |&(at, place): &(usize, usize)| ((held[place] ^ asked[at]) & LOW).count_ones() <= limit;
            let expected: Vec<_> =
                pairs.filter(is_near).map(|(at, place)| (at, place - from)).collect();
            prop_assert_eq!(&work.run(), &expected);
            prop_assert_eq!(&counting(work), &expected);
            prop_assert_eq!(&widest(work), &expected);
        }

        /// What is copied stands where it is to stand, and nothing before it has changed.
        #[test]
        fn a_strip_is_copied(held in prop::collection::vec(any::<u64>(), 1..LANES), place in 0..LANES) {
            let mut from = Lanes::new(held.len());
            (0..).zip(&held).for_each(|(place, &f)| from.set(place, columns(f)));
            let mut to = Lanes::new(2 * LANES);
            to.copy::<LANES>(place, from.strip(0..held.len()));
            let copied = to.strip(0..place + held.len());
            for at in 0..copied.count() {
                let expected = at.checked_sub(place).map_or([0; 3], |at| columns(held[at]));
                prop_assert_eq!(copied.columns(at), expected);
            }
        }
    }

    #[test]
    fn random_pairs_are_seldom_taken_for_near() {
        let random = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ i << 40;
        let held: [_; LANES] = std::array::from_fn(|lane| columns(random(lane as u64)));
        let columns_of: [[u16; LANES]; 3] =
            std::array::from_fn(|column| std::array::from_fn(|lane| held[lane][column]));
        let [a, b, c] = &columns_of;
        for limit in 0..=12 {
            let taken =
                (100..5100).filter(|&i| may_have([a, b, c], columns(random(i)), limit)).count();
            assert!(taken < 1000, "{taken} of 5000 at {limit}");
        }
    }
}
