//! The join itself: planned, dealt to the workers, found and proved complete.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use dupsieve::fingerprint::Fingerprint;
use dupsieve::flow::{Cluster, End, Gather, Gathered, Hot, Join, Prober, Reduce, Worker, deal};
use dupsieve::ledger::{self, Chunk, Ledger, LedgerKey, Receipt};
use dupsieve::matches::{self, Detail, Pair, Sieve};
use dupsieve::output::{self, Staging};
use dupsieve::runs::Sorter;
use dupsieve::store::{Digest, Segment, Version};
use dupsieve::tables::{Method, Plan, Problem, Sorted, plan};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use super::Job;
use crate::flags::common::Common;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::report::Proof;
use crate::outcome::summary::Summary;

impl Job {
    /// How a batch of so many groups is joined: as was asked for, or in the cheapest way that covers
    /// the distance.
    pub(super) fn plan(
        &self,
        batch: u64,
        (workers, split): (u64, bool),
        common: &Common,
    ) -> Result<Plan> {
        let store = self.store.as_ref().map_or(0, Version::rows);
        let (k, width) = (self.distance, self.segment.width());
        let problem = Problem { batch, store, k, width, workers, split };
        let plan = plan::choose(self.design, &problem, common.memory_bytes() / 2)?;
        tracing::debug!("{}", plan.why);
        Ok(plan)
    }

    pub(super) fn make<F: Fingerprint>(
        self,
        cluster: &mut Cluster,
        staging: Option<Staging>,
        build: Digest,
        common: &Common,
    ) -> Result<Summary> {
        let began = Instant::now();
        let groups: Arc<[F]> = matches::distinct_fingerprints(&self.segment)?.into();
        let workers = cluster.topology().workers as u64;
        let segments = self.store.as_ref().map_or(Ok(Vec::new()), Version::segments)?;
        let split = segments.iter().any(Segment::is_split);
        let Plan { chosen, itself: within, .. } =
            self.plan(groups.len() as u64, (workers, split), common)?;
        let itself = Sorted::new(Arc::clone(&groups), within.design, self.distance)?;
        let chunks = ledger::chunks(itself.parts(), &segments);
        let sieve = self.sieve(groups.len());
        let ledger = self.ledger(build, sieve.as_ref(), &segments, &chunks, &itself)?;
        let arrange =
            |batch: &Arc<[F]>| Method::build(batch, chosen.design, chosen.way, self.distance);
        let join = Arc::new(Join {
            method: arrange(&groups)?,
            hot: split.then(|| Hot::new(&groups, self.distance, arrange)).transpose()?,
            itself,
            chunks,
            groups,
            segments,
            ledger,
            probed: Arc::default(),
            found: Arc::default(),
            most_pairs: self.most_pairs(),
            sieve,
            claimed: AtomicUsize::new(0),
            process: (cluster.topology().process, cluster.topology().processes),
        });
        let built = began.elapsed();
        let found = self.find(&join, cluster, staging.as_ref(), common);
        let (pairs, probed) = found.map_err(|error| self.make_room(&join.ledger, error))?;
        let found = began.elapsed();
        let resumed = probed.iter().filter(|chunk| chunk.resumed).count();
        if resumed > 0 {
            tracing::info!("{resumed} of {} chunks were done already", join.chunks.len());
        }
        let run = json!({
            "inputs": self.places(),
            "design": self.store.as_ref().map_or(&within, |_| &chosen).name(),
            "itself": within.name(),
            "workers": cluster.topology().workers,
            "processes": cluster.topology().processes,
            "chunks_resumed": resumed,
            "bytes_read": join.segments.iter().map(Segment::bytes_read).sum::<u64>(),
            "seconds": { "tables": built.as_secs_f64(), "probe": (found - built).as_secs_f64() },
        });
        let (chunks, segments) = (join.chunks.clone(), join.segments.clone());
        let ledger = join.ledger.clone();
        drop(join);
        let mut summary = Summary::new();
        cluster.agree(&format!("settle {}", self.output.display()), || {
            let staging = staging.expect("process 0 began the output");
            staging.check()?;
            let probe = self.prove(&chunks, &probed)?;
            let outcome = self.settle::<F>(pairs, segments, &staging, common)?;
            summary = self.report(outcome, probe, run, staging)?;
            Ok(())
        })?;
        ledger.remove()?;
        Ok(summary)
    }

    /// The chunks that runs which were cut short have finished.
    fn ledger<F: Fingerprint>(
        &self,
        build: Digest,
        sieve: Option<&Sieve>,
        segments: &[Segment],
        chunks: &[Chunk<F>],
        itself: &Sorted<F>,
    ) -> Result<Ledger> {
        let (batch, distance) = (self.segment.digest(), self.distance);
        let key = LedgerKey { build, batch, distance, sieve, segments, chunks, itself };
        let ledger = Ledger::open(&output::resume_folder(&self.output), key.digest())?;
        if ledger.remove_others()? > 0 {
            tracing::info!(
                "an earlier run of another build of dupsieve, or with other inputs, was cut short; \
                 its chunks are probed again"
            );
        }
        ledger.damage().iter().for_each(|damage| tracing::warn!("{damage}"));
        Ok(ledger)
    }

