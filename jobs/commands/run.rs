//! `dupsieve run`: whole days, one after the other. Each is fingerprinted, joined with the store and added
//! to it, and clustered where the file asks for it.

mod clean_files;
mod clusters;
mod days;
mod preflight;
mod redo;

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::error::Named;
use dupsieve::flow::{Processes, Role};
use dupsieve::report::{ClusterReport, Made, Report};
use dupsieve::step::{self, Step};
use dupsieve::store::{Added, Day, DayRange, Store};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::dedup::dedup;
use crate::commands::fingerprint::{fingerprint, say_recipe};
use crate::commands::{dedup, examples, places, shell};
use crate::flags::{
    Config, ConfirmDay, DedupSettings, FingerprintSettings, FormatFlag, GlobalFlags, JOB, Output,
    OutputSettings, Place, Replaced, mounts, shared,
};
use crate::outcome::{Summary, answer, failure, identity, tally};
use crate::processes::machines;
use clusters::Chain;
use days::{DayPlan, log_day};

const EXAMPLES: &str = "
# Run the three days of the bundled sample
dupsieve run configs/local.toml
# See what would be done for a day, or why it would fail; without --dry-run it is done
dupsieve run configs/daily.toml --date 2026-11-21 --dry-run
# Leave metrics for the node exporter of Prometheus
dupsieve run configs/daily.toml --date 2026-11-21 --metrics-file dupsieve.prom";

/// Run days as a configuration says, from the pages to the verdicts and the store
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
#[command(mut_arg("confirm", |flag| flag.long("dedup-check")))]
#[command(mut_arg("join_preset", |flag| flag.long("dedup-preset").hide(true).env(None)))]
pub(crate) struct Arguments {
    /// Configuration file, such as configs/local.toml
    #[arg(value_name = "CONFIG")]
    pub(crate) days: PathBuf,
    /// Day to run, or a range of days A..B; can be repeated [default: the dates in the file]
    #[arg(long = "date", value_name = "YYYY-MM-DD")]
    dates: Vec<DayRange>,
    /// Do a day of the store again, and the days that were added after it. Either all of
    /// this succeeds or nothing changes; --dry-run shows which days these are. A merge or prune that fails after it
    /// is a warning
    #[arg(long, value_name = "D", conflicts_with = "dates")]
    redo: Option<Day>,
    #[command(flatten)]
    confirm: ConfirmDay,
    #[command(flatten)]
    format: FormatFlag,
    #[command(flatten, next_help_heading = "Flags that override [fingerprint] in the file")]
    fingerprint: FingerprintSettings,
    #[command(flatten, next_help_heading = "Flags that override [dedup] in the file")]
    dedup: DedupSettings,
}

/// Mounts the store and the outputs of the days that are at addresses, and the tables that the file names.
pub(crate) fn mount(arguments: &Arguments) -> Result<()> {
    let file = Config::read(&arguments.days)?;
    file.mount_tables()?;
    // What is mounted first is published first. A run that loses the store must not have written outputs that another sees.
    let store = file.store.path.clone().map(Output::from);
    store.map_or(Ok(()), |store| store.here().map(drop))?;
    if let Some(output) = &file.output.path {
        for day in days_to_mount(arguments, &file)? {
            Output::from(day.expand(output)).here()?;
            file.kept
                .iter()
                .try_for_each(|kept| Output::from(day.expand(kept)).here().map(drop))?;
        }
    }
    Ok(())
}

/// The days whose outputs are made: all processes of the machine share the mounts of these. Of other days, outputs are only read.
fn days_to_mount(arguments: &Arguments, file: &Config) -> Result<Vec<Day>> {
    match (arguments.redo, &file.store.path) {
        // What is wrong with the store, the run will say.
        (Some(day), Some(store)) => {
            Ok(redo::days(&store.here()?, day).unwrap_or_else(|_| vec![day]))
        }
        _ => {
            let ranges = if arguments.dates.is_empty() { &file.dates } else { &arguments.dates };
            Ok(ranges.iter().flat_map(|range| range.days()).collect())
        }
    }
}

