//! The first frame of a journal: what its pages are.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind};
use crate::fingerprint::Width;
use crate::fingerprint::check::AS_NEEDED;
use crate::frames::{Magic, frame};
use crate::store::SegmentOptions;

pub(super) const MAGIC: Magic = *b"DUPSJRNL\x01\0\0\0";
/// The most bytes that a row may have for its sketch, and for its bands.
const MOST_ROW_BYTES: usize = 1 << 16;

/// What the pages of a journal are: the columns of their segment, but for times, which depend on the pages.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) width: Width,
    pub(super) options: SegmentOptions,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Columns {
    width: u32,
    lengths: bool,
    classes: bool,
    digests: bool,
    #[serde(default)]
    passages: bool,
    #[serde(default)]
    keys: bool,
    check_bytes: usize,
    anchors: bool,
    band_bytes: usize,
    stamp: String,
}

impl Header {
    pub(super) fn fingerprint_bytes(&self) -> usize {
        self.width.bits() as usize / 8
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let options = &self.options;
        let columns = Columns {
            width: self.width.bits(),
            lengths: options.lengths,
            classes: options.classes,
            digests: options.digests,
            passages: options.words,
            keys: options.keys,
            check_bytes: options.check_bytes,
            anchors: options.anchors,
            band_bytes: options.band_bytes,
            stamp: options.stamp.clone(),
        };
        let json = serde_json::to_vec(&columns).expect("columns are plain data");
        [&MAGIC[..], &frame(0, MAGIC.len() as u64, &json)].concat()
    }

    pub(super) fn read(body: &[u8]) -> Option<Header> {
        let columns: Columns = serde_json::from_slice(body).ok()?;
        let Columns { width, lengths, classes, digests, passages, keys, .. } = columns;
        let Columns { check_bytes, anchors, band_bytes, stamp, .. } = columns;
        let is_sound = (check_bytes <= MOST_ROW_BYTES || check_bytes == AS_NEEDED)
            && band_bytes <= MOST_ROW_BYTES;
        let options = SegmentOptions {
            lengths,
            classes,
            digests,
            words: passages,
            passage_anchors: passages,
            keys,
            declared: keys,
            check_bytes,
            anchors,
            band_bytes,
            stamp,
            ..SegmentOptions::default()
        };
        is_sound.then_some(Header { width: Width::of_bits(width)?, options })
    }

    pub(super) fn is_like(&self, other: &Header) -> bool {
        self.write() == other.write()
    }
}

pub(super) fn damaged(what: &str) -> Error {
    Error::new(Kind::BadData, what).help(
        "pages were remembered here and cannot be read: restore the file from a copy, or move it away and ask for these pages again",
    )
}
