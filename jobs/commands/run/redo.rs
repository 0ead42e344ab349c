//! A bad day made again, with all days that were joined after it: outputs and store together.
//!
//! Everything is made beside what stands: the outputs in a folder `.redo` of each day, the versions of the
//! store in a draft. When all of it is whole, the store moves to the last of them in one step and the
//! outputs follow. A run that dies before that step has changed nothing. What one that dies after it
//! has left is put in place by the next run of those days.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use dupsieve::error::At;
use dupsieve::flow::Cluster;
use dupsieve::output::{self, Lock};
use dupsieve::store::{Day, Draft, Entry, Segment, Store, Version};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use super::days::Plan;
use crate::commands::dedup::{self, dedup};
use crate::commands::fingerprint::{self, fingerprint};
use crate::commands::reading::{QUARANTINE, REPEATED};
use crate::commands::store::{not_held, show};
use crate::commands::store_at::StoreAt;
use crate::flags::common::Common;
use crate::outcome::report::{self, Report};
use crate::outcome::summary::Summary;

/// The folder, in the output of a day, for what is made again.
const STAGED: &str = ".redo";

/// What failed attempts leave beside a segment.
const FAILED: [&str; 3] = [".failed.quarantine.tsv", ".failed.repeated.tsv", ".failed.json"];

/// What is to be made again.
#[derive(Debug, Serialize, Deserialize)]
struct Course {
    /// The newest version of the store.
    newest: u64,
    /// The version that the store goes back to first.
    base: u64,
    /// The bad day, and then the days that were added after it, in that order.
    days: Vec<Day>,
    /// Whether all of them stand as they would be made.
    stands: bool,
}

/// Makes `day` again. Every process of the cluster calls this; process 0 changes the store.
pub(crate) fn redo(
    plan: &Plan<'_>,
    cluster: &mut Cluster,
    day: Day,
    common: &Common,
) -> Result<Summary> {
    let mut draft = None;
    let course = cluster.agree(&format!("redo {day}"), || {
        let course = Course::of(plan, day, common)?;
        if !course.stands && !common.dry_run {
            draft = Some(Store::open(&plan.store)?.draft(course.newest, course.base)?);
            course.days.iter().try_for_each(|&day| clear(&plan.output(day)))?;
        }
        Ok(course)
    })?;
    let summary = Summary::new().path("store", &plan.store);
    let count = course.days.len() as u64;
    if course.stands {
        let stands = format!("{day} and the days after it are as they would be made");
        return Ok(summary.already_done().say(stands));
    }
    if common.dry_run {
        return Ok(summary.count("days", count).count("back_to_version", course.base));
    }
    let mut total = summary;
    for (number, &day) in (course.newest + 1..).zip(&course.days) {
        total = total.plus(make(plan, cluster, day, &course, number, &mut draft, common)?);
    }
    cluster.agree("commit the days", || {
        // What is staged must outlast a power cut before the store relies on it.
        course.days.iter().try_for_each(|&day| output::sync_folder(&plan.output(day)))?;
        draft.map_or(Ok(()), Draft::commit)?;
        course.days.iter().try_for_each(|&day| settle(&plan.output(day)))
    })?;
    let days = shown(&course.days);
    let total = total.moved(&format!("/{STAGED}/"), "/");
    Ok(total.count("days", count).say(format!("Made again, and in the store again: {days}.")))
}

/// Puts in place what a redo of these days has left that died once the store had moved.
pub(crate) fn finish(plan: &Plan<'_>, days: &[Day]) -> Result<()> {
    for &day in days {
        let output = plan.output(day);
        if output.join(STAGED).exists() && is_committed(plan, day, &output) {
            settle(&output)?;
        }
    }
    Ok(())
}

/// Whether sound outputs stand that were made from other inputs or with other parameters.
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

