//! The fingerprints at rest: segments, and the store that is a list of them.
//!
//! A **segment** is one immutable file of sorted fingerprints and of what belongs to them. It is
//! written in one pass and appears at its path whole or not at all ([`SegmentWriter`]); it is read
//! by key range ([`Segment::scan`]) or, beside the fingerprints, by row ([`Segment::ids`] and its
//! kin). Row `i` of every column describes the same document, and rows stand in the order of
//! (fingerprint, id as bytes). So a batch is a segment, a day of the store is a segment, and a probe
//! that meets row `i` of either knows where its id is without having read one.
//!
//! Columns are cut into **blocks**, the unit of coding and of checksumming. At eight billion
//! fingerprints, where 32.55 bits each is the least there can be, a block of them takes 33.55 and
//! decodes at memory speed (see `elias_fano`); other [`Codec`]s are smaller and slower. A directory at the end tells
//! where each block is, how many bytes it takes, what they hash to (XXH3-64) and with which
//! fingerprint it starts; a scan of a range therefore reads the blocks of that range and no others.
//!
//! A **store** ([`Store`]) is a folder of segments, one a day, and of manifests, one a version. Every
//! version stays readable under its number ([`Store::at`]), so that a day can be joined, today and in
//! any rerun, with exactly what was held before it ([`Version::before`]). Days may be merged into
//! one segment ([`Store::compact`]), in which every row keeps its day. [`chunks`] cuts the key
//! space of a version over all of its segments at once; a chunk is the unit of work of a probe.
//!
//! Whatever is read is checked before it is used, and every length is bounded before anything is
//! allocated by it: damage ends in an error that names the file and the byte.
//!
//! FORMAT.md beside this file has the bytes.

mod builder;
mod compact;
mod damage;
mod dated;
mod day;
mod digest;
mod draft;
mod file_record;
mod folder;
mod history;
mod id_filter;
mod manifest;
mod orphans;
mod segment;
mod verification;
mod version;

pub use builder::{FingerprintedDocument, SegmentBuilder};
pub use compact::Compacted;
pub use dated::{Dated, RowDays};
pub use day::{Day, DayRange};
pub use digest::Digest;
pub use draft::Draft;
pub use folder::{Added, Store};
pub use history::{Change, Revision};
pub use manifest::{Entry, Merged};
pub use segment::{BLOCK_ROWS, COLD_BITS, Codec, Coding, ColdBits, Column, ColumnSize, hot, is_id};
pub use segment::{
    Checks, Classes, Days, EmptyIds, Fingerprints, Ids, KeyRange, Lengths, Scan, Segment, Times,
};
pub use segment::{Counts, IdKind, Lists, Row, SegmentOptions, SegmentWriter};
pub use verification::Verification;
pub use version::{Version, chunk_bytes, chunks};

#[cfg(test)]
mod tests;
