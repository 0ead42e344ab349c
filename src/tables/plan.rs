//! Which design is cheapest for so large a batch and so large a store: the cost model.
//!
//! A fingerprint pays, in each table, for one look into the filter; where it passes, for the way to a
//! bucket; and there, for each comparison. Few tables have short keys and many comparisons, many
//! tables have long keys and many looks. The model counts these on uniform fingerprints and weighs
//! them with the constants below, measured on one thread of a 2-core Zen 5 machine; only their ratios
//! decide. The conditioned probe counts for itself, in `conditioned::cost`, and prices the batch
//! against the store and against itself apart: it is cheap where the store is dense. The halves pay for a
//! look into a large filter for each block, and before that for all that is marked there: they are cheap
//! where the store is a few times as large as the batch. A larger batch or memory in use elsewhere moves
//! the result, never the matches found.

use std::collections::HashSet;
use std::fmt;

use super::conditioned;
use super::design::Design;
use super::halves::{self, Block, MARKS};
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
/// Marking one value within one bit of a fingerprint's block, by where the filter is: inside that cache
/// or beyond it.
const MARK_NS: [f64; 2] = [1.0, 2.5];
/// Looking, for one that passes, whether one such value is held.
const FLIP_NS: f64 = 2.0;

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
    match design {
        Design::Conditioned => return estimate_conditioned(batch, store, k, width),
        Design::Halves => return estimate_halves(batch, store, k, width),
        _ => {}
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

fn estimate_halves(batch: u64, store: u64, k: u32, width: Width) -> Result<Estimate> {
    let design = Design::Halves;
    design.check(width, k)?;
    let halves: Vec<Half> =
        Block::all(width, k).into_iter().map(|block| Half::of(batch, block, width)).collect();
    let nanoseconds = (0..).zip(&halves).map(|(turn, half)| half.nanoseconds(turn == 0)).sum();
    let build: f64 = halves.iter().map(|half| half.build_ns).sum();
    let probes = store as f64 + batch as f64;
    Ok(Estimate {
        design,
        tables: halves.len() as u64,
        nanoseconds,
        seconds: (probes * nanoseconds + build * batch as f64) / 1e9,
        memory_bytes: halves.iter().map(|half| half.memory_bytes).sum(),
    })
}

/// The designs worth a look: the paper's, and blocks that cover exactly `k`.
fn candidates(k: u32, width: Width) -> Result<Vec<Design>> {
    let blocks = (1..=6).map(|choose| Design::Blocks { blocks: k + choose, choose });
    let mut seen = HashSet::new();
    let distinct = |design: &Design| design.masks(width, k).is_ok_and(|masks| seen.insert(masks));
    let mut found: Vec<Design> = Design::PAPER.into_iter().chain(blocks).filter(distinct).collect();
    let without_masks = [Design::Conditioned, Design::Halves].into_iter();
    found.extend(without_masks.filter(|design| design.check(width, k).is_ok()));
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
        LOOK_NS + access(self.filter_bytes) + self.passing * self.survivor_ns()
    }

    /// For one that passes.
    fn survivor_ns(&self) -> f64 {
        let reach = SURVIVOR_ACCESSES * access(self.memory_bytes as f64);
        SURVIVOR_NS + reach + COMPARE_NS * self.comparisons
    }
}

/// One block of the halves, over uniform fingerprints.
struct Half {
    near_bytes: f64,
    memory_bytes: u64,
    /// The share of fingerprints that pass the filter.
    passing: f64,
    /// What one that passes looks for.
    flips: f64,
    /// The candidates of one fingerprint, passing or not.
    candidates: f64,
    /// A candidate's way to its bucket, and the comparisons there.
    candidate_ns: f64,
    /// Arranging one fingerprint of the batch.
    build_ns: f64,
}

impl Half {
    fn of(batch: u64, block: Block, width: Width) -> Half {
        let (ball, count) = (f64::from(1 + block.flips()), batch as f64);
        let [(near_bytes, near_errors), (own_bytes, own_errors)] =
            [count * ball, count].map(|values| filter(values, block.width));
        let passing = occupied(count * ball, block.width) + near_errors;
        let met = count * ball / 2_f64.powi(block.width as i32);
        let table = Shape::of(batch, block.width, width);
        let mark = MARK_NS[usize::from(near_bytes > CACHE_BYTES)];
        Half {
            near_bytes,
            memory_bytes: (near_bytes + own_bytes) as u64 + table.memory_bytes,
            passing: passing.min(1.0),
            flips: ball,
            candidates: met + passing.min(1.0) * ball * own_errors,
            candidate_ns: table.survivor_ns(),
            build_ns: BUILD_NS + mark * ball,
        }
    }

    /// For one fingerprint. Those probed ascend, and so they sweep the filter of the `first` block.
    fn nanoseconds(&self, first: bool) -> f64 {
        let look = if first { NEAR_NS } else { access(self.near_bytes) };
        let survivors = self.passing * (self.flips * FLIP_NS + SURVIVOR_NS);
        LOOK_NS + look + survivors + self.candidates * self.candidate_ns
    }
}

/// How many bytes the filter of the halves takes for so many values of `bits` bits, and which share of
/// others passes.
fn filter(values: f64, bits: u32) -> (f64, f64) {
    let words = 2_f64.powi(halves::word_bits(values as u64, bits) as i32);
    let marked = -(-f64::from(MARKS) * values / words / 64.0).exp_m1();
    (8.0 * words, marked.powi(MARKS as i32))
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
            let mut designs = plan.alternatives.iter().map(|estimate| estimate.design);
            designs.find(|design| design.masks(width, 3).is_ok()).unwrap()
        };
        assert_eq!(WIDTHS.map(cheapest), [Design::Ten, Design::Four]);
    }

    #[test]
    fn a_store_a_few_times_the_batch_takes_the_halves() {
        for width in WIDTHS {
            let plan = choose(1_000_000, 10_000_000, 3, width, u64::MAX).unwrap();
            assert_eq!(plan.chosen.design, Design::Halves, "{}", plan.why);
        }
    }

    #[test]
    fn the_halves_take_the_memory_they_say() {
        use super::super::Method;
        let batch: Vec<u64> = (0..20_000).map(|i| i * (u64::MAX / 20_000)).collect();
        let said = estimate(Design::Halves, batch.len() as u64, 0, 3, Width::W64).unwrap();
        let taken = Method::build(&batch, Design::Halves, 3).unwrap().memory_bytes();
        assert!(taken.abs_diff(said.memory_bytes) < 1 << 10, "{taken} {}", said.memory_bytes);
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
