//! The job of `dedup`: a batch is joined with a store and with itself, and the output is written.
//!
//! The join itself is the library's ([`dupsieve::join`]). Here it gets its lock and its report.

use std::any::Any;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dupsieve::Result;
use dupsieve::budget::Budget;
use dupsieve::error::Named;
use dupsieve::fingerprint::{Recipe, Stamp};
use dupsieve::flow::{Processes, Role, Start};
use dupsieve::join::{self, Join, JoinInputs, Joined, Preset, Site};
use dupsieve::matches::{DroppedExample, Recrawled, is_cut};
use dupsieve::output::{self, Fence, Lock, Staging};
use dupsieve::peers::Topology;
use dupsieve::report::{self, LaterDays, Made, Nearest, Parameters, Report};
use dupsieve::results::ResultFormat;
use dupsieve::store::{Column, Digest, Segment, Version};
use dupsieve::tables::{Design, Problem, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::commands::difference::IN_SHORT;
use crate::commands::excerpts::{Excerpts, Pair};
use crate::commands::{
    Destination, PageSource, StoreAt, excerpts, making, passages_in_place, places,
};
use crate::flags::{Count, DedupSettings, GlobalFlags, Keep, mounts};
use crate::outcome::{Progress, Summary, Unit, account};

/// A join that is expected to take longer is announced: a quarter of the day.
const LONG: Duration = Duration::from_secs(6 * 3600);

/// What process 0 tells the others of a batch.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    inputs: JoinInputs,
    fence: Fence,
    /// The build of process 0. All ledgers of the comparison name this build. Otherwise processes of two builds would
    /// remove each other's ledgers.
    build: Digest,
    /// The memory of process 0 for the batch and itself, so that all divide the batch alike.
    itself_bytes: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) batch: PathBuf,
    pub(crate) store: StoreAt,
    pub(crate) output: PathBuf,
    /// Where batch and output are in the end.
    pub(crate) destination: Destination,
    pub(crate) format: ResultFormat,
    pub(crate) settings: DedupSettings,
    pub(crate) pages: Option<PageSource>,
    /// How many pages of the batch have a text that the store held, if that was found out just now.
    pub(crate) unchanged: Option<u64>,
}

pub(crate) fn dedup(
    processes: &mut Processes,
    request: &Request,
    global: &GlobalFlags,
) -> Result<Summary> {
    let topology = *processes.topology();
    let (output, store) = (&*request.output, &request.store);
    let open = |version| Job::open(request, version, topology, global.budget());
    let start = || {
        let job = open(store.find()?)?;
        job.join.check()?;
        request.settings.check_limits(job.join.batch.stamp())?;
        let inputs = [Some(job.join.batch.path()), store.path()];
        making::check_apart(output, inputs.into_iter().flatten())?;
        let lock = || Lock::beside(output);
        let existing = || job.existing(global.overwrite);
        let lock = match making::begin(output, global, lock, existing, || job.would())? {
            ControlFlow::Break(done) => return Ok(Start::done(done)),
            ControlFlow::Continue(lock) => lock,
        };
        let staging = Staging::beside(output, lock)?;
        let (inputs, fence, build) = (job.join.inputs(), staging.fence().clone(), join::build()?);
        let task = Task { inputs, fence, build, itself_bytes: global.budget().itself() };
        Ok(Start::make(task, (job, staging)))
    };
    making::reported(processes, output, global, |processes| {
        making::make(processes, ("dedup", output), start, |processes, task: Task, held| {
            let Task { inputs, fence, build, itself_bytes } = task;
            let (job, staging, _lock) = match held {
                Role::Leader((job, staging)) => (job, Role::Leader(staging), None),
                Role::Follower => {
                    // In a mount of its own, this process has its ledgers to itself.
                    let lock = (!mounts().is_own(output)).then(|| Lock::shared(fence));
                    let job = open(store.at(inputs.store.map(|(number, _)| number))?)?;
                    job.join.check_inputs(&inputs)?;
                    (job, Role::Follower, lock)
                }
            };
            let watch = |total, probed| -> Box<dyn Any> {
                Box::new(Progress::show("probing", Unit::Fingerprints, total, probed, global.quiet))
            };
            job.make(processes, Site { output, build, itself_bytes, staging, watch: &watch })
        })
    })
}

