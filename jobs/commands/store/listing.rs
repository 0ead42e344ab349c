//! What is in a store, and how it came there: `store list`, `store log`, and the summary of all changes.

use std::io::{self, Write};

use dupsieve::Result;
use dupsieve::error::At;
use dupsieve::join::Preset;
use dupsieve::store::{Entry, Merged, Revision, Store, Version};
use serde_json::{Value, json};

use crate::outcome::summary::Summary;

/// Prints what each version changed, one a line.
pub(super) fn log(store: &Store, as_json: bool) -> Result<Summary> {
    let history = store.history()?;
    let mut out = io::stdout().lock();
    let printed = if as_json {
        writeln!(out, "{}", versions(&history))
    } else {
        print_history(&history, &mut out)
    };
    printed.at("stdout")?;
    Ok(Summary::answered())
}

/// The history as one JSON object.
fn versions(history: &[Revision]) -> Value {
    let versions = history.iter().map(|Revision { version, change, days, rows }| {
        json!({ "version": version, "change": change.to_string(), "days": days, "rows": rows })
    });
    json!({ "versions": versions.collect::<Vec<_>>() })
}

fn print_history(history: &[Revision], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:>7}  {:>6}  {:>13}  change", "version", "days", "rows")?;
    for Revision { version, change, days, rows } in history {
        writeln!(out, "{version:>7}  {days:>6}  {rows:>13}  {change}")?;
    }
    Ok(())
}

/// Prints the days, one a line, and the merged files that hold several of them.
pub(super) fn list(store: &Store, as_json: bool) -> Result<Summary> {
    let version = store.at(None)?;
    let mut out = io::stdout().lock();
    let printed =
        if as_json { writeln!(out, "{}", days(&version)) } else { print_days(&version, &mut out) };
    printed.at("stdout")?;
    Ok(Summary::answered())
}

/// The days as one JSON object.
fn days(version: &Version) -> Value {
    let days = version.entries().iter().map(|Entry { day, added_in, rows, bytes, digest, .. }| {
        let day = day.to_string();
        let digest = digest.to_string();
        json!({ "day": day, "version": added_in, "rows": rows, "bytes": bytes, "digest": digest })
    });
    let merged = version.merged().iter().map(|Merged { rows, bytes, digest, .. }| {
        json!({ "rows": rows, "bytes": bytes, "digest": digest.to_string() })
    });
    json!({
        "version": version.number(),
        "fingerprints": version.rows(),
        "segments": version.segment_count(),
        "preset": preset_of(version),
        "days": days.collect::<Vec<_>>(),
        "merged": merged.collect::<Vec<_>>(),
    })
}

/// The preset that the pages of the store were made with, if it was one.
fn preset_of(version: &Version) -> Option<Preset> {
    version.stamp().and_then(Preset::of)
}

fn print_days(version: &Version, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:<10}  {:>7}  {:>13}  {:>15}  digest", "day", "version", "rows", "bytes")?;
    for Entry { day, added_in, rows, bytes, digest, .. } in version.entries() {
        let day = day.to_string();
        writeln!(out, "{day:<10}  {added_in:>7}  {rows:>13}  {bytes:>15}  {digest}")?;
    }
    for Merged { rows, bytes, digest, .. } in version.merged() {
        writeln!(out, "{:<10}  {:>7}  {rows:>13}  {bytes:>15}  {digest}", "merged", "")?;
    }
    Ok(())
}

/// The summary of a version.
pub(super) fn summary_of(store: &Store, version: &Version) -> Summary {
    Summary::new()
        .count("version", version.number())
        .count("days", version.entries().len() as u64)
        .count("segments", version.segment_count())
        .count("fingerprints", version.rows())
        .path("store", store.path())
}
