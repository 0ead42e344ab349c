//! Makes a day of the store again, with all days that were joined after it: outputs and store together. The days enter the store
//! in their order, also those that came late before.
//!
//! Everything new is made beside what exists: the outputs in a folder `.redo` of each day, the versions of
//! the store in a draft. When all of it is complete, the store moves to the last new version in one step,
//! and then the outputs are moved to their places. A run that ends before that step has changed nothing.
//! If a run ends after that step, the next run of those days moves the remaining outputs, and removes what the redo was
//! to remove, whatever its own configuration says.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use dupsieve::error::{At, Named};
use dupsieve::flow::Processes;
use dupsieve::output::{self, Lock, NewFile, QUARANTINE, REPEATED, SUCCESS};
use dupsieve::report::{self, Made, Report};
use dupsieve::step::{self, Step};
use dupsieve::store::{Day, Draft, Entry, Segment, Store, Version};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use super::clean_files;
use super::clusters::{self, Chain};
use super::days::{DayPlan, STAGED, log_day};
use crate::commands::dedup::dedup;
use crate::commands::fingerprint::fingerprint;
use crate::commands::store::{bring_back, coming_back, not_held, show_verifying};
use crate::commands::{Destination, StoreAt, dedup, fingerprint};
use crate::flags::{GlobalFlags, Keep};
use crate::outcome::{Summary, failure, identity};

const FAILED: [&str; 3] = [".failed.quarantine.tsv", ".failed.repeated.tsv", failure::SUFFIX];

/// What is made of a day, in the order in which it is moved to its place.
const MADE: [&str; 3] = ["batch.seg", CLUSTERS, "dedup"];
const CLUSTERS: &str = "clusters";

/// The file in [`STAGED`] that names the output of a day that leaves, its clusters, if one does. Whoever finishes an interrupted redo may
/// have another configuration.
const LEAVING: &str = "leaving.txt";

#[derive(Debug, Serialize, Deserialize)]
struct RedoPlan {
    newest: u64,
    /// The version that the store goes back to before the days are added again.
    base: u64,
    asked: Day,
    /// The day to make again and the days that were added after it, in the order in which they are added: that of the days.
    days: Vec<Day>,
    /// For each place in this order, the first day that stays in the store after so many days were added, if days expired then.
    firsts: Vec<Option<Day>>,
    /// Whether all of them exist already as they would be made.
    is_done: bool,
}

/// Makes `day` again. Every process of the job calls this; only process 0 changes the store.
pub(crate) fn redo(
    plan: &DayPlan<'_>,
    processes: &mut Processes,
    day: Day,
    global: &GlobalFlags,
) -> Result<Summary> {
    let mut draft = None;
    let redo_plan = processes.agree(&format!("redo {day}"), || {
        let redo_plan = RedoPlan::of(plan, day, global)?;
        if redo_plan.is_done {
            return Ok(redo_plan);
        }
        let store = Store::open(&plan.store)?;
        let output = |day| plan.output(day).ok();
        let advice = |day| format!("`{}` reads them again", plan.redo_command(day));
        let back = coming_back(&store, &store.at(None)?, redo_plan.base, output, advice)?;
        if !global.dry_run {
            draft = Some(store.draft(redo_plan.newest, redo_plan.base, &back)?);
            redo_plan.days.iter().try_for_each(|&day| clear(plan, day))?;
        }
        Ok(redo_plan)
    })?;
    let summary = Summary::new().path("store", &plan.store);
    let count = redo_plan.days.len() as u64;
    if redo_plan.is_done {
        let done = format!("{day} and the days after it are already as they would be made");
        return Ok(summary.already_done().say(done));
    }
    if global.dry_run {
        return Ok(summary.count("days", count).count("back_to_version", redo_plan.base));
    }
    let mut total = summary;
    for at in 0..redo_plan.days.len() {
        total = total.plus(make(plan, processes, at, &redo_plan, &mut draft, global)?);
    }
    processes.agree("commit the days", || {
        // The new outputs must survive a power cut before the store relies on them.
        redo_plan.days.iter().try_for_each(|&day| output::sync_folder(&plan.output(day)?))?;
        draft.map_or(Ok(()), Draft::commit)?;
        redo_plan.days.iter().try_for_each(|&day| put_in_place(plan, day))?;
        plan.keep_store(global).map(drop)
    })?;
    let days = shown(&redo_plan.days);
    Ok(total.count("days", count).say(format!("made again: {days}")))
}