pub(crate) fn stands(request: &Request) -> Result<bool> {
    let alone = Topology { workers: 1, processes: 1, process: 0 };
    let job = Job::open(request, request.store.find()?, alone, Budget::default())?;
    let Some(report) = Report::read(&job.request.output)? else { return Ok(false) };
    Ok(report.parameters == job.parameters() && report.check_files(&job.request.output).is_ok())
}

struct Job {
    join: Join,
    request: Request,
    topology: Topology,
}

impl Job {
    fn existing(&self, overwrite: bool) -> Result<Option<Summary>> {
        let parameters = self.parameters();
        // A day that was joined but not added is joined again if the store has changed since, or if pages of the day were removed.
        let unfinished = self.request.store.is_unfinished()?;
        let is_outdated = |made: &Parameters| {
            let mut made = made.clone();
            for name in ["store", "batch", "records"] {
                made.insert(name.to_owned(), parameters[name].clone());
            }
            unfinished && made == parameters
        };
        let made = report::existing(&self.request.output, &parameters, is_outdated, overwrite)?;
        let Some(report): Option<Report> = made else { return Ok(None) };
        self.request.settings.expect_lost(report.lost, &self.request.output)?;
        Ok(Some(Summary::of_join(&report, &self.request.output)))
    }

    fn would(&self) -> Result<Summary> {
        output::check_free_space(output::parent_of(&self.request.output), self.listed_bytes())?;
        self.warn_if_unused();
        self.warn_if_long();
        Ok(Summary::new()
            .count("batch", self.join.batch.rows())
            .count("store", self.join.store_rows())
            .say(format!("would join {}", self.request.batch.named())))
    }

    fn make(&self, processes: &mut Processes, site: Site<'_>) -> Result<Role<Summary>> {
        self.join.run_at(processes, site, |joined, staging| {
            let mut report = self.report(joined, staging.folder())?;
            let place = self.request.destination.of(&self.request.output);
            report.write(&staging, &place)?;
            staging.commit()?;
            self.request.settings.expect_lost(report.lost, &self.request.output)?;
            Ok(Summary::of_join(&report, &place))
        })
    }

    fn open(
        request: &Request,
        store: Option<Version>,
        topology: Topology,
        budget: Budget,
    ) -> Result<Job> {
        let settings = &request.settings;
        let batch = Segment::open(&request.batch)?;
        let keep = Keep::of_batch(settings.keep.as_ref(), &batch)?;
        let (distance, check) = settings.distance_and_check(batch.stamp());
        let mut join = Join::new(batch, store)?;
        join.distance = distance;
        join.check = check;
        join.design = settings.design.unwrap_or(join.design);
        join.keep = keep;
        join.recrawled = settings.recrawled(join.batch.stamp());
        join.day = request.store.day();
        join.detail = settings.matches.unwrap_or(join.detail);
        join.passages = settings.passages;
        join.max_matches = settings.max_matches.map_or(join.max_matches, |Count(count)| count);
        join.format = request.format;
        join.budget = budget;
        join::check_signatures(join.check, join.batch.stamp())
            .map_err(|error| error.at(join.batch.path()))?;
        Ok(Job { join, request: request.clone(), topology })
    }

    fn parameters(&self) -> Parameters {
        let Join { batch, store, keep, .. } = &self.join;
        let store = store.as_ref().map_or("none".to_owned(), |store| store.digest().to_string());
        let named = [
            ("batch", batch.digest().to_string()),
            ("records", report::records(&batch.counts())),
            ("store", store),
            ("keep", keep.named(batch)),
        ];
        let named = named.map(|(name, value)| (name.to_owned(), value));
        let decided = parameters(&self.request.settings, batch.stamp());
        let format = report::format_parameter(self.request.format);
        named.into_iter().chain(decided).chain(format).collect()
    }

