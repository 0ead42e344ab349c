//! `dupsieve lsh --batch`: a batch whose segment keeps bands, by itself or against a store that keeps the same.
//!
//! All workers of all processes read the store; what they do together is the library's ([`dupsieve::rooms::join::Overlap`]).

use std::path::{Path, PathBuf};

use dupsieve::rooms::budget::Budget;
use dupsieve::rooms::error::Named;
use dupsieve::rooms::flow::{Processes, Role};
use dupsieve::rooms::join::{self, JoinInputs, Overlap, Overlapped, Site};
use dupsieve::rooms::lsh::{Confirmation, Deduplicate, Deduplicated, kept_bands, kept_comparison};
use dupsieve::rooms::matches::{Detail, KeepOrder, Similarity};
use dupsieve::rooms::peers::Topology;
use dupsieve::rooms::report::{self, LaterDays, Made, Parameters, Report};
use dupsieve::rooms::results::ResultFormat;
use dupsieve::rooms::store::{Day, RecordCounts, Segment, Version};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use super::scheme;
use crate::commands::destination::Destination;
use crate::commands::making::{self, FromBatch, Making};
use crate::commands::places;
use crate::commands::store_at::StoreAt;
use crate::flags::global::GlobalFlags;
use crate::flags::settings::Count;
use crate::outcome::account;
use crate::outcome::summary::Summary;

/// A batch to be compared, and how.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) batch: PathBuf,
    pub(crate) store: StoreAt,
    pub(crate) output: PathBuf,
    /// Where batch and output are in the end.
    pub(crate) destination: Destination,
    pub(crate) least: Similarity,
    pub(crate) confirmation: Confirmation,
    pub(crate) keep: Option<KeepOrder>,
    pub(crate) detail: Detail,
    pub(crate) max_matches: Option<Count>,
    pub(crate) format: ResultFormat,
    /// Whether an output of other pages or of another version of the store is replaced.
    pub(crate) replaces_outdated: bool,
}

/// Compares the batch. Every process of the job calls this, and process 0 writes the output.
pub(crate) fn make(
    processes: &mut Processes,
    asked: &Asked,
    global: &GlobalFlags,
) -> Result<Summary> {
    let topology = *processes.topology();
    making::from_batch(processes, (&asked.output, &asked.store), global, |version| {
        Job::open(asked, version, topology, global.budget())
    })
}

/// Whether the output that is asked for exists, whole.
pub(crate) fn stands(asked: &Asked) -> Result<bool> {
    let alone = Topology { workers: 1, processes: 1, process: 0 };
    let job = Job::open(asked, asked.store.find()?, alone, Budget::default())?;
    let Some(report) = Report::read(&job.output)? else { return Ok(false) };
    Ok(report.parameters == job.parameters() && report.check_files(&job.output).is_ok())
}

/// A batch and its store, opened.
struct Job {
    overlap: Overlap,
    output: PathBuf,
    /// Where batch and output are in the end.
    destination: Destination,
    store: Option<PathBuf>,
    day: Option<Day>,
    replaces_outdated: bool,
    topology: Topology,
}

impl Making for Job {
    fn output(&self) -> &Path {
        &self.output
    }

    fn existing(&self, overwrite: bool) -> Result<Option<Summary>> {
        let is_outdated = |made: &Parameters| self.is_outdated(made);
        let made = report::existing(&self.output, &self.parameters(), is_outdated, overwrite)?;
        Ok(made.map(|report: Report| Summary::of_join(&report, &self.output)))
    }

    fn would(&self) -> Result<Summary> {
        scheme::announce(&self.overlap.deduplicate.scheme);
        let summary = Summary::new().count("batch", self.overlap.batch.rows());
        Ok(summary.say(format!("would make {}", self.output.named())))
    }
}

impl FromBatch for Job {
    const COMMAND: &'static str = "lsh";

    fn batch(&self) -> &Segment {
        &self.overlap.batch
    }

    fn inputs(&self) -> JoinInputs {
        self.overlap.inputs()
    }

    fn check(&self) -> Result<()> {
        self.overlap.batch.verify()
    }

    fn make(&self, processes: &mut Processes, site: Site<'_>) -> Result<Role<Summary>> {
        self.overlap.run_at(processes, site, |overlapped, staging| {
            let mut report = self.report(overlapped, staging.folder())?;
            let place = self.destination.of(&self.output);
            report.write(&staging, &place)?;
            staging.commit()?;
            Ok(summary(&report, &place))
        })
    }
}

