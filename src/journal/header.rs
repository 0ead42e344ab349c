//! The first bytes of a journal: what its pages are.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use crate::fingerprint::check::AS_NEEDED;
use crate::store::SegmentOptions;

/// The first bytes of a journal.
pub(super) const MAGIC: [u8; 8] = *b"DUPSJRNL";
/// The version of the format.
const VERSION: u32 = 1;
/// The bytes before the stamp.
pub(super) const FIXED_BYTES: usize = 36;
/// The longest stamp in bytes.
const LONGEST_STAMP: u32 = 1 << 20;
/// The most bytes that a row may have for its signature, and for its bands.
const MOST_ROW_BYTES: u32 = 1 << 16;

const HAS_LENGTHS: u32 = 1;
const HAS_CLASSES: u32 = 2;
const HAS_DIGESTS: u32 = 4;

/// What the pages of a journal are: the columns of the segment that they become. Whether that has times depends on
/// the pages.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) width: Width,
    pub(super) options: SegmentOptions,
}

impl Header {
    /// The bytes of a fingerprint.
    pub(super) fn fingerprint_bytes(&self) -> usize {
        self.width.bits() as usize / 8
    }

    /// The bytes of the header, its checksum among them.
    pub(super) fn write(&self) -> Vec<u8> {
        let SegmentOptions {
            lengths,
            classes,
            check_bytes,
            anchor_bytes,
            band_bytes,
            digests,
            stamp,
            ..
        } = &self.options;
        let flags = [(lengths, HAS_LENGTHS), (classes, HAS_CLASSES), (digests, HAS_DIGESTS)];
        let flags = flags.map(|(has, flag)| u32::from(*has) * flag).into_iter().sum();
        let numbers = [
            VERSION,
            self.width.bits(),
            flags,
            *check_bytes as u32,
            *band_bytes as u32,
            *anchor_bytes as u32,
            stamp.len() as u32,
        ];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(numbers.map(u32::to_le_bytes).as_flattened());
        bytes.extend(stamp.as_bytes());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// The number of bytes of the whole header, from its first [`FIXED_BYTES`].
    ///
    /// # Errors
    /// [`Kind::BadData`] if they begin no journal.
    pub(super) fn bytes_of(fixed: &[u8; FIXED_BYTES], path: &Path) -> Result<usize> {
        let [version, _, _, _, _, _, stamp] = numbers(fixed);
        if fixed[..MAGIC.len()] != MAGIC || version != VERSION || stamp > LONGEST_STAMP {
            return Err(Error::new(Kind::BadData, "this is not a journal of this version")
                .at(path)
                .expected(format_args!("DUPSJRNL, version {VERSION}"))
                .found(format_args!(
                    "{}, version {version}",
                    fixed[..MAGIC.len()].escape_ascii()
                )));
        }
        Ok(FIXED_BYTES + stamp as usize + 8)
    }

    /// Reads a whole header.
    ///
    /// # Errors
    /// [`Kind::BadData`] if it is damaged.
    pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Header> {
        let read = || {
            let (told, checksum) = bytes.split_last_chunk::<8>()?;
            let (fixed, stamp) = told.split_first_chunk::<FIXED_BYTES>()?;
            let [_, width, flags, check_bytes, band_bytes, anchor_bytes, _] = numbers(fixed);
            let is_sound = xxh3_64(told) == u64::from_le_bytes(*checksum)
                && flags & !(HAS_LENGTHS | HAS_CLASSES | HAS_DIGESTS) == 0
                && (check_bytes <= MOST_ROW_BYTES || check_bytes as usize == AS_NEEDED)
                && band_bytes.max(anchor_bytes) <= MOST_ROW_BYTES;
            let options = SegmentOptions {
                lengths: flags & HAS_LENGTHS != 0,
                classes: flags & HAS_CLASSES != 0,
                check_bytes: check_bytes as usize,
                band_bytes: band_bytes as usize,
                anchor_bytes: anchor_bytes as usize,
                digests: flags & HAS_DIGESTS != 0,
                stamp: str::from_utf8(stamp).ok()?.to_owned(),
                ..SegmentOptions::default()
            };
            is_sound.then_some(Header { width: Width::of_bits(width)?, options })
        };
        read().ok_or_else(|| damaged("the header of the journal is damaged").at(path).offset(0))
    }

    /// Whether both journals can become one segment.
    pub(super) fn is_like(&self, other: &Header) -> bool {
        self.write() == other.write()
    }
}

/// The numbers after the magic.
fn numbers(fixed: &[u8; FIXED_BYTES]) -> [u32; 7] {
    let (words, _) = fixed[MAGIC.len()..].as_chunks::<4>();
    std::array::from_fn(|at| u32::from_le_bytes(words[at]))
}

/// The error of a damaged journal.
pub(super) fn damaged(what: &str) -> Error {
    Error::new(Kind::BadData, what).help(
        "pages were remembered here and cannot be read: restore the file from a copy, or move it away and ask for these pages again",
    )
}
