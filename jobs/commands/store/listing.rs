//! What is in a store, and how it came there: `store list`, `store log`, and the summary of all changes.

use std::io::{self, Write};

use dupsieve::Result;
use dupsieve::rooms::error::At;
use dupsieve::rooms::index::{self, IndexDesign};
use dupsieve::rooms::join::Preset;
use dupsieve::rooms::seen;
use dupsieve::rooms::store::{Day, Digest, Entry, Merged, Revision, Store, Version};
use serde_json::{Value, json};

use crate::outcome::summary::Summary;
use crate::outcome::terminal;

/// Prints what each version changed, one a line.
pub(super) fn log(store: &Store, as_json: bool) -> Result<Summary> {
    let history = store.history()?;
    let mut out = terminal::stdout();
    let printed = if as_json {
        writeln!(out, "{}", versions(&history))
    } else {
        print_history(&history, &mut out)
    };
    printed.at("stdout")?;
    Ok(Summary::answered())
}

fn versions(history: &[Revision]) -> Value {
    let versions = history.iter().map(|revision| {
        let Revision { version, change, days, rows, replaced } = revision;
        let change = change.to_string();
        json!({ "version": version, "change": change, "days": days, "rows": rows, "replaced": replaced })
    });
    json!({ "versions": versions.collect::<Vec<_>>() })
}

fn print_history(history: &[Revision], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:>7}  {:>6}  {:>13}  change", "version", "days", "rows")?;
    for Revision { version, change, days, rows, replaced } in history {
        let replaced = match replaced {
            0 => String::new(),
            replaced => format!(", {replaced} replaced"),
        };
        writeln!(out, "{version:>7}  {days:>6}  {rows:>13}  {change}{replaced}")?;
    }
    Ok(())
}

/// Prints the days, one a line, and the merged files that hold several of them.
pub(super) fn list(store: &Store, as_json: bool) -> Result<Summary> {
    let version = store.at(None)?;
    let older = store.bytes_besides(&version)?;
    let index = Index::of(store)?;
    let mut out = terminal::stdout();
    let printed = if as_json {
        writeln!(out, "{}", days(&version, older, &index))
    } else {
        print_days(&version, older, &index, &mut out)
    };
    printed.at("stdout")?;
    Ok(Summary::answered())
}

struct Index {
    design: IndexDesign,
    files: u64,
    bytes: u64,
    missing: u64,
    /// The bytes of the filters, and how many are lacking; none without filters.
    filters: Option<(u64, u64)>,
}

impl Index {
    fn of(store: &Store) -> Result<Index> {
        let design = index::design_of(store)?;
        let (files, bytes) = index::size(store)?;
        let (missing, _) = index::missing(store, design)?;
        let filters = match seen::is_kept(store)? {
            true => Some((seen::size(store)?.1, seen::missing(store)?.0)),
            false => None,
        };
        Ok(Index { design, files, bytes, missing, filters })
    }
}

fn days(version: &Version, older: u64, index: &Index) -> Value {
    let days = version.entries().iter().map(|entry| {
        let segment = segment_of(version, entry);
        json!({
            "day": entry.day.to_string(),
            "version": entry.added_in,
            "rows": version.shown_of(entry),
            "replaced": version.replaced_of(entry),
            "bytes": segment.map(|(bytes, _)| bytes),
            "digest": segment.map(|(_, digest)| digest.to_string()),
        })
    });
    let merged = shared(version).map(|Merged { file, rows, bytes, digest }| {
        let days: Vec<Day> = days_in(version, file).collect();
        json!({ "days": days, "rows": rows, "bytes": bytes, "digest": digest.to_string() })
    });
    json!({
        "version": version.number(),
        "fingerprints": version.shown_rows(),
        "removed": version.removed_rows(),
        "replaced": version.replaced_rows(),
        "expired": version.expired_rows(),
        "expired_before": version.expired_before().map(|first| first.to_string()),
        "segments": version.segment_count(),
        "preset": preset_of(version),
        "days": days.collect::<Vec<_>>(),
        "merged": merged.collect::<Vec<_>>(),
        "older_bytes": older,
        "index": {
            "design": index.design.to_string(),
            "files": index.files,
            "bytes": index.bytes,
            "missing": index.missing,
        },
        "filters": index.filters.map(|(bytes, missing)| json!({ "bytes": bytes, "missing": missing })),
    })
}

