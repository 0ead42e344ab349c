//! The groups of a crowd compared: by their fingerprints, then by their keys.

use super::batch::Batch;
use super::confirm::Terms;
use super::coverage::Coverage;
use super::crowd::{Block, Comparing};
use super::group_key::{GroupKeyReader, HeldKeys};
use super::groups::distinct_fingerprints;
use super::keep_order::Leaders;
use super::numbers::{KeepRank, Number};
use super::similarity::Confirm;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::{Multiversion, counting};
use crate::hamming::within;
use crate::tables::Masked;

pub(super) struct Nearby<'a, F> {
    batch: &'a Batch,
    leaders: &'a Leaders,
    fingerprints: Vec<F>,
    masks: Vec<u128>,
    k: u32,
    confirm: Option<Confirm>,
    keys: Option<Keys>,
}

/// The keys of the batch, as many as fit into memory, and what looks up the others: one for each of two rows.
struct Keys(HeldKeys, [GroupKeyReader; 2]);

impl<'a, F: Fingerprint> Nearby<'a, F> {
    pub(super) fn nobody((batch, leaders): (&'a Batch, &'a Leaders)) -> Nearby<'a, F> {
        let (fingerprints, masks) = (Vec::new(), Vec::new());
        Nearby { batch, leaders, fingerprints, masks, k: 0, confirm: None, keys: None }
    }

    pub(super) fn new(
        (batch, leaders): (&'a Batch, &'a Leaders),
        &Terms { ref segment, confirm, distance: k, signatures_bytes, .. }: &Terms,
    ) -> Result<Nearby<'a, F>> {
        let reader = || GroupKeyReader::new(segment, confirm.as_ref());
        let keys = || -> Result<Keys> {
            let [mut one, other] = [reader()?, reader()?];
            let most = HeldKeys::most(segment, confirm.as_ref(), signatures_bytes);
            let held = HeldKeys::read(&mut one, 0..most.min(batch.rows() as usize))?;
            Ok(Keys(held, [one, other]))
        };
        let has_keys = confirm.is_some() || segment.classes().is_some();
        Ok(Nearby {
            batch,
            leaders,
            fingerprints: distinct_fingerprints(segment)?,
            masks: Masked::Blocks { blocks: k + 1, choose: 1 }.masks(F::WIDTH)?,
            k,
            confirm,
            keys: has_keys.then(keys).transpose()?,
        })
    }
}

impl<F: Fingerprint> Comparing for Nearby<'_, F> {
    type Sketch = F;

    fn blocks(&self, rank: KeepRank) -> Result<Vec<Block>> {
        let bits = self.sketch(rank).to_u128();
        Ok(self.masks.iter().map(|mask| bits & mask).enumerate().collect())
    }

    fn sketch(&self, rank: KeepRank) -> F {
        self.fingerprints[self.batch.fingerprint_of(self.leaders.group(rank)).index()]
    }

    fn find(&self, sketch: F, kept: &[F], found: impl FnMut(usize, Coverage)) {
        counting(Within { fingerprint: sketch, kept, k: self.k, found });
    }

    fn distance(&mut self, one: KeepRank, other: KeepRank) -> Result<Option<Coverage>> {
        let distance = self.sketch(one).distance(self.sketch(other));
        if distance > self.k {
            return Ok(None);
        }
        let [one, other] = [one, other].map(|rank| self.batch.key_row(self.leaders.group(rank)));
        let Some(Keys(held, [first, second])) = &mut self.keys else {
            return Ok(Some(Coverage::near(distance as u8)));
        };
        let other = held.get(other, second)?;
        Ok(held.get(one, first)?.compare(other, distance, self.confirm.as_ref()).of_first)
    }
}

struct Within<'a, F, T> {
    fingerprint: F,
    kept: &'a [F],
    k: u32,
    found: T,
}

impl<F: Fingerprint, T: FnMut(usize, Coverage)> Multiversion for Within<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        within(self.fingerprint, self.kept, self.k, |at, distance| {
            (self.found)(at, Coverage::near(distance as u8))
        });
    }
}
