//! The main job: which pages of the batch are near-duplicates of pages held, or of each other?
//!
//! "Given a collection of f-bit fingerprints and a fingerprint F, identify whether an existing
//! fingerprint differs from F in at most k bits. (In the batch-mode version of the above problem, we
//! have a set of query fingerprints instead of a single query fingerprint.)" - Manku, Jain and Das
//! Sarma, section 3. The tables are made of the batch; the store streams past them.

use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use clap::Args;
use dupsieve::fingerprint::{Check, Fingerprint, Stamp, Width};
use dupsieve::flow::{
    self, Chunk, Cluster, End, Gather, Gathered, Hot, Join, Ledger, Probed, Prober, Reduce, Worker,
    deal, ledger_key,
};
use dupsieve::matches::{self, Confirm, Detail, KeepOrder, Outcome, Pair, Settlement};
use dupsieve::output::{self, Lock, Staging};
use dupsieve::runs::Sorter;
use dupsieve::store::{Column, Digest, Segment, Version};
use dupsieve::tables::{Design, Method, Plan, Problem, Sorted, plan};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::Common;
use crate::cluster::cluster;
use crate::progress::{Progress, Unit};
use crate::report::{self, Existing, Parameters, Proof, Report};
use crate::settings::{Count, DedupSettings};
use crate::store_at::StoreAt;
use crate::summary::Summary;

/// The most rows that are written, unless told otherwise.
const MAX_MATCHES: u64 = 100_000_000;

/// Find the near-duplicates of a batch, in a store and among themselves
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The new fingerprints, as `dupsieve fingerprint` writes them
    #[arg(long, value_name = "FILE.seg")]
    batch: PathBuf,
    /// The pages already held; without it the batch is compared with itself alone
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// The version of the store to compare with [default: the current one]
    #[arg(long, value_name = "VERSION", requires = "store")]
    as_of: Option<u64>,
    /// The folder to make
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    settings: DedupSettings,
}

/// One join that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) batch: PathBuf,
    pub(crate) store: StoreAt,
    pub(crate) output: PathBuf,
    pub(crate) settings: DedupSettings,
}

/// What process 0 tells the others.
#[derive(Debug, Serialize, Deserialize)]
enum Decision {
    /// There is nothing to make: it stands there already, or was only asked about.
    Nothing,
    /// Make it of these.
    Make {
        /// The digest of the batch.
        batch: Digest,
        /// The store's version, and the digest of what it holds.
        store: Option<(u64, Digest)>,
    },
}

/// Runs the job as its command line asks.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Summary> {
    let Arguments { batch, store, as_of, output, settings } = arguments;
    let store = match store {
        Some(store) => StoreAt::Version(store.clone(), *as_of),
        None => StoreAt::Nowhere,
    };
    let (batch, output) = (batch.clone(), output.clone());
    let settings = settings.clone().or(common.config()?.dedup);
    let request = Request { batch, store, output, settings };
    let mut cluster = cluster(common, &format!("{request:?}"))?;
    let summary = dedup(&mut cluster, &request, common)?;
    if cluster.is_leader() && !common.dry_run {
        let [documents, kept, dropped, matches] =
            ["documents", "kept", "dropped", "matches"].map(|it| summary.counted(it));
        tracing::info!("{documents} documents: {kept} kept, {dropped} dropped, {matches} matches");
        tracing::info!(
            "written: {}/verdicts.tsv and what stands beside it",
            request.output.display()
        );
    }
    Ok(summary)
}

/// Joins one batch; every process of the cluster calls this, and process 0 writes the output.
pub(crate) fn dedup(cluster: &mut Cluster, request: &Request, common: &Common) -> Result<Summary> {
    let is_leader = cluster.is_leader();
    report::on_failure(&request.output, is_leader, common, || join(cluster, request, common))
}

