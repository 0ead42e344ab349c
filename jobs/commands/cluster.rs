//! `dupsieve cluster`: which pages belong together, over any number of days?
//!
//! The clustering itself is the library's ([`dupsieve::clusters`]). Here it gets its flags, its lock and its
//! report.

use std::env;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{self, Path, PathBuf};

use clap::Args;
use dupsieve::clusters::{Clustering, Method, PageDay, Previous, RemovedIds, Source, audit};
use dupsieve::error::Named;
use dupsieve::flow::{Processes, Role};
use dupsieve::output::{self, Lock, Staging, Sum};
use dupsieve::peers::Topology;
use dupsieve::report::{self, ClusterReport, Made, Parameters, Report};
use dupsieve::results::ResultFormat;
use dupsieve::step::{self, Step};
use dupsieve::store::Day;
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::{examples, making, places};
use crate::flags::{FormatFlag, GlobalFlags, JOB, Output, Place, shared};
use crate::outcome::{Summary, account, counted, failure};
use crate::processes::machines;

/// The names of parameters: the method, and the clusters before.
pub(crate) const METHOD: &str = "method";
pub(crate) const PREVIOUS: &str = "previous";

const EXAMPLES: &str = "
# Find the clusters of all days of a folder
dupsieve cluster --from out --output clusters-21
# Add a day, and see what changes
dupsieve cluster --previous clusters-21 --from out/2026-11-22 --output clusters-22
# Add one without writing the lists
dupsieve cluster --previous clusters-22 --from out/2026-11-23 --output clusters-23 --no-lists
# List the clusters of all days
dupsieve cluster --previous clusters-23 --output listed
# Take pages out
dupsieve cluster --previous clusters-22 --removed gone.txt --output clusters-22b";

/// Find which pages belong together, from the matches of any number of days
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Outputs of dedup or lsh, of days of run, or folders of days
    #[arg(long = "from", alias = "matches", value_name = "PATH", num_args = 1.., required_unless_present = "previous")]
    matches: Vec<Place>,
    /// Output folder
    #[arg(long, value_name = "DIR")]
    output: Output,
    /// Which pages are one cluster, by star or components: a kept page and its duplicates (star), or all that a chain
    /// of matches connects (components) [default: that of --previous, else star]
    #[arg(long, value_name = "METHOD")]
    method: Option<Method>,
    /// The clusters to which the matches are added, as this command wrote them
    #[arg(long, value_name = "DIR")]
    previous: Option<Place>,
    /// Do not write the tables of clusters and sizes, which name every page of every day. Later, this command writes them if
    /// it gets these clusters as --previous and nothing else
    #[arg(long)]
    no_lists: bool,
    /// The day of the matches, if they do not say it themselves
    #[arg(long, value_name = "D", requires = "matches")]
    day: Option<Day>,
    /// A list of ids, one a line, whose pages leave: all matches with them count for nothing
    #[arg(long, value_name = "FILE")]
    removed: Option<Place>,
    #[command(flatten)]
    format: FormatFlag,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) matches: Vec<Input>,
    pub(crate) output: PathBuf,
    /// Where the output is in the end.
    pub(crate) place: PathBuf,
    pub(crate) method: Option<Method>,
    pub(crate) previous: Option<Input>,
    pub(crate) removed: Option<PathBuf>,
    pub(crate) writes_lists: bool,
    pub(crate) format: ResultFormat,
    /// Whether clusters by the same method are replaced that were made from other matches.
    pub(crate) replaces_outdated: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// Where it will be, if it is moved once all is done.
    pub(crate) place: PathBuf,
    /// The day of its batch, if it does not say that itself.
    pub(crate) day: Option<Day>,
}

