//! Which design is cheapest for so large a batch and so large a store: the cost model.
//!
//! A fingerprint pays, in each table, for one look into the filter; where it passes, for the way to a
//! bucket; and there, for each comparison. Few tables have short keys and many comparisons, many
//! tables have long keys and many looks. The model counts these on uniform fingerprints and weighs
//! them with the constants below, measured on one thread of a 2-core Zen 5 machine; only their ratios
//! decide. The conditioned probe counts for itself, in `conditioned::cost`, and so does sorting, in
//! `sorted`: the first is cheap where the store is dense, the second where the batch is large. The
//! halves pay for a look into a large filter for each block, and before that for all that is marked
//! there: they are cheap where the store is a few times as large as the batch. A design with masks goes
//! by tables or by sorting, whichever is cheaper. The batch and itself are always joined by sorting, and
//! priced apart. A larger batch or memory in use elsewhere moves the result, never the matches found.

use std::collections::HashSet;
use std::fmt;

use super::design::Design;
use super::halves::{self, Block, MARKS};
use super::table::{CROWD, hash_bits};
use super::{conditioned, sorted};
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
/// What stays in the cache of a core, and in the one that all share.
const CACHE_BYTES: f64 = 512.0 * 1024.0;
const SHARED_CACHE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// One access at random inside these, and beyond them, while others are under way.
const NEAR_NS: f64 = 1.0;
const FAR_NS: f64 = 4.0;
const MEMORY_NS: f64 = 12.0;
/// How many chunks a store has at least; a window is no larger than one.
const CHUNKS: u64 = 64;
/// How many such accesses lead to a bucket and its entries.
const SURVIVOR_ACCESSES: f64 = 5.0;
/// Marking one value within one bit of a fingerprint's block, by where the filter is: inside the first
/// cache or beyond it.
const MARK_NS: [f64; 2] = [1.0, 8.0];
/// Looking, for one that passes, whether one such value is held.
const FLIP_NS: f64 = 2.0;

/// What is to be joined, and by how many.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// The distinct fingerprints of the batch.
    pub batch: u64,
    /// Those of the store.
    pub store: u64,
    /// The largest distance that counts as near.
    pub k: u32,
    /// The width of a fingerprint.
    pub width: Width,
    /// The workers of a process.
    pub workers: u64,
    /// Whether segments of the store have their cold bits apart: then the batch is arranged twice.
    pub split: bool,
}

/// How a design is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The batch is indexed; the store is put through.
    Indexed,
    /// Windows of the store are sorted with the batch, key after key.
    Sorted,
}

/// What a design is expected to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The design, never [`Design::Auto`].
    pub design: Design,
    /// How it is carried out.
    pub way: Way,
    /// How many tables or keys it has.
    pub tables: u64,
    /// Time of one thread for each fingerprint of the store, in nanoseconds.
    pub nanoseconds: f64,
    /// Time of one thread in all: the batch arranged, and joined with the store.
    pub seconds: f64,
    /// How many bytes it takes, with all workers.
    pub memory_bytes: u64,
}

impl Estimate {
    /// The design, and `sorted` if that is how it is carried out.
    pub fn name(&self) -> String {
        match self.way {
            Way::Indexed => self.design.to_string(),
            Way::Sorted => format!("{} sorted", self.design),
        }
    }

    /// Counts the memory of the batch by its hot bits too.
    fn arrange_twice(&mut self, problem: &Problem) {
        let hot_bytes = match self.way {
            Way::Indexed => self.memory_bytes,
            Way::Sorted => problem.batch.saturating_mul(u64::from(problem.width.bits() / 8)),
        };
        self.memory_bytes = self.memory_bytes.saturating_add(hot_bytes);
    }
}

/// The design to use, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cheapest for the store that fits into memory.
    pub chosen: Estimate,
    /// All the others, from the cheapest on, those that do not fit included.
    pub alternatives: Vec<Estimate>,
    /// How the batch is joined with itself.
    pub itself: Estimate,
    /// One sentence for people.
    pub why: String,
}

