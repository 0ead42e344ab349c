//! `dupsieve store`: the fingerprints held, day by day and version by version.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dupsieve::Result;
use dupsieve::error::At;
use dupsieve::store::{Added, Codec, Compacted, Day, Entry, Merged, Store, Version};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::summary::Summary;

/// Keep the fingerprints of all pages held, in versions
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    change: Change,
}

#[derive(Debug, Subcommand)]
enum Change {
    /// Make an empty store
    Init {
        /// The store's folder
        #[arg(value_name = "DIR")]
        store: PathBuf,
    },
    /// Add a day; the same again changes nothing
    Add {
        /// The store's folder
        #[arg(value_name = "DIR")]
        store: PathBuf,
        /// What to add
        #[arg(long, value_name = "FILE")]
        segment: PathBuf,
        /// The day under which it is held, YYYY-MM-DD
        #[arg(long, value_name = "D")]
        day: Day,
        /// Add these ids alone, one a line
        #[arg(long, value_name = "ids.txt")]
        only: Option<PathBuf>,
    },
    /// List the days held
    List {
        /// The store's folder
        #[arg(value_name = "DIR")]
        store: PathBuf,
    },
    /// Read everything held and check it
    Verify {
        /// The store's folder
        #[arg(value_name = "DIR")]
        store: PathBuf,
    },
    /// Merge all days into one file; joins give the same as before
    Compact {
        /// The store's folder
        #[arg(value_name = "DIR")]
        store: PathBuf,
        /// How the fingerprints are coded: elias-fano, dense, hot-cold, huffman or raw
        #[arg(long, value_name = "C", default_value_t)]
        codec: Codec,
    },
    /// Make a new version of what an earlier one held
    Rollback {
        /// The store's folder
        #[arg(value_name = "DIR")]
        store: PathBuf,
        /// The version to go back to
        #[arg(long, value_name = "VERSION")]
        to: u64,
    },
}

/// Runs `store`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Summary> {
    match &arguments.change {
        Change::Init { store } => init(store, common.dry_run),
        Change::Add { store, segment, day, only } => {
            add(&Store::open(store)?, segment, *day, only.as_deref(), common.dry_run)
        }
        Change::List { store } => list(&Store::open(store)?, common.json),
        Change::Verify { store } => {
            let store = Store::open(store)?;
            Ok(held(&store, &store.verify()?))
        }
        Change::Compact { store, codec } => compact(&Store::open(store)?, *codec, common.dry_run),
        Change::Rollback { store, to } => {
            let store = Store::open(store)?;
            let version = if common.dry_run { store.at(Some(*to)) } else { store.rollback(*to) };
            Ok(held(&store, &version?))
        }
    }
}

fn init(path: &Path, dry_run: bool) -> Result<Summary> {
    if dry_run {
        return Ok(Summary::new().path("store", path));
    }
    let (store, made) = Store::init(path)?;
    let summary = held(&store, &store.at(None)?);
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
        let summary = held(store, &store.at(None)?);
        let would = store.would_add(segment, day, only)?;
        return Ok(if would { summary } else { summary.already_done() });
    }
    Ok(match store.add(segment, day, only, None)? {
        Added::New(version) => held(store, &version),
        Added::Already(version) => held(store, &version).already_done(),
    })
}

fn compact(store: &Store, codec: Codec, dry_run: bool) -> Result<Summary> {
    if dry_run {
        let summary = held(store, &store.at(None)?);
        let would = store.would_compact(codec)?;
        return Ok(if would { summary } else { summary.already_done() });
    }
    Ok(match store.compact(codec)? {
        Compacted::New(version) => held(store, &version),
        Compacted::Already(version) => held(store, &version).already_done(),
    })
}

/// Prints the days, one a line, and what several of them share.
fn list(store: &Store, as_json: bool) -> Result<Summary> {
    let version = store.at(None)?;
    let mut out = io::stdout().lock();
    match as_json {
        true => writeln!(out, "{}", days(&version)),
        false => print_days(&version, &mut out),
    }
    .at("stdout")?;
    Ok(Summary::answered())
}

/// The days as one JSON object.
fn days(version: &Version) -> Value {
    let days = version.entries().iter().map(|Entry { day, added_in, rows, bytes, digest, .. }| {
        let (day, digest) = (day.to_string(), digest.to_string());
        json!({ "day": day, "version": added_in, "rows": rows, "bytes": bytes, "digest": digest })
    });
    let merged = version.merged().iter().map(|Merged { rows, bytes, digest, .. }| {
        json!({ "rows": rows, "bytes": bytes, "digest": digest.to_string() })
    });
    json!({
        "version": version.number(),
        "fingerprints": version.rows(),
        "days": days.collect::<Vec<_>>(),
        "merged": merged.collect::<Vec<_>>(),
    })
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

/// What a version holds.
fn held(store: &Store, version: &Version) -> Summary {
    Summary::new()
        .count("version", version.number())
        .count("days", version.entries().len() as u64)
        .count("fingerprints", version.rows())
        .path("store", store.path())
}