/// The days that are made again with `day`: itself, and those that entered the store after it.
pub(super) fn days(store: &Path, day: Day) -> Result<Vec<Day>> {
    let current = Store::open(store)?.at(None)?;
    let added = |base| added_after(&current, base).iter().map(|entry| entry.day).collect();
    Ok(current.joined_by(day).map_or_else(|| vec![day], added))
}

/// The entries that a version has since the version `base`, in the order in which they were added.
fn added_after(version: &Version, base: u64) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> =
        version.all_entries().iter().filter(|entry| entry.added_in > base).collect();
    entries.sort_by_key(|entry| entry.added_in);
    entries
}

/// Moves outputs to their places that an earlier redo of these days left in [`STAGED`], if it ended after
/// the store had moved.
pub(crate) fn finish(plan: &DayPlan<'_>, days: &[Day]) -> Result<()> {
    for &day in days {
        let output = plan.output(day)?;
        if output.join(STAGED).exists() && is_committed(plan, day, &output) {
            put_in_place(plan, day)?;
        }
    }
    Ok(())
}

/// Whether undamaged outputs exist that were made from other inputs or with other parameters.
pub(crate) fn was_made_otherwise(
    made: &fingerprint::Request,
    joined: &dedup::Request,
) -> Result<bool> {
    let is_sound = Segment::open(&made.output).and_then(|it| it.verify()).is_ok();
    if is_sound && !fingerprint::stands(made)? {
        return Ok(true);
    }
    let is_whole = matches!(Report::read(&joined.output), Ok(Some(_)));
    Ok(is_sound && is_whole && !dedup::stands(joined)?)
}

impl RedoPlan {
    /// Finds out what to make again, logs it, and checks everything that can be checked beforehand.
    fn of(plan: &DayPlan<'_>, day: Day, global: &GlobalFlags) -> Result<RedoPlan> {
        let store = Store::open(&plan.store)?;
        let current = store.at(None)?;
        let base = current.joined_by(day).ok_or_else(|| {
            not_held(&store, day)
                .help(format!("make it for the first time: {}", plan.command("--date", day)))
        })?;
        if let Some(expired_in) = current.entry(day).and_then(|entry| entry.expired_in) {
            let what = format!("{day} has expired in the store, so it cannot be made again");
            return Err(Error::new(Kind::Usage, what)
                .at(&plan.store)
                .help(bring_back(&store, expired_in)?));
        }
        let before = store.before(day)?;
        let mut entries = added_after(&current, base);
        let firsts = firsts(&store, &entries, &current)?;
        // A day that came late takes its place before the later days.
        let is_in_order = entries.is_sorted_by_key(|entry| entry.day);
        entries.sort_by_key(|entry| entry.day);
        let days: Vec<Day> = entries.iter().map(|entry| entry.day).collect();
        if !global.dry_run {
            finish(plan, &days)?;
        }
        check_rest(&store, &current, &before, &days)?;
        // The days that follow are not read again, so their recipe must be the one of this day too.
        let others = if days.len() > 1 { &current } else { &before };
        let recipe = plan.config.fingerprint.chosen()?;
        dedup::check_settings(&plan.config.dedup, Some(others), &recipe, global)?;
        let is_done = fingerprint::stands(&plan.to_fingerprint(day)?)
            .map_err(|error| plan.explain_missing(day, error))?;
        // What has left the store since the day was joined must judge no page of it.
        let is_done = is_done && is_in_order && !store.is_pruned(base)?;
        let mut redo_plan =
            RedoPlan { newest: current.number(), base, asked: day, days, firsts, is_done };
        for entry in &entries {
            let found = plan.found(entry.day)?;
            if found.exists() {
                report::refuse_strangers(&found, [].iter())?;
            }
            if let Some(unasked) = plan.unasked(entry.day)? {
                report::refuse_strangers(&unasked, [].iter())?;
            }
            plan.copies(entry.day)?;
            if entry.day != day {
                clean_files::expect_inputs(plan, entry.day)?;
                let batch = check_batch(&plan.batch(entry.day)?, entry)?;
                let last = redo_plan.days.last().expect("the days have this one");
                Keep::of_batch(plan.config.dedup.keep.as_ref(), &batch).map_err(|error| {
                    error.help(format!("pages of later days are not read again: make the last day again first, `--redo {last}`, then each day before it"))
                })?;
            }
            redo_plan.is_done =
                redo_plan.is_done && is_up_to_date(plan, &store, entry.day, global)?;
        }
        if !redo_plan.is_done {
            redo_plan.log(plan)?;
        }
        let verification = store.verification_before(day)?;
        let (read, _shown) = show_verifying(verification.bytes(), global);
        verification.run(&read)?;
        Ok(redo_plan)
    }
}

