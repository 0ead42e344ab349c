//! `dupsieve lsh --batch`: a batch whose segment keeps bands, by itself or against a store that keeps the same.
//!
//! Nothing is read again but the segments, so process 0 does it on its threads; the others wait.

use std::path::{Path, PathBuf};

use dupsieve::flow::{Cluster, Start};
use dupsieve::join::{self, Join};
use dupsieve::lsh::{
    Confirmation, Deduplicate, Deduplicated, kept_bands, kept_comparison, kept_documents,
};
use dupsieve::matches::{Detail, KeepOrder, Similarity};
use dupsieve::output::{self, Lock, Staging};
use dupsieve::peers::Topology;
use dupsieve::report::{self, Existing, Parameters, Report};
use dupsieve::store::{RecordCounts, Segment, Version};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use super::scheme;
use crate::commands::store_at::StoreAt;
use crate::flags::global::GlobalFlags;
use crate::flags::settings::Count;
use crate::outcome::summary::Summary;

/// A batch to be compared, and how.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) batch: PathBuf,
    pub(super) store: StoreAt,
    pub(super) output: PathBuf,
    pub(super) least: Similarity,
    pub(super) confirmation: Confirmation,
    pub(super) keep: Option<KeepOrder>,
    pub(super) detail: Detail,
    pub(super) max_matches: Option<Count>,
}

/// Compares the batch. Every process of the cluster calls this, and process 0 writes the output.
pub(super) fn make(cluster: &mut Cluster, asked: &Asked, global: &GlobalFlags) -> Result<Summary> {
    let output = asked.output.display();
    let topology = *cluster.topology();
    let start = cluster
        .agree(&format!("lsh {output}"), || Job::open(asked, topology, global)?.start(global))?;
    let ((), held) = match start {
        Start::Done(summary) => return Ok(summary.leader().unwrap_or_default()),
        Start::Make(task, held) => (task, held),
    };
    let summary = cluster
        .conclude(&format!("write {output}"), held, |(job, lock)| job.write(global, lock))?;
    Ok(summary.leader().unwrap_or_default())
}

/// A batch and its store, opened.
struct Job {
    batch: Segment,
    version: Option<Version>,
    deduplicate: Deduplicate,
    output: PathBuf,
    store: Option<PathBuf>,
    topology: Topology,
}

impl Job {
    fn open(asked: &Asked, topology: Topology, global: &GlobalFlags) -> Result<Job> {
        let batch = Segment::open(&asked.batch)?;
        let at = |error: Error| error.at(batch.path());
        let bands = kept_bands(batch.stamp()).map_err(at)?;
        let comparison =
            kept_comparison(asked.confirmation, asked.least, batch.stamp()).map_err(at)?;
        let version = asked.store.find()?;
        join::check_recipe(version.as_ref(), batch.stamp()).map_err(at)?;
        let store = match &version {
            Some(version) => version.dated(version.segments()?),
            None => Vec::new(),
        };
        let mut scheme = bands.scheme();
        scheme.least = asked.least;
        scheme.confirmation = asked.confirmation;
        let deduplicate = Deduplicate {
            scheme,
            comparison,
            store,
            keep: KeepOrder::for_segment(asked.keep, &batch)?,
            detail: asked.detail,
            max_matches: asked.max_matches.map_or(Join::MAX_MATCHES, |Count(count)| count),
            workers: topology.workers,
            index_bytes: global.budget().evidence(),
            evidence_bytes: global.budget().evidence(),
            memory_bytes: global.budget().finalize(),
        };
        let output = asked.output.clone();
        let store = asked.store.path().map(Path::to_path_buf);
        Ok(Job { batch, version, deduplicate, output, store, topology })
    }