impl Course {
    /// Finds what is to be made again, says it, and checks all that can be checked before.
    fn of(plan: &Plan<'_>, day: Day, common: &Common) -> Result<Course> {
        let store = Store::open(&plan.store)?;
        let current = store.at(None)?;
        let base = current.joined_by(day).ok_or_else(|| {
            not_held(&store, day).help(format!("`run --date {day}` makes a day the first time"))
        })?;
        let mut entries: Vec<&Entry> =
            current.entries().iter().filter(|entry| entry.added_in > base).collect();
        entries.sort_by_key(|entry| entry.added_in);
        let days: Vec<Day> = entries.iter().map(|entry| entry.day).collect();
        tracing::info!("{day} is made again: the store goes back to version {base}");
        tracing::info!("these days leave it and enter it again, in this order: {}", shown(&days));
        if !common.dry_run {
            finish(plan, &days)?;
        }
        check_rest(&store, &current, &store.at(Some(base))?, &days)?;
        let stands = fingerprint::stands(&plan.to_fingerprint(day))
            .map_err(|error| plan.explain(day, error))?;
        let mut course = Course { newest: current.number(), base, days, stands };
        for (place, entry) in entries.iter().enumerate() {
            let found = plan.found(entry.day);
            if found.exists() {
                report::refuse_strangers(&found, [].iter())?;
            }
            if place > 0 {
                check_batch(&plan.batch(entry.day), entry)?;
            }
            course.stands = course.stands && is_held_so(plan, &store, entry.day);
        }
        let verification = store.verification(Some(base))?;
        let (read, _shown) = show(&verification, common);
        verification.run(&read)?;
        Ok(course)
    }
}

/// Without these days the store must hold what `base` held: nothing else is lost by going back.
fn check_rest(store: &Store, current: &Version, base: &Version, days: &[Day]) -> Result<()> {
    let held = |entry: &Entry| (entry.day, entry.digest);
    let rest = current.entries().iter().filter(|entry| !days.contains(&entry.day)).map(held);
    match rest.eq(base.entries().iter().map(held)) {
        true => Ok(()),
        false => Err(Error::new(Kind::Usage, "going back would change other days too")
            .at(store.path())
            .help("see `store log`; go back with `store rollback`, and run the days one by one")),
    }
}

/// The later days are joined again and not read again, so that their segments must be there.
fn check_batch(path: &Path, entry: &Entry) -> Result<()> {
    let day = entry.day;
    let advice = format!("`run --date {day}` makes it again as it was; then redo");
    let batch = Segment::open(path).and_then(|batch| batch.verify().map(|()| batch));
    let batch = batch.map_err(|error| error.help(&advice))?;
    match batch.digest() == entry.source {
        true => Ok(()),
        false => Err(Error::new(Kind::BadData, format!("this is not what was added as {day}"))
            .at(path)
            .expected(entry.source)
            .found(batch.digest())
            .help(advice)),
    }
}

/// Whether the output of a day stands as it would be made, and is what the store holds.
fn is_held_so(plan: &Plan<'_>, store: &Store, day: Day) -> bool {
    let only = plan.only(&plan.found(day));
    dedup::stands(&plan.to_join(day)).unwrap_or(false)
        && store.would_add(&plan.batch(day), day, only.as_deref()) == Ok(false)
}

/// Makes one day beside what stands and adds it to the draft, of which `number` is the last version.
fn make(
    plan: &Plan<'_>,
    cluster: &mut Cluster,
    day: Day,
    course: &Course,
    number: u64,
    draft: &mut Option<Draft>,
    common: &Common,
) -> Result<Summary> {
    let staged = plan.output(day).join(STAGED);
    let asked = plan.to_join(day);
    let (batch, read) = match course.days.first() == Some(&day) {
        true => {
            let made = fingerprint::Request {
                output: staged.join("batch.seg"),
                ..plan.to_fingerprint(day)
            };
            let read = fingerprint(cluster, &made, common)?;
            (made.output, read)
        }
        false => (asked.batch.clone(), Summary::new()),
    };
    let joined = dedup::Request {
        batch: batch.clone(),
        batch_place: Some(asked.batch),
        store: StoreAt::Drafted(plan.store.clone(), day, number),
        output: staged.join("dedup"),
        settings: asked.settings,
        pages: asked.pages,
    };
    let found = dedup(cluster, &joined, common)?;
    cluster.agree(&format!("draft {day}"), || {
        let only = plan.only(&joined.output);
        draft.as_mut().map_or(Ok(()), |draft| draft.add(&batch, day, only.as_deref()))
    })?;
    Ok(read.then(found).changed())
}

