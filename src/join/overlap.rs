//! A batch joined by its buckets: with itself, and with a store that keeps the same bands.
//!
//! Every process takes the documents of the batch. Process 0 compares those that share a bucket. Then all workers read
//! the store past the keys of the batch, chunk by chunk, and process 0 draws the verdicts.

use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::find::{make_room, open_ledger, spill_folder};
use super::proof::Proof;
use super::request::JoinInputs;
use super::site::Site;
use crate::budget::Budget;
use crate::error::{Error, Kind, Named, Result};
use crate::flow::{Overlapping, Processes, Role, find_overlaps};
use crate::ledger::Receipt;
use crate::lsh::{Deduplicate, Deduplicated, Grouped, Held, Hot, InBatch, kept_documents};
use crate::matches::Detail;
use crate::output::Staging;
use crate::step::{self, Step};
use crate::store::{Digest, Segment, Version};

/// Marks the ledgers of joins by buckets. Another number means other chunks or other findings.
const LEDGER: &[u8] = b"buckets 1";

/// A join by buckets: what is joined, and how.
#[derive(Debug)]
pub struct Overlap {
    /// The batch, which keeps bands.
    pub batch: Segment,
    /// The version of the store that it is joined with.
    pub store: Option<Version>,
    /// How it is done; its store are the segments of that version.
    pub deduplicate: Deduplicate,
    /// The memory for keys, evidence and sorts.
    pub budget: Budget,
}

/// A finished join by buckets.
#[derive(Clone, Debug)]
pub struct Overlapped {
    /// What was found and written.
    pub deduplicated: Deduplicated,
    /// The proof that nothing was left out.
    pub proof: Proof,
    /// Chunks that were taken over from an earlier run.
    pub chunks_resumed: u64,
}

impl Overlap {
    /// What is joined, by its digests: all processes must see the same.
    pub fn inputs(&self) -> JoinInputs {
        JoinInputs::of(&self.batch, self.store.as_ref())
    }

    /// Does the join. In process 0, `finish` gets the result and the output; it commits the output, and may write more
    /// files into it before. A run that is killed leaves no output, and the next run of the same join takes over its
    /// finished chunks.
    ///
    /// # Errors
    /// [`Kind::BadData`] if there are too many matches or an input is damaged; [`Kind::Io`] if the disk is full; and
    /// those of `finish`.
    pub fn run_at<S>(
        &self,
        processes: &mut Processes,
        site: Site<'_>,
        finish: impl FnOnce(Overlapped, Staging) -> Result<S>,
    ) -> Result<Role<S>> {
        step::begin(Step::Joining);
        let folder = spill_folder(site.output, &site.staging);
        let grouped = self.group(&folder)?;
        let step = format!("buckets of {}", site.output.named());
        let (hottest, most, in_batch) = processes.agree(&step, || {
            let in_batch = self.deduplicate.buckets(&grouped, &folder)?;
            let most = self.deduplicate.most_groups(&grouped);
            Ok((in_batch.hottest().to_vec(), most, Role::Leader(in_batch)))
        })?;
        let probing = Arc::new(self.arrange(&grouped, hottest, most, &site)?);
        let held = in_batch.as_ref().leader();
        let held = held.map(|in_batch| self.deduplicate.held(&grouped, in_batch, &folder));
        let (held, receipts) = self
            .probe(processes, &site, &probing, held)
            .map_err(|error| make_room(site.output, &probing.ledger, error))?;
        let found = FoundOverlaps { grouped, in_batch, held, receipts };
        let Site { output, staging, .. } = site;
        let step = format!("finalize {}", output.named());
        let done = processes.conclude(&step, staging, |staging| {
            staging.check()?;
            step::begin(Step::Writing);
            finish(self.finalize(found, &probing, output, &staging)?, staging)
        })?;
        probing.ledger.remove()?;
        Ok(done)
    }

