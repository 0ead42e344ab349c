//! Joins two days, then puts the pages of both days into clusters: of each page, which pages are copies of the same one.
//!
//! ```text
//! cargo run --release --example clusters
//! ```

use std::error::Error;
use std::path::Path;

use dupsieve::clusters::{Clustering, Method, Source};
use dupsieve::flow::Processes;
use dupsieve::join::Join;
use dupsieve::output::{Lock, Staging};
use dupsieve::store::{NewDay, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let mut processes = Processes::alone(2);
    let (store, _) = Store::init(at("store"))?;

    // Ready-made fingerprints. `mirror` is a copy of `page`, and `copy` of the next day lies within 3 bits of both.
    let days = [
        ("2026-11-22", [(0x00ff, "page"), (0x00fe, "mirror"), (u64::MAX, "alone")]),
        ("2026-11-23", [(0x00fc, "copy"), (0x0ff0_0000, "new"), (0x0ff1_0000, "new-copy")]),
    ];
    let mut sources = Vec::new();
    for (day, mut pages) in days {
        pages.sort();
        let path = at(&format!("{day}.seg"));
        let batch = write_segment(&path, &pages)?;
        let output = at(day);
        Join::new(batch, Some(store.at(None)?))?.run(&mut processes, &output)?;
        store.add(&NewDay::whole(&path, day.parse()?), None)?;
        sources.push(Source { folder: output, day: Some(day.parse()?).into() });
    }

    let output = at("clusters");
    let staging = Staging::beside(&output, Lock::beside(&output)?)?;
    Clustering::new(Method::Star, sources).write(&staging)?;
    staging.commit()?;

    let clusters = std::fs::read_to_string(output.join("clusters.tsv"))?;
    print!("{clusters}");
    // `page` with its copies, and `new` with its copy. `alone` is in no cluster.
    assert_eq!(clusters.lines().count(), 1 + 5);
    Ok(())
}

/// Writes fingerprints, which are sorted, into a segment.
fn write_segment(path: &Path, pages: &[(u64, &str)]) -> dupsieve::Result<Segment> {
    let mut segment = SegmentWriter::create(path, SegmentOptions::default())?;
    for &(fingerprint, id) in pages {
        segment.push(&Row::new(fingerprint, id))?;
    }
    let count = pages.len() as u64;
    let counts = RecordCounts { read: count, fingerprinted: count, ..RecordCounts::default() };
    segment.finish(counts, "ready-made fingerprints")
}
