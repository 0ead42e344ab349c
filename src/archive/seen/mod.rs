//! What a store has seen: is a page held, by its id or, letter by letter, by its text?
//!
//! A segment is sorted by fingerprints, so an id or a text can stand in any of its rows. A store that keeps filters
//! has two files beside each segment for its ids, and two for its texts if it keeps their digests:
//!
//! ```text
//! sought -> hash -> fuse filter: not here (of 256 hashes that are not there, 255)
//!                      `-> table: the rows that may be it (mostly one) -> the column of the segment: it is, or not
//! ```
//!
//! A filter is never believed: what passes is compared with the column. Without filters the answers are the same;
//! the column is read from its beginning to its end then.
//!
//! - `by`: what is looked for. `holdings`, `seeker`: a version is opened once ([`Holdings`]), its segments with their filters, and asked
//!   by any number of threads ([`Seeker`]), or for many pages at once, with `readers`.
//! - `filter`: how filters are made. `fuse`, `table`: the two files of each.
//! - `keeping`: how they come and go with the segments.
//!
//! Imports `store`, `hamming` and what they import. FORMAT.md in this folder specifies the files. Start with
//! [`Holdings::open`].

mod by;
mod filter;
mod fuse;
mod holdings;
mod keeping;
mod readers;
mod seeker;
mod table;

pub use by::{By, Sought};
pub use holdings::Holdings;
pub use keeping::{is_kept, keep, missing, set, size, verify};
pub use readers::HeldPage;
pub use seeker::{HeldId, Seeker};

#[cfg(test)]
mod tests;
