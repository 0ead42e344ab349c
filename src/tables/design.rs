//! Which bits form the exact-match key of each table, and why every near pair meets in one of them.
//!
//! A key is a mask: two fingerprints meet in a table when they agree in every bit of its mask. A
//! design covers a distance k when, wherever k bits differ, at least one mask is clear of them. That
//! is the pigeonhole, once for each design:
//!
//! - `blocks:R,choose:C` divides the fingerprint into R blocks and takes every choice of C of them.
//!   k differing bits touch at most k blocks, so at least R - k are untouched, and where these are C
//!   or more some choice has none but untouched ones: k <= R - C.
//! - `4`, `10` and `20` are 4 blocks choose 1, 5 choose 2 and 6 choose 3: k <= 3.
//! - `16` takes one of 4 blocks, divides all the other bits into 4 blocks again and takes one of
//!   those. Of 4 blocks 3 differing bits leave one untouched; all 3 then lie in the rest, and leave
//!   one of its 4 blocks untouched too: k <= 3.
//!
//! These are the designs of the table in section 3.1 of Manku, Jain and Das Sarma (WWW 2007), with
//! blocks as even as they come, the wider ones at the high end: of 64 bits 16, 16, 16, 16, then
//! 13, 13, 13, 13, 12 and 11, 11, 11, 11, 10, 10; of 128 bits twice that.

use std::fmt;
use std::str::FromStr;

use super::masks::{refine, split};
use super::{conditioned, halves, high_low};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;

/// The largest distance that counts as near, whatever the design.
pub const MAX_DISTANCE: u32 = 15;

/// The most tables a design may have.
pub const MAX_TABLES: u64 = 1024;

/// How the batch is arranged, written `auto`, `conditioned`, `halves`, `high-low`, `4`, `10`, `16`, `20`
/// or `blocks:R,choose:C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Design {
    /// Whichever the cost model finds cheapest.
    Auto,
    /// By the prefix of what is probed, which is sorted: no masks (`tables::conditioned`).
    Conditioned,
    /// By blocks of which one is at most one bit off, in any order: no masks (`tables::halves`).
    Halves,
    /// The high half by prefix, the low half by blocks: no masks (`tables::high_low`).
    HighLow,
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

impl Design {
    /// The designs of the paper.
    pub const PAPER: [Design; 4] = [Design::Four, Design::Ten, Design::Sixteen, Design::Twenty];

    /// The designs that are more than exact-match keys.
    pub(super) const WITHOUT_MASKS: [Design; 3] =
        [Design::Conditioned, Design::Halves, Design::HighLow];

    /// The designs that have a name of their own.
    fn named() -> impl Iterator<Item = Design> {
        [Design::Auto].into_iter().chain(Design::WITHOUT_MASKS).chain(Design::PAPER)
    }

    /// The largest distance at which no pair is missed, at this width.
    pub fn covers(self, width: Width) -> u32 {
        match self {
            Design::Auto => MAX_DISTANCE,
            Design::Conditioned => conditioned::COVERS,
            Design::Halves => halves::covers(width),
            Design::HighLow => high_low::covers(width),
            Design::Four | Design::Ten | Design::Sixteen | Design::Twenty => 3,
            Design::Blocks { blocks, choose } => blocks.saturating_sub(choose).min(MAX_DISTANCE),
        }
    }

    /// The mask of each table, at this width.
    ///
    /// # Errors
    /// [`Kind::Usage`] where the design does not cover `k`, has more blocks than bits or more than
    /// [`MAX_TABLES`] tables, or has no masks: [`Design::Auto`],
    /// [`Design::Conditioned`], [`Design::Halves`] and [`Design::HighLow`].
    pub fn masks(self, width: Width, k: u32) -> Result<Vec<u128>> {
        self.check(width, k)?;
        if Design::WITHOUT_MASKS.contains(&self) {
            return Err(Error::new(Kind::Usage, format!("the design {self} has no masks")));
        }
        let all = u128::MAX >> (128 - width.bits());
        Ok(match self {
            Design::Sixteen => {
                split(all, 4).into_iter().flat_map(|one| refine(one, all, 4, 1)).collect()
            }
            _ => refine(0, all, self.shape().0, self.shape().1),
        })
    }

