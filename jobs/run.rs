//! The whole day, and the day after: fingerprint, join with the store, add to the store.

use std::collections::HashSet;
use std::path::{self, Path, PathBuf};

use clap::Args;
use dupsieve::flow::Cluster;
use dupsieve::store::{Added, Day, DayRange, Store};
use dupsieve::{Error, Kind, Result};

use crate::arguments::Common;
use crate::cluster::cluster;
use crate::config::{Add, Config};
use crate::dedup::{self, dedup};
use crate::fingerprint::{self, fingerprint};
use crate::report;
use crate::settings::{DedupSettings, FingerprintSettings};
use crate::store_at::StoreAt;
use crate::summary::Summary;

/// Run whole days as a configuration file says: fingerprint, dedup, store add
#[derive(Args, Debug)]
#[command(mut_arg("confirm", |flag| flag.long("dedup-check")))]
pub(crate) struct Arguments {
    /// The configuration file, such as configs/local.toml
    #[arg(value_name = "CONFIG")]
    pub(crate) days: PathBuf,
    /// The day to run, or a range of days A..B; can be repeated [default: the file's dates]
    #[arg(long = "date", value_name = "YYYY-MM-DD")]
    dates: Vec<DayRange>,
    #[command(flatten, next_help_heading = "Instead of what the file says under [fingerprint]")]
    fingerprint: FingerprintSettings,
    #[command(flatten, next_help_heading = "Instead of what the file says under [dedup]")]
    dedup: DedupSettings,
}

/// Runs the days, one after the other. Days that are done already are passed over.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Summary> {
    let file = Config::read(&arguments.days)?;
    let config = Config {
        fingerprint: arguments.fingerprint.clone().or(file.fingerprint),
        dedup: arguments.dedup.clone().or(file.dedup),
        dates: if arguments.dates.is_empty() { file.dates } else { arguments.dates.clone() },
        ..file
    };
    let plan = Plan::of(&config).map_err(|error| error.at(&arguments.days))?;
    let mut cluster = cluster(common, &format!("{config:?}"))?;
    let mut total = Summary::new().already_done();
    for &day in &plan.days {
        total = total.plus(plan.run_day(&mut cluster, day, common)?);
    }
    let total = total.path("store", &plan.store);
    match plan.days.last() {
        Some(&day) if cluster.is_leader() && !common.dry_run => {
            plan.closing(total, day, &arguments.days)
        }
        _ => Ok(total),
    }
}

/// What a configuration file asks for, with what it must name.
struct Plan<'a> {
    config: &'a Config,
    output: &'a str,
    store: PathBuf,
    /// The days to run, each once, in the order in which they were named first.
    days: Vec<Day>,
}

