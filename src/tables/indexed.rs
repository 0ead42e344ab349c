//! The paper's design: the batch in one table for each key, and the store streamed past them.
//!
//! A block of the store goes through one table after the other. Table by table, a filter drops nearly all
//! of the block, and what survives is compared with its bucket.

use super::design::Design;
use super::hit::Hit;
use super::probe::Probe;
use super::table::{GROUP, SPARE, Survivor, Table, check_count, first_meeting};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::{Multiversion, widest};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};

/// How many bytes of fingerprints go through one table before the next table's turn: enough to make it
/// worthwhile to bring the table's filter into the cache.
const BLOCK_BYTES: usize = 1 << 20;

/// The batch in one table for each key of a design.
#[derive(Debug)]
pub struct Tables<F> {
    tables: Vec<Table<F>>,
    k: u32,
}

impl<F: Fingerprint> Tables<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`, on up to `threads` threads.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::Kind::Usage) if the design has no masks or does not cover `k`, or if the
    /// batch has more than `u32::MAX` fingerprints.
    pub fn build(batch: &[F], design: Design, k: u32, threads: usize) -> Result<Tables<F>> {
        let count = check_count(batch.len())?;
        let masks = design.masks(F::WIDTH, k)?;
        let places: Vec<u32> = (0..count).collect();
        let build = |&mask: &u128| {
            progress::tick(Activity::Sorting);
            let mut spare = SPARE * batch.len();
            Table::build(batch, &places, mask, k, &mut spare)
        };
        Ok(Tables { tables: in_parallel(threads, &masks, build), k })
    }

    /// How many bytes the tables hold.
    pub fn memory_bytes(&self) -> u64 {
        self.tables.iter().map(Table::memory_bytes).sum()
    }

    /// Compares a survivor of table `turn` with its bucket there. A pair may meet in several tables; it
    /// counts in the first, and so exactly once.
    #[inline(always)]
    fn compare(&self, turn: usize, block: &[F], survivor: &Survivor, found: &mut dyn FnMut(Hit)) {
        let &Survivor { at, bucket } = survivor;
        let fingerprint = block[at as usize];
        let mut hit = |batch, entry, distance| {
            if first_meeting(&self.tables, fingerprint ^ entry) == Some(turn) {
                found(Hit { batch, run: 0, at, distance: distance as u8 });
            }
        };
        self.tables[turn].compare(bucket as usize, fingerprint, self.k, &mut hit);
    }
}

/// The fingerprints of a block that passed the filter of one table.
#[derive(Debug, Default)]
pub struct Survivors(Vec<Survivor>);

/// Puts a block of a run through every table: filter it, then compare what survives.
struct BlockLookup<'a, F> {
    tables: &'a Tables<F>,
    block: &'a [F],
    survivors: &'a mut [Survivor],
    found: &'a mut dyn FnMut(Hit),
}

impl<F: Fingerprint> Multiversion for BlockLookup<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let BlockLookup { tables, block, survivors, found } = self;
        for (turn, table) in tables.tables.iter().enumerate() {
            let count = table.filter(block, survivors);
            for survivors in survivors[..count].chunks(GROUP) {
                table.fetch(survivors.iter().map(|survivor| survivor.bucket));
                for survivor in survivors {
                    tables.compare(turn, block, survivor, found);
                }
            }
        }
    }
}

impl<F: Fingerprint> Probe<F> for Tables<F> {
    type Scratch = Survivors;

    fn probe(&self, runs: &[&[F]], scratch: &mut Survivors, found: &mut dyn FnMut(Hit)) {
        let size = BLOCK_BYTES / size_of::<F>();
        scratch.0.resize(size, Survivor::default());
        for (number, run) in (0..).zip(runs) {
            for (block, first) in run.chunks(size).zip((0..).step_by(size)) {
                let found = &mut |hit: Hit| found(Hit { run: number, at: first + hit.at, ..hit });
                widest(BlockLookup { tables: self, block, survivors: &mut scratch.0, found });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::tables::Masked;
    use crate::tables::tests::{all_pairs, off, probed, set, uniform};

    /// A neighbourhood so dense that its buckets are arranged again, and those of its tables too.
    #[test]
    fn crowds_are_divided_and_stay_exact() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let high = 0xabcd_ef01_2345_0000_u64 << 2;
        let batch = set((0..1_u64 << 17).map(|i| high ^ i).chain(uniform(&mut random, 1000)));
        let inside = uniform::<u64>(&mut random, 40).into_iter().map(|f| high ^ f >> 46);
        let others = set(inside.map(|f| off(&mut random, f, 2)).collect::<Vec<u64>>());
        for design in [Masked::Four, Masked::Ten] {
            let tables = Tables::build(&batch, design.into(), 3, 1).unwrap();
            let most_bytes = (SPARE as u64 + 2) * 13 * design.tables() * batch.len() as u64;
            assert!(tables.memory_bytes() < most_bytes);
            assert!(tables.tables.iter().any(Table::is_divided_twice));
            assert_eq!(probed(&tables, &others), all_pairs(&batch, &others, 3), "{design}");
        }
    }

    #[test]
    fn a_run_longer_than_a_block_is_counted_through() {
        let others = vec![0_u64; BLOCK_BYTES / 8 * 2 + 5];
        let tables = Tables::build(&[1, 1 << 40], Masked::Ten.into(), 1, 1).unwrap();
        let hits = probed(&tables, &others);
        assert_eq!(hits, all_pairs(&[1, 1 << 40], &others, 1));
    }
}
