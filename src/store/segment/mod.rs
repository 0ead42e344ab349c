//! One immutable file of sorted fingerprints and of what belongs to them.
//!
//! It is written by [`SegmentWriter`]. [`Segment`] opens it, checks what it says of itself, and hands
//! out what reads its columns: [`Scan`] by key range, [`Ids`] and its kin by row.

mod block;
mod cold;
mod columns;
mod details;
mod directory;
mod elias_fano;
mod huffman;
mod lookup;
mod metadata;
mod open;
mod packed;
mod piece;
mod pieces;
mod prefix_code;
mod rice;
mod scan;
mod signatures;
mod source;
mod unary;
mod verify;
mod words;
mod writer;

pub use block::{BLOCK_ROWS, COLD_BITS, Codec, hot};
pub use cold::ColdBits;
pub(super) use details::Details;
pub use directory::{Coding, Column, IdKind};
pub use lookup::{Classes, Days, EmptyIds, Fingerprints, Ids, Lengths, Times};
pub use metadata::Counts;
pub use open::{ColumnSize, Segment};
pub use packed::is_id;
pub use scan::{KeyRange, Scan};
pub use signatures::Checks;
pub use writer::{Lists, Row, SegmentOptions, SegmentWriter};

#[cfg(test)]
pub(super) mod tests;
