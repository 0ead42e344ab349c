//! The prices of this machine, measured by small joins of each kind.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::buckets::{Buckets, Entry};
use super::conditioned;
use super::design::Design;
use super::masked::Masked;
use super::method::{Method, MethodScratch};
use super::prices::{Prices, REACHES};
use super::probe::Probe;
use super::problem::Problem;
use super::table::hash;
use super::unmasked::Unmasked;
use super::way::Way;
use crate::fingerprint::Fingerprint;
use crate::hamming::lanes::{Columns, LANES, Lanes, columns};
use crate::hamming::multiversion::{Multiversion, widest};

/// How many loads are measured in each.
const LOADS: u64 = 50_000;
/// Of the turns of a measurement the fastest counts: other programs only make it longer.
const TURNS: usize = 3;

/// What [`short`] gave on the machine of [`Prices::USUAL`]. What is measured is small and met before, so it
/// stays in the cache and its branches are foreseen; what whole joins pay is told by both together.
const SHORT: Prices =
    Prices { loads: [0.44, 2.4, 15.5], look: 1.85, scan: 1.0, key: 2.35, compare: 2.93, sort: 2.0 };

impl Prices {
    /// Measures this machine, of which so many workers will be busy: the usual prices, each times as much as this
    /// machine takes longer for a short measurement. It takes about 50 ms.
    #[must_use]
    pub fn measured(workers: usize) -> Prices {
        let here = short(workers);
        let price = |of: fn(&Prices) -> f64| of(&Prices::USUAL) * of(&here) / of(&SHORT);
        Prices {
            loads: [price(|it| it.loads[0]), price(|it| it.loads[1]), price(|it| it.loads[2])],
            look: price(|it| it.look),
            scan: price(|it| it.scan),
            key: price(|it| it.key),
            compare: price(|it| it.compare),
            sort: price(|it| it.sort),
        }
    }
}

/// What short measurements of all steps give.
fn short(workers: usize) -> Prices {
    let all = Prices { loads: loads(workers), look: look(), sort: sort(), ..Prices::USUAL };
    let all = Prices { scan: scan(&all), ..all };
    Prices { key: key(&all), compare: compare(), ..all }
}

/// The nanoseconds of the fastest of some turns.
fn fastest(mut turn: impl FnMut()) -> f64 {
    let time = |_| {
        let begun = Instant::now();
        turn();
        begun.elapsed().as_secs_f64() * 1e9
    };
    (0..TURNS).map(time).fold(f64::INFINITY, f64::min)
}

/// One random load from each of the reaches, on all workers at once; the slowest worker counts.
fn loads(workers: usize) -> [f64; 3] {
    let words: Vec<u64> = (0..REACHES[2] / 8).collect();
    let of = |bytes: u64| {
        let shift = 64 - (bytes / 8).ilog2();
        let all = |from: u64| {
            let load = |sum: u64, at: u64| sum.wrapping_add(words[(hash(at) >> shift) as usize]);
            let turn = || {
                black_box((from..from + LOADS).fold(0, load));
            };
            fastest(turn) / LOADS as f64
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..workers.max(1) as u64)
                .map(|worker| scope.spawn(move || all(worker * LOADS)))
                .collect();
            let times = threads.into_iter().map(|thread| thread.join().unwrap_or(f64::INFINITY));
            times.fold(0.0, f64::max)
        })
    };
    REACHES.map(of)
}

/// `count` even fingerprints, as dense as if `density` filled the whole key space, ascending.
fn fingerprints(seed: u64, count: u64, density: u64) -> Arc<[u64]> {
    let step = u64::MAX / density.max(1);
    let tail = |at: u64| (hash(hash(at ^ seed << 40) >> 7 | at << 57)) % step.max(1);
    (0..count).map(|at| at * step + tail(at)).collect()
}

/// The nanoseconds in which `design` probes `store` for `batch` at k = 3, once both are arranged.
fn probing(design: Design, batch: &Arc<[u64]>, store: &[u64]) -> f64 {
    let method =
        Method::build(batch, design, Way::Indexed, 3, 1).expect("the design covers 3 bits");
    let mut scratch = MethodScratch::default();
    let mut found = |hit| {
        black_box(hit);
    };
    fastest(|| method.probe(&[store], &mut scratch, &mut found))
}

fn look() -> f64 {
    let (batch, store) = (fingerprints(1, 1000, 1000), fingerprints(2, 20_000, 20_000));
    probing(Masked::Ten.into(), &batch, &store) / (10.0 * store.len() as f64)
}

fn scan(prices: &Prices) -> f64 {
    let density = 1_000_000_000;
    let (batch, store) = (fingerprints(1, 1000, 1000), fingerprints(2, 50_000, density));
    let taken = probing(Unmasked::Conditioned.into(), &batch, &store);
    conditioned::scan_price(taken / store.len() as f64, &usual(&batch, density), prices)
}

fn key(prices: &Prices) -> f64 {
    let density = 200_000;
    let (batch, store) = (fingerprints(1, 20_000, 20_000), fingerprints(2, 5000, density));
    let taken = probing(Unmasked::Conditioned.into(), &batch, &store);
    conditioned::key_price(taken / store.len() as f64, &usual(&batch, density), prices)
}

fn compare() -> f64 {
    let [held, others] = [1, 2].map(|seed| {
        fingerprints(seed, 1 << 11, 1 << 11).iter().map(|&it| columns(hash(it))).collect::<Vec<_>>()
    });
    let mut groups = vec![Lanes::default(); held.len() / LANES];
    for (at, &columns) in held.iter().enumerate() {
        groups[at / LANES].set(at % LANES, columns);
    }
    let comparisons = groups.len() * others.len();
    let turn = || {
        black_box(widest(Comparing { groups: &groups, others: &others }));
    };
    fastest(turn) / comparisons as f64
}

/// Compares each of some fingerprints with each of some groups, as `multi-index` does.
struct Comparing<'a> {
    groups: &'a [Lanes],
    others: &'a [Columns],
}

impl Multiversion for Comparing<'_> {
    type Output = usize;

    /// How many fingerprints a group may have.
    #[inline(always)]
    fn run(self) -> usize {
        let mut near = 0;
        for lanes in self.groups {
            for &columns in self.others {
                near += usize::from(lanes.may_have(columns, 3));
            }
        }
        near
    }
}

fn sort() -> f64 {
    let entries = fingerprints(1, 1 << 14, 1 << 14);
    let entries = entries.iter().zip(0..).map(|(&fingerprint, place)| Entry { fingerprint, place });
    let mut buckets = Buckets::default();
    let bucket = |fingerprint| (hash(fingerprint) >> 52) as usize;
    fastest(|| buckets.sort(entries.clone(), 1 << 12, bucket)) / f64::from(1 << 14)
}

/// What is measured, as the cost model sees it.
fn usual(batch: &[u64], store: u64) -> Problem {
    Problem::uniform(batch.len() as u64, store, 3, u64::WIDTH, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_are_prices() {
        let Prices { loads, look, scan, key, compare, sort } = Prices::measured(2);
        let all = [&loads[..], &[look, scan, key, compare, sort]].concat();
        assert!(all.iter().all(|&price| price > 0.0 && price < 1e6), "{all:?}");
    }
}