impl Input {
    fn at(path: PathBuf, day: Option<Day>) -> Input {
        let place = path::absolute(&path).unwrap_or(path.clone());
        Input { path, place, day }
    }
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let Arguments { matches, output, method, previous, no_lists, day, removed, format } = arguments;
    if matches.is_empty() && removed.is_none() && *no_lists {
        let what = "there is nothing to add, nothing to remove and nothing to list";
        return Err(Error::new(Kind::Usage, what).help("give --from, or leave --no-lists out"));
    }
    let format = format.or(&global.config()?.output);
    let output = output.here()?;
    let input = |named: &Place| Ok(Input::at(named.here()?, *day));
    let request = Request {
        matches: matches.iter().map(input).collect::<Result<_>>()?,
        place: output.clone(),
        method: *method,
        previous: previous.as_ref().map(Place::here).transpose()?.map(|it| Input::at(it, None)),
        removed: removed.as_ref().map(Place::here).transpose()?,
        writes_lists: !no_lists,
        format,
        replaces_outdated: false,
        output: output.clone(),
    };
    let mut processes = machines::join(global, &format!("{arguments:?}"))?;
    let made = in_process_0(&mut processes, |topology| cluster_pages(topology, &request, global))?;
    places::publish_job(&mut processes, global)?;
    let Role::Leader(summary) = made else { return Ok(Summary::new()) };
    if global.dry_run {
        return Ok(summary);
    }
    let [members, clusters] = ["members", "clusters"].map(|name| summary.counted(name));
    let lists =
        if *no_lists { String::new() } else { format!("clusters.{format}, sizes.{format}, ") };
    let changes = if previous.is_some() { format!("changes.{format}, ") } else { String::new() };
    let found = [counted(members, "page(s)"), counted(clusters, "cluster(s)")].join(" in ");
    Ok(summary.say(found).say(format!(
        "written to {}: {lists}{changes}report.json, report.html, and the state to which a day can be added",
        output.named()
    )))
}

/// Makes clusters: process 0 calls `make`, and the others wait until it has ended. If it fails, all fail alike.
pub(crate) fn in_process_0(
    processes: &mut Processes,
    make: impl FnOnce(Topology) -> Result<Summary>,
) -> Result<Role<Summary>> {
    step::begin(Step::Clustering);
    let topology = *processes.topology();
    processes.agree("cluster", || make(topology).map(Role::Leader))
}

pub(crate) fn cluster_pages(
    topology: Topology,
    request: &Request,
    global: &GlobalFlags,
) -> Result<Summary> {
    failure::reported_beside(&request.output, !global.dry_run, || {
        let request = Request { matches: outputs_of(&request.matches)?, ..request.clone() };
        Job::open(&request, global)?.run(topology, global)
    })
}

/// These outputs, each of which may be a folder of such.
fn outputs_of(named: &[Input]) -> Result<Vec<Input>> {
    let mut outputs = Vec::new();
    for input in named {
        for path in report::outputs(&input.path)? {
            outputs.push(match path == input.path {
                true => input.clone(),
                false => Input::at(path, input.day),
            });
        }
    }
    Ok(outputs)
}

struct Job<'a> {
    clustering: Clustering,
    parameters: Parameters,
    days: Vec<String>,
    bytes: u64,
    request: &'a Request,
}