    fn places(&self) -> serde_json::Value {
        json!({
            "batch": places::named(&self.request.destination.of(self.join.batch.path())),
            "store": self.request.store.path().map(places::named),
            PageSource::NAME: self.request.pages,
        })
    }

    /// Says that the batch has sketches that nothing asks for: most likely a flag was forgotten.
    fn warn_if_unused(&self) {
        let Join { batch, check, .. } = &self.join;
        let made = Stamp::parse(batch.stamp()).and_then(|stamp| stamp.check());
        if let (Ok(Some(made)), None, None) = (made, check, self.request.settings.preset) {
            tracing::warn!(
                "the batch has the sketches {made}, but no check uses them: --check {made} does"
            );
        }
    }

    fn warn_if_long(&self) {
        let Topology { workers, processes, .. } = self.topology;
        let threads = (workers * processes) as u64;
        // What cannot be planned fails when the distinct fingerprints are known.
        let time = self.join.expected_time(threads).unwrap_or_default();
        if let Some(warning) = long_join(time, Preset::of(self.join.batch.stamp())) {
            tracing::warn!("{warning}");
        }
    }

    /// About how many bytes verdicts and lists take at least: every id twice. The number of matches is
    /// known later.
    fn listed_bytes(&self) -> u64 {
        let batch = &self.join.batch;
        let ids = batch.columns().filter(|size| size.column == Column::Ids);
        2 * ids.map(|size| size.bytes).sum::<u64>() + 16 * batch.rows()
    }

    fn report(&self, joined: Joined, verdicts: &Path) -> Result<Report> {
        let Joined { outcome, passages, proof, figures } = joined;
        let [tables, probe] = [figures.tables, figures.probe].map(|time| time.as_secs_f64());
        let mut run = json!({
            "inputs": self.places(),
            "design": figures.design,
            "itself": figures.itself,
            "workers": self.topology.workers,
            "processes": self.topology.processes,
            "chunks_resumed": figures.chunks_resumed,
            "bytes_read": figures.bytes_read,
            "seconds": { "tables": tables, "probe": probe },
        });
        if let Some(unchanged) = self.request.unchanged {
            run["unchanged"] = unchanged.into();
        }
        let examples = outcome.dropped_examples.as_deref().unwrap_or_default();
        let day = self.request.store.day();
        let pages = self.request.pages.clone().map(|pages| PageSource { day, ..pages });
        if let Some(differences) = pages.as_ref().and_then(|it| differences_of(examples, it)) {
            run["differences"] = differences;
        }
        if passages.is_some() {
            run["passages"] = json!(passages_in_place::for_report(verdicts, pages.as_ref())?);
        }
        let store = self.join.store.as_ref();
        let later = store.zip(day).map(|(store, day)| LaterDays::of(store, day, verdicts));
        Ok(Report {
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            day,
            recipe: recipe(self.join.batch.stamp()),
            parameters: self.parameters(),
            store_version: store.map(Version::number),
            removals: store.and_then(Version::removals),
            later_days: later.transpose()?.flatten(),
            batch: self.join.batch.counts(),
            lost: outcome.lost,
            passages,
            outcome,
            probe: Some(proof),
            run: account::with_bill(run),
        })
    }
}

fn long_join(time: Duration, preset: Option<Preset>) -> Option<String> {
    if time < LONG {
        return None;
    }
    let advice = preset.and_then(Preset::cheaper).map_or(String::new(), |(preset, misses)| {
        format!("; the preset {preset} is cheaper, and leaves {misses} that could go and that this one drops")
    });
    Some(format!("by estimate, this join takes {} hours{advice}", time.as_secs() / 3600))
}