fn join(cluster: &mut Cluster, request: &Request, common: &Common) -> Result<Summary> {
    let mut led = None;
    let decision = cluster.agree(&format!("dedup {}", request.output.display()), || {
        let job = Job::open(request, request.store.find()?)?;
        let (decision, staging, summary) = job.decide(request, common)?;
        led = Some((job, staging, summary));
        Ok(decision)
    })?;
    match (decision, led) {
        (Decision::Nothing, Some((_, _, summary))) => Ok(summary),
        (Decision::Nothing, None) => Ok(Summary::new().untold()),
        (Decision::Make { .. }, Some((job, staging, _))) => job.make_any(cluster, staging, common),
        (Decision::Make { batch, store }, None) => {
            let version = request.store.at(store.map(|(number, _)| number))?;
            let job = Job::open(request, version)?;
            job.check_inputs((batch, store))?;
            job.make_any(cluster, None, common)
        }
    }
}

/// A join with its inputs open.
struct Job {
    segment: Segment,
    store: Option<Version>,
    store_path: Option<PathBuf>,
    output: PathBuf,
    distance: u32,
    check: Option<Confirm>,
    design: Design,
    detail: Detail,
    max_matches: u64,
    keep: KeepOrder,
}

impl Job {
    fn open(request: &Request, store: Option<Version>) -> Result<Job> {
        let settings = &request.settings;
        let segment = Segment::open(&request.batch)?;
        let keep = KeepOrder::for_segment(settings.keep, &segment)?;
        if let Some(stamp) = store.as_ref().and_then(Version::stamp)
            && stamp != segment.stamp()
        {
            return Err(Error::new(Kind::Usage, "batch and store were made by different recipes")
                .at(segment.path())
                .expected(stamp)
                .found(segment.stamp())
                .help("make the batch again with the store's recipe"));
        }
        if let Some(Confirm { check, .. }) = settings.check {
            check_is_kept(&segment, check)?;
        }
        Ok(Job {
            segment,
            store,
            store_path: request.store.path().map(Path::to_path_buf),
            output: request.output.clone(),
            distance: settings.distance.unwrap_or(3),
            check: settings.check,
            design: settings.design.unwrap_or(Design::Auto),
            detail: settings.matches.unwrap_or_default(),
            max_matches: settings.max_matches.map_or(MAX_MATCHES, |Count(count)| count),
            keep,
        })
    }