/// Finds the cheapest design with at most `memory_bytes` for the batch against the store, and for the
/// batch against itself. One that is `asked` for and not [`Design::Auto`] is used for the store; where
/// there is none and it has masks, for the batch.
///
/// # Errors
/// [`Kind::Usage`] where `k` is beyond every design or beyond the one that is asked for, or no design
/// fits into the memory.
pub fn choose(asked: Design, problem: &Problem, memory_bytes: u64) -> Result<Plan> {
    let &Problem { k, width, .. } = problem;
    let designs = match asked {
        Design::Auto => candidates(k, width)?,
        asked => vec![asked],
    };
    let mut estimates = Vec::new();
    for design in designs {
        estimates.extend(estimate(design, problem)?);
    }
    if problem.split {
        estimates.iter_mut().for_each(|estimate| estimate.arrange_twice(problem));
    }
    estimates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let itself = itself(asked, problem)?;
    let fits = |estimate: &Estimate| estimate.memory_bytes <= memory_bytes;
    let chosen = match (estimates.iter().position(fits), asked) {
        (Some(fits), _) => fits,
        (None, Design::Auto) => return Err(too_large(&estimates, memory_bytes)),
        (None, _) => smallest(&estimates),
    };
    let chosen = estimates.remove(chosen);
    let why = why(&chosen, &estimates, &itself, problem);
    Ok(Plan { chosen, alternatives: estimates, itself, why })
}

/// What `design` costs, in each way that it can be carried out.
///
/// # Errors
/// [`Kind::Usage`] where the design does not cover `k`, and for [`Design::Auto`].
fn estimate(design: Design, problem: &Problem) -> Result<Vec<Estimate>> {
    match design {
        Design::Conditioned => estimate_conditioned(problem).map(|it| vec![it]),
        Design::Halves => estimate_halves(problem).map(|it| vec![it]),
        design => Ok(vec![estimate_tables(design, problem)?, estimate_sorted(design, problem)?]),
    }
}

fn estimate_tables(design: Design, problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, .. } = problem;
    let masks = design.masks(width, k)?;
    let (mut nanoseconds, mut memory_bytes) = (0.0, 0);
    for mask in &masks {
        let table = Shape::of(batch, mask.count_ones(), width);
        nanoseconds += table.nanoseconds();
        memory_bytes += table.memory_bytes;
    }
    let build = BUILD_NS * batch as f64 * masks.len() as f64;
    let seconds = (store as f64 * nanoseconds + build) / 1e9;
    let (tables, way) = (masks.len() as u64, Way::Indexed);
    Ok(Estimate { design, way, tables, nanoseconds, seconds, memory_bytes })
}

fn estimate_conditioned(problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let (design, way) = (Design::Conditioned, Way::Indexed);
    design.check(width, k)?;
    let probe = conditioned::nanoseconds(batch, store, k, width);
    Ok(Estimate {
        design,
        way,
        tables: design.tables(),
        nanoseconds: probe / store.max(1) as f64,
        seconds: (probe + BUILD_NS * batch as f64) / 1e9,
        memory_bytes: conditioned::memory_bytes(batch, width, workers),
    })
}

fn estimate_halves(problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, .. } = problem;
    let (design, way) = (Design::Halves, Way::Indexed);
    design.check(width, k)?;
    let blocks = Block::all(width, k).into_iter();
    let halves: Vec<Half> = blocks.map(|block| Half::of(batch, block, width)).collect();
    let nanoseconds = (0..).zip(&halves).map(|(turn, half)| half.nanoseconds(turn == 0)).sum();
    let build: f64 = halves.iter().map(|half| half.build_ns).sum();
    Ok(Estimate {
        design,
        way,
        tables: halves.len() as u64,
        nanoseconds,
        seconds: (store as f64 * nanoseconds + build * batch as f64) / 1e9,
        memory_bytes: halves.iter().map(|half| half.memory_bytes).sum(),
    })
}

/// The batch and the store window by window, sorted together.
fn estimate_sorted(design: Design, problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let window = store.div_ceil(CHUNKS).min(sorted::WINDOW as u64);
    let windows = store.div_ceil(window.max(1));
    let cost = sorted::Cost::of(design, batch, window, k, width)?;
    let seconds = windows as f64 * cost.nanoseconds / 1e9;
    Ok(Estimate {
        design,
        way: Way::Sorted,
        tables: design.tables(),
        nanoseconds: seconds * 1e9 / store.max(1) as f64,
        seconds,
        memory_bytes: workers * cost.memory_bytes,
    })
}

