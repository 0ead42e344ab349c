//! Which design is cheapest for a batch and a store of given sizes: the cost model.
//!
//! The model counts the steps of each design on uniform fingerprints, and weighs them with measured constants; only
//! their ratios decide. The cost of a design is beside the design: `sorted::cost`, `conditioned::cost`,
//! `multi_index::cost`. The conditioned probe is cheap where the store is dense, vectors where it is a few times as
//! large as the batch and beyond 3 bits, and sorting where the batch is large or crowded. The batch and itself are
//! joined by sorting or by multi-index hashing, and priced separately.
//!
//! Real fingerprints are not uniform. How many pairs meet in a key is counted in samples of the batch and of the store
//! ([`Distribution`](super::Distribution)), and all designs are priced by that: what shares a key is compared, and
//! of a slice of the key space only the other bits tell fingerprints apart.
//!
//! A wrong estimate changes the plan, but never the matches found.
//!
//! All candidates are priced, and the cheapest one that fits into memory is taken. Start with [`choose`].

use std::collections::HashSet;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use crate::tables::design::{Design, Estimate};
use crate::tables::distribution::Problem;
use crate::tables::masked::{MAX_DISTANCE, Masked};
use crate::tables::{conditioned, multi_index, sorted};

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cheapest for the store that fits into memory.
    pub chosen: Estimate,
    /// All the others, the cheapest first, including those that do not fit.
    pub alternatives: Vec<Estimate>,
    pub itself: Estimate,
    /// About how many fingerprints are gathered at once at most, if it is joined with itself by sorting.
    pub share: u64,
    pub why: String,
}

/// The memory for the tables of a join, in bytes, with the scratch of all workers.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// For the batch arranged for the store.
    pub store: u64,
    /// For the batch arranged for itself. What it is joined by depends on this, so it must be the same in all
    /// processes. Without a store it may use the other part too.
    pub itself: u64,
}

/// So much for the store, and a quarter of it beside that for the batch itself.
impl From<u64> for Memory {
    fn from(bytes: u64) -> Memory {
        Memory { store: bytes, itself: bytes / 4 }
    }
}

/// Finds the cheapest design within `memory` for the batch against the store, and for the
/// batch against itself. If a design other than [`Design::Auto`] is `asked` for, it is used for the store.
/// Without a store it is used for the batch, if it has masks or is `multi-index`.
pub fn choose(asked: Design, problem: &Problem, memory: impl Into<Memory>) -> Result<Plan> {
    let memory = memory.into();
    let &Problem { k, width, store, workers, .. } = problem;
    if k > MAX_DISTANCE {
        return Err(Error::new(Kind::Usage, "the distance is too large")
            .expected(format!("at most {MAX_DISTANCE}"))
            .found(k));
    }
    let designs = match asked {
        Design::Auto => candidates(k, width),
        asked => vec![asked],
    };
    let fits = |estimate: &Estimate| estimate.memory_bytes <= memory.store;
    let price = |design, problem: &Problem| estimate(design, problem, memory.store);
    // Without a store nothing is compared with it, and no key of it is crowded.
    let uniform = Problem { distribution: problem.distribution.uniform(), ..*problem };
    let against = if store == 0 { &uniform } else { problem };
    let mut estimates = priced(designs, against, fits, price)?;
    estimates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let spare = if store == 0 { memory.store } else { 0 };
    let itself_bytes = memory.itself.saturating_add(spare);
    let share = sorted::share(itself_bytes, width, workers);
    let itself = itself(asked, problem, itself_bytes, share)?;
    let chosen = match (estimates.iter().position(fits), asked) {
        (Some(fits), _) => fits,
        (None, Design::Auto) => return Err(too_large(&estimates, memory.store)),
        (None, _) => smallest(&estimates),
    };
    let chosen = estimates.remove(chosen);
    let why = why(&chosen, &estimates, &itself, problem);
    Ok(Plan { chosen, alternatives: estimates, itself, share, why })
}

