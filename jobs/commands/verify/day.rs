//! Checks of a day beside its join: of its segment and the lists beside that, of its clusters, and that the store still holds it as its output
//! says.

use std::path::Path;

use dupsieve::error::Named;
use dupsieve::matches::replacements_in;
use dupsieve::output::{QUARANTINE, REPEATED, Sum, beside};
use dupsieve::report::{ClusterReport, Made, Report};
use dupsieve::store::{Entry, NewDay, Replacements, Segment, Store};
use dupsieve::{Error, Kind, Result};

use crate::commands::cluster::{PREVIOUS, matches_of, state, sums};
use crate::commands::{cluster, places};
use crate::flags::GlobalFlags;

/// Checks every byte of the segment, and that its counts account for every record.
pub(super) fn verify_segment(path: &Path) -> Result<Segment> {
    let segment = Segment::open(path)?;
    segment.verify()?;
    let counts = segment.counts();
    let held = (segment.rows(), segment.empties());
    if !counts.add_up() || held != (counts.fingerprinted, counts.empty) {
        return Err(Error::new(Kind::BadData, "the counts of the segment do not add up")
            .at(path)
            .expected(format_args!("{counts:?}"))
            .found(format_args!("{} fingerprints and {} empty pages", held.0, held.1)));
    }
    verify_list(&segment, segment.quarantine(), QUARANTINE)?;
    verify_list(&segment, segment.repeated(), REPEATED)?;
    Ok(segment)
}

/// Checks a list beside the segment. If it has been removed, this is logged.
fn verify_list(segment: &Segment, written: Option<&Sum>, suffix: &str) -> Result<()> {
    let path = beside(segment.path(), suffix);
    let Some(written) = written else { return Ok(()) };
    if !path.exists() {
        tracing::warn!("{} is missing and was not checked", path.named());
        return Ok(());
    }
    let found = Sum::of(&path)?;
    if found == *written {
        return Ok(());
    }
    Err(Error::new(Kind::BadData, "the list has been changed since it was written")
        .at(&path)
        .expected(written)
        .found(found))
}

/// Fails if the store that a day of `run` entered now holds something else for that day: another batch, other
/// pages of the same batch, nothing, or pages that were kept by a join with another version. `found` is the
/// output of the join of `batch`. A store that no longer exists is not checked.
pub(super) fn check_held(found: &Path, batch: &Segment) -> Result<()> {
    let Some(report) = Report::read(found)? else { return Ok(()) };
    let Some(path) = places::input_of(&report.run, "store")? else { return Ok(()) };
    // An output of `dedup` alone has no day and enters no store.
    let Some(day) = report.day else { return Ok(()) };
    let store = Store::open(&path)?;
    let keep = found.join("keep.txt");
    let is_unchanged = |entry: &Entry| {
        let only = entry.only.map(|_| keep.as_path());
        let listed = entry.replaces.or(entry.slack).map(|_| replacements_in(found)).transpose();
        let Ok(listed) = listed else { return false };
        let replaced = match entry.replaces {
            Some(_) => listed,
            None => listed.map(Replacements::replacing_none),
        };
        let joined = store.before(day).map(|version| version.digest().to_string());
        let (segment, replaces) = (batch.path(), replaced.as_ref());
        store.would_add(&NewDay { segment, day, only, replaces }) == Ok(false)
            && joined.as_ref().ok() == report.parameters.get("store")
    };
    let current = store.at(None)?;
    let held = match current.entry(day) {
        Some(entry) if is_unchanged(entry) => return Ok(()),
        Some(entry) => format!("segment {} in version {}", entry.source, current.number()),
        None => format!("nothing in version {}", current.number()),
    };
    Err(Error::new(Kind::BadData, "the store does not hold what this output says")
        .at(found)
        .expected(format_args!("{day} as segment {}", batch.digest()))
        .found(format_args!("{held} of {}", path.named()))
        .help(format!(
            "`store log` shows what happened to {day}; run the day again, or make it again with --redo"
        )))
}

/// Fails if the clusters at `clusters` are damaged, if they were made from other matches than those at `found`,
/// or from other clusters of the day before than those that are there now. Clusters before that no longer exist
/// are not checked. Returns how many bytes were checked.
pub(super) fn check_clusters(clusters: &Path, found: &Path, global: &GlobalFlags) -> Result<u64> {
    let (Some(report), Some(joined)) = (ClusterReport::read(clusters)?, Report::read(found)?)
    else {
        let what = "this is not a complete output of `cluster`";
        return Err(Error::new(Kind::BadData, what).at(clusters));
    };
    let day = joined.day.map(|day| day.to_string()).unwrap_or_default();
    if report.parameters.get(&matches_of(&day)) != Some(&sums(&joined)) {
        return Err(other(clusters, &format!("the matches of {day} that are there now")));
    }
    let before = cluster::before(&report)?;
    let made = report.parameters.get(PREVIOUS);
    if before.as_ref().is_some_and(|(_, before)| made != Some(&state(before))) {
        return Err(other(clusters, "the clusters of the day before that are there now"));
    }
    cluster::check(clusters, &report, before, global)?;
    Ok(report.files().values().map(|sum| sum.bytes).sum())
}

fn other(clusters: &Path, expected: &str) -> Error {
    Error::new(Kind::BadData, "the clusters were made from other outputs")
        .at(clusters)
        .expected(expected)
        .found("others")
        .help(
            "run the day again: clusters are made again where what they were made from has changed",
        )
}
