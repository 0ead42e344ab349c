//! The main job: which pages of the batch are near-duplicates of pages held, or of each other?
//!
//! "Given a collection of f-bit fingerprints and a fingerprint F, identify whether an existing
//! fingerprint differs from F in at most k bits. (In the batch-mode version of the above problem, we
//! have a set of query fingerprints instead of a single query fingerprint.)" - Manku, Jain and Das
//! Sarma, section 3. The tables are made of the batch; the store streams past them.

#[path = "../../src/join/build.rs"]
mod build;
#[path = "../../src/join/find.rs"]
mod finding;

use std::path::{self, Path, PathBuf};

use clap::Args;
use dupsieve::fingerprint::{Fingerprint, Recipe, Stamp, Width};
use dupsieve::flow::Cluster;
use dupsieve::matches::{Confirm, Detail, Finalize, KeepOrder, Outcome, Pair};
use dupsieve::output::{self, Fence, Lock, Staging};
use dupsieve::runs::Sorter;
use dupsieve::store::{Column, Day, Digest, Segment, Version};
use dupsieve::tables::{Design, Problem, plan};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::commands::pages::Source;
use crate::commands::store_at::StoreAt;
use crate::flags::common::Common;
use crate::flags::settings::{Count, DedupSettings};
use crate::outcome::failure;
use crate::outcome::report::{self, Existing, Parameters, Proof, Report};
use crate::outcome::summary::Summary;
use crate::processes::cluster;
use build::build;

/// The most bits in which near-duplicates differ, unless told otherwise.
const DISTANCE: u32 = 3;

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
    /// Where the batch will stand once this is done, if not where it stands now.
    pub(crate) batch_place: Option<PathBuf>,
    pub(crate) store: StoreAt,
    pub(crate) output: PathBuf,
    pub(crate) settings: DedupSettings,
    /// Where the pages of the batch came from, if it is known.
    pub(crate) pages: Option<Source>,
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
        /// The lock on the output.
        fence: Fence,
        /// The build of process 0, which all ledgers of the join name: processes whose builds differ
        /// must not take each other's ledgers for those of another join.
        build: Digest,
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
    let request = Request { batch, batch_place: None, store, output, settings, pages: None };
    let mut cluster = cluster::join(common, &format!("{request:?}"))?;
    let summary = dedup(&mut cluster, &request, common)?;
    if !cluster.is_leader() || common.dry_run {
        return Ok(summary);
    }
    let [documents, kept, dropped, empty, matches] =
        ["documents", "kept", "dropped", "empty", "matches"].map(|it| summary.counted(it));
    Ok(summary
        .say(format!(
            "{documents} documents: {kept} kept, {dropped} dropped as near-duplicates, {empty} empty; \
             {matches} matches"
        ))
        .say(format!(
            "written to {}: verdicts.tsv, matches.tsv, keep.txt, drop.txt, report.json",
            request.output.display()
        )))
}

/// Joins one batch; every process of the cluster calls this, and process 0 writes the output.
pub(crate) fn dedup(cluster: &mut Cluster, request: &Request, common: &Common) -> Result<Summary> {
    let is_leader = cluster.is_leader();
    failure::reported_beside(&request.output, is_leader && !common.dry_run, || {
        join(cluster, request, common)
    })
}

/// Whether the output that is asked for stands there, whole.
pub(crate) fn stands(request: &Request) -> Result<bool> {
    let job = Job::open(request, request.store.find()?)?;
    let Some(report) = Report::read(&job.output)? else { return Ok(false) };
    Ok(report.parameters == job.parameters() && report.check_files(&job.output).is_ok())
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
        (Decision::Nothing, None) => Ok(Summary::new()),
        (Decision::Make { build, .. }, Some((job, staging, _))) => {
            job.make_any(cluster, staging, build, common)
        }
        (Decision::Make { batch, store, fence, build }, None) => {
            let _lock = Lock::shared(fence);
            let version = request.store.at(store.map(|(number, _)| number))?;
            let job = Job::open(request, version)?;
            job.check_inputs((batch, store))?;
            job.make_any(cluster, None, build, common)
        }
    }
}