/// What the batch costs against itself: by the design that is asked for if it has masks and there is no
/// store to use it for. A join with a store that goes on with another design finds the batch's part of
/// it done.
fn itself(asked: Design, problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let designs = match asked.masks(width, k) {
        Ok(_) if store == 0 => vec![asked],
        _ => candidates(k, width)?,
    };
    let mut estimates = Vec::new();
    for design in designs.into_iter().filter(|design| design.masks(width, k).is_ok()) {
        let cost = sorted::Cost::of(design, batch, 0, k, width)?;
        estimates.push(Estimate {
            design,
            way: Way::Sorted,
            tables: design.tables(),
            nanoseconds: cost.nanoseconds / batch.max(1) as f64,
            seconds: cost.nanoseconds / 1e9,
            memory_bytes: workers * cost.memory_bytes,
        });
    }
    let cheapest = estimates.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(cheapest.expect("some design with masks covers every distance"))
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
    match bytes {
        near if near <= CACHE_BYTES => NEAR_NS,
        far if far <= SHARED_CACHE_BYTES => FAR_NS,
        _ => MEMORY_NS,
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Indexed => "indexed",
            Way::Sorted => "sorted",
        })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { design, way, tables, nanoseconds, memory_bytes, .. } = self;
        let (name, mebibytes) = (design.to_string(), memory_bytes.div_ceil(1 << 20));
        write!(
            f,
            "{name} {way}: {tables} tables, {nanoseconds:.0} ns a fingerprint, {mebibytes} MiB"
        )
    }
}

fn why(chosen: &Estimate, others: &[Estimate], itself: &Estimate, problem: &Problem) -> String {
    let &Problem { batch, store, k, .. } = problem;
    let next = others.iter().find(|other| other.seconds >= chosen.seconds);
    let next = next.map(|next| format!("; next {next}")).unwrap_or_default();
    format!(
        "cheapest for {batch} new against {store} existing within {k} bits: {chosen}{next}; the new \
         against each other: {itself}"
    )
}

