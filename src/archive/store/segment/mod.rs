//! A segment: one immutable file of sorted fingerprints and of what belongs to each.
//!
//! ```text
//! header | blocks of all columns | entries of all columns | table of columns | metadata | trailer
//! ```
//!
//! - `details` is the list of what it may have of a row beside fingerprint, id and day ([`Details`]), and so of its columns;
//!   `detail` has the types of these.
//! - `writer` writes it ([`SegmentWriter`]); `columns` and `row_bytes` collect rows into blocks.
//! - `open` opens it ([`Segment`]); `source` checks its first and last bytes; `directory` finds the
//!   blocks; `metadata` is what it says about itself; `verify` reads all of it.
//! - `scan` reads fingerprints by key range ([`Scan`]), with `pieces` reading ahead;
//!   `ranked`, with `searchable` and `select`, looks fingerprints up in any order, and `sieve` leaves most of the
//!   places out in which nothing is near; `fetched` reads what they look at and keeps it;
//!   `lookup` and `row_bytes` read the other columns by row ([`Ids`] and others).
//! - `block` codes a block of fingerprints, in `elias_fano` or `huffman` (with `unary`,
//!   `prefix_code`, `words`); `packed` codes a block of text or integers.
//!
//! Imports what `store` imports, and `damage` and `digest` of the store. Start with `open`, or
//! with `elias_fano` for the bits.

mod block;
mod columns;
mod detail;
mod details;
mod directory;
mod elias_fano;
mod fetched;
mod huffman;
mod lookup;
mod metadata;
#[warn(missing_docs)]
mod open;
mod packed;
mod pieces;
mod prefix_code;
mod ranked;
mod row_bytes;
mod scan;
mod searchable;
mod select;
mod sieve;
mod source;
mod unary;
mod verify;
mod words;
#[warn(missing_docs)]
mod writer;

pub use block::{BLOCK_ROWS, Codec};
pub use details::{DetailLookup, Details, SegmentOptions};
pub use directory::{Coding, Column, ColumnHead, IdKind, SCANNED_ROWS};
pub use fetched::Access;
pub use lookup::{Classes, Days, EmptyIds, Expected, Fingerprints, Ids, Integers, Times};
pub use metadata::RecordCounts;
pub use open::Segment;
pub use packed::MAX_PACKED_ROW_BYTES;
pub use ranked::{Cursor, LANES, Ranked};
pub use row_bytes::{DeclaredRows, RowBytes, TextDigests};
pub use scan::{KeyRange, Scan};
pub use writer::{Lists, Row, SegmentWriter};

#[cfg(test)]
pub(super) mod tests;
