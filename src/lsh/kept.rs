//! The documents of a segment that keeps bands: they are sketched already.

use std::path::Path;

use super::bands::Bands;
use super::confirmation::{Compared, Comparison, Confirmation};
use super::document::SketchedDocument;
use super::scheme::Sketch;
use crate::document::Position;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Stamp;
use crate::matches::Similarity;
use crate::progress::{self, Activity};
use crate::runs::{SortedRecords, Sorter};
use crate::store::{Fingerprints, RowBytes, Segment};

/// How many rows are read between two signs of progress.
const STEP: u64 = 4096;

/// The bands that a segment with this stamp keeps.
///
/// # Errors
/// [`Kind::Usage`] if it keeps none.
pub fn kept_bands(stamp: &str) -> Result<Bands> {
    match Stamp::parse(stamp).ok().and_then(|stamp| stamp.bands()) {
        Some(bands) => bands.parse(),
        None => Err(Error::new(Kind::Usage, "the batch keeps no bands")
            .help("make it with bands, such as minhash-14x8")
            .job("fingerprint")
            .setting("keep-bands minhash-14x8")),
    }
}

/// What compares the rows of segments with this stamp.
///
/// # Errors
/// [`Kind::Usage`] if segments do not keep what the confirmation needs.
pub fn kept_comparison(
    confirmation: Confirmation,
    least: Similarity,
    stamp: &str,
) -> Result<Comparison> {
    let stamp = Stamp::parse(stamp)?;
    let compared = match confirmation {
        Confirmation::SimHash(_) => Compared::Bits(stamp.width()),
        Confirmation::Signature => match stamp.check()? {
            Some(check) => Compared::Signatures(check),
            None => {
                return Err(Error::new(Kind::Usage, "the batch has no sketches")
                    .help("make it with a check, or confirm by fingerprints")
                    .settings(["check", "confirm simhash:K"]));
            }
        },
        Confirmation::Exact => {
            return Err(Error::new(
                Kind::Usage,
                "a segment does not keep what is compared exactly",
            )
            .expected("signature, or simhash:K"));
        }
    };
    Ok(Comparison { compared, confirmation, least })
}

/// The documents of a `segment`, in the order of their ids. The sort uses about `memory_bytes`.
///
/// # Errors
/// Damage is [`Kind::BadData`].
pub fn kept_documents(
    segment: &Segment,
    comparison: &Comparison,
    folder: &Path,
    memory_bytes: usize,
) -> Result<SortedRecords<SketchedDocument>> {
    let mut sorter = Sorter::new(folder, memory_bytes);
    let mut ids = segment.ids();
    let mut lengths = segment.lengths();
    let mut times = segment.times();
    let mut bands = segment.bands();
    let mut evidence = RowEvidence::of(segment, comparison);
    for row in 0..segment.rows() {
        if row.is_multiple_of(STEP) {
            progress::tick(Activity::Reading);
        }
        let keys = bands.as_mut().map_or(Ok(&[][..]), |bands| bands.get(row))?;
        let sketch = match Bands::read(keys) {
            Some(keys) => {
                Some(Sketch { keys, evidence: evidence.get(row)?.to_vec(), components: 0 })
            }
            None => None,
        };
        sorter.push(SketchedDocument {
            id: ids.get(row)?.to_owned(),
            position: Position { file: 0, line: row },
            content: 0,
            length: lengths.as_mut().map_or(Ok(0), |lengths| lengths.get(row))?,
            time: times.as_mut().map_or(Ok(None), |times| times.get(row))?,
            sketch,
        })?;
    }
    for (line, id) in (segment.rows()..).zip(segment.empty_ids()) {
        let position = Position { file: 0, line };
        sorter.push(SketchedDocument {
            id: id?,
            position,
            content: 0,
            length: 0,
            time: None,
            sketch: None,
        })?;
    }
    sorter.sorted()
}

/// Looks up what is compared of a segment's rows.
pub(super) enum RowEvidence {
    Signatures(Option<RowBytes>),
    Fingerprints(Fingerprints, [u8; 16]),
}

impl RowEvidence {
    pub(super) fn of(segment: &Segment, comparison: &Comparison) -> RowEvidence {
        match comparison.compared {
            Compared::Bits(_) => RowEvidence::Fingerprints(segment.fingerprints(), [0; 16]),
            _ => RowEvidence::Signatures(segment.checks()),
        }
    }

    pub(super) fn get(&mut self, row: u64) -> Result<&[u8]> {
        match self {
            RowEvidence::Signatures(None) => Ok(&[]),
            RowEvidence::Signatures(Some(signatures)) => signatures.get(row),
            RowEvidence::Fingerprints(fingerprints, bytes) => {
                *bytes = fingerprints.get(row)?.to_le_bytes();
                Ok(bytes)
            }
        }
    }
}