/// Whether what a redo made of `day` is what the store holds.
fn is_committed(plan: &Plan<'_>, day: Day, output: &Path) -> bool {
    let Ok(Some(report)) = Report::read(&output.join(STAGED).join("dedup")) else { return false };
    let Ok(current) = Store::open(&plan.store).and_then(|store| store.at(None)) else {
        return false;
    };
    current.entry(day).is_some_and(|entry| {
        report.store_version == Some(entry.added_in - 1)
            && report.parameters.get("batch") == Some(&entry.source.to_string())
    })
}

/// Puts what was made again in the place of what stood there. What is in place already stays, so that
/// this can be repeated after any of its steps.
fn settle(output: &Path) -> Result<()> {
    let staged = output.join(STAGED);
    let [batch, found] = ["batch.seg", "dedup"].map(|name| output.join(name));
    let _locks = [Lock::beside(&batch)?, Lock::beside(&found)?];
    if staged.join("batch.seg").exists() {
        settle_lists(&Segment::open(staged.join("batch.seg"))?, &batch)?;
        move_file(&staged.join("batch.seg"), &batch)?;
        output::sync_folder(output)?;
    }
    if staged.join("dedup").exists() {
        output::publish_folder(&staged.join("dedup"), &found)?;
        remove_file(&output::beside(&found, ".failed.json"))?;
    }
    match fs::remove_dir_all(&staged) {
        // Another run has settled the same day.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.at(&staged),
    }
}

/// Gives the segment at `batch` the lists of the segment that replaces it. A list that this one names and
/// that is not staged has its place already.
fn settle_lists(made: &Segment, batch: &Path) -> Result<()> {
    let lists = [(QUARANTINE, made.quarantine()), (REPEATED, made.repeated())];
    for (suffix, named) in lists {
        let (staged, list) = (output::beside(made.path(), suffix), output::beside(batch, suffix));
        if staged.exists() {
            move_file(&staged, &list)?;
        } else if named.is_none() {
            remove_file(&list)?;
        }
    }
    FAILED.iter().try_for_each(|suffix| remove_file(&output::beside(batch, suffix)))
}

/// Removes what an earlier attempt has left, if all of it is ours.
fn clear(output: &Path) -> Result<()> {
    let staged = output.join(STAGED);
    if fs::symlink_metadata(&staged).is_err() {
        return Ok(());
    }
    for entry in fs::read_dir(&staged).at(&staged)? {
        let name = entry.at(&staged)?.file_name();
        let name = name.to_string_lossy();
        let name = name.strip_prefix(output_prefix(&name)).unwrap_or_default();
        if !["batch.seg", "dedup"].iter().any(|ours| name.starts_with(ours)) {
            return Err(output::foreign(&staged, "what an earlier redo has left"));
        }
    }
    fs::remove_dir_all(&staged).at(&staged)
}

/// What stands before the name of an output in the names of files that are not whole.
fn output_prefix(name: &str) -> &'static str {
    [".unfinished-", "."].into_iter().find(|prefix| name.starts_with(prefix)).unwrap_or("")
}

fn move_file(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).at(to)
}

fn remove_file(path: &Path) -> Result<()> {
    match path.exists() {
        true => fs::remove_file(path).at(path),
        false => Ok(()),
    }
}

fn shown(days: &[Day]) -> String {
    days.iter().map(Day::to_string).collect::<Vec<_>>().join(", ")
}
