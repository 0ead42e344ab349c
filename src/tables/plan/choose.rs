//! Which design is cheapest for so large a batch and so large a store: the cost model.
//!
//! A fingerprint pays, in each table, for one look into the filter; where it passes, for the way to a
//! bucket; and there, for each comparison. Few tables have short keys and many comparisons, many
//! tables have long keys and many looks. The model counts these on uniform fingerprints and weighs
//! them with the constants in `estimate`, measured on one thread of a 2-core Zen 5 machine; only their
//! ratios decide. The conditioned probe counts for itself, in `conditioned::cost`, and so does sorting, in
//! `sorted`: the first is cheap where the store is dense, the second where the batch is large. The
//! halves pay for a look into a large filter for each block, and before that for all that is marked
//! there: they are cheap where the store is a few times as large as the batch. At 128 bits the high half
//! may be left to the conditioned probe, and the low half alone to such blocks. A design with masks goes
//! by tables or by sorting, whichever is cheaper. The batch and itself are always joined by sorting, and
//! priced apart. A larger batch or memory in use elsewhere moves the result, never the matches found.

mod estimate;

use std::collections::HashSet;
use std::fmt;

use super::design::{Design, MAX_DISTANCE};
use super::sorted;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use estimate::estimate;

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
    if k > MAX_DISTANCE {
        return Err(Error::new(Kind::Usage, "the distance is too large")
            .expected(format!("at most {MAX_DISTANCE}"))
            .found(k));
    }
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
    let without_masks = Design::WITHOUT_MASKS.into_iter();
    found.extend(without_masks.filter(|design| design.check(width, k).is_ok()));
    match found.is_empty() {
        true => Err(Design::Blocks { blocks: k + 1, choose: 1 }.masks(width, k).unwrap_err()),
        false => Ok(found),
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
mod tests;