fn preset_of(version: &Version) -> Option<Preset> {
    version.stamp().and_then(Preset::of)
}

fn days_in<'a>(version: &'a Version, file: &'a str) -> impl Iterator<Item = Day> {
    version.entries().iter().filter(move |entry| entry.file == file).map(|entry| entry.day)
}

/// The size and the digest of the segment of a day: the segment that it was added as, as long as none of its rows has left the
/// disk. Else the segment that has the rest, if that has no other day.
fn segment_of(version: &Version, entry: &Entry) -> Option<(u64, Digest)> {
    if entry.dropped == 0 {
        return Some((entry.bytes, entry.digest));
    }
    let own = version.merged().iter().find(|merged| merged.file == entry.file);
    own.filter(|it| !is_shared(version, it)).map(|it| (it.bytes, it.digest))
}

/// The segments that several days share.
fn shared(version: &Version) -> impl Iterator<Item = &Merged> {
    version.merged().iter().filter(|merged| is_shared(version, merged))
}

fn is_shared(version: &Version, merged: &Merged) -> bool {
    version.all_entries().iter().filter(|entry| entry.file == merged.file).count() > 1
}

/// Each day with the rows that it shows; then the segments that several days share, the rows of removed pages, of replaced pages
/// and of expired days in all files, what older versions need besides, the index and the filters.
fn print_days(
    version: &Version,
    older: u64,
    index: &Index,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{:<10}  {:>7}  {:>13}  {:>15}  digest", "day", "version", "rows", "bytes")?;
    for entry in version.entries() {
        let (day, rows, added_in) =
            (entry.day.to_string(), version.shown_of(entry), entry.added_in);
        let segment = segment_of(version, entry);
        let (bytes, digest) = match segment {
            Some((bytes, digest)) => (bytes.to_string(), digest.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        writeln!(out, "{day:<10}  {added_in:>7}  {rows:>13}  {bytes:>15}  {digest}")?;
    }
    for Merged { file, rows, bytes, digest } in shared(version) {
        let days = format!("{} days", days_in(version, file).count());
        writeln!(out, "{days:<10}  {:>7}  {rows:>13}  {bytes:>15}  {digest}", "merged")?;
    }
    let hidden = [
        ("removed", version.removed_rows()),
        ("replaced", version.replaced_rows()),
        ("expired", version.expired_rows()),
    ];
    for (hidden, rows) in hidden {
        if rows > 0 {
            writeln!(out, "{hidden:<10}  {:>7}  {rows:>13}", "")?;
        }
    }
    if let Some(first) = version.expired_before() {
        writeln!(out, "the days before {first} have expired")?;
    }
    if older > 0 {
        writeln!(out, "{:<10}  {:>7}  {:>13}  {older:>15}", "older", "", "")?;
    }
    if index.design != IndexDesign::None {
        let Index { design, bytes, missing, .. } = index;
        let missing = lacking(*missing);
        writeln!(out, "{:<10}  {design:>7}  {:>13}  {bytes:>15}{missing}", "index", "")?;
    }
    if let Some((bytes, missing)) = index.filters {
        let missing = lacking(missing);
        writeln!(out, "{:<10}  {:>7}  {:>13}  {bytes:>15}{missing}", "filters", "", "")?;
    }
    Ok(())
}

/// What to add to a line of which so much is missing.
fn lacking(missing: u64) -> String {
    if missing > 0 { format!("  {missing} files are missing") } else { String::new() }
}

pub(super) fn summary_of(store: &Store, version: &Version) -> Summary {
    Summary::new()
        .count("version", version.number())
        .count("days", version.entries().len() as u64)
        .count("segments", version.segment_count())
        .count("fingerprints", version.shown_rows())
        .path("store", store.path())
}
