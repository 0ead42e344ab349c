//! Which tables an index has, by which permutation of the bits each is sorted, and what it finds.

use crate::error::{Result, named};
use crate::fingerprint::{Fingerprint, Width};
use crate::tables::{self, Masked};

/// What is kept beside the segments, so that a store answers at once. All designs give the same answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexDesign {
    /// The fingerprints once more, with their halves exchanged and without their last bits: in one of the halves at
    /// most half of the bits differ. For every distance.
    #[default]
    Mirror,
    /// Nothing. The first bits are flipped in all ways.
    None,
    /// The paper's 4 tables, for a distance of at most 3.
    Four,
}

named!(pub IndexDesign { Mirror = "mirror", None = "none", Four = "4" } or "there is no such index");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    permutation: Permutation,
    /// The last bits of a permuted fingerprint that are left out: what is found is looked up in the segment anyway.
    pub(super) cut: u32,
    /// It finds what differs in at most `within` of the bits of this mask of a fingerprint.
    pub(super) mask: u128,
    pub(super) within: u32,
    /// The number of its file; none if it is the segment itself.
    pub(super) file: Option<usize>,
}

impl Shape {
    #[inline]
    pub(super) fn arrange<F: Fingerprint>(&self, fingerprint: F) -> F {
        self.permutation.apply(fingerprint) >> self.cut
    }

    /// The fingerprint that was arranged so, with zeros for the bits that were left out.
    pub(super) fn restore<F: Fingerprint>(&self, arranged: F) -> F {
        self.permutation.undo(arranged << self.cut)
    }

    /// Whether the table finds what differs in these bits.
    pub(super) fn finds<F: Fingerprint>(&self, difference: F) -> bool {
        (difference.to_u128() & self.mask).count_ones() <= self.within
    }

    pub(super) fn first_bits<F: Fingerprint>(&self) -> u32 {
        let left_out = self.restore(F::MAX >> self.cut) ^ F::MAX;
        left_out.to_u128().leading_zeros() + F::BITS - u128::BITS
    }
}

impl IndexDesign {
    /// The largest distance for which its tables are of use.
    pub(super) fn covers(self) -> u32 {
        match self {
            IndexDesign::Mirror | IndexDesign::None => u32::MAX,
            IndexDesign::Four => 3,
        }
    }

    pub(super) fn cut(self) -> u32 {
        if self == IndexDesign::Mirror { 8 } else { 0 }
    }

    fn masks(self, width: Width) -> Result<Vec<u128>> {
        let all = u128::MAX >> (128 - width.bits());
        let low = all >> (width.bits() / 2);
        match self {
            IndexDesign::None => Ok(vec![all]),
            IndexDesign::Mirror => Ok(vec![all ^ low, low]),
            IndexDesign::Four => tables::Design::from(Masked::Four).masks(width, self.covers()),
        }
    }

    /// Its tables, for fingerprints of this width that differ in at most `distance` bits. A design that does not
    /// cover the distance is used as [`IndexDesign::None`].
    pub(super) fn shapes(self, width: Width, distance: u32) -> Result<Vec<Shape>> {
        if distance > self.covers() {
            return IndexDesign::None.shapes(width, distance);
        }
        let mut files = 0..;
        let shape = |(at, mask)| {
            let within = match self {
                IndexDesign::None => distance,
                IndexDesign::Mirror if at == 0 => distance / 2,
                // If more than half of the distance is in the upper half, less than half is in the lower one.
                IndexDesign::Mirror => distance.saturating_sub(1) / 2,
                IndexDesign::Four => 0,
            };
            let permutation = Permutation::of(mask, width.bits());
            let file = if permutation.is_identity() { None } else { files.next() };
            let cut = if file.is_some() { self.cut() } else { 0 };
            Shape { permutation, cut, mask, within, file }
        };
        let shapes: Vec<Shape> = self.masks(width)?.into_iter().enumerate().map(shape).collect();
        // At distance 0 both halves are equal, so one table is enough.
        let used = if self == IndexDesign::Mirror && distance == 0 { 1 } else { shapes.len() };
        Ok(shapes.into_iter().take(used).collect())
    }

    pub(super) fn files(self, width: Width) -> Result<Vec<Shape>> {
        let shapes = self.shapes(width, self.covers().min(3))?;
        Ok(shapes.into_iter().filter(|shape| shape.file.is_some()).collect())
    }
}

/// A permutation that brings the bits of a mask to the front. Both the bits of the mask and the others keep their order.
///
/// For example, with the mask `0011_1100` the bits `abcd_efgh` become `cdef_abgh`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Permutation {
    width: u32,
    parts: Vec<MovedBits>,
}

/// Neighbouring bits, and by how many places they move to the left: a negative number, to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MovedBits {
    mask: u128,
    left: i32,
}

impl Permutation {
    fn of(mask: u128, width: u32) -> Permutation {
        let all = u128::MAX >> (128 - width);
        let mut to = width as i32;
        let mut parts = Vec::new();
        for chosen in [mask & all, !mask & all] {
            let mut rest = chosen;
            while rest != 0 {
                let end = 128 - rest.leading_zeros();
                let length = (rest << (128 - end)).leading_ones();
                let begin = end - length;
                let part = (u128::MAX >> (128 - length)) << begin;
                to -= length as i32;
                parts.push(MovedBits { mask: part, left: to - begin as i32 });
                rest &= !part;
            }
        }
        Permutation { width, parts }
    }

    fn is_identity(&self) -> bool {
        self.parts.iter().all(|part| part.left == 0)
    }

    #[inline]
    fn apply<F: Fingerprint>(&self, bits: F) -> F {
        let bits = bits.to_u128();
        F::from_u128(
            self.parts.iter().fold(0, |all, part| all | shift(bits & part.mask, part.left)),
        )
    }

    #[inline]
    fn undo<F: Fingerprint>(&self, bits: F) -> F {
        let bits = bits.to_u128();
        let back = |part: &MovedBits| shift(bits & shift(part.mask, part.left), -part.left);
        F::from_u128(self.parts.iter().fold(0, |all, part| all | back(part)))
    }
}

#[inline]
fn shift(bits: u128, left: i32) -> u128 {
    if left >= 0 { bits << left } else { bits >> -left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_knows_all_bits_but_eight() {
        let shapes = IndexDesign::Mirror.shapes(Width::W64, 3).unwrap();
        let mirror = &shapes[1];
        let arranged: u64 = mirror.arrange(0x0123_4567_89ab_cdef);
        assert_eq!((arranged, mirror.first_bits::<u64>()), (0x0089_abcd_ef01_2345, 24));
        assert_eq!(mirror.restore(arranged), 0x0123_4500_89ab_cdef);
        assert_eq!(shapes[0].first_bits::<u64>(), 64);
    }
}