    /// The documents of the batch, in groups.
    fn group(&self, folder: &Path) -> Result<Grouped> {
        let Overlap { batch, deduplicate, budget, .. } = self;
        let documents = kept_documents(batch, &deduplicate.comparison, folder, budget.documents())?;
        deduplicate.group(documents, folder, &mut |id, _, _| {
            Err(Error::new(Kind::BadData, "an id occurs twice in the batch")
                .at(batch.path())
                .found(id))
        })
    }

    /// Cuts the store into chunks, and opens the ledgers of earlier runs.
    fn arrange(
        &self,
        grouped: &Grouped,
        hottest: Vec<Hot>,
        most: usize,
        site: &Site<'_>,
    ) -> Result<Overlapping> {
        let key = self.ledger_key(site.build, most);
        let probe = self.deduplicate.store_probe(grouped, hottest, most);
        let most_found = match self.deduplicate.detail {
            // Counts are among what is found; the rows themselves are counted when they are gathered.
            Detail::All => self.deduplicate.max_matches.saturating_mul(2).max(1 << 24),
            Detail::Best => u64::MAX,
        };
        Ok(Overlapping {
            probe,
            ledger: open_ledger(site.output, key)?,
            probed: Arc::default(),
            found: Arc::default(),
            most: most_found,
        })
    }

    /// Everything that decides what is found in each chunk.
    fn ledger_key(&self, build: Digest, most: usize) -> Digest {
        let Deduplicate { scheme, keep, detail, store, .. } = &self.deduplicate;
        let mut hash = Xxh3::new();
        hash.update(LEDGER);
        hash.update(&build.0.to_le_bytes());
        hash.update(&self.batch.digest().0.to_le_bytes());
        // What is found names groups by their ranks in keep order.
        let how = format!("{} {} {keep} {detail} {most}", scheme.confirmation, scheme.least);
        hash.update(how.as_bytes());
        for dated in store {
            hash.update(&dated.digest().0.to_le_bytes());
        }
        Digest(hash.digest128())
    }

    /// Runs the dataflow, unless there is no store.
    fn probe(
        &self,
        processes: &mut Processes,
        site: &Site<'_>,
        probing: &Arc<Overlapping>,
        held: Option<Held>,
    ) -> Result<(Option<Held>, Vec<Receipt>)> {
        if probing.probe.chunks() == 0 {
            return Ok((held, Vec::new()));
        }
        let total = probing.probe.rows() / processes.topology().processes as u64;
        let _watched = (site.watch)(total, Arc::clone(&probing.probed));
        find_overlaps(processes, probing, held)
    }

    /// Proves that everything was found, and writes the verdicts.
    fn finalize(
        &self,
        FoundOverlaps { grouped, in_batch, held, receipts }: FoundOverlaps,
        probing: &Overlapping,
        output: &Path,
        staging: &Staging,
    ) -> Result<Overlapped> {
        let gone = || Error::new(Kind::Internal, "what was found is not in process 0");
        let chunks = probing.probe.chunks() as u64;
        let rows = if chunks == 0 { 0 } else { probing.probe.rows() };
        let proof = Proof::of(chunks, rows, &receipts, output)?;
        let chunks_resumed = receipts.iter().filter(|receipt| receipt.resumed).count() as u64;
        if chunks_resumed > 0 {
            tracing::info!("{chunks_resumed} of {chunks} chunks were done already");
        }
        let in_batch = in_batch.leader().ok_or_else(gone)?;
        let held = held.ok_or_else(gone)?;
        let deduplicated = self.deduplicate.finish(grouped, in_batch, held, staging)?;
        // How many pairs workers hand on depends on which of them finds the nearest first.
        let proof = Proof { pairs: deduplicated.buckets.stored_candidates, ..proof };
        Ok(Overlapped { deduplicated, proof, chunks_resumed })
    }
}

/// What all processes found. Most of it is in process 0 only.
struct FoundOverlaps {
    grouped: Grouped,
    in_batch: Role<InBatch>,
    held: Option<Held>,
    receipts: Vec<Receipt>,
}