/// A join with its inputs open.
struct Job {
    segment: Segment,
    batch_place: PathBuf,
    store: Option<Version>,
    store_path: Option<PathBuf>,
    output: PathBuf,
    /// The day of the batch, where it is known.
    day: Option<Day>,
    distance: u32,
    check: Option<Confirm>,
    design: Design,
    detail: Detail,
    max_matches: u64,
    keep: KeepOrder,
    settings: DedupSettings,
    pages: Option<Source>,
}

impl Job {
    fn open(request: &Request, store: Option<Version>) -> Result<Job> {
        let settings = &request.settings;
        let segment = Segment::open(&request.batch)?;
        let keep = KeepOrder::for_segment(settings.keep, &segment)?;
        let stamp = segment.stamp();
        check_recipe(store.as_ref(), stamp).map_err(|error| error.at(segment.path()))?;
        check_is_kept(settings.check, stamp).map_err(|error| error.at(segment.path()))?;
        let batch_place = request.batch_place.as_ref().unwrap_or(&request.batch).clone();
        Ok(Job {
            segment,
            batch_place,
            store,
            store_path: request.store.path().map(Path::to_path_buf),
            output: request.output.clone(),
            day: request.store.day(),
            distance: settings.distance.unwrap_or(DISTANCE),
            check: settings.check,
            design: settings.design.unwrap_or(Design::Auto),
            detail: settings.matches.unwrap_or_default(),
            max_matches: settings.max_matches.map_or(MAX_MATCHES, |Count(count)| count),
            keep,
            settings: settings.clone(),
            pages: request.pages.clone(),
        })
    }

    /// What decides the result, and the sums that stand in the report.
    fn parameters(&self) -> Parameters {
        let store =
            self.store.as_ref().map_or("none".to_owned(), |store| store.digest().to_string());
        let named = [
            ("batch", self.segment.digest().to_string()),
            ("records", report::records(&self.segment.counts())),
            ("store", store),
            ("keep", self.keep.to_string()),
        ];
        let named = named.map(|(name, value)| (name.to_owned(), value));
        named.into_iter().chain(parameters(&self.settings)).collect()
    }

    /// The batch and the store, by their digests.
    fn inputs(&self) -> (Digest, Option<(u64, Digest)>) {
        let store = self.store.as_ref().map(|store| (store.number(), store.digest()));
        (self.segment.digest(), store)
    }