impl Job<'_> {
    fn output(&self) -> &Path {
        &self.request.output
    }

    fn existing(&self, overwrite: bool) -> Result<Option<Summary>> {
        let is_outdated = |made: &Parameters| {
            self.request.replaces_outdated && made.get(METHOD) == self.parameters.get(METHOD)
        };
        let made = report::existing(self.output(), &self.parameters, is_outdated, overwrite)?;
        Ok(made.map(|report| summary(&report, self.output())))
    }

    fn would(&self) -> Result<Summary> {
        output::check_free_space(output::parent_of(self.output()), self.bytes)?;
        let days = self.clustering.sources.len() as u64;
        let would = format!("would make {}", self.output().named());
        Ok(Summary::new().count("days", days).count("bytes", self.bytes).say(would))
    }

    fn open<'a>(request: &'a Request, global: &GlobalFlags) -> Result<Job<'a>> {
        let outputs = request.matches.iter().chain(&request.previous).map(|input| &*input.path);
        making::check_apart(&request.output, outputs.chain(request.removed.as_deref()))?;
        let folder = request.previous.as_ref().map(|input| input.path.clone());
        let previous = folder.as_deref().map(read_previous).transpose()?;
        let method = method(request, previous.as_ref())?;
        let found = previous.as_ref().map(|report| report.found.clone());
        let mut clustering = Clustering::new(method, Vec::new());
        clustering.previous = folder.zip(found).map(|(folder, found)| Previous { folder, found });
        clustering.writes_lists = request.writes_lists;
        clustering.format = request.format;
        clustering.memory_bytes = global.budget().clustering();
        let mut job = Job {
            clustering,
            parameters: Parameters::from([(METHOD.to_owned(), method.to_string())]),
            days: Vec::new(),
            bytes: 0,
            request,
        };
        if let Some(report) = previous {
            job.parameters.insert(PREVIOUS.to_owned(), state(&report));
            job.bytes += bytes(&report);
            job.days = report.days;
        }
        if !request.writes_lists {
            job.parameters.insert("lists".to_owned(), "none".to_owned());
        }
        job.parameters.extend(report::format_parameter(request.format));
        request.matches.iter().try_for_each(|input| job.add(input))?;
        if let Some(path) = &request.removed {
            let removed = RemovedIds::read(path, global.budget().whole())?;
            job.parameters.insert("removed".to_owned(), removed.digest().to_string());
            job.clustering.removed = removed;
        }
        job.days.sort();
        Ok(job)
    }

    fn add(&mut self, input: &Input) -> Result<()> {
        let folder = report::folder(&input.path);
        let report = Report::read(&folder)?.ok_or_else(|| not_whole(&folder))?;
        report.check_files(&folder)?;
        let day = match (report.day, input.day) {
            (Some(own), Some(given)) if own != given => {
                return Err(Error::new(Kind::Usage, "these matches are of another day")
                    .at(&folder)
                    .expected(given)
                    .found(own)
                    .help("leave --day out"));
            }
            (own, given) => PageDay::from(own.or(given)),
        };
        if self.days.contains(&day.to_string()) {
            let of = match day {
                PageDay::NONE => "a day that is not known".to_owned(),
                day => day.to_string(),
            };
            return Err(Error::new(Kind::Usage, format!("the matches of {of} are there already"))
                .at(&folder)
                .help(
                    "give each day once; say with --day of which day the matches of one output are",
                ));
        }
        self.days.push(day.to_string());
        self.parameters.insert(matches_of(day), sums(&report));
        self.bytes += bytes(&report);
        self.clustering.sources.push(Source { folder, day });
        Ok(())
    }

    fn run(self, topology: Topology, global: &GlobalFlags) -> Result<Summary> {
        let request = self.request;
        let output = self.output();
        let lock = || Lock::beside(output);
        let existing = || self.existing(global.overwrite);
        let lock = match making::begin(output, global, lock, existing, || self.would())? {
            ControlFlow::Break(done) => return Ok(done),
            ControlFlow::Continue(lock) => lock,
        };
        let staging = Staging::beside(&request.output, lock)?;
        let found = self.clustering.write(&staging)?;
        let place = |input: &Input| places::named(&input.place);
        let run = account::with_bill(json!({
            "inputs": {
                "matches": request.matches.iter().map(place).collect::<Vec<_>>(),
                "previous": request.previous.as_ref().map(place),
            },
            "workers": topology.workers,
            "processes": topology.processes,
        }));
        let method = self.clustering.method;
        let mut report = ClusterReport::of(self.parameters, method, self.days, found, run);
        report.write(&staging, &request.place)?;
        staging.commit()?;
        if let Some(warning) = &report.warning {
            tracing::warn!("{warning}");
        }
        Ok(summary(&report, &request.place))
    }
}

/// The clusters that were made before. Their state is checked as it is read.
fn read_previous(folder: &Path) -> Result<ClusterReport> {
    ClusterReport::read(folder)?.ok_or_else(|| {
        Error::new(missing_or_bad(folder), "this is not a complete output of `cluster`")
            .at(folder)
            .help("leave --previous out to begin from nothing")
    })
}

pub(crate) fn not_whole(folder: &Path) -> Error {
    let kind = missing_or_bad(folder);
    let what = match kind {
        Kind::Missing => "there is no such folder",
        _ => "this is not a complete output of dupsieve with matches",
    };
    Error::new(kind, what).at(folder).expected("an output of dedup or lsh, or a day of run")
}

fn missing_or_bad(folder: &Path) -> Kind {
    if folder.exists() { Kind::BadData } else { Kind::Missing }
}

fn method(request: &Request, previous: Option<&ClusterReport>) -> Result<Method> {
    let made = previous.map(|report| report.method);
    match (request.method, made) {
        (Some(asked), Some(made)) if asked != made => {
            Err(Error::new(Kind::Usage, "the clusters before were made with another method")
                .expected(asked)
                .found(made)
                .help("leave --previous out to begin from nothing"))
        }
        (asked, made) => Ok(asked.or(made).unwrap_or_default()),
    }
}

