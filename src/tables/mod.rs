//! The batch arranged so that near pairs meet.
//!
//! The batch B is small and the store F is large, so B is indexed and F streams past. A table indexes
//! B under a key, some of the fingerprint's bits; a fingerprint of F is compared with those of B that
//! have its key. A [`Design`] is a set of keys such that two fingerprints within k of each other share
//! at least one of them ([`design`] has the argument), so together the tables miss nothing, and since
//! what meets is compared in full, they invent nothing either.
//!
//! ```text
//! Design, k -> masks -> Tables(B) -> probe(F) -> Hit { batch, at, distance }
//! ```

pub mod design;
pub mod plan;
mod table;

use std::thread;

pub use design::{Design, MAX_DISTANCE};
pub use plan::{Estimate, Plan};

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use table::{Survivor, Table, first_meeting};

/// How many bytes of fingerprints go through one table before the next table's turn: so many that its
/// filter is worth bringing into the cache.
const BLOCK_BYTES: usize = 1 << 20;

/// How many survivors' buckets are fetched before the first is compared.
const GROUP: usize = 64;

/// How many entries more, for each fingerprint of the batch, the crowded buckets of one table may hold.
const SPARE: usize = 16;

/// A pair within k: a fingerprint of the batch and one of those probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    /// Which fingerprint of the batch, counted in its order.
    pub batch: u32,
    /// Which of the fingerprints probed, counted in the order of the call.
    pub at: u32,
    /// In how many bits they differ.
    pub distance: u8,
}

/// A way to find the near pairs of the batch and any other fingerprints. All ways find the same ones.
pub trait Probe<F>: Send + Sync {
    /// Calls `found` exactly once for each pair within k, in no particular order. At most `u32::MAX`
    /// fingerprints a call; they need not be sorted or distinct.
    fn probe(&self, fingerprints: &[F], scratch: &mut Scratch, found: &mut dyn FnMut(Hit));
}

/// Memory that a probe works in, to be kept from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    survivors: Vec<Survivor>,
}

/// The batch under every key of a design.
#[derive(Debug)]
pub struct Tables<F> {
    tables: Vec<Table<F>>,
    k: u32,
}