    /// Process 0 takes the lock and checks whether the output has to be made.
    fn start(self, global: &GlobalFlags) -> Result<Start<(), (Job, Lock), Summary>> {
        self.check_apart()?;
        let output = &self.output;
        let lock = (!global.dry_run).then(|| Lock::beside(output)).transpose()?;
        let parameters = self.parameters();
        if let Existing::Same(report) =
            report::existing(output, &parameters, |_| false, global.overwrite)?
        {
            tracing::info!("{} is done already", output.display());
            lock.map_or(Ok(()), |lock| output::remove_leftovers(output, &lock))?;
            return Ok(Start::done(Summary::of_join(&report, output).already_done()));
        }
        scheme::announce(&self.deduplicate.scheme);
        let would = format!("would make {}", output.display());
        Ok(match lock {
            Some(lock) => Start::make((), (self, lock)),
            None => Start::done(Summary::new().count("batch", self.batch.rows()).say(would)),
        })
    }

    /// The output replaces its folder as a whole, so it is neither in the store nor around the batch.
    fn check_apart(&self) -> Result<()> {
        let output = output::resolved(&self.output);
        let batch = output::resolved(self.batch.path());
        let store = self.store.as_deref().map(output::resolved);
        let within = store.as_ref().is_some_and(|store| output.starts_with(store));
        let around = [Some(&batch), store.as_ref()].into_iter().flatten();
        if !within && !around.into_iter().any(|input| input.starts_with(&output)) {
            return Ok(());
        }
        Err(Error::new(Kind::Usage, "the output and an input are in one place")
            .at(&self.output)
            .help("choose another --output"))
    }

    /// What decides the result.
    fn parameters(&self) -> Parameters {
        let Deduplicate { scheme, keep, detail, .. } = &self.deduplicate;
        let store = self.version.as_ref().map_or("none".to_owned(), |it| it.digest().to_string());
        let named = [
            ("batch", self.batch.digest().to_string()),
            ("records", report::records(&self.batch.counts())),
            ("store", store),
            ("keep", keep.to_string()),
            ("matches", detail.to_string()),
        ];
        let named = named.into_iter().chain(scheme::parameters(scheme));
        named.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Process 0 draws the verdicts and writes the output.
    fn write(self, global: &GlobalFlags, lock: Lock) -> Result<Summary> {
        self.batch.verify()?;
        let staging = Staging::beside(&self.output, lock)?;
        let documents = kept_documents(
            &self.batch,
            &self.deduplicate.comparison,
            staging.folder(),
            global.budget().documents(),
        )?;
        let mut repeated = |id: &str, _, _| {
            Err(Error::new(Kind::BadData, "an id occurs twice in the batch")
                .at(self.batch.path())
                .found(id))
        };
        let Deduplicated { outcome, buckets, empty } =
            self.deduplicate.write(documents, &staging, &mut repeated)?;
        let fingerprinted = outcome.kept + outcome.dropped;
        let batch = RecordCounts { fingerprinted, empty, ..self.batch.counts() };
        if fingerprinted + empty != self.batch.rows() + self.batch.empties() {
            return Err(Error::new(Kind::Internal, "records were lost").found(format!("{batch:?}")));
        }
        let parameters = self.parameters();
        let mut report = Report {
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            day: None,
            recipe: json!(parameters),
            parameters,
            store_version: self.version.as_ref().map(Version::number),
            batch,
            outcome,
            probe: None,
            buckets: Some(buckets),
            run: json!({
                "inputs": { "batch": self.batch.path(), "store": self.store },
                "workers": self.topology.workers,
                "processes": self.topology.processes,
            }),
        };
        report.write(&staging)?;
        staging.check()?;
        staging.commit()?;
        Ok(summary(&report, &self.output))
    }
}

/// The summary of a finished output.
fn summary(report: &Report, output: &Path) -> Summary {
    let summary = Summary::of_join(report, output);
    match &report.buckets {
        None => summary,
        Some(buckets) => summary
            .count("groups", buckets.groups)
            .count("candidates", buckets.candidates)
            .count("stored", buckets.stored)
            .count("stored_candidates", buckets.stored_candidates)
            .count("looked_up", buckets.looked_up)
            .count("hot_buckets", buckets.hot),
    }
}
