//! The proof that a join is complete.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::ledger::Receipt;

/// What was planned and what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The chunks that the join was cut into.
    pub chunks_planned: u64,
    /// The chunks that have a receipt.
    pub chunks_probed: u64,
    /// The fingerprints of the store.
    pub store_fingerprints: u64,
    /// The fingerprints that were read from the store.
    pub fingerprints_probed: u64,
    /// The pairs of fingerprints that were found.
    pub pairs: u64,
}

impl Proof {
    /// Proves that every one of the `planned` chunks was probed once, and every one of the `held`
    /// fingerprints of the store.
    pub(super) fn of(
        planned: u64,
        held: u64,
        receipts: &[Receipt],
        output: &Path,
    ) -> Result<Proof> {
        let proof = Proof {
            chunks_planned: planned,
            chunks_probed: receipts.len() as u64,
            store_fingerprints: held,
            fingerprints_probed: receipts.iter().map(|receipt| receipt.fingerprints).sum(),
            pairs: receipts.iter().map(|receipt| receipt.pairs).sum(),
        };
        let mut numbers: Vec<u64> = receipts.iter().map(|receipt| receipt.chunk).collect();
        numbers.sort_unstable();
        if numbers.into_iter().eq(0..planned) && proof.is_complete() {
            return Ok(proof);
        }
        let told = |chunks, fingerprints| format!("{chunks} chunks, {fingerprints} fingerprints");
        Err(Error::new(Kind::Internal, "the join is not complete")
            .at(output)
            .expected(told(proof.chunks_planned, proof.store_fingerprints))
            .found(told(proof.chunks_probed, proof.fingerprints_probed)))
    }

    /// The same without so many chunks, which are there in little memory alone.
    pub(super) fn without(self, chunks: u64) -> Proof {
        Proof {
            chunks_planned: self.chunks_planned - chunks,
            chunks_probed: self.chunks_probed - chunks,
            ..self
        }
    }

    /// Whether the counts agree. An empty batch has no chunks, and the store is not read for it.
    pub fn is_complete(&self) -> bool {
        self.chunks_planned == self.chunks_probed
            && (self.chunks_planned == 0 || self.store_fingerprints == self.fingerprints_probed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_left_out_or_done_twice_is_no_proof() {
        let receipt = |chunk, fingerprints| Receipt {
            chunk,
            fingerprints,
            pairs: 1,
            listed: 1,
            resumed: false,
        };
        let prove = |receipts: &[Receipt]| Proof::of(2, 7, receipts, Path::new("out"));
        assert_eq!(prove(&[receipt(1, 3), receipt(0, 4)]).unwrap().pairs, 2);
        for wrong in [
            &[receipt(0, 7)][..],
            &[receipt(0, 3), receipt(0, 4)],
            &[receipt(0, 3), receipt(1, 3)],
            &[receipt(0, 3), receipt(1, 4), receipt(1, 0)],
        ] {
            assert_eq!(prove(wrong).unwrap_err().kind(), Kind::Internal);
        }
    }
}