/// A recipe as reports have it.
pub(crate) fn recipe(stamp: &str) -> serde_json::Value {
    serde_json::from_str(stamp).unwrap_or_else(|_| stamp.into())
}

pub(crate) fn parameters(settings: &DedupSettings, stamp: &str) -> Parameters {
    let (distance, check) = settings.distance_and_check(stamp);
    let named = [
        ("distance", distance.to_string()),
        ("matches", settings.matches.unwrap_or_default().to_string()),
    ];
    let check = check.map(|check| ("check", check.to_string()));
    let passages = settings.passages.map(|words| ("passages", words.to_string()));
    let recrawled = Some(settings.recrawled(stamp)).filter(|it| *it != Recrawled::Rule);
    let recrawled = recrawled.map(|it| (report::RECRAWLED, it.to_string()));
    named
        .into_iter()
        .chain(recrawled)
        .chain(check)
        .chain(passages)
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Checks, before there is a batch, that one of this recipe could be joined with the store as the settings
/// ask.
pub(crate) fn check_settings(
    settings: &DedupSettings,
    store: Option<&Version>,
    recipe: &Recipe,
    global: &GlobalFlags,
) -> Result<()> {
    let stamp = recipe.stamp();
    let (k, check) = settings.distance_and_check(stamp.as_str());
    let width = recipe.width();
    let problem = Problem::uniform(1, 1, k, width, 1);
    let design = settings.design.unwrap_or(Design::Auto);
    plan::choose(design, &problem, global.budget().tables())?;
    join::check_recipe(store, stamp.as_str())?;
    settings.check_limits(stamp.as_str())?;
    join::check_passages(settings.passages, stamp.as_str())?;
    join::check_recrawled(settings.recrawled(stamp.as_str()), check, stamp.as_str())?;
    join::check_signatures(check, stamp.as_str())
}

/// For each example the passages that differ; none if the inputs are large, or cannot be read any more.
fn differences_of(examples: &[DroppedExample], source: &PageSource) -> Option<Value> {
    read_differences(examples, source).unwrap_or_else(|error| {
        tracing::warn!("report.html does not show the words that differ: {error}");
        None
    })
}

fn read_differences(examples: &[DroppedExample], source: &PageSource) -> Result<Option<Value>> {
    let kept: Vec<Nearest> = examples.iter().map(nearest).collect();
    let pairs: Vec<Pair<'_>> = examples.iter().map(|it| &*it.id).zip(&kept).collect();
    let bytes = excerpts::input_bytes(pairs.iter().copied(), source, &source.settings)?;
    if pairs.is_empty() || bytes > excerpts::MOST_INPUT_BYTES {
        return Ok(None);
    }
    let texts = Excerpts::read(pairs.iter().copied(), source, &source.settings)?;
    let difference = |pair: &Pair<'_>| {
        let (passages, note) = match texts.compare(*pair)? {
            Ok(compared) => compared.passages(&IN_SHORT),
            Err(missing) if is_cut(missing) => (Vec::new(), None),
            Err(missing) => (Vec::new(), Some(excerpts::lacking(missing))),
        };
        Ok(json!({ "passages": passages, "note": note }))
    };
    pairs.iter().map(difference).collect::<Result<Vec<Value>>>().map(|all| Some(all.into()))
}

fn nearest(example: &DroppedExample) -> Nearest {
    let DroppedExample { of, distance, against, .. } = example.clone();
    Nearest { id: of, distance, against }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_that_takes_hours_is_announced_with_what_a_cheaper_one_misses() {
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        assert_eq!(long_join(hours(5), Some(Preset::Balanced)), None);
        let said = long_join(hours(9), Some(Preset::Balanced)).unwrap();
        assert!(said.contains("9 hours; the preset paper is cheaper"), "{said}");
        let said = long_join(hours(9), Some(Preset::Paper)).unwrap();
        assert!(said.ends_with("9 hours"), "{said}");
    }
}