/// Runs the days, one after the other. Days that are done already are skipped.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let file = Config::read(&arguments.days)?;
    let fingerprint = arguments.fingerprint.clone().or(file.fingerprint);
    // A preset that is typed counts for both steps, whatever the file says of either.
    let typed = arguments.dedup.preset.or(arguments.fingerprint.made.preset);
    let mut dedup = arguments.dedup.clone().or(file.dedup);
    dedup.preset = typed.or(dedup.preset).or(fingerprint.made.preset);
    let format = Some(arguments.format.or(&file.output));
    let config = Config {
        fingerprint,
        dedup,
        output: OutputSettings { format, ..file.output },
        dates: if arguments.dates.is_empty() { file.dates } else { arguments.dates.clone() },
        ..file
    };
    let plan = DayPlan::of(&config, &arguments.days).map_err(|error| error.at(&arguments.days))?;
    if plan.days.is_empty() && arguments.redo.is_none() {
        return Err(plan.no_day());
    }
    let mut processes = machines::join(global, &format!("{config:?} {:?}", arguments.redo))?;
    if let Some(day) = arguments.redo {
        let done = redo(&plan, &mut processes, day, global)?;
        places::publish_job(&mut processes, global)?;
        return Ok(done);
    }
    processes.agree("check the days", || {
        if !global.dry_run {
            redo::finish(&plan, &plan.days)?;
        }
        arguments.confirm.check(|today| preflight::check_days(&plan, today))?;
        preflight::check(&plan, &arguments.days, global)?;
        if global.dry_run { plan.log_expiry() } else { Ok(()) }
    })?;
    let mut total = Summary::new().already_done();
    for &day in &plan.days {
        let done = run_day(&plan, &mut processes, day, global);
        total = total.plus(done.map_err(|error| plan.advise_redo(day, error))?);
        places::publish_job(&mut processes, global)?;
    }
    let total = total.path("store", &plan.store);
    if global.dry_run {
        return say_recipe(total, &config.fingerprint);
    }
    match plan.days.last() {
        Some(&day) if processes.is_leader() => closing(&plan, total, day, &arguments.days),
        _ => Ok(total),
    }
}

/// Makes a day again. What it makes on the way is not published, so on machines without a common disk process 0 does all of it.
fn redo(
    plan: &DayPlan<'_>,
    processes: &mut Processes,
    day: Day,
    global: &GlobalFlags,
) -> Result<Summary> {
    if !mounts().is_own(&plan.store) && !mounts().is_own(&plan.output(day)?) {
        return redo::redo(plan, processes, day, global);
    }
    let mut alone = Processes::alone(processes.topology().workers);
    let done = processes.agree(&format!("redo {day} in process 0"), || {
        redo::redo(plan, &mut alone, day, global).map(Role::Leader)
    })?;
    Ok(done.leader().unwrap_or_default())
}

fn run_day(
    plan: &DayPlan<'_>,
    processes: &mut Processes,
    day: Day,
    global: &GlobalFlags,
) -> Result<Summary> {
    identity::set_day(day);
    let made = plan.to_fingerprint(day)?;
    let mut joined = plan.to_join(day)?;
    if global.overwrite && plan.is_held(day) && redo::was_made_otherwise(&made, &joined)? {
        let what = "the output of a day in the store cannot be replaced";
        return Err(Error::new(Kind::Exists, what).at(plan.output(day)?));
    }
    let kept = processes.agree(&format!("look at the clean files of {day}"), || {
        plan.copies(day).map(Role::Leader)
    })?;
    let kept = kept.leader().flatten();
    let read =
        fingerprint(processes, &made, global).map_err(|error| plan.explain_missing(day, error))?;
    if global.dry_run && !(made.output.exists() && Store::open(&plan.store).is_ok()) {
        return Ok(read.say(format!(
            "{day}: would then {}",
            steps_left(plan, day, None, global)?.join(", ")
        )));
    }
    joined.unchanged = read.find("unchanged");
    if !global.dry_run {
        let step = format!("leave removed pages out of {day}");
        processes.agree(&step, || plan.leave_out_removed(day))?;
    }
    let found = dedup(processes, &joined, global)?;
    if global.dry_run {
        let is_joined = found.is_already_done();
        let left = steps_left(plan, day, is_joined.then_some(&joined), global)?;
        let done = read.then(found);
        return Ok(match left.is_empty() {
            true => done,
            false => done.changed().say(format!("{day}: would then {}", left.join(", "))),
        });
    }
    let is_leader = processes.is_leader();
    let (copied, was_there) = failure::reported_beside(&joined.output, is_leader, || {
        let copied = processes.agree(&format!("copy the kept pages of {day}"), || {
            clean_files::copy(plan, kept.as_ref(), &joined, global).map(Role::Leader)
        })?;
        step::begin(Step::Storing);
        let was_there = processes.agree(&format!("add {day}"), || {
            let added = add(plan, &joined, day)?;
            // A run that died after it had added the day may have left a merge.
            let kept_up = plan.keep_store(global)?;
            Ok(matches!(added, Added::Already(_)) && !kept_up)
        })?;
        Ok((copied.leader().unwrap_or_default(), was_there))
    })?;
    if is_leader {
        log_day(plan, day, &joined.output)?;
    }
    let clustered = clusters::make(plan, processes, day, global, || Chain::up_to(plan, day))?;
    let done = read.then(found).then(copied).then(clustered);
    Ok(if was_there { done } else { done.changed() })
}

