//! What the tests of several modules need: segments of pages, and sketches of texts.

use std::path::Path;

use crate::error::Result;
use crate::fingerprint::{Check, Fingerprint};
use crate::store::{Details, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};

/// Writes pages, which ascend, as a segment.
pub(crate) fn segment<F: Fingerprint, I: AsRef<str>>(
    path: &Path,
    options: SegmentOptions,
    pages: impl IntoIterator<Item = (F, I, Details)>,
) -> Result<Segment> {
    let mut writer = SegmentWriter::create(path, options)?;
    for (fingerprint, id, details) in pages {
        writer.push(&Row { details: &details, ..Row::new(fingerprint, id.as_ref()) })?;
    }
    writer.finish(RecordCounts::default(), "")
}

/// The options of a segment of pages that are [`signed`].
pub(crate) fn signed_options(check: Check) -> SegmentOptions {
    let (check_bytes, anchors) = (check.bytes(), check.has_direction());
    SegmentOptions { check_bytes, anchors, ..SegmentOptions::default() }
}

/// The sketch of a text, and its anchors.
pub(crate) fn signed(check: Check, text: &str) -> Details {
    let (mut signer, mut sketch) = (check.signer(), Vec::new());
    signer.sign(text, &mut sketch).unwrap();
    Details { check: sketch, anchors: signer.anchors().to_vec(), ..Details::default() }
}

/// How many anchors two pages share.
pub(crate) fn shared_anchors(one: &[u8], other: &[u8]) -> usize {
    let [one, other] = [one, other].map(|it| it.as_chunks::<5>().0);
    one.iter().filter(|anchor| **anchor != [u8::MAX; 5] && other.contains(anchor)).count()
}