    /// Where the inputs are, for whoever wants to look at them again.
    fn places(&self) -> serde_json::Value {
        let place = |path: &Path| path::absolute(path).unwrap_or(path.to_path_buf());
        json!({
            "batch": place(&self.batch_place),
            "store": self.store_path.as_deref().map(place),
            Source::NAME: self.pages,
        })
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
        self.check_apart()?;
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
                output::check_free_space(output::parent_of(&self.output), self.listed_bytes())?;
                let would = format!("would join {}", request.batch.display());
                Ok((Decision::Nothing, None, self.would().say(would)))
            }
            (Existing::Nothing, Some(lock)) => {
                output::check_free_space(output::parent_of(&self.output), self.listed_bytes())?;
                let (batch, store) = self.inputs();
                let staging = Staging::beside(&self.output, lock)?;
                let (fence, build) = (staging.fence().clone(), build()?);
                Ok((Decision::Make { batch, store, fence, build }, Some(staging), Summary::new()))
            }
        }
    }

    /// The output replaces its folder as a whole, so that no input may stand in it, nor it in the store.
    fn check_apart(&self) -> Result<()> {
        let output = output::resolved(&self.output);
        let batch = output::resolved(self.segment.path());
        let store = self.store_path.as_deref().map(output::resolved);
        let meets = |input: &Path| input.starts_with(&output);
        let within = store.as_ref().is_some_and(|store| output.starts_with(store));
        match [Some(&batch), store.as_ref()].into_iter().flatten().find(|it| meets(it)) {
            None if !within => Ok(()),
            input => Err(Error::new(Kind::Usage, "the output and an input are in one place")
                .at(&self.output)
                .found(input.or(store.as_ref()).unwrap_or(&output).display())
                .help("choose another --output")),
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

    fn make_any(
        self,
        cluster: &mut Cluster,
        staging: Option<Staging>,
        build: Digest,
        common: &Common,
    ) -> Result<Summary> {
        match self.segment.width() {
            Width::W64 => self.make::<u64>(cluster, staging, build, common),
            Width::W128 => self.make::<u128>(cluster, staging, build, common),
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
        let finalize = Finalize {
            segment: &self.segment,
            confirm: self.check,
            store: &store,
            distance: self.distance,
            keep: self.keep,
            detail: self.detail,
            max_matches: self.max_matches,
            memory_bytes: common.memory_bytes() as usize / 8,
        };
        finalize.write::<F>(pairs.sorted()?, staging)
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
            day: self.day,
            recipe: recipe(self.segment.stamp()),
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

/// The recipe of a stamp, part by part.
fn recipe(stamp: &str) -> serde_json::Value {
    serde_json::from_str(stamp).unwrap_or_else(|_| stamp.into())
}

/// What of the settings decides the result, whatever the batch is.
pub(crate) fn parameters(settings: &DedupSettings) -> Parameters {
    let named = [
        ("distance", settings.distance.unwrap_or(DISTANCE).to_string()),
        ("matches", settings.matches.unwrap_or_default().to_string()),
    ];
    let check = settings.check.map(|check| ("check", check.to_string()));
    named.into_iter().chain(check).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Finds out whether a batch of this recipe could be joined with that store as the settings ask,
/// before there is one.
pub(crate) fn check_settings(
    settings: &DedupSettings,
    store: Option<&Version>,
    recipe: &Recipe,
    common: &Common,
) -> Result<()> {
    let (k, width) = (settings.distance.unwrap_or(DISTANCE), recipe.width());
    let problem = Problem { batch: 1, store: 1, k, width, workers: 1, split: false };
    plan::choose(settings.design.unwrap_or(Design::Auto), &problem, common.memory_bytes() / 2)?;
    let stamp = recipe.stamp();
    check_recipe(store, stamp.as_str())?;
    check_is_kept(settings.check, stamp.as_str())
}

/// The store must be empty or of the recipe with that stamp.
fn check_recipe(store: Option<&Version>, stamp: &str) -> Result<()> {
    let Some(held) = store.and_then(Version::stamp).filter(|held| *held != stamp) else {
        return Ok(());
    };
    let [held, asked] = Stamp::differences(held, stamp);
    Err(Error::new(Kind::Usage, "batch and store are of different recipes")
        .expected(format_args!("the store's {held}"))
        .found(asked)
        .help("use the recipe of the store, or another store"))
}

/// A batch with that stamp must hold the signatures of the check; the store, which is of the same
/// recipe, then has them too.
fn check_is_kept(asked: Option<Confirm>, stamp: &str) -> Result<()> {
    let Some(Confirm { check, .. }) = asked else { return Ok(()) };
    let kept = Stamp::parse(stamp)?.check()?;
    if kept == Some(check) {
        return Ok(());
    }
    let kept = kept.map_or("none".to_owned(), |kept| format!("those of {kept}"));
    Err(Error::new(Kind::Usage, format!("without the signatures of {check} nothing can be checked"))
        .found(kept)
        .help(format!("make batch and store with `dupsieve fingerprint --check {check}`, which is `check` under [fingerprint] in a configuration")))
}