impl RedoPlan {
    fn log(&self, plan: &DayPlan<'_>) -> Result<()> {
        let RedoPlan { asked, base, days, .. } = self;
        match Store::open(&plan.store)?.is_pruned(*base)? {
            false => tracing::info!("making {asked} again: the store goes back to version {base}"),
            true => tracing::info!(
                "making {asked} again: version {base} was pruned, so the store goes back to what it has of the days before"
            ),
        }
        tracing::info!("days to make again, in this order: {}", shown(days));
        for &day in days {
            if let Some(unasked) = plan.unasked(day)? {
                tracing::info!("{} leaves: the file does not ask for it", unasked.named());
            }
        }
        Ok(())
    }

    /// The version of the draft that the day at `at` is joined with: each of the days before makes one, and each expiry.
    fn joined(&self, at: usize) -> u64 {
        self.newest + 1 + at as u64 + self.firsts[..at].iter().flatten().count() as u64
    }
}

/// The first day that stays after each of these days was added again, where that changes: the next of them must be joined
/// with what it was joined with, and in the end what has expired by now is to be so again. What had expired before a version that was
/// pruned is not known, so it has expired from the beginning.
fn firsts(store: &Store, entries: &[&Entry], current: &Version) -> Result<Vec<Option<Day>>> {
    let before = |entry: &&Entry| -> Result<Option<Day>> {
        let base = entry.added_in - 1;
        let base = if store.is_pruned(base)? { None } else { Some(store.at(Some(base))?) };
        Ok(base.as_ref().unwrap_or(current).expired_before())
    };
    let mut firsts: Vec<Option<Day>> = entries.iter().map(before).collect::<Result<_>>()?;
    firsts.push(current.expired_before());
    Ok(firsts.windows(2).map(|pair| pair[1].filter(|_| pair[0] < pair[1])).collect())
}

/// Fails unless the store without these days holds exactly what `base` held: going back must not lose
/// anything else.
fn check_rest(store: &Store, current: &Version, base: &Version, days: &[Day]) -> Result<()> {
    let held = |entry: &Entry| (entry.day, entry.digest);
    let rest = current.all_entries().iter().filter(|entry| !days.contains(&entry.day)).map(held);
    if rest.eq(base.all_entries().iter().map(held)) {
        return Ok(());
    }
    Err(Error::new(Kind::Usage, "going back would change other days too")
        .at(store.path())
        .help("see `store log`; go back with `store rollback`, and run the days one by one"))
}

/// Fails unless the segment of a later day is there: such a day is joined again but not read again.
fn check_batch(path: &Path, entry: &Entry) -> Result<Segment> {
    let day = entry.day;
    let advice = format!("`run --date {day}` makes it again as it was; then use --redo");
    let batch = Segment::open(path).and_then(|batch| batch.verify().map(|()| batch));
    let batch = batch.map_err(|error| error.help(&advice))?;
    if batch.digest() == entry.source {
        return Ok(batch);
    }
    Err(Error::new(Kind::BadData, format!("this is not the segment that was added as {day}"))
        .at(path)
        .expected(entry.source)
        .found(batch.digest())
        .help(advice))
}

