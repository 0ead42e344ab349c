//! The pairs of a join confirmed: every process confirms those that it owns, on all its workers.

use std::sync::Arc;

use super::find::{FoundPairs, spill_folder};
use super::request::Join;
use super::site::Site;
use crate::error::{Error, Kind, Named, Result};
use crate::fingerprint::Fingerprint;
use crate::flow::{self, Owners, Processes};
use crate::matches::{
    Certificate, ConfirmedPairs, Confirming, Groups, InKeepOrder, PairWindows, Terms,
};
use crate::runs::SortSpace;
use crate::step::{self, Step};
use crate::store::Dated;

impl Join {
    pub(super) fn groups<F: Fingerprint>(
        &self,
        workers: usize,
        space: SortSpace<'_>,
    ) -> Result<Arc<Groups>> {
        let space = SortSpace { memory_bytes: self.budget.signatures(), ..space };
        Groups::load::<F>(&self.batch, self.check, space, workers).map(Arc::new)
    }

    pub(super) fn terms(&self, store: &[Dated], workers: usize) -> Terms {
        Terms {
            segment: self.batch.clone(),
            store: store.to_vec(),
            confirm: self.check,
            distance: self.distance,
            detail: self.detail,
            max_matches: self.max_matches,
            memory_bytes: self.budget.finalize(),
            signatures_bytes: self.budget.signatures(),
            workers,
        }
    }

    /// Confirms the pairs that were found, if anything besides the distance decides. Every process does its share.
    pub(super) fn confirm(
        &self,
        processes: &mut Processes,
        site: &Site<'_>,
        found: &mut FoundPairs,
        groups: &Arc<Groups>,
        order: Option<&InKeepOrder>,
    ) -> Result<ConfirmedPairs> {
        if self.confirms() {
            processes.agree(&format!("confirm {}", site.output.named()), || Ok(()))?;
        }
        let topology = *processes.topology();
        let folder = spill_folder(site.output, &site.staging);
        let pairs = Box::new(std::mem::take(&mut found.pairs).into_iter().flatten());
        if !self.confirms() {
            return Ok(ConfirmedPairs::unchecked(pairs));
        }
        let how = Confirming {
            terms: self.terms(&found.store, topology.workers),
            groups: Arc::clone(groups),
            order: order.map(InKeepOrder::of_groups),
            folder: folder.clone(),
        };
        let own = Owners::of(groups.fingerprints(), &topology).of_process(&topology);
        let windows = PairWindows::new(how, own, pairs);
        let (confirmed, certificates) =
            flow::confirm(processes, windows, folder, self.budget.confirmed())?;
        if processes.is_leader() {
            let listed = found.receipts.iter().map(|receipt| receipt.listed).sum();
            prove(groups.fingerprints().into(), listed, &certificates)?;
            step::begin(Step::Sorting);
        }
        ConfirmedPairs::certified(confirmed, &certificates, self.check, self.detail)
    }
}

/// Proves that every one of these fingerprints of the batch was in a window, and that everything that the chunks `listed` was taken.
fn prove(fingerprints: u64, listed: u64, certificates: &[Certificate]) -> Result<()> {
    let windows = certificates.iter().map(|it| u64::from(it.fingerprints)).sum();
    let taken = certificates.iter().map(|it| it.taken).sum();
    if [windows, taken] == [fingerprints, listed] {
        return Ok(());
    }
    let told =
        |[fingerprints, pairs]: [u64; 2]| format!("{pairs} pairs of {fingerprints} fingerprints");
    Err(Error::new(Kind::Internal, "not all pairs were confirmed")
        .expected(told([fingerprints, listed]))
        .found(told([windows, taken])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_or_a_pair_left_out_is_no_proof() {
        let certificate =
            |fingerprints, taken| Certificate { fingerprints, taken, ..Certificate::default() };
        let prove = |certificates: &[Certificate]| prove(7, 20, certificates);
        assert_eq!(prove(&[certificate(3, 12), certificate(4, 8), certificate(0, 0)]), Ok(()));
        for wrong in [
            &[certificate(3, 20)][..],
            &[certificate(7, 19)],
            &[certificate(4, 12), certificate(3, 4), certificate(4, 4)],
        ] {
            assert_eq!(prove(wrong).unwrap_err().kind(), Kind::Internal);
        }
    }
}
