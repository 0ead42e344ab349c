//! `dupsieve store`: makes, changes, lists and checks a store.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::{Args, Subcommand};
use dupsieve::error::At;
use dupsieve::join::Preset;
use dupsieve::store::{
    Added, Codec, Compacted, Day, Entry, Merged, Revision, Store, Verification, Version,
};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::flags::global::GlobalFlags;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

/// Keep the fingerprints of all pages, day by day and in versions
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    change: Change,
}

#[derive(Debug, Subcommand)]
enum Change {
    /// Make an empty store
    Init {
        /// Folder of the store
        #[arg(value_name = "DIR")]
        store: PathBuf,
    },
    /// Add a day; adding the same day again changes nothing
    Add {
        /// Folder of the store
        #[arg(value_name = "DIR")]
        store: PathBuf,
        /// Segment to add
        #[arg(long, value_name = "FILE")]
        segment: PathBuf,
        /// Day of the segment, YYYY-MM-DD
        #[arg(long, value_name = "D")]
        day: Day,
        /// Add only these ids, one a line
        #[arg(long, value_name = "ids.txt")]
        only: Option<PathBuf>,
    },
    /// List the days in the store
    List {
        /// Folder of the store
        #[arg(value_name = "DIR")]
        store: PathBuf,
    },
    /// Show what each version changed
    Log {
        /// Folder of the store
        #[arg(value_name = "DIR")]
        store: PathBuf,
    },
    /// Check every byte of the segments of all versions
    Verify {
        /// Folder of the store
        #[arg(value_name = "DIR")]
        store: PathBuf,
        /// Check only this version
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// Merge all days into one file; joins give the same results as before
    Compact {
        /// Folder of the store
        #[arg(value_name = "DIR")]
        store: PathBuf,
        /// Codec of the fingerprints: elias-fano, dense, huffman or raw
        #[arg(long, value_name = "C", default_value_t)]
        codec: Codec,
    },
    /// Go back to the contents of an earlier version. Its segments are checked first. This makes a new
    /// version and keeps the others
    Rollback {
        /// Folder of the store
        #[arg(value_name = "DIR")]
        store: PathBuf,
        #[command(flatten)]
        target: Target,
    },
}

/// Where a rollback goes.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Target {
    /// Version to go back to; `store log` lists the versions
    #[arg(long, value_name = "VERSION")]
    to: Option<u64>,
    /// Go back to the version before this day was added. Days added after it also leave the store
    #[arg(long, value_name = "D")]
    before_day: Option<Day>,
}

/// Runs `store`.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    match &arguments.change {
        Change::Init { store } => init(store, global.dry_run),
        Change::Add { store, segment, day, only } => {
            add(&Store::open(store)?, segment, *day, only.as_deref(), global.dry_run)
        }
        Change::List { store } => list(&Store::open(store)?, global.json),
        Change::Log { store } => log(&Store::open(store)?, global.json),
        Change::Verify { store, version } => verify(&Store::open(store)?, *version, global),
        Change::Compact { store, codec } => compact(&Store::open(store)?, *codec, global.dry_run),
        Change::Rollback { store, target } => rollback(&Store::open(store)?, target, global),
    }
}

fn init(path: &Path, dry_run: bool) -> Result<Summary> {
    if dry_run {
        return Ok(Summary::new().path("store", path));
    }
    let (store, made) = Store::init(path)?;
    let summary = summary_of(&store, &store.at(None)?);
    Ok(if made { summary } else { summary.already_done() })
}

fn add(
    store: &Store,
    segment: &Path,
    day: Day,
    only: Option<&Path>,
    dry_run: bool,
) -> Result<Summary> {
    if dry_run {
        let summary = summary_of(store, &store.at(None)?);
        let would = store.would_add(segment, day, only)?;
        return Ok(if would { summary } else { summary.already_done() });
    }
    Ok(match store.add(segment, day, only, None)? {
        Added::New(version) => summary_of(store, &version),
        Added::Already(version) => summary_of(store, &version).already_done(),
    })
}

fn compact(store: &Store, codec: Codec, dry_run: bool) -> Result<Summary> {
    if dry_run {
        let summary = summary_of(store, &store.at(None)?);
        let would = store.would_compact(codec)?;
        return Ok(if would { summary } else { summary.already_done() });
    }
    Ok(match store.compact(codec)? {
        Compacted::New(version) => summary_of(store, &version),
        Compacted::Already(version) => summary_of(store, &version).already_done(),
    })
}

/// Checks every segment of one version, or of all versions.
pub(crate) fn verify(store: &Store, version: Option<u64>, global: &GlobalFlags) -> Result<Summary> {
    let verification = store.verification(version)?;
    let (read, _shown) = show(&verification, global);
    verification.run(&read)?;
    Ok(summary_of(store, &store.at(version)?)
        .count("versions", verification.versions())
        .count("segments", verification.files()))
}

/// A counter for the bytes that are read, and the display of it.
pub(crate) fn show(
    verification: &Verification,
    global: &GlobalFlags,
) -> (Arc<AtomicU64>, Progress) {
    let read = Arc::new(AtomicU64::new(0));
    let bytes = verification.bytes();
    let shown = Progress::show("verifying", Unit::Bytes, bytes, Arc::clone(&read), global.quiet);
    (read, shown)
}

/// Logs which days leave the store, checks the version it goes back to, and goes back.
fn rollback(store: &Store, target: &Target, global: &GlobalFlags) -> Result<Summary> {
    let current = store.at(None)?;
    let to = match (target.to, target.before_day) {
        (Some(to), _) => to,
        (None, Some(day)) => current.joined_by(day).ok_or_else(|| not_held(store, day))?,
        (None, None) => unreachable!("clap requires one of them"),
    };
    let version = store.at(Some(to))?;
    log_days("leave the store", days_of_one(&current, &version));
    log_days("come back", days_of_one(&version, &current));
    let verification = store.verification(Some(to))?;
    let (read, _shown) = show(&verification, global);
    if global.dry_run {
        verification.run(&read)?;
        return Ok(summary_of(store, &version));
    }
    Ok(summary_of(store, &store.rollback(to, &read)?))
}

/// The days of `one` that `other` lacks or holds with other contents.
fn days_of_one(one: &Version, other: &Version) -> Vec<String> {
    let lacks = |entry: &&Entry| {
        let same = |it: &Entry| (it.day, it.digest) == (entry.day, entry.digest);
        !other.entries().iter().any(same)
    };
    one.entries().iter().filter(lacks).map(|entry| entry.day.to_string()).collect()
}

fn log_days(what: &str, days: Vec<String>) {
    if !days.is_empty() {
        tracing::info!("days that {what}: {}", days.join(", "));
    }
}

/// The error for a day that the store does not hold.
pub(crate) fn not_held(store: &Store, day: Day) -> Error {
    Error::new(Kind::Missing, format!("the store does not hold {day}"))
        .at(store.path())
        .help("`dupsieve store list` shows the days it holds")
}

/// Prints what each version changed, one a line.
fn log(store: &Store, as_json: bool) -> Result<Summary> {
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
fn list(store: &Store, as_json: bool) -> Result<Summary> {
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
fn summary_of(store: &Store, version: &Version) -> Summary {
    Summary::new()
        .count("version", version.number())
        .count("days", version.entries().len() as u64)
        .count("fingerprints", version.rows())
        .path("store", store.path())
}