/// What is left to do of a day once its pages are read: all of it, or what follows its join, which is done.
fn steps_left(
    plan: &DayPlan<'_>,
    day: Day,
    joined: Option<&dedup::Request>,
    global: &GlobalFlags,
) -> Result<Vec<String>> {
    let mut steps = Vec::new();
    if joined.is_none() {
        let store = plan.config.store.path.as_ref().map_or(&*plan.store, Place::named).named();
        steps.push(format!("compare {day} with the pages of {store}"));
    }
    let copied = joined.map_or(Ok(false), |it| clean_files::stand(plan, day, it, global))?;
    let copies = plan.kept(day)?.filter(|_| !copied);
    steps.extend(copies.map(|kept| format!("copy its kept pages to {}", kept.named())));
    if !plan.is_held(day) {
        steps.push("add it to the store".to_owned());
    }
    if !clusters::stand(plan, day)? {
        steps.push("make its clusters".to_owned());
    }
    Ok(steps)
}

fn add(plan: &DayPlan<'_>, joined: &dedup::Request, day: Day) -> Result<Added> {
    let report = Report::read(&joined.output)?;
    let after = report.and_then(|report| report.parameters.get("store")?.parse().ok());
    plan.entering(joined, day, |new| Store::open(&plan.store)?.add(new, after))
}

/// Adds what was read and found, what was written, and what to do next. `day` is the last day.
fn closing(plan: &DayPlan<'_>, total: Summary, day: Day, config: &Path) -> Result<Summary> {
    // The path as the file has it.
    let folder = plan.named_output(day);
    let format = plan.to_join(day)?.format;
    let days = match plan.days.len() {
        1 => format!("page(s) of {day}"),
        days => format!("page(s) of {days} days"),
    };
    let held = Store::open(&plan.store)?.at(None)?;
    let store = plan.config.store.path.as_ref().map_or(&*plan.store, Place::named);
    let clustered = plan.clusters(day)?;
    let clusters = plan.config.clusters.map(|_| ClusterReport::read(&clustered)).transpose()?;
    let clusters = clusters.flatten().map(|ClusterReport { found, days, .. }| {
        json!({
            "days": days.len(),
            "members": found.members,
            "clusters": found.clusters,
            "output": folder.join("clusters").named(),
            "rows": found.file_of("clusters"),
            "sizes": found.file_of("sizes"),
            "changes": found.changes.and_then(|_| found.file_of("changes")),
        })
    });
    let kept = plan.config.kept.as_ref().map(|kept| PathBuf::from(day.expand(kept)).named());
    let object = json!({
        "tally": tally(total.counted("read"), &days, &total.verdicts()),
        "for_later": total.find(Summary::FOR_LATER),
        "replaced": total.find("replaced"),
        "superseded": total.find(Summary::SUPERSEDED),
        "hides": plan.config.store.replaced == Replaced::Hide,
        "store": store.named(),
        "pages": held.shown_rows(),
        "version": held.number(),
        "day": day,
        "output": folder.join("dedup").named(),
        "verdicts": format.file_name("verdicts"),
        "matches": format.file_name("matches"),
        "clusters": clusters,
        "kept": kept,
        "is_cut": plan.cut().is_some(),
        "redo": plan.out_of_order()?,
        "program": shell::program(),
        "config": shell::word(&config.named()),
        "results": shell::word(&folder.named()),
    });
    let total = match &clusters {
        Some(found) => ["members", "clusters"]
            .into_iter()
            .fold(total, |total, name| total.count(name, found[name].as_u64().unwrap_or(0)))
            .path("clusters", &clustered),
        None => total,
    };
    Ok(total.say_lines(&answer::drawn(&object, include_str!("run/closing.txt"))))
}