/// A batch that keeps bands, to be compared with a version of a store.
pub(crate) fn overlap(
    batch: Segment,
    version: Option<Version>,
    (confirmation, least): (Confirmation, Similarity),
    budget: Budget,
) -> Result<Overlap> {
    let at = |error: Error| error.at(batch.path());
    let bands = kept_bands(batch.stamp()).map_err(at)?;
    let comparison = kept_comparison(confirmation, least, batch.stamp()).map_err(at)?;
    join::check_recipe(version.as_ref(), batch.stamp()).map_err(at)?;
    let mut scheme = bands.scheme();
    scheme.least = least;
    scheme.confirmation = confirmation;
    let mut deduplicate = Deduplicate::new(scheme, budget);
    deduplicate.comparison = comparison;
    deduplicate.store = version.as_ref().map_or(Ok(Vec::new()), Version::dated)?;
    Ok(Overlap { batch, store: version, deduplicate, budget })
}

/// The parameters that say what was compared, not how.
const INPUTS: [&str; 3] = ["batch", "records", "store"];

impl Job {
    fn open(
        asked: &Asked,
        version: Option<Version>,
        topology: Topology,
        budget: Budget,
    ) -> Result<Job> {
        let batch = Segment::open(&asked.batch)?;
        let mut overlap = overlap(batch, version, (asked.confirmation, asked.least), budget)?;
        let deduplicate = &mut overlap.deduplicate;
        deduplicate.keep = KeepOrder::for_segment(asked.keep, &overlap.batch)?;
        deduplicate.detail = asked.detail;
        deduplicate.max_matches =
            asked.max_matches.map_or(deduplicate.max_matches, |Count(count)| count);
        deduplicate.format = asked.format;
        deduplicate.workers = topology.workers;
        let output = asked.output.clone();
        let store = asked.store.path().map(Path::to_path_buf);
        let destination = asked.destination.clone();
        let day = asked.store.day();
        let replaces_outdated = asked.replaces_outdated;
        Ok(Job { overlap, output, destination, store, day, replaces_outdated, topology })
    }

    /// Whether an output that was `made` may be replaced: it was made in the same way from other inputs.
    fn is_outdated(&self, made: &Parameters) -> bool {
        let how = |parameters: &Parameters| -> Parameters {
            let kept = parameters.iter().filter(|(name, _)| !INPUTS.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        self.replaces_outdated && how(made) == how(&self.parameters())
    }

    /// What decides the result.
    fn parameters(&self) -> Parameters {
        let Overlap { batch, store, deduplicate, .. } = &self.overlap;
        let Deduplicate { scheme, keep, detail, .. } = deduplicate;
        let store = store.as_ref().map_or("none".to_owned(), |it| it.digest().to_string());
        let named = [
            ("batch", batch.digest().to_string()),
            ("records", report::records(&batch.counts())),
            ("store", store),
            ("keep", keep.named(batch)),
            ("matches", detail.to_string()),
        ];
        let named = named.into_iter().chain(scheme::parameters(scheme));
        let named = named.map(|(name, value)| (name.to_owned(), value));
        named.chain(report::format_parameter(deduplicate.format)).collect()
    }

    /// The report. `verdicts` is the folder with the verdicts.
    fn report(
        &self,
        Overlapped { deduplicated, proof, chunks_resumed }: Overlapped,
        verdicts: &Path,
    ) -> Result<Report> {
        let Overlap { batch, store, .. } = &self.overlap;
        let Deduplicated { outcome, buckets, empty } = deduplicated;
        let fingerprinted = outcome.kept + outcome.dropped;
        let counts = RecordCounts { fingerprinted, empty, ..batch.counts() };
        if fingerprinted + empty != batch.rows() + batch.empties() {
            return Err(
                Error::new(Kind::Internal, "records were lost").found(format!("{counts:?}"))
            );
        }
        let parameters = self.parameters();
        let held = store.as_ref().zip(self.day);
        let later = held.map(|(store, day)| LaterDays::of(store, day, verdicts));
        Ok(Report {
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            day: self.day,
            recipe: json!(parameters),
            parameters,
            store_version: store.as_ref().map(Version::number),
            removals: store.as_ref().and_then(Version::removals),
            later_days: later.transpose()?.flatten(),
            batch: counts,
            outcome,
            lost: None,
            probe: store.as_ref().map(|_| proof),
            buckets: Some(buckets),
            run: account::with_bill(json!({
                "inputs": {
                    "batch": places::named(&self.destination.of(self.overlap.batch.path())),
                    "store": self.store.as_deref().map(places::named),
                },
                "workers": self.topology.workers,
                "processes": self.topology.processes,
                "chunks_resumed": chunks_resumed,
            })),
        })
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