    /// After a failure: removes the ledgers if the disk has less room left than they take. Otherwise
    /// the next run would find the disk as full as this one left it.
    fn make_room(&self, ledger: &Ledger, error: Error) -> Error {
        let folder = output::parent_of(&self.output);
        if ledger.bytes().and_then(|bytes| output::check_free_space(folder, bytes)).is_err()
            && ledger.remove().is_ok()
        {
            tracing::warn!(
                "the finished chunks were removed, because the disk has too little room"
            );
        }
        error
    }

    /// What leaves out the pairs that decide no verdict, unless all are to be written.
    fn sieve(&self, groups: usize) -> Option<Sieve> {
        (self.detail == Detail::Best).then(|| Sieve::new(groups, !self.confirms()))
    }

    /// Whether more than the distance decides what matches.
    fn confirms(&self) -> bool {
        self.check.is_some() || self.segment.has_classes()
    }

    /// Runs the dataflow; in process 0 all pairs come out, and a receipt for every chunk.
    fn find<F: Fingerprint>(
        &self,
        join: &Arc<Join<F, Method<F>>>,
        cluster: &mut Cluster,
        staging: Option<&Staging>,
        common: &Common,
    ) -> Result<(Sorter<Pair>, Vec<Receipt>)> {
        let spill = staging.map_or(output::parent_of(&self.output), Staging::folder).to_path_buf();
        let (join, memory, fatal) =
            (Arc::clone(join), common.memory_bytes() as usize / 4, cluster.fatal());
        let (total, probed) = (self.would_probe(cluster), Arc::clone(&join.probed));
        let _shown = Progress::show("probing", Unit::Fingerprints, total, probed, common.quiet);
        let found = cluster.execute(move |worker| {
            find_pairs(worker, &join, Sorter::new(&spill, memory), End::new(fatal.clone()))
        })?;
        Ok(found.into_iter().next().expect("there is a first worker"))
    }

    /// The most pairs of fingerprints that may be found: where all are written, each is at least one
    /// row, unless something is to be confirmed.
    fn most_pairs(&self) -> u64 {
        match self.detail {
            Detail::All if !self.confirms() => self.max_matches,
            _ => u64::MAX,
        }
    }

    /// About how many fingerprints this process probes.
    fn would_probe(&self, cluster: &Cluster) -> u64 {
        self.store.as_ref().map_or(0, Version::rows) / cluster.topology().processes as u64
    }

    /// Nothing may be left out: every chunk was probed once, and every fingerprint of the store.
    fn prove<F: Fingerprint>(&self, chunks: &[Chunk<F>], probed: &[Receipt]) -> Result<Proof> {
        let proof = Proof {
            chunks_planned: chunks.len() as u64,
            chunks_probed: probed.len() as u64,
            store_fingerprints: self.store.as_ref().map_or(0, Version::rows),
            fingerprints_probed: probed.iter().map(|chunk| chunk.fingerprints).sum(),
            pairs: probed.iter().map(|chunk| chunk.pairs).sum(),
        };
        let mut numbers: Vec<u64> = probed.iter().map(|chunk| chunk.chunk).collect();
        numbers.sort_unstable();
        let all = numbers.into_iter().eq(0..proof.chunks_planned);
        match all && (chunks.is_empty() || proof.fingerprints_probed == proof.store_fingerprints) {
            true => Ok(proof),
            false => Err(Error::new(Kind::Internal, "the join is not complete")
                .at(&self.output)
                .expected(format!(
                    "{} chunks, {} fingerprints",
                    proof.chunks_planned, proof.store_fingerprints
                ))
                .found(format!(
                    "{} chunks, {} fingerprints",
                    proof.chunks_probed, proof.fingerprints_probed
                ))),
        }
    }
}

/// The dataflow: chunks are probed by whoever is free, the pairs reduced by range of the batch, and
/// all gathered by the first worker, with the proof that every chunk was probed.
fn find_pairs<F: Fingerprint>(
    worker: &mut Worker,
    join: &Arc<Join<F, Method<F>>>,
    sorter: Sorter<Pair>,
    end: End,
) -> Result<(Sorter<Pair>, Vec<Receipt>)> {
    let (pairs, probed) = (Gathered::new(sorter), Gathered::new(Vec::new()));
    worker.dataflow(|scope| {
        let dealt = deal(scope, Prober::new(Arc::clone(join)), &end);
        dealt.receipts.gather(&probed, &end);
        let taken = dealt.records.reduce(join.groups.len() as u64).gather(&pairs, &end);
        dealt.window.close(taken);
    });
    end.wait(worker)?;
    Ok((pairs.take(), probed.take()))
}
