//! Which design is cheapest for so large a batch and so large a store: the cost model.
//!
//! A fingerprint pays, in each table, for one look into the filter; where it passes, for the way to a
//! bucket; and there, for each comparison. Few tables have short keys and many comparisons, many
//! tables have long keys and many looks. The model counts these on uniform fingerprints and weighs
//! them with the constants below, measured on one thread of a 2-core Zen 5 machine; only their ratios
//! decide. The conditioned probe counts for itself, in `conditioned::cost`, and prices the batch
//! against the store and against itself apart: it is cheap where the store is dense. A larger batch or memory in use elsewhere moves the result, never the matches found.

use std::collections::HashSet;
use std::fmt;

use super::conditioned;
use super::design::Design;
use super::table::{CROWD, hash_bits};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;

/// Hashing a key, and writing down what passes.
const LOOK_NS: f64 = 1.5;
/// The way from the filter to the bucket and out of it again, the memory aside.
const SURVIVOR_NS: f64 = 10.0;
/// One comparison.
const COMPARE_NS: f64 = 2.5;
/// Arranging one fingerprint in one table.
const BUILD_NS: f64 = 60.0;
/// What stays in the cache of a core.
const CACHE_BYTES: f64 = 512.0 * 1024.0;
/// One access at random inside that cache, and beyond it, while others are under way.
const NEAR_NS: f64 = 1.0;
const FAR_NS: f64 = 4.0;
/// How many such accesses lead to a bucket and its entries.
const SURVIVOR_ACCESSES: f64 = 5.0;

/// What a design is expected to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The design, never [`Design::Auto`].
    pub design: Design,
    /// How many tables it has.
    pub tables: u64,
    /// Time of one thread for each fingerprint probed, in nanoseconds.
    pub nanoseconds: f64,
    /// Time of one thread in all: the tables built, the store and the batch put through them.
    pub seconds: f64,
    /// How many bytes the tables take.
    pub memory_bytes: u64,
}

/// The design to use, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cheapest that fits into memory.
    pub chosen: Estimate,
    /// All the others, from the cheapest on, those that do not fit included.
    pub alternatives: Vec<Estimate>,
    /// One sentence for people.
    pub why: String,
}

/// Finds the cheapest design for `batch` distinct fingerprints against `store` others and against
/// themselves, with tables of at most `memory_bytes`.
///
/// # Errors
/// [`Kind::Usage`] where `k` is beyond every design, or no design fits into the memory.
pub fn choose(batch: u64, store: u64, k: u32, width: Width, memory_bytes: u64) -> Result<Plan> {
    let mut estimates: Vec<Estimate> = candidates(k, width)?
        .into_iter()
        .map(|design| estimate(design, batch, store, k, width))
        .collect::<Result<_>>()?;
    estimates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let fits = estimates.iter().position(|estimate| estimate.memory_bytes <= memory_bytes);
    let chosen = fits.map(|fits| estimates.remove(fits));
    let chosen = chosen.ok_or_else(|| too_large(&estimates, memory_bytes))?;
    let why = why(&chosen, &estimates, batch, store, k);
    Ok(Plan { chosen, alternatives: estimates, why })
}

/// What `design` costs for such a batch and such a store.
///
/// # Errors
/// [`Kind::Usage`] where the design does not cover `k`, and for [`Design::Auto`].
pub fn estimate(design: Design, batch: u64, store: u64, k: u32, width: Width) -> Result<Estimate> {
    if design == Design::Conditioned {
        return estimate_conditioned(batch, store, k, width);
    }
    let masks = design.masks(width, k)?;
    let (mut nanoseconds, mut memory_bytes) = (0.0, 0);
    for mask in &masks {
        let table = Shape::of(batch, mask.count_ones(), width);
        nanoseconds += table.nanoseconds();
        memory_bytes += table.memory_bytes;
    }
    let probes = store as f64 + batch as f64;
    let build = BUILD_NS * batch as f64 * masks.len() as f64;
    let seconds = (probes * nanoseconds + build) / 1e9;
    Ok(Estimate { design, tables: masks.len() as u64, nanoseconds, seconds, memory_bytes })
}

fn estimate_conditioned(batch: u64, store: u64, k: u32, width: Width) -> Result<Estimate> {
    let design = Design::Conditioned;
    design.check(width, k)?;
    let [existing, new] =
        [store, batch].map(|probed| conditioned::nanoseconds(batch, probed, k, width));
    let build = BUILD_NS * batch as f64;
    Ok(Estimate {
        design,
        tables: design.tables(),
        nanoseconds: (existing + new) / (store + batch).max(1) as f64,
        seconds: (existing + new + build) / 1e9,
        memory_bytes: conditioned::memory_bytes(batch, width),
    })
}

/// The designs worth a look: the paper's, and blocks that cover exactly `k`.
fn candidates(k: u32, width: Width) -> Result<Vec<Design>> {
    let blocks = (1..=6).map(|choose| Design::Blocks { blocks: k + choose, choose });
    let mut seen = HashSet::new();
    let distinct = |design: &Design| design.masks(width, k).is_ok_and(|masks| seen.insert(masks));
    let mut found: Vec<Design> = Design::PAPER.into_iter().chain(blocks).filter(distinct).collect();
    found.extend(Some(Design::Conditioned).filter(|design| design.check(width, k).is_ok()));
    match found.is_empty() {
        true => Err(Design::Blocks { blocks: k + 1, choose: 1 }.masks(width, k).unwrap_err()),
        false => Ok(found),
    }
}