/// Which one takes the least memory.
fn smallest(estimates: &[Estimate]) -> usize {
    let sizes = (0..).zip(estimates).map(|(at, estimate)| (estimate.memory_bytes, at));
    sizes.min().expect("a design has an estimate").1
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
    use std::sync::Arc;

    use super::*;

    const WIDTHS: [Width; 2] = [Width::W64, Width::W128];

    fn problem(batch: u64, store: u64, k: u32, width: Width) -> Problem {
        Problem { batch, store, k, width, workers: 1, split: false }
    }

    fn plan(batch: u64, store: u64, k: u32, width: Width, memory_bytes: u64) -> Result<Plan> {
        choose(Design::Auto, &problem(batch, store, k, width), memory_bytes)
    }

    #[test]
    fn there_is_a_plan_for_every_distance() {
        for (k, width) in (0..=15).flat_map(|k| WIDTHS.map(|width| (k, width))) {
            for batch in [0, 1, 1000, 1_000_000, u64::from(u32::MAX)] {
                let plan = plan(batch, 8_000_000_000, k, width, u64::MAX).unwrap();
                for chosen in [&plan.chosen, &plan.itself] {
                    assert!(chosen.design.check(width, k).is_ok());
                }
                assert!(plan.alternatives.iter().all(|other| other.seconds >= plan.chosen.seconds));
            }
        }
        assert_eq!(plan(1, 1, 16, Width::W64, u64::MAX).unwrap_err().kind(), Kind::Usage);
    }

    #[test]
    fn a_dense_store_takes_the_conditioned_probe_and_a_batch_too_large_for_tables_is_sorted() {
        for width in WIDTHS {
            let dense = plan(1_000_000, 8_000_000_000, 3, width, u64::MAX).unwrap();
            assert_eq!(dense.chosen.design, Design::Conditioned, "{}", dense.why);
            let large = plan(100_000_000, 100_000_000, 3, width, 1 << 30).unwrap();
            assert_eq!(large.chosen.way, Way::Sorted, "{}", large.why);
            let alone = plan(1_000_000, 0, 3, width, u64::MAX).unwrap();
            assert_eq!((alone.chosen.way, alone.chosen.seconds), (Way::Sorted, 0.0));
        }
    }

    #[test]
    fn what_is_asked_for_is_done_in_the_cheaper_way_that_fits() {
        let problem = problem(10_000_000, 100, 3, Width::W64);
        let plan = choose(Design::Ten, &problem, 1 << 20).unwrap();
        assert_eq!((plan.chosen.design, plan.chosen.way), (Design::Ten, Way::Sorted));
        let alone = Problem { store: 0, ..problem };
        let itself = |asked| choose(asked, &alone, 1 << 30).unwrap().itself.design;
        assert_eq!([Design::Four, Design::Twenty].map(itself), [Design::Four, Design::Twenty]);
        assert_eq!(itself(Design::Halves), plan.itself.design);
        let plan = choose(Design::Conditioned, &problem, 1 << 30).unwrap();
        assert_eq!(plan.chosen.design, Design::Conditioned);
        assert!(choose(Design::Ten, &Problem { k: 4, ..problem }, 1 << 30).is_err());
    }

    #[test]
    fn every_worker_takes_its_memory() {
        let problem = problem(1_000_000, 8_000_000_000, 3, Width::W64);
        let memory = |workers| {
            choose(Design::Conditioned, &Problem { workers, ..problem }, u64::MAX)
                .unwrap()
                .chosen
                .memory_bytes
        };
        assert_eq!(memory(3) - memory(2), memory(2) - memory(1));
        assert!(memory(16) > 8 * memory(1));
    }

    #[test]
    fn of_masks_a_million_against_eight_thousand_million_takes_the_papers_ten_tables() {
        let cheapest = |width| {
            let plan = plan(1_000_000, 8_000_000_000, 3, width, u64::MAX).unwrap();
            let mut others = plan.alternatives.iter();
            let cheapest = others.find(|other| other.design.masks(width, 3).is_ok()).unwrap();
            (cheapest.design, cheapest.way)
        };
        assert_eq!(
            WIDTHS.map(cheapest),
            [(Design::Ten, Way::Indexed), (Design::Four, Way::Indexed)]
        );
    }

    #[test]
    fn a_store_some_times_the_batch_takes_the_halves() {
        let plan = plan(1_000_000, 10_000_000, 3, Width::W64, u64::MAX).unwrap();
        assert_eq!(plan.chosen.design, Design::Halves, "{}", plan.why);
    }

    #[test]
    fn the_halves_take_the_memory_they_say() {
        use super::super::Method;
        let batch: Arc<[u64]> = (0..20_000).map(|i| i * (u64::MAX / 20_000)).collect();
        let count = batch.len() as u64;
        let said = choose(Design::Halves, &problem(count, 1, 3, Width::W64), u64::MAX).unwrap();
        let (said, way) = (said.chosen.memory_bytes, said.chosen.way);
        let taken = Method::build(&batch, Design::Halves, way, 3).unwrap().memory_bytes();
        assert!(taken.abs_diff(said) < 1 << 10, "{taken} {said}");
    }

    #[test]
    fn a_store_with_cold_bits_apart_takes_the_batch_twice() {
        let whole = problem(1_000_000, 8_000_000_000, 3, Width::W64);
        for design in [Design::Conditioned, Design::Halves, Design::Ten] {
            let bytes = |split| {
                let plan = choose(design, &Problem { split, ..whole }, u64::MAX).unwrap();
                plan.chosen.memory_bytes
            };
            assert_eq!(bytes(true), 2 * bytes(false));
        }
    }

    #[test]
    fn less_memory_takes_less_until_none_is_left() {
        let free = plan(1_000_000, 8_000_000_000, 9, Width::W64, u64::MAX).unwrap();
        let tight = plan(1_000_000, 8_000_000_000, 9, Width::W64, free.chosen.memory_bytes - 1);
        assert!(tight.unwrap().chosen.memory_bytes < free.chosen.memory_bytes);
        let error = plan(1_000_000, 8_000_000_000, 5, Width::W64, 1 << 20).unwrap_err();
        assert!(error.to_string().contains("--memory"), "{error}");
    }
}
