//! Checks a segment and the lists beside it.

use std::path::Path;

use dupsieve::rooms::error::Named;
use dupsieve::rooms::output::{QUARANTINE, REPEATED, Sum, beside};
use dupsieve::rooms::store::Segment;
use dupsieve::{Error, Kind, Result};

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
