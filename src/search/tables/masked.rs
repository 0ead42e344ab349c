//! The designs of masks: which bits form each key, and why every near pair meets under one.
//!
//! A key is a mask: two fingerprints meet under it when they agree in every bit of the mask. A
//! design covers a distance k when, wherever k bits differ, at least one mask avoids them all. That
//! is the pigeonhole principle, once for each design:
//!
//! - `blocks:R,choose:C` divides the fingerprint into R blocks and takes every choice of C of them.
//!   k differing bits touch at most k blocks, so at least R - k are untouched. If these are C or more,
//!   some choice has only untouched ones: k <= R - C.
//! - `4`, `10` and `20` are 4 blocks choose 1, 5 choose 2 and 6 choose 3: k <= 3.
//! - `16` takes one of 4 blocks, divides all the other bits into 4 blocks again and takes one of
//!   those. 3 differing bits leave one of 4 blocks untouched. All 3 are then in the rest, and leave
//!   one of its 4 blocks untouched too: k <= 3.
//!
//! These are the designs of the table in section 3.1 of Manku, Jain and Das Sarma (WWW 2007), with
//! blocks as even as possible, the wider ones at the high end: of 64 bits 16, 16, 16, 16, then
//! 13, 13, 13, 13, 12 and 11, 11, 11, 11, 10, 10; of 128 bits twice that.

use std::fmt;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;

/// The largest distance that counts as near, whatever the design.
pub(super) const MAX_DISTANCE: u32 = 15;

const MAX_TABLES: u64 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Masked {
    /// 4 blocks, choose 1.
    Four,
    /// 5 blocks, choose 2.
    Ten,
    /// 4 blocks, choose 1; 4 blocks of the other bits, choose 1.
    Sixteen,
    /// 6 blocks, choose 3.
    Twenty,
    /// Every choice of some of the blocks.
    Blocks {
        /// Into how many blocks the fingerprint is divided, R.
        blocks: u32,
        /// How many of them form a key, C.
        choose: u32,
    },
}

impl Masked {
    pub(super) const PAPER: [Masked; 4] =
        [Masked::Four, Masked::Ten, Masked::Sixteen, Masked::Twenty];

    pub(super) fn covers(self) -> u32 {
        match self {
            Masked::Four | Masked::Ten | Masked::Sixteen | Masked::Twenty => 3,
            Masked::Blocks { blocks, choose } => blocks.saturating_sub(choose).min(MAX_DISTANCE),
        }
    }

    /// How many tables the design has; `u64::MAX` if there are more.
    pub(super) fn tables(self) -> u64 {
        match self {
            Masked::Sixteen => 16,
            _ => binomial(self.shape().0.into(), self.shape().1.into()),
        }
    }

    pub fn masks(self, width: Width) -> Result<Vec<u128>> {
        self.check(width)?;
        let all = u128::MAX >> (128 - width.bits());
        let (blocks, choose) = self.shape();
        Ok(match self {
            Masked::Sixteen => {
                split(all, 4).into_iter().flat_map(|one| refine(one, all, 4, 1)).collect()
            }
            _ => refine(0, all, blocks, choose),
        })
    }

    /// The same masks, grouped by the block that they begin with.
    pub(super) fn leads(self, width: Width) -> Result<Vec<(u128, Vec<u128>)>> {
        let masks = self.masks(width)?;
        let blocks = split(u128::MAX >> (128 - width.bits()), self.shape().0);
        let begins = |mask: u128| blocks.iter().position(|block| mask & block == *block);
        let led = masks.chunk_by(|&a, &b| begins(a) == begins(b));
        let lead = |led: &[u128]| blocks[begins(led[0]).expect("a mask has a block")];
        Ok(led.map(|led| (lead(led), led.to_vec())).collect())
    }

    /// R and C of a design that is only blocks; the first step of `16`.
    pub(super) fn shape(self) -> (u32, u32) {
        match self {
            Masked::Four | Masked::Sixteen => (4, 1),
            Masked::Ten => (5, 2),
            Masked::Twenty => (6, 3),
            Masked::Blocks { blocks, choose } => (blocks, choose),
        }
    }

    /// Refuses blocks that make no design at this width.
    pub(super) fn check(self, width: Width) -> Result<()> {
        let (blocks, choose) = self.shape();
        let wrong = |what: &str| Error::new(Kind::Usage, format!("design {self} {what}"));
        if choose == 0 || choose > blocks {
            return Err(wrong("chooses no blocks it has").expected("1 <= C <= R"));
        }
        if blocks > width.bits() {
            return Err(wrong("has more blocks than bits")
                .expected(format!("at most {} blocks", width.bits()))
                .found(blocks));
        }
        if self.tables() > MAX_TABLES {
            return Err(wrong("has too many tables")
                .expected(format!("at most {MAX_TABLES}"))
                .found(self.tables()));
        }
        Ok(())
    }

    pub(super) fn parse(text: &str) -> Option<Masked> {
        let paper = Masked::PAPER.into_iter().find(|design| design.to_string() == text);
        paper.or_else(|| {
            let (blocks, choose) = text.strip_prefix("blocks:")?.split_once(",choose:")?;
            let blocks = blocks.parse().ok()?;
            let choose = choose.parse().ok()?;
            let design = Masked::Blocks { blocks, choose };
            let is_one = 1 <= choose && choose <= blocks && blocks <= 128;
            (is_one && design.to_string() == text).then_some(design)
        })
    }
}