impl Plan<'_> {
    fn of(config: &Config) -> Result<Plan<'_>> {
        let missing = |key: &str| {
            Error::new(Kind::Config, format!("the file does not say `{key}`"))
                .help("see configs/local.toml for a whole one")
        };
        let output = config.output.as_deref().ok_or_else(|| missing("output"))?;
        let store = config.store.as_deref().ok_or_else(|| missing("store"))?;
        if config.inputs.is_empty() {
            return Err(missing("inputs"));
        }
        let has = |part: &str| output.contains(part);
        if !has("{date}") && !["{year}", "{month}", "{day}"].into_iter().all(has) {
            return Err(Error::new(Kind::Config, "several days would have the same output")
                .expected("{date}, or {year}, {month} and {day}, in `output`")
                .found(output));
        }
        let mut met = HashSet::new();
        let named = config.dates.iter().flat_map(|range| range.days());
        let days: Vec<Day> = named.filter(|&day| met.insert(day)).collect();
        if days.is_empty() {
            return Err(Error::new(Kind::Usage, "no day is named")
                .help("name one with --date, or give the file dates"));
        }
        Ok(Plan { config, output, store: absolute(store), days })
    }

    /// The folder for the output of a day.
    fn output(&self, day: Day) -> PathBuf {
        absolute(Path::new(&day.expand(self.output)))
    }

    /// Says where the inputs of a day are looked for, if that is why the job failed.
    fn explain(&self, day: Day, error: Error) -> Error {
        if error.kind() != Kind::Missing || self.inputs(day).all(|it| Path::new(&it).is_absolute())
        {
            return error;
        }
        let paths = self.inputs(day).map(|it| absolute(Path::new(&it)).display().to_string());
        error.help(format!(
            "the inputs of {day} are looked for at {}; relative paths start at the working directory",
            paths.collect::<Vec<_>>().join(", ")
        ))
    }

    fn run_day(&self, cluster: &mut Cluster, day: Day, common: &Common) -> Result<Summary> {
        let output = self.output(day);
        let batch = output.join("batch.seg");
        let made = fingerprint::Request {
            inputs: self.inputs(day).map(PathBuf::from).collect(),
            output: batch.clone(),
            settings: self.config.fingerprint.clone(),
        };
        let read = fingerprint(cluster, &made, common).map_err(|error| self.explain(day, error))?;
        if common.dry_run && !(batch.exists() && Store::open(&self.store).is_ok()) {
            return Ok(read);
        }
        let joined = dedup::Request {
            batch: batch.clone(),
            store: StoreAt::Before(self.store.clone(), day),
            output: output.join("dedup"),
            settings: self.config.dedup.clone(),
        };
        let found = dedup(cluster, &joined, common)?;
        if common.dry_run {
            return Ok(read.then(found));
        }
        let mut added = None;
        report::on_failure(&joined.output, cluster.is_leader(), common, || {
            cluster.agree(&format!("add {day}"), || {
                added = Some(self.add(&joined, day)?);
                Ok(())
            })
        })?;
        let was_there = matches!(&added, Some(Added::Already(_)));
        if let Some(added) = added {
            tell(day, &read, &found, &added);
        }
        let done = read.then(found);
        Ok(if was_there { done } else { done.changed() })
    }

    /// Adds the day to the version of the store that it was joined with.
    fn add(&self, joined: &dedup::Request, day: Day) -> Result<Added> {
        let keep = joined.output.join("keep.txt");
        let only = (self.config.add == Add::Kept).then_some(keep.as_path());
        let report = report::Report::read(&joined.output)?;
        let after = report.and_then(|report| report.parameters.get("store")?.parse().ok());
        Store::open(&self.store)?.add(&joined.batch, day, only, after)
    }

    /// The inputs of a day, as the file names them.
    fn inputs(&self, day: Day) -> impl Iterator<Item = String> {
        self.config.inputs.iter().map(move |input| day.expand(input))
    }

    /// Says what was read and found, what was written, and what can be done with it. `day` is the
    /// last of the days.
    fn closing(&self, total: Summary, day: Day, config: &Path) -> Result<Summary> {
        let folder = self.output(day);
        let output = folder.join("dedup");
        let output = output.display();
        let inputs: Vec<String> = self.inputs(day).map(|input| format!("'{input}'")).collect();
        let program = std::env::args().next().unwrap_or_else(|| "dupsieve".to_owned());
        let [pages, kept, dropped, empty, repeated, bad] =
            ["read", "kept", "dropped", "empty", "repeated", "quarantined"]
                .map(|name| total.counted(name));
        let days = match self.days.len() {
            1 => format!("Day {day}"),
            days => format!("{days} days, the last {day}"),
        };
        let done = if total.is_already_done() { "done before, nothing changed" } else { "done" };
        let held = Store::open(&self.store)?.at(None)?;
        let (store, config) = (self.store.display(), config.display());
        Ok(total
            .say(format!("{days}: {done}. {pages} pages were read:"))
            .say(format!("  {kept} kept, because no earlier page is nearly the same"))
            .say(format!("  {dropped} dropped as near-duplicates, each of a page that was kept"))
            .say(format!("  {empty} without any word, {repeated} with an id met before that day, {bad} unreadable"))
            .say(format!("The store {store} holds {} pages (version {}).", held.rows(), held.number()))
            .say(format!("Results of {day} are in {output}/:"))
            .say("  verdicts.tsv         what becomes of each page, and because of which other page")
            .say("  matches.tsv          pairs of near pages with their distance in bits")
            .say("  keep.txt, drop.txt   the ids of the kept and of the dropped pages")
            .say("  report.json          parameters, counts and checksums")
            .say("Next:")
            .say(format!("  copy the kept pages   {program} filter --config {config} --input {} --ids {output}/keep.txt --output kept.jsonl", inputs.join(" ")))
            .say(format!("  check the results     {program} verify {}", folder.display())))
    }
}

/// The path with the working directory before it if it is relative.
fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn tell(day: Day, read: &Summary, found: &Summary, added: &Added) {
    let [pages, repeated, bad] = ["read", "repeated", "quarantined"].map(|it| read.counted(it));
    let [kept, dropped, empty, matches] =
        ["kept", "dropped", "empty", "matches"].map(|it| found.counted(it));
    let version = match added {
        Added::New(version) => format!("store version {}", version.number()),
        Added::Already(version) => format!("in the store, now at version {}", version.number()),
    };
    tracing::info!(
        "{day}: {pages} pages = {kept} kept + {dropped} near-duplicates dropped + {empty} empty + \
         {repeated} repeated + {bad} unreadable; {matches} matches; {version}"
    );
}