/// One table over uniform fingerprints.
struct Shape {
    filter_bytes: f64,
    memory_bytes: u64,
    /// The share of fingerprints that pass the filter.
    passing: f64,
    /// The comparisons of one that passes.
    comparisons: f64,
}

impl Shape {
    fn of(batch: u64, key_bits: u32, width: Width) -> Shape {
        let (bucket_bits, filter_bits) = hash_bits(batch as usize, key_bits);
        let (buckets, filter) = (1_u64 << bucket_bits, 1_u64 << filter_bits);
        let load = batch as f64 / buckets as f64;
        let marked = occupied(2.0 * batch as f64, filter_bits);
        let true_keys = occupied(batch as f64, key_bits);
        let entry_bytes = u64::from(width.bits() / 8) + 4;
        Shape {
            filter_bytes: filter as f64 / 8.0,
            memory_bytes: batch
                .saturating_mul(entry_bytes)
                .saturating_add(4 * buckets + filter / 8),
            passing: true_keys + (1.0 - true_keys) * marked * marked,
            comparisons: load.min(CROWD as f64) + 1.0,
        }
    }

    fn nanoseconds(&self) -> f64 {
        let reach = SURVIVOR_ACCESSES * access(self.memory_bytes as f64);
        let survivor = SURVIVOR_NS + reach + COMPARE_NS * self.comparisons;
        LOOK_NS + access(self.filter_bytes) + self.passing * survivor
    }
}

/// The share of 2^`bits` places taken by so many throws.
fn occupied(throws: f64, bits: u32) -> f64 {
    -(-throws / 2_f64.powi(bits as i32)).exp_m1()
}

/// One access at random into so many bytes.
fn access(bytes: f64) -> f64 {
    if bytes <= CACHE_BYTES { NEAR_NS } else { FAR_NS }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { design, tables, nanoseconds, memory_bytes, .. } = self;
        let (name, mebibytes) = (design.to_string(), memory_bytes.div_ceil(1 << 20));
        write!(f, "{name}: {tables} tables, {nanoseconds:.0} ns a fingerprint, {mebibytes} MiB")
    }
}

fn why(chosen: &Estimate, others: &[Estimate], batch: u64, store: u64, k: u32) -> String {
    let next = others.iter().find(|other| other.seconds >= chosen.seconds);
    let next = next.map(|next| format!("; next {next}")).unwrap_or_default();
    format!("cheapest for {batch} new against {store} existing within {k} bits: {chosen}{next}")
}

fn too_large(estimates: &[Estimate], memory_bytes: u64) -> Error {
    let least = estimates.iter().map(|estimate| estimate.memory_bytes).min().unwrap_or_default();
    Error::new(Kind::Usage, "no table design of this batch fits into the memory allowed")
        .expected(format!("at least {} MiB", least.div_ceil(1 << 20)))
        .found(format!("{} MiB", memory_bytes >> 20))
        .help("allow more with --memory, or divide the day into several batches")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: [Width; 2] = [Width::W64, Width::W128];

    #[test]
    fn there_is_a_plan_for_every_distance() {
        for (k, width) in (0..=15).flat_map(|k| WIDTHS.map(|width| (k, width))) {
            for batch in [0, 1, 1000, 1_000_000, u64::from(u32::MAX)] {
                let plan = choose(batch, 8_000_000_000, k, width, u64::MAX).unwrap();
                assert!(plan.chosen.design.check(width, k).is_ok());
                assert!(plan.alternatives.iter().all(|other| other.seconds >= plan.chosen.seconds));
            }
        }
        assert_eq!(choose(1, 1, 16, Width::W64, u64::MAX).unwrap_err().kind(), Kind::Usage);
    }

    #[test]
    fn a_dense_store_takes_the_conditioned_probe_and_a_batch_alone_does_not() {
        for width in WIDTHS {
            let plan = choose(1_000_000, 8_000_000_000, 3, width, u64::MAX).unwrap();
            assert_eq!(plan.chosen.design, Design::Conditioned, "{}", plan.why);
            let alone = choose(1_000_000, 0, 3, width, u64::MAX).unwrap();
            assert_ne!(alone.chosen.design, Design::Conditioned, "{}", alone.why);
        }
    }

    #[test]
    fn of_masks_a_million_against_eight_thousand_million_takes_the_papers_ten_tables() {
        let cheapest = |width| {
            let plan = choose(1_000_000, 8_000_000_000, 3, width, u64::MAX).unwrap();
            plan.alternatives[0].design
        };
        assert_eq!(WIDTHS.map(cheapest), [Design::Ten, Design::Four]);
    }

    #[test]
    fn less_memory_takes_fewer_tables_until_none_is_left() {
        let free = choose(1_000_000, 8_000_000_000, 9, Width::W64, u64::MAX).unwrap();
        let tight = choose(1_000_000, 8_000_000_000, 9, Width::W64, 200 << 20).unwrap();
        assert!(tight.chosen.tables < free.chosen.tables);
        assert!(tight.chosen.memory_bytes <= 200 << 20);
        let error = choose(1_000_000, 8_000_000_000, 5, Width::W64, 1 << 20).unwrap_err();
        assert!(error.to_string().contains("--memory"), "{error}");
    }
}
