//! The distinct fingerprints of a segment: what a batch is probed by.

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::store::{KeyRange, Segment};

/// The distinct fingerprints of a segment, ascending.
pub fn distinct_fingerprints<F: Fingerprint>(segment: &Segment) -> Result<Vec<F>> {
    let mut distinct = Vec::new();
    each_distinct(segment, |fingerprint, _| distinct.push(fingerprint))?;
    Ok(distinct)
}

/// Calls `each` with every distinct fingerprint of a segment and its first row.
pub(super) fn each_distinct<F: Fingerprint>(
    segment: &Segment,
    mut each: impl FnMut(F, u32),
) -> Result<()> {
    if segment.rows() > u64::from(u32::MAX) {
        return Err(too_many_rows(segment));
    }
    let mut scan = segment.scan::<F>(KeyRange::all());
    let mut run = Vec::new();
    let mut last = None;
    while let Some(first) = scan.next(&mut run)? {
        for (row, &fingerprint) in (first as u32..).zip(&run) {
            if last != Some(fingerprint) {
                each(fingerprint, row);
                last = Some(fingerprint);
            }
        }
    }
    Ok(())
}

fn too_many_rows(segment: &Segment) -> Error {
    Error::new(Kind::Usage, "the batch is too large to be joined at once")
        .at(segment.path())
        .expected(format!("at most {} documents", u32::MAX))
        .found(segment.rows())
        .help("split the batch")
}