/// Whether the outputs of a day exist as they would be made, and the store holds it.
fn is_up_to_date(
    plan: &DayPlan<'_>,
    store: &Store,
    day: Day,
    global: &GlobalFlags,
) -> Result<bool> {
    let joined = dedup::Request { format: plan.format(), ..plan.to_join(day)? };
    let removals = store.before(day)?.removals();
    Ok(dedup::stands(&joined).unwrap_or(false)
        && store.removed_of(&Segment::open(&joined.batch)?, day)? == 0
        && Report::read(&joined.output)?.is_some_and(|made| made.removals == removals)
        && plan.unasked(day)?.is_none()
        && clean_files::stand(plan, day, &joined, global)?
        && plan.entering(&joined, day, |new| Ok(store.would_add(new) == Ok(false)))?)
}

/// Makes one of the days, that at `at`, in [`STAGED`] and adds it to the draft.
fn make(
    plan: &DayPlan<'_>,
    processes: &mut Processes,
    at: usize,
    redo_plan: &RedoPlan,
    draft: &mut Option<Draft>,
    global: &GlobalFlags,
) -> Result<Summary> {
    let day = redo_plan.days[at];
    identity::set_day(day);
    let output = plan.output(day)?;
    let staged = output.join(STAGED);
    let destination = Destination::moved(staged.clone(), output);
    let asked = plan.to_join(day)?;
    let (batch, read) = if day == redo_plan.asked {
        let output = staged.join("batch.seg");
        let asked = plan.to_fingerprint(day)?;
        let request = fingerprint::Request { output, destination: destination.clone(), ..asked };
        let read = fingerprint(processes, &request, global)?;
        (request.output, read)
    } else {
        let counts = Segment::open(&asked.batch)?.counts();
        (asked.batch.clone(), fingerprint::of_counts(&counts))
    };
    let batch = processes.agree(&format!("leave removed pages out of {day}"), || {
        plan.without_removed(day, &batch, &staged.join("batch.seg"))
    })?;
    let joined = dedup::Request {
        batch,
        format: plan.format(),
        store: StoreAt::Drafted(plan.store.clone(), day, redo_plan.joined(at)),
        output: staged.join("dedup"),
        destination,
        unchanged: read.find("unchanged"),
        ..asked
    };
    let found = dedup(processes, &joined, global)?;
    processes.agree(&format!("copy the kept pages of {day}"), || {
        let kept = plan.copies(day)?.zip(clean_files::staged(plan, day)?);
        let kept = kept.map(|(kept, staged)| kept.moved(staged));
        clean_files::copy(plan, kept.as_ref(), &joined, global).map(drop)
    })?;
    step::begin(Step::Storing);
    processes.agree(&format!("draft {day}"), || {
        let Some(draft) = draft.as_mut() else { return Ok(()) };
        plan.entering(&joined, day, |new| draft.add(new))?;
        log_day(plan, day, &joined.output)?;
        stage_leaving(&staged, plan.unasked(day)?.is_some())?;
        redo_plan.firsts[at].map_or(Ok(()), |first| draft.expire(first))
    })?;
    let clustered = clusters::make(plan, processes, day, global, || {
        let base = Store::open(&plan.store)?.before(redo_plan.asked)?;
        Ok(Chain::redone(plan, &base, &redo_plan.days[..=at]))
    })?;
    Ok(read.then(found).then(clustered).changed())
}

fn stage_leaving(staged: &Path, leaves: bool) -> Result<()> {
    let path = staged.join(LEAVING);
    let mut file = NewFile::beside(&path)?;
    file.write_all(if leaves { CLUSTERS } else { "" }.as_bytes()).at(&path)?;
    file.publish()
}

/// The clusters in the folder `output` of a day, if they leave, as the redo has written. Fails if dupsieve did not make all of
/// them.
fn leaving(output: &Path) -> Result<Option<PathBuf>> {
    let path = output.join(STAGED).join(LEAVING);
    let names = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read.at(&path)?,
    };
    let leaves = names.lines().any(|leaving| leaving == CLUSTERS);
    let leaving = leaves.then(|| output.join(CLUSTERS)).filter(|old| old.exists());
    leaving.iter().try_for_each(|old| report::refuse_strangers(old, [].iter()))?;
    Ok(leaving)
}