    /// The same masks, by the block that they begin with.
    ///
    /// # Errors
    /// As [`Design::masks`].
    pub(super) fn leads(self, width: Width, k: u32) -> Result<Vec<(u128, Vec<u128>)>> {
        let masks = self.masks(width, k)?;
        let blocks = split(u128::MAX >> (128 - width.bits()), self.shape().0);
        let begins = |mask: u128| blocks.iter().position(|block| mask & block == *block);
        let led = masks.chunk_by(|&a, &b| begins(a) == begins(b));
        let lead = |led: &[u128]| blocks[begins(led[0]).expect("a mask has a block")];
        Ok(led.map(|led| (lead(led), led.to_vec())).collect())
    }

    /// How many tables the design has, the usual number if that depends on k; as many as a `u64` holds
    /// where there are more.
    pub fn tables(self) -> u64 {
        match self {
            Design::Conditioned => 1,
            Design::Halves | Design::HighLow => 2,
            Design::Sixteen => 16,
            _ => binomial(self.shape().0.into(), self.shape().1.into()),
        }
    }

    /// R and C of a design that is nothing else than blocks; the first step of `16`.
    fn shape(self) -> (u32, u32) {
        match self {
            Design::Auto
            | Design::Conditioned
            | Design::Halves
            | Design::HighLow
            | Design::Four
            | Design::Sixteen => (4, 1),
            Design::Ten => (5, 2),
            Design::Twenty => (6, 3),
            Design::Blocks { blocks, choose } => (blocks, choose),
        }
    }

    pub(super) fn check(self, width: Width, k: u32) -> Result<()> {
        let (blocks, choose) = self.shape();
        if self == Design::Auto {
            return Err(Error::new(Kind::Usage, "the design auto has no tables of its own"));
        }
        if k > self.covers(width) {
            return Err(Error::new(
                Kind::Usage,
                format!("design {self} does not cover the distance"),
            )
            .expected(format!("a distance of at most {}", self.covers(width)))
            .found(k)
            .help(covering(width, k)));
        }
        if choose == 0 || choose > blocks {
            return Err(Error::new(Kind::Usage, format!("design {self} chooses no blocks it has"))
                .expected("1 <= C <= R"));
        }
        if blocks > width.bits() {
            return Err(Error::new(
                Kind::Usage,
                format!("design {self} has more blocks than bits"),
            )
            .expected(format!("at most {} blocks", width.bits()))
            .found(blocks));
        }
        if self.tables() > MAX_TABLES {
            return Err(Error::new(Kind::Usage, format!("design {self} has too many tables"))
                .expected(format!("at most {MAX_TABLES}"))
                .found(self.tables()));
        }
        Ok(())
    }
}

/// Says which designs cover `k`.
fn covering(width: Width, k: u32) -> String {
    let mut covering = Design::named().filter(|design| k <= design.covers(width));
    let Some(first) = covering.next() else {
        return format!("no design goes beyond {MAX_DISTANCE}");
    };
    let named = covering.fold(first.to_string(), |list, design| format!("{list}, {design}"));
    format!("{named} and blocks:R,choose:C with R - C >= {k} (blocks:{},choose:2) do", k + 2)
}

fn binomial(n: u64, k: u64) -> u64 {
    let exact = (0..k.min(n.saturating_sub(k))).try_fold(1_u128, |product, i| {
        Some(product.checked_mul((n - i).into())? / u128::from(i + 1))
    });
    exact.and_then(|exact| u64::try_from(exact).ok()).unwrap_or(u64::MAX)
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Design::Auto => f.write_str("auto"),
            Design::Conditioned => f.write_str("conditioned"),
            Design::Halves => f.write_str("halves"),
            Design::HighLow => f.write_str("high-low"),
            Design::Four => f.write_str("4"),
            Design::Ten => f.write_str("10"),
            Design::Sixteen => f.write_str("16"),
            Design::Twenty => f.write_str("20"),
            Design::Blocks { blocks, choose } => write!(f, "blocks:{blocks},choose:{choose}"),
        }
    }
}

impl FromStr for Design {
    type Err = Error;

    fn from_str(text: &str) -> Result<Design> {
        Design::named()
            .find(|design| design.to_string() == text)
            .or_else(|| blocks(text))
            .ok_or_else(|| {
                Error::new(Kind::Usage, "not a table design")
                    .expected("auto, conditioned, halves, high-low, 4, 10, 16, 20 or blocks:R,choose:C with 1 <= C <= R <= 128")
                    .found(text)
            })
    }
}