pub(crate) fn matches_of(day: impl fmt::Display) -> String {
    format!("matches {day}")
}

pub(crate) fn sums(report: &impl Made) -> String {
    listed(report.files().iter())
}

pub(crate) fn state(report: &ClusterReport) -> String {
    listed(report.files().iter().filter(|(name, _)| name.ends_with(".bin")))
}

fn listed<'a>(files: impl Iterator<Item = (&'a String, &'a Sum)>) -> String {
    files.map(|(name, sum)| format!("{name} {}", sum.xxh3)).collect::<Vec<_>>().join(", ")
}

fn bytes(report: &impl Made) -> u64 {
    report.files().values().map(|sum| sum.bytes).sum()
}

fn summary(report: &ClusterReport, output: &Path) -> Summary {
    let found = &report.found;
    Summary::new()
        .count("members", found.members)
        .count("clusters", found.clusters)
        .count("stars", found.stars)
        .count("links", found.links)
        .count_some("changes", found.changes)
        .path("output", output)
}

pub(crate) fn done(report: &ClusterReport, output: &Path) -> Result<Summary> {
    report.check_files(output)?;
    let lock = Lock::beside(output)?;
    output::remove_leftovers(output, &lock)?;
    Ok(summary(report, output).already_done())
}

/// Verifies an output of `cluster`; none if it is something else.
pub(crate) fn verify(output: &Path, global: &GlobalFlags) -> Result<Option<Summary>> {
    let Some(report) = ClusterReport::read(output)? else { return Ok(None) };
    check(output, &report, before(&report)?, global)?;
    Ok(Some(summary(&report, output).count("bytes", bytes(&report))))
}

/// The clusters to which those of the report were added, if there are any there now.
pub(crate) fn before(report: &ClusterReport) -> Result<Option<(PathBuf, ClusterReport)>> {
    let Some(folder) = places::input_of(&report.run, PREVIOUS)? else { return Ok(None) };
    let before = ClusterReport::read(&folder)?;
    Ok(before.map(|before| (folder, before)))
}

/// Checks an output of `cluster`: the sums of its files, and that its report and its tables are what its state comes to. The clusters
/// before count if they are still those to which these were added.
pub(crate) fn check(
    output: &Path,
    report: &ClusterReport,
    before: Option<(PathBuf, ClusterReport)>,
    global: &GlobalFlags,
) -> Result<()> {
    report.check_files(output)?;
    report.check_page(output)?;
    let added_to = report.parameters.get(PREVIOUS);
    let before = before.filter(|(_, before)| added_to == Some(&state(before)));
    check_days(output, report, before.as_ref().map(|(_, before)| before))?;
    let before = before.map(|(folder, report)| Previous { folder, found: report.found });
    let made = Previous { folder: output.to_owned(), found: report.found.clone() };
    let memory = global.budget().clustering();
    audit(&made, report.method, before.as_ref(), &env::temp_dir(), memory)
}

/// Fails unless the days and the method of the report are those of what the clusters were made from. The days of clusters to which others
/// were added are known while the clusters `before` are there.
fn check_days(output: &Path, report: &ClusterReport, before: Option<&ClusterReport>) -> Result<()> {
    let parameters = &report.parameters;
    let differs = |name: &str, expected: String, found: String| {
        Error::new(Kind::BadData, format!("the parameters give another `{name}` than the report"))
            .at(output.join("report.json"))
            .expected(expected)
            .found(found)
            .help("make the clusters again with --overwrite")
    };
    let method = parameters.get(METHOD).cloned().unwrap_or_default();
    if method != report.method.to_string() {
        return Err(differs("method", method, report.method.to_string()));
    }
    let of_matches = matches_of("");
    let days = parameters.keys().filter_map(|name| name.strip_prefix(&of_matches));
    let mut days: Vec<String> = days.map(str::to_owned).collect();
    days.extend(before.into_iter().flat_map(|before| before.days.clone()));
    days.sort();
    let is_known = before.is_some() || !parameters.contains_key(PREVIOUS);
    if is_known && days != report.days {
        return Err(differs("days", days.join(" "), report.days.join(" ")));
    }
    Ok(())
}