fn binomial(n: u64, k: u64) -> u64 {
    let exact = (0..k.min(n.saturating_sub(k))).try_fold(1_u128, |product, i| {
        Some(product.checked_mul((n - i).into())? / u128::from(i + 1))
    });
    exact.and_then(|exact| u64::try_from(exact).ok()).unwrap_or(u64::MAX)
}

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Masked::Four => f.write_str("4"),
            Masked::Ten => f.write_str("10"),
            Masked::Sixteen => f.write_str("16"),
            Masked::Twenty => f.write_str("20"),
            Masked::Blocks { blocks, choose } => write!(f, "blocks:{blocks},choose:{choose}"),
        }
    }
}

/// Every mask made of `fixed` and `choose` of the `blocks` blocks of the other bits of `all`.
fn refine(fixed: u128, all: u128, blocks: u32, choose: u32) -> Vec<u128> {
    let mut masks = Vec::new();
    grow(fixed, &split(all & !fixed, blocks), choose, &mut masks);
    masks
}

/// Adds to `masks` every union of `mask` with `choose` of the `blocks`.
fn grow(mask: u128, blocks: &[u128], choose: u32, masks: &mut Vec<u128>) {
    if choose == 0 {
        return masks.push(mask);
    }
    // Where fewer than `choose` blocks are left there is nothing more to choose.
    let firsts = (blocks.len() + 1).saturating_sub(choose as usize);
    for (at, block) in blocks[..firsts].iter().enumerate() {
        grow(mask | block, &blocks[at + 1..], choose - 1, masks);
    }
}

/// The set bits of `bits` in `parts` blocks, from the high end, as even as possible, wider ones first.
fn split(bits: u128, parts: u32) -> Vec<u128> {
    let width = bits.count_ones() / parts;
    let wider = bits.count_ones() % parts;
    let mut rest = bits;
    (0..parts).map(|part| take(&mut rest, width + u32::from(part < wider))).collect()
}

/// Moves the `count` highest bits out of `rest`.
fn take(rest: &mut u128, count: u32) -> u128 {
    let mut taken = 0;
    for _ in 0..count {
        let highest = 1 << (127 - rest.leading_zeros());
        taken |= highest;
        *rest ^= highest;
    }
    taken
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::seq::index::sample;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const WIDTHS: [Width; 2] = [Width::W64, Width::W128];

    fn key_bits(design: &str, width: Width) -> Vec<u32> {
        let masks = Masked::parse(design).unwrap().masks(width).unwrap();
        let mut bits: Vec<u32> = masks.iter().map(|mask| mask.count_ones()).collect();
        bits.sort_unstable();
        bits.dedup();
        bits
    }

    fn shapes() -> impl Iterator<Item = Masked> {
        let blocks = (1..=12)
            .flat_map(|blocks| (1..=blocks).map(move |choose| Masked::Blocks { blocks, choose }));
        let nearly_all = [63, 64].map(|choose| Masked::Blocks { blocks: 64, choose });
        Masked::PAPER.into_iter().chain(blocks).chain(nearly_all)
    }

    #[test]
    fn the_papers_layouts() {
        assert_eq!(key_bits("4", Width::W64), [16]);
        assert_eq!(key_bits("10", Width::W64), [25, 26]);
        assert_eq!(key_bits("16", Width::W64), [28]);
        assert_eq!(key_bits("20", Width::W64), [31, 32, 33]);
        assert_eq!(key_bits("4", Width::W128), [32]);
        assert_eq!(key_bits("16", Width::W128), [56]);
        let widths = |parts| split(u64::MAX.into(), parts).iter().map(|b| b.count_ones()).collect();
        let (five, six): (Vec<u32>, Vec<u32>) = (widths(5), widths(6));
        assert_eq!(
            (&five[..], &six[..]),
            (&[13, 13, 13, 13, 12][..], &[11, 11, 11, 11, 10, 10][..])
        );
    }

    #[test]
    fn a_design_has_as_many_masks_as_it_says_all_distinct() {
        for (design, width) in shapes().flat_map(|design| WIDTHS.map(|width| (design, width))) {
            let mut masks = design.masks(width).unwrap();
            assert_eq!(masks.len() as u64, design.tables(), "{design}");
            masks.sort_unstable();
            masks.dedup();
            assert_eq!(masks.len() as u64, design.tables(), "{design}");
        }
    }

    /// Every pattern of k differing bits over twelve sampled positions leaves some mask untouched.
    #[test]
    fn a_design_covers_what_it_says() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for (design, width) in shapes().flat_map(|design| WIDTHS.map(|width| (design, width))) {
            let masks = design.masks(width).unwrap();
            let positions = sample(&mut random, width.bits() as usize, 12).into_vec();
            for pattern in (0..1_u32 << 12).filter(|p| p.count_ones() == design.covers().min(12)) {
                let bits = (0..12).filter(|bit| pattern >> bit & 1 == 1);
                let differing = bits.fold(0_u128, |bits, bit| bits | 1 << positions[bit]);
                assert!(masks.iter().any(|mask| mask & differing == 0), "{design} {differing:x}");
            }
        }
    }
}