impl<F: Fingerprint> Tables<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`. [`Design::Auto`]
    /// stands for what [`plan`] finds cheapest when the batch probes itself.
    ///
    /// # Errors
    /// [`Kind::Usage`] where the design does not cover `k`, or the batch has more than `u32::MAX`
    /// fingerprints.
    pub fn build(batch: &[F], design: Design, k: u32) -> Result<Tables<F>> {
        debug_assert!(batch.is_sorted_by(|a, b| a < b), "a batch is sorted and distinct");
        let count = u32::try_from(batch.len()).map_err(|_| too_many(batch.len()))?;
        let design = match design {
            Design::Auto => {
                plan::choose(count.into(), count.into(), k, F::WIDTH, u64::MAX)?.chosen.design
            }
            design => design,
        };
        let masks = design.masks(F::WIDTH, k)?;
        let places: Vec<u32> = (0..count).collect();
        let build = |&mask: &u128| {
            let mut spare = SPARE * batch.len();
            Table::build(batch, &places, mask, k, &mut spare)
        };
        Ok(Tables { tables: in_parallel(&masks, build), k })
    }

    /// How many bytes the tables hold.
    pub fn memory_bytes(&self) -> u64 {
        self.tables.iter().map(Table::memory_bytes).sum()
    }

    /// Puts a block through every table: sift, then compare what survives.
    fn probe_block(&self, block: &[F], survivors: &mut [Survivor], found: &mut dyn FnMut(Hit)) {
        for (turn, table) in self.tables.iter().enumerate() {
            let count = table.sift(block, survivors);
            for survivors in survivors[..count].chunks(GROUP) {
                table.fetch(survivors);
                for survivor in survivors {
                    self.compare(turn, block, survivor, found);
                }
            }
        }
    }

    /// Compares a survivor of table `turn` with its bucket there. A pair may meet in several tables; it
    /// counts in the first, and so exactly once.
    #[inline]
    fn compare(&self, turn: usize, block: &[F], survivor: &Survivor, found: &mut dyn FnMut(Hit)) {
        let &Survivor { at, bucket } = survivor;
        let fingerprint = block[at as usize];
        let mut hit = |batch, entry, distance| {
            if first_meeting(&self.tables, fingerprint ^ entry) == Some(turn) {
                found(Hit { batch, at, distance: distance as u8 });
            }
        };
        self.tables[turn].compare(bucket as usize, fingerprint, self.k, &mut hit);
    }
}

impl<F: Fingerprint> Probe<F> for Tables<F> {
    fn probe(&self, fingerprints: &[F], scratch: &mut Scratch, found: &mut dyn FnMut(Hit)) {
        let size = BLOCK_BYTES / size_of::<F>();
        scratch.survivors.resize(size, Survivor::default());
        for (block, first) in fingerprints.chunks(size).zip((0..).step_by(size)) {
            self.probe_block(block, &mut scratch.survivors, &mut |hit| {
                found(Hit { at: first + hit.at, ..hit });
            });
        }
    }
}

/// The results of `work` on each of `items`, in order, on as many threads as there are cores.
fn in_parallel<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work = &work;
        let shares = items.chunks(share);
        let threads: Vec<_> = shares
            .map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread that builds tables"))
            .collect()
    })
}

fn too_many(found: usize) -> Error {
    Error::new(Kind::Usage, "the batch has too many distinct fingerprints for one process")
        .expected(format!("at most {}", u32::MAX))
        .found(found)
        .help("divide the day into several batches")
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The meaning: every pair, compared.
    fn all_pairs<F: Fingerprint>(batch: &[F], others: &[F], k: u32) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (batch, b) in (0..).zip(batch) {
            for (at, f) in (0..).zip(others) {
                let distance = b.distance(*f);
                if distance <= k {
                    hits.push(Hit { batch, at, distance: distance as u8 });
                }
            }
        }
        hits
    }

    /// Every hit of the tables, sorted; one reported twice stands there twice.
    fn probed<F: Fingerprint>(tables: &Tables<F>, others: &[F]) -> Vec<Hit> {
        let mut hits = Vec::new();
        tables.probe(others, &mut Scratch::default(), &mut |hit| hits.push(hit));
        hits.sort_unstable();
        hits
    }

    fn set<F: Fingerprint>(fingerprints: impl IntoIterator<Item = F>) -> Vec<F> {
        let mut set: Vec<F> = fingerprints.into_iter().collect();
        set.sort_unstable();
        set.dedup();
        set
    }

    /// `fingerprint` with `count` bits flipped, anywhere.
    fn off<F: Fingerprint>(random: &mut ChaCha8Rng, fingerprint: F, count: usize) -> F {
        let bits = rand::seq::index::sample(random, F::BITS as usize, count);
        bits.into_iter().fold(fingerprint, |f, bit| f ^ F::from_u128(1 << bit))
    }

    fn uniform<F: Fingerprint>(random: &mut ChaCha8Rng, count: usize) -> Vec<F> {
        (0..count).map(|_| F::from_u128(random.random())).collect()
    }

    /// Pairs of batch and others: uniform with planted ones at k and k + 1, all in one neighbourhood,
    /// all in the low bits, the extremes.
    fn inputs<F: Fingerprint>(random: &mut ChaCha8Rng, k: u32) -> Vec<(Vec<F>, Vec<F>)> {
        let k = k as usize;
        let batch = set(uniform::<F>(random, 120));
        let near =
            batch.iter().flat_map(|&b| [off(random, b, k), off(random, b, k + 1), b]).collect();
        let centre = F::from_u128(random.random());
        let mut around = |count: usize| {
            set((0..count).map(|i| off(random, centre, i % (k + 3))).collect::<Vec<_>>())
        };
        let clustered = (around(150), around(150));
        let low = |step: u128| set((0..150).map(move |i| F::from_u128(i * step)));
        let extremes = set([F::default(), F::MAX]);
        let towards = (0..k as u32 + 2).map(|bits| F::MAX >> (F::BITS - 1 - bits) >> 1);
        let extreme_others = towards.flat_map(|bits| [bits, !bits]).collect();
        vec![
            (batch.clone(), near),
            clustered,
            (low(1), low(3)),
            (extremes, extreme_others),
            (Vec::new(), batch.clone()),
            (batch, Vec::new()),
        ]
    }

    fn designs(k: u32) -> Vec<Design> {
        let blocks = [1, 2, 3].map(|choose| Design::Blocks { blocks: k + choose, choose });
        let wide = [Design::Blocks { blocks: 64, choose: 1 }, Design::Auto];
        let paper = Design::PAPER.into_iter().filter(|design| k <= design.covers());
        paper.chain(blocks).chain(wide).collect()
    }

    fn every_design_finds_what_all_pairs_find<F: Fingerprint>() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for k in 0..=7 {
            for (batch, others) in inputs::<F>(&mut random, k) {
                let expected = all_pairs(&batch, &others, k);
                for design in designs(k) {
                    let tables = Tables::build(&batch, design, k).unwrap();
                    assert_eq!(probed(&tables, &others), expected, "{design} at {k}");
                }
            }
        }
    }

    #[test]
    fn every_design_is_exact_at_64_bits() {
        every_design_finds_what_all_pairs_find::<u64>();
    }

    #[test]
    fn every_design_is_exact_at_128_bits() {
        every_design_finds_what_all_pairs_find::<u128>();
    }

    #[test]
    fn auto_is_exact_up_to_the_largest_distance() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        for k in 8..=MAX_DISTANCE {
            for (batch, others) in inputs::<u64>(&mut random, k) {
                let tables = Tables::build(&batch, Design::Auto, k).unwrap();
                assert_eq!(probed(&tables, &others), all_pairs(&batch, &others, k), "{k}");
            }
        }
    }

    fn filters_and_blocks_lose_nothing<F: Fingerprint>() {
        let mut random = ChaCha8Rng::seed_from_u64(6);
        let batch = set(uniform::<F>(&mut random, 20_000));
        let planted = batch.iter().step_by(20);
        let others: Vec<F> =
            planted.zip((0..8).cycle()).map(|(&b, bits)| off(&mut random, b, bits)).collect();
        for (k, design) in [(3, Design::Ten), (3, Design::Sixteen), (6, Design::Auto)] {
            let tables = Tables::build(&batch, design, k).unwrap();
            let hits = probed(&tables, &others);
            assert!(hits.len() >= others.len() / 8 * (k as usize + 1));
            assert_eq!(hits, all_pairs(&batch, &others, k), "{design} at {k}");
        }
    }

    #[test]
    fn a_batch_of_thousands_is_exact() {
        filters_and_blocks_lose_nothing::<u64>();
        filters_and_blocks_lose_nothing::<u128>();
    }

    /// A neighbourhood so dense that its buckets are arranged again, and those of its tables too.
    #[test]
    fn crowds_are_divided_and_stay_exact() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let high = 0xabcd_ef01_2345_0000_u64 << 2;
        let batch = set((0..1_u64 << 17).map(|i| high ^ i).chain(uniform(&mut random, 1000)));
        let inside = uniform::<u64>(&mut random, 40).into_iter().map(|f| high ^ f >> 46);
        let others: Vec<u64> = inside.map(|f| off(&mut random, f, 2)).collect();
        for design in [Design::Four, Design::Ten] {
            let tables = Tables::build(&batch, design, 3).unwrap();
            assert!(
                tables.memory_bytes()
                    < (SPARE as u64 + 2) * 13 * design.tables() * batch.len() as u64
            );
            assert!(tables.tables.iter().any(Table::is_divided_twice));
            assert_eq!(probed(&tables, &others), all_pairs(&batch, &others, 3), "{design}");
        }
    }

    #[test]
    fn a_run_longer_than_a_block_is_counted_through() {
        let others = vec![0_u64; BLOCK_BYTES / 8 * 2 + 5];
        let tables = Tables::build(&[1, 1 << 40], Design::Ten, 1).unwrap();
        let hits = probed(&tables, &others);
        assert_eq!(hits, all_pairs(&[1, 1 << 40], &others, 1));
    }

    #[test]
    fn a_design_that_does_not_cover_k_is_refused() {
        assert_eq!(Tables::build(&[1_u64], Design::Four, 4).unwrap_err().kind(), Kind::Usage);
        assert_eq!(Tables::build(&[1_u64], Design::Auto, 16).unwrap_err().kind(), Kind::Usage);
    }
}