/// Reads `blocks:R,choose:C`.
fn blocks(text: &str) -> Option<Design> {
    let (blocks, choose) = text.strip_prefix("blocks:")?.split_once(",choose:")?;
    let design = Design::Blocks { blocks: blocks.parse().ok()?, choose: choose.parse().ok()? };
    let (blocks, choose) = design.shape();
    (1 <= choose && choose <= blocks && blocks <= 128 && design.to_string() == text)
        .then_some(design)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::seq::index::sample;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const WIDTHS: [Width; 2] = [Width::W64, Width::W128];

    fn key_bits(design: &str, width: Width) -> Vec<u32> {
        let masks = design.parse::<Design>().unwrap().masks(width, 0).unwrap();
        let mut bits: Vec<u32> = masks.iter().map(|mask| mask.count_ones()).collect();
        bits.sort_unstable();
        bits.dedup();
        bits
    }

    fn shapes() -> impl Iterator<Item = Design> {
        let blocks = (1..=12)
            .flat_map(|blocks| (1..=blocks).map(move |choose| Design::Blocks { blocks, choose }));
        Design::PAPER.into_iter().chain(blocks)
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
    fn nearly_all_of_many_blocks_are_chosen_at_once() {
        for (design, tables) in [("blocks:64,choose:64", 1), ("blocks:64,choose:63", 64)] {
            let masks = design.parse::<Design>().unwrap().masks(Width::W64, 0).unwrap();
            assert_eq!(masks.len(), tables, "{design}");
        }
    }

    #[test]
    fn a_design_has_as_many_masks_as_it_says_all_distinct() {
        for (design, width) in shapes().flat_map(|design| WIDTHS.map(|width| (design, width))) {
            let mut masks = design.masks(width, 0).unwrap();
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
            let masks = design.masks(width, 0).unwrap();
            let positions = sample(&mut random, width.bits() as usize, 12).into_vec();
            for pattern in
                (0..1_u32 << 12).filter(|p| p.count_ones() == design.covers(width).min(12))
            {
                let bits = (0..12).filter(|bit| pattern >> bit & 1 == 1);
                let differing = bits.fold(0_u128, |bits, bit| bits | 1 << positions[bit]);
                assert!(masks.iter().any(|mask| mask & differing == 0), "{design} {differing:x}");
            }
        }
    }

    /// And of one bit more, one in each block, some pattern touches every mask: the bound is tight.
    #[test]
    fn a_design_covers_no_more_than_it_says() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        for design in shapes().filter(|design| !matches!(design, Design::Sixteen)) {
            let (blocks, choose) = design.shape();
            let touched: u128 = split(u64::MAX.into(), blocks)[..(blocks - choose + 1) as usize]
                .iter()
                .map(|block| nth_bit(*block, random.random_range(0..block.count_ones())))
                .sum();
            assert_eq!(touched.count_ones(), design.covers(Width::W64) + 1);
            assert!(design.masks(Width::W64, 0).unwrap().iter().all(|mask| mask & touched != 0));
        }
    }

    fn nth_bit(mut bits: u128, n: u32) -> u128 {
        for _ in 0..n {
            bits &= bits - 1;
        }
        bits & bits.wrapping_neg()
    }

    #[test]
    fn what_does_not_cover_k_is_refused_with_what_does() {
        let error = Design::Ten.masks(Width::W64, 4).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains("blocks:6,choose:2"), "{error}");
        let blocks = |blocks, choose| Design::Blocks { blocks, choose };
        assert!(blocks(6, 2).masks(Width::W64, 4).is_ok());
        assert!(blocks(6, 2).masks(Width::W64, 5).is_err());
        assert!(blocks(64, 1).masks(Width::W64, 15).is_ok());
        assert!(blocks(64, 1).masks(Width::W64, 16).is_err());
        assert!(blocks(65, 65).masks(Width::W64, 0).is_err());
        assert!(blocks(64, 32).masks(Width::W64, 3).is_err());
        assert!(Design::Auto.masks(Width::W64, 3).is_err());
    }

    #[test]
    fn text_that_is_no_design_is_refused() {
        for text in [
            "",
            "5",
            "Auto",
            "blocks:4",
            "blocks:4,choose:0",
            "blocks:4,choose:5",
            "blocks:04,choose:1",
            "blocks:129,choose:129",
            "blocks:4,choose:1 ",
            "blocks:-1,choose:1",
        ] {
            assert_eq!(text.parse::<Design>().unwrap_err().kind(), Kind::Usage, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(blocks in 1_u32..=128, part in 0_u32..128) {
            let design = Design::Blocks { blocks, choose: 1 + part % blocks };
            prop_assert_eq!(design.to_string().parse::<Design>().unwrap(), design);
        }
    }
}