    /// What decides the result.
    fn parameters(&self) -> Parameters {
        let store =
            self.store.as_ref().map_or("none".to_owned(), |store| store.digest().to_string());
        let named = [
            ("batch", self.segment.digest().to_string()),
            ("store", store),
            ("distance", self.distance.to_string()),
            ("keep", self.keep.to_string()),
            ("matches", self.detail.to_string()),
        ];
        let check = self.check.map(|check| ("check", check.to_string()));
        let named = named.into_iter().chain(check);
        named.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The batch and the store, by their digests.
    fn inputs(&self) -> (Digest, Option<(u64, Digest)>) {
        let store = self.store.as_ref().map(|store| (store.number(), store.digest()));
        (self.segment.digest(), store)
    }

    /// Where the inputs are, for whoever wants to look at them again.
    fn places(&self) -> serde_json::Value {
        let place = |path: &Path| path::absolute(path).unwrap_or(path.to_path_buf());
        json!({ "batch": place(self.segment.path()), "store": self.store_path.as_deref().map(place) })
    }

    /// The inputs must be the ones that process 0 sees.
    fn check_inputs(&self, expected: (Digest, Option<(u64, Digest)>)) -> Result<()> {
        if self.inputs() == expected {
            return Ok(());
        }
        Err(Error::new(Kind::Missing, "this process sees another batch or store than process 0")
            .at(self.segment.path())
            .expected(format_args!("{expected:?}"))
            .found(format_args!("{:?}", self.inputs()))
            .help("put batch and store where all hosts see the same"))
    }

    /// Process 0 looks whether the output is to be made, and begins it.
    fn decide(
        &self,
        request: &Request,
        common: &Common,
    ) -> Result<(Decision, Option<Staging>, Summary)> {
        // A design that does not cover the distance is refused before anything is begun; what it costs
        // is asked when the groups are known.
        self.plan(1, (1, false), common)?;
        let lock = (!common.dry_run).then(|| Lock::beside(&self.output)).transpose()?;
        let parameters = self.parameters();
        // A day that was joined and never added is joined again once the store has moved on.
        let unfinished = request.store.is_unfinished()?;
        let is_outdated = |made: &Parameters| {
            let mut made = made.clone();
            made.insert("store".to_owned(), parameters["store"].clone());
            unfinished && made == parameters
        };
        let existing = report::existing(&self.output, &parameters, is_outdated, common.overwrite)?;
        match (existing, lock) {
            (Existing::Same(report), lock) => {
                tracing::info!("{} is done already", self.output.display());
                lock.map_or(Ok(()), |lock| output::remove_leftovers(&self.output, &lock))?;
                Ok((Decision::Nothing, None, report.summary(&self.output).already_done()))
            }
            (Existing::Nothing, None) => {
                tracing::info!("would join {}", request.batch.display());
                Ok((Decision::Nothing, None, self.would()))
            }
            (Existing::Nothing, Some(lock)) => {
                output::check_room(output::parent_of(&self.output), self.listed_bytes())?;
                let (batch, store) = self.inputs();
                let staging = Staging::beside(&self.output, lock)?;
                Ok((Decision::Make { batch, store }, Some(staging), Summary::new()))
            }
        }
    }

    /// About how many bytes verdicts and lists take, at least: every id twice. How many matches there
    /// are is known later.
    fn listed_bytes(&self) -> u64 {
        let ids = self.segment.columns().filter(|size| size.column == Column::Ids);
        2 * ids.map(|size| size.bytes).sum::<u64>() + 16 * self.segment.rows()
    }

    /// What there is to do, for a dry run.
    fn would(&self) -> Summary {
        let held = self.store.as_ref().map_or(0, Version::rows);
        Summary::new().count("batch", self.segment.rows()).count("store", held)
    }

    /// How a batch of so many groups is joined: as was asked for, or in the cheapest way that covers
    /// the distance.
    fn plan(&self, batch: u64, (workers, split): (u64, bool), common: &Common) -> Result<Plan> {
        let store = self.store.as_ref().map_or(0, Version::rows);
        let (k, width) = (self.distance, self.segment.width());
        let problem = Problem { batch, store, k, width, workers, split };
        let plan = plan::choose(self.design, &problem, common.memory_bytes() / 2)?;
        tracing::debug!("{}", plan.why);
        Ok(plan)
    }

    fn make_any(
        self,
        cluster: &mut Cluster,
        staging: Option<Staging>,
        common: &Common,
    ) -> Result<Summary> {
        match self.segment.width() {
            Width::W64 => self.make::<u64>(cluster, staging, common),
            Width::W128 => self.make::<u128>(cluster, staging, common),
        }
    }

    fn make<F: Fingerprint>(
        self,
        cluster: &mut Cluster,
        staging: Option<Staging>,
        common: &Common,
    ) -> Result<Summary> {
        let began = Instant::now();
        let groups: Arc<[F]> = matches::groups(&self.segment)?.into();
        let workers = cluster.topology().workers as u64;
        let segments = self.store.as_ref().map_or(Ok(Vec::new()), Version::segments)?;
        let split = segments.iter().any(Segment::is_split);
        let Plan { chosen, itself: within, .. } =
            self.plan(groups.len() as u64, (workers, split), common)?;
        let itself = Sorted::new(Arc::clone(&groups), within.design, self.distance)?;
        let chunks = flow::chunks(itself.parts(), &segments);
        let ledger = self.ledger(&segments, &chunks, &itself)?;
        let build =
            |batch: &Arc<[F]>| Method::build(batch, chosen.design, chosen.way, self.distance);
        let join = Arc::new(Join {
            method: build(&groups)?,
            hot: split.then(|| Hot::new(&groups, self.distance, build)).transpose()?,
            itself,
            chunks,
            groups,
            segments,
            ledger,
            probed: Arc::default(),
            found: Arc::default(),
            most_pairs: self.most_pairs(),
            claimed: AtomicUsize::new(0),
            process: (cluster.topology().process, cluster.topology().processes),
        });
        let built = began.elapsed();
        let (pairs, probed) = self.find(&join, cluster, staging.as_ref(), common)?;
        let found = began.elapsed();
        let run = json!({
            "inputs": self.places(),
            "design": self.store.as_ref().map_or(&within, |_| &chosen).name(),
            "itself": within.name(),
            "workers": cluster.topology().workers,
            "processes": cluster.topology().processes,
            "chunks_resumed": probed.iter().filter(|chunk| chunk.resumed).count(),
            "bytes_read": join.segments.iter().map(Segment::bytes_read).sum::<u64>(),
            "seconds": { "tables": built.as_secs_f64(), "probe": (found - built).as_secs_f64() },
        });
        let (chunks, segments) = (join.chunks.clone(), join.segments.clone());
        let ledger = join.ledger.clone();
        drop(join);
        let mut summary = Summary::new().untold();
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
        segments: &[Segment],
        chunks: &[Chunk<F>],
        itself: &Sorted<F>,
    ) -> Result<Ledger> {
        let key = ledger_key(self.segment.digest(), self.distance, segments, chunks, itself);
        let ledger = Ledger::open(&output::resume_folder(&self.output), key)?;
        ledger.remove_others()?;
        ledger.damage().iter().for_each(|damage| tracing::warn!("{damage}"));
        match ledger.finished().count() {
            0 => {}
            finished => tracing::info!("{finished} of {} chunks are done already", chunks.len()),
        }
        Ok(ledger)
    }

    /// Runs the dataflow; in process 0 all pairs come out, and a receipt for every chunk.
    fn find<F: Fingerprint>(
        &self,
        join: &Arc<Join<F, Method<F>>>,
        cluster: &mut Cluster,
        staging: Option<&Staging>,
        common: &Common,
    ) -> Result<(Sorter<Pair>, Vec<Probed>)> {
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
        let confirms = self.check.is_some() || self.segment.has_classes();
        match self.detail {
            Detail::All if !confirms => self.max_matches,
            _ => u64::MAX,
        }
    }

    /// About how many fingerprints this process probes.
    fn would_probe(&self, cluster: &Cluster) -> u64 {
        self.store.as_ref().map_or(0, Version::rows) / cluster.topology().processes as u64
    }

    /// Nothing may be left out: every chunk was probed once, and every fingerprint of the store.
    fn prove<F: Fingerprint>(&self, chunks: &[Chunk<F>], probed: &[Probed]) -> Result<Proof> {
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

    fn settle<F: Fingerprint>(
        &self,
        pairs: Sorter<Pair>,
        segments: Vec<Segment>,
        staging: &Staging,
        common: &Common,
    ) -> Result<Outcome> {
        let store = self.store.as_ref().map_or(Vec::new(), |version| version.dated(segments));
        let settlement = Settlement {
            segment: &self.segment,
            confirm: self.check,
            store: &store,
            keep: self.keep,
            detail: self.detail,
            max_matches: self.max_matches,
            memory_bytes: common.memory_bytes() as usize / 8,
        };
        settlement.write::<F>(pairs.sorted()?, staging)
    }

    fn report(
        &self,
        outcome: Outcome,
        probe: Proof,
        run: serde_json::Value,
        staging: Staging,
    ) -> Result<Summary> {
        let mut report = Report {
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            parameters: self.parameters(),
            store_version: self.store.as_ref().map(Version::number),
            batch: self.segment.counts(),
            outcome,
            probe,
            run,
        };
        report.write(&staging)?;
        staging.commit()?;
        Ok(report.summary(&self.output))
    }
}

/// The batch must hold signatures of that check; the store, which is of the same recipe, then has them
/// too.
fn check_is_kept(segment: &Segment, check: Check) -> Result<()> {
    let kept = Stamp::parse(segment.stamp())?.check()?;
    if kept == Some(check) {
        return Ok(());
    }
    Err(Error::new(Kind::Usage, "the batch cannot be checked so: it holds no such signatures")
        .at(segment.path())
        .expected(check)
        .found(kept.map_or("none".to_owned(), |kept| kept.to_string()))
        .help(format!("make batch and store with `dupsieve fingerprint --check {check}`")))
}

/// The dataflow: chunks are probed by whoever is free, the pairs reduced by range of the batch, and
/// all gathered by the first worker, with the proof that every chunk was probed.
fn find_pairs<F: Fingerprint>(
    worker: &mut Worker,
    join: &Arc<Join<F, Method<F>>>,
    sorter: Sorter<Pair>,
    end: End,
) -> Result<(Sorter<Pair>, Vec<Probed>)> {
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