/// Whether the store holds the output that a redo has staged for `day`.
fn is_committed(plan: &DayPlan<'_>, day: Day, output: &Path) -> bool {
    let Ok(Some(report)) = Report::read(&output.join(STAGED).join("dedup")) else { return false };
    let Ok(current) = Store::open(&plan.store).and_then(|store| store.at(None)) else {
        return false;
    };
    current.entry(day).is_some_and(|entry| {
        report.store_version == Some(entry.added_in - 1)
            && report.parameters.get("batch") == Some(&entry.source.to_string())
    })
}

/// Replaces the old outputs of a day by the new ones. This can be repeated after it was interrupted at any step:
/// what has been moved already stays.
fn put_in_place(plan: &DayPlan<'_>, day: Day) -> Result<()> {
    let output = &plan.output(day)?;
    let staged = output.join(STAGED);
    let [batch, clusters, found] = MADE.map(|name| output.join(name));
    let locked = [&batch, &clusters, &found].map(|path| Lock::beside(path));
    let _locks = locked.into_iter().collect::<Result<Vec<Lock>>>()?;
    let leaving = leaving(output)?;
    if staged.join("batch.seg").exists() {
        move_lists(&Segment::open(staged.join("batch.seg"))?, &batch)?;
        fs::rename(staged.join("batch.seg"), &batch).at(&batch)?;
        output::sync_folder(output)?;
    }
    // They are of the batch before.
    leaving.iter().try_for_each(|old| fs::remove_dir_all(old).at(old))?;
    clean_files::put_in_place(plan, day)?;
    // The join comes last: by it, a later run knows that there is something to move.
    for (name, place) in [(CLUSTERS, &clusters), ("dedup", &found)] {
        if staged.join(name).exists() {
            output::publish_folder(&staged.join(name), place)?;
            output::remove_if_there(&output::beside(place, failure::SUFFIX))?;
        }
    }
    match fs::remove_dir_all(&staged) {
        // Another run has moved the outputs of the same day.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.at(&staged),
    }
}

/// Moves the lists of the new segment beside `batch`. A list that the segment names and that is not staged
/// has been moved already.
fn move_lists(made: &Segment, batch: &Path) -> Result<()> {
    let lists = [(QUARANTINE, made.quarantine()), (REPEATED, made.repeated())];
    for (suffix, named) in lists {
        let staged = output::beside(made.path(), suffix);
        let list = output::beside(batch, suffix);
        if staged.exists() {
            fs::rename(&staged, &list).at(&list)?;
        } else if named.is_none() {
            output::remove_if_there(&list)?;
        }
    }
    FAILED.iter().try_for_each(|suffix| output::remove_if_there(&output::beside(batch, suffix)))
}

/// Removes what an earlier attempt has left of a day. Fails if dupsieve did not make all of it.
fn clear(plan: &DayPlan<'_>, day: Day) -> Result<()> {
    if let Some(kept) = clean_files::staged(plan, day)?.filter(|kept| kept.join(SUCCESS).exists()) {
        fs::remove_dir_all(&kept).at(&kept)?;
    }
    let staged = plan.output(day)?.join(STAGED);
    if fs::symlink_metadata(&staged).is_err() {
        return Ok(());
    }
    for entry in fs::read_dir(&staged).at(&staged)? {
        let name = entry.at(&staged)?.file_name();
        let name = name.to_string_lossy();
        // An unfinished output has one of these before its name.
        let name = name.strip_prefix(".unfinished-").or(name.strip_prefix('.')).unwrap_or(&name);
        if !MADE.iter().chain([&LEAVING]).any(|ours| name.starts_with(ours)) {
            return Err(output::foreign(&staged, "only files of an earlier redo"));
        }
    }
    fs::remove_dir_all(&staged).at(&staged)
}

fn shown(days: &[Day]) -> String {
    days.iter().map(Day::to_string).collect::<Vec<_>>().join(", ")
}