/// The cost of the batch against itself: by the design that is asked for, if it can do that and there is no
/// store to use it for. With a store the choice does not depend on what is asked for, so a join that is
/// resumed with another design finds its finished parts of the batch. Nor does it ever depend on the
/// machine: all processes of a join must divide the batch in the same way. What is sorted takes shares of the
/// batch at a time, so it fits into any memory.
fn itself(asked: Design, problem: &Problem, memory_bytes: u64, share: u64) -> Result<Estimate> {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let most = memory_bytes.min(multi_index::SELF_BYTES);
    let joins_itself = |design: &Design| match design {
        Design::Masked(_) => true,
        Design::MultiIndex => multi_index::of_itself(problem).memory_bytes <= most,
        _ => false,
    };
    let designs = match asked {
        Design::Masked(_) | Design::MultiIndex if store == 0 => vec![asked],
        _ => candidates(k, width).into_iter().filter(joins_itself).collect(),
    };
    let price = |design: Design, problem: &Problem| {
        let Design::Masked(masked) = design else {
            return Ok(multi_index::of_itself(problem));
        };
        let meeting = |key| problem.distribution.meeting_itself(key);
        let pass = sorted::Pass::of(masked, [batch, 0], width, meeting, share)?;
        Ok(Estimate {
            design,
            tables: masked.tables(),
            nanoseconds: pass.nanoseconds / batch.max(1) as f64,
            seconds: pass.nanoseconds / 1e9,
            memory_bytes: workers * pass.memory_bytes,
            window: None,
        })
    };
    let estimates = priced(designs, problem, |_| true, price)?;
    let cheapest = estimates.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(cheapest.expect("what is asked for, or some design with masks"))
}

/// What `designs` cost by `price`. To count how often fingerprints agree under each key of a design with masks takes
/// long, and such a design never costs less than for uniform fingerprints. So one that would cost more for these than the
/// cheapest design that `fits` keeps that cost.
fn priced(
    designs: Vec<Design>,
    problem: &Problem,
    fits: impl Fn(&Estimate) -> bool,
    price: impl Fn(Design, &Problem) -> Result<Estimate>,
) -> Result<Vec<Estimate>> {
    let uniform = Problem { distribution: problem.distribution.uniform(), ..*problem };
    let is_masked = |design| matches!(design, Design::Masked(_));
    let bound = |design| price(design, if is_masked(design) { &uniform } else { problem });
    let mut estimates = designs.into_iter().map(bound).collect::<Result<Vec<_>>>()?;
    estimates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let mut cheapest = f64::INFINITY;
    for estimate in &mut estimates {
        if is_masked(estimate.design) && estimate.seconds <= cheapest {
            *estimate = price(estimate.design, problem)?;
        }
        if fits(estimate) {
            cheapest = cheapest.min(estimate.seconds);
        }
    }
    Ok(estimates)
}

/// What `design` costs, in windows that fit into the memory.
fn estimate(design: Design, problem: &Problem, memory_bytes: u64) -> Result<Estimate> {
    let &Problem { k, width, workers, .. } = problem;
    design.check(width, k)?;
    match design {
        Design::Masked(masked) => {
            sorted::cost(masked, problem, sorted::window(memory_bytes, width, workers))
        }
        Design::MultiIndex => Ok(multi_index::cost(problem)),
        _ => Ok(conditioned::cost(problem)),
    }
}

/// The designs worth considering: the paper's, and blocks that cover exactly `k`; then those without masks.
fn candidates(k: u32, width: Width) -> Vec<Design> {
    let blocks = (1..=6).map(|choose| Masked::Blocks { blocks: k + choose, choose });
    let masked = Masked::PAPER.into_iter().chain(blocks).map(Design::Masked);
    let mut seen = HashSet::new();
    let distinct = |design: &Design| design.masks(width, k).is_ok_and(|masks| seen.insert(masks));
    let mut found: Vec<Design> = masked.filter(distinct).collect();
    let unmasked = [Design::Conditioned, Design::MultiIndex];
    found.extend(unmasked.into_iter().filter(|design| k <= design.covers()));
    found
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

fn smallest(estimates: &[Estimate]) -> usize {
    let sizes = (0..).zip(estimates).map(|(at, estimate)| (estimate.memory_bytes, at));
    sizes.min().expect("a design has an estimate").1
}

fn too_large(estimates: &[Estimate], memory_bytes: u64) -> Error {
    let least = estimates.iter().map(|estimate| estimate.memory_bytes).min().unwrap_or_default();
    Error::new(Kind::Usage, "no table design of this batch fits into the memory allowed")
        .expected(format!("at least {} MiB", least.div_ceil(1 << 20)))
        .found(format!("{} MiB", memory_bytes >> 20))
        .help("allow more memory, or divide the day into several batches")
        .setting("memory")
}

#[cfg(test)]
mod tests;
