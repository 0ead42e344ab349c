//! The choice: all candidates are priced, and the cheapest one that fits into memory is taken.

use std::collections::HashSet;

use super::estimate::Estimate;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use crate::tables::design::Design;
use crate::tables::masked::{MAX_DISTANCE, Masked};
use crate::tables::prices::Prices;
use crate::tables::problem::{Cost, Problem};
use crate::tables::unmasked::Unmasked;
use crate::tables::way::Way;
use crate::tables::{multi_index, sorted, table_cost};

/// The design to use, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cheapest for the store that fits into memory.
    pub chosen: Estimate,
    /// All the others, the cheapest first, including those that do not fit.
    pub alternatives: Vec<Estimate>,
    /// How the batch is joined with itself.
    pub itself: Estimate,
    /// About how many fingerprints are gathered at once at most, if it is joined with itself by sorting.
    pub share: u64,
    /// One sentence for people.
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
///
/// # Errors
/// [`Kind::Usage`] if no design covers `k`, or not the one that is asked for, or if no design fits into
/// the memory.
pub fn choose(asked: Design, problem: &Problem, memory: impl Into<Memory>) -> Result<Plan> {
    choose_at(asked, problem, &Prices::USUAL, memory.into())
}

/// [`choose`] at other prices.
pub(in crate::rooms::tables) fn choose_at(
    asked: Design,
    problem: &Problem,
    prices: &Prices,
    memory: Memory,
) -> Result<Plan> {
    let &Problem { k, width, store, workers, .. } = problem;
    if k > MAX_DISTANCE {
        return Err(Error::new(Kind::Usage, "the distance is too large")
            .expected(format!("at most {MAX_DISTANCE}"))
            .found(k));
    }
    let designs = match asked {
        Design::Auto => candidates(k, width)?,
        asked => vec![asked],
    };
    let fits = |estimate: &Estimate| estimate.memory_bytes <= memory.store;
    let price = |design, problem: &Problem| estimates_of(design, problem, prices);
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
    let multi_index = Design::from(Unmasked::MultiIndex);
    let joins_itself = |design: Design| design == multi_index || design.masked(width, k).is_ok();
    let asked = (store == 0 && joins_itself(asked)).then_some(asked);
    let designs = match asked {
        Some(asked) => vec![asked],
        None => candidates(k, width)?,
    };
    let price = |design: Design, problem: &Problem| {
        if let Ok(masked) = design.masked(width, k) {
            let meeting = |key| problem.distribution.meeting_itself(key);
            let pass = sorted::Pass::of(masked, [batch, 0], width, meeting, &Prices::USUAL, share)?;
            let cost = Cost {
                tables: masked.tables(),
                nanoseconds: pass.nanoseconds / batch.max(1) as f64,
                seconds: pass.nanoseconds / 1e9,
                memory_bytes: workers * pass.memory_bytes,
            };
            return Ok(vec![Estimate::new(design, Way::Sorted, cost)]);
        }
        let cost = multi_index::of_itself(problem);
        let most = memory_bytes.min(multi_index::SELF_BYTES);
        let is_possible = design == multi_index && (cost.memory_bytes <= most || asked.is_some());
        Ok(is_possible.then(|| Estimate::new(design, Way::Indexed, cost)).into_iter().collect())
    };
    let estimates = priced(designs, problem, |_| true, price)?;
    let cheapest = estimates.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(cheapest.expect("what is asked for, or some design with masks"))
}

/// Where many fingerprints share a key, the filter of a table is emptier, and the table cheaper: by less than this factor.
const SLACK: f64 = 2.0;

/// What `designs` cost by `price`. To count how often fingerprints agree under each key of a design with masks takes long, and such a
/// design hardly ever costs less than for uniform fingerprints. So a design with masks that would cost [`SLACK`] times as much for these as the
/// cheapest design that `fits` keeps that cost.
fn priced(
    designs: Vec<Design>,
    problem: &Problem,
    fits: impl Fn(&Estimate) -> bool,
    price: impl Fn(Design, &Problem) -> Result<Vec<Estimate>>,
) -> Result<Vec<Estimate>> {
    let uniform = Problem { distribution: problem.distribution.uniform(), ..*problem };
    let at_least = |design: Design| {
        let problem = if matches!(design, Design::Masked(_)) { &uniform } else { problem };
        Ok((design, price(design, problem)?))
    };
    let mut bounds = designs.into_iter().map(at_least).collect::<Result<Vec<_>>>()?;
    bounds.sort_by(|(_, a), (_, b)| least_seconds(a).total_cmp(&least_seconds(b)));
    let mut cheapest = f64::INFINITY;
    let mut all = Vec::new();
    for (design, bound) in bounds {
        let is_exact = !matches!(design, Design::Masked(_));
        if !is_exact && least_seconds(&bound) > SLACK * cheapest {
            all.extend(bound);
            continue;
        }
        let exact = if is_exact { bound } else { price(design, problem)? };
        cheapest = cheapest.min(least_seconds(exact.iter().filter(|it| fits(it))));
        all.extend(exact);
    }
    Ok(all)
}

/// The time of the fastest of `estimates`.
fn least_seconds<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> f64 {
    estimates.into_iter().map(|estimate| estimate.seconds).fold(f64::INFINITY, f64::min)
}

/// What `design` costs, in each way that it can be carried out.
///
/// # Errors
/// [`Kind::Usage`] if the design does not cover `k`, and for [`Design::Auto`].
fn estimates_of(design: Design, problem: &Problem, prices: &Prices) -> Result<Vec<Estimate>> {
    design.check(problem.width, problem.k)?;
    let estimate = |way, cost| Estimate::new(design, way, cost);
    match design {
        Design::Auto => Ok(Vec::new()),
        Design::Unmasked(unmasked) => {
            let window = (unmasked == Unmasked::MultiIndex).then(|| multi_index::window(problem));
            let window = window.map(|window| window as usize);
            Ok(vec![Estimate { window, ..estimate(Way::Indexed, unmasked.cost(problem, prices)) }])
        }
        Design::Masked(masked) => Ok(vec![
            estimate(Way::Indexed, table_cost::cost(masked, problem, prices)?),
            estimate(Way::Sorted, sorted::cost(masked, problem, prices)?),
        ]),
    }
}

/// The designs worth considering: the paper's, and blocks that cover exactly `k`; then those without masks.
fn candidates(k: u32, width: Width) -> Result<Vec<Design>> {
    let blocks = (1..=6).map(|choose| Masked::Blocks { blocks: k + choose, choose });
    let masked = Masked::PAPER.into_iter().chain(blocks).map(Design::Masked);
    let mut seen = HashSet::new();
    let distinct = |design: &Design| design.masks(width, k).is_ok_and(|masks| seen.insert(masks));
    let mut found: Vec<Design> = masked.filter(distinct).collect();
    let unmasked = Unmasked::ALL.iter().copied().map(Design::Unmasked);
    found.extend(unmasked.filter(|design| design.check(width, k).is_ok()));
    if found.is_empty() {
        let simplest = Design::from(Masked::Blocks { blocks: k + 1, choose: 1 });
        return Err(simplest.masks(width, k).unwrap_err());
    }
    Ok(found)
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

/// The index of the estimate with the least memory.
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
