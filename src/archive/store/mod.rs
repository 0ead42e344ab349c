//! Fingerprints on disk: segments, and the store, which is a list of segments for each version.
//!
//! A **segment** is one immutable file of sorted fingerprints and of what belongs to them. It is
//! written in one pass and appears at its path complete or not at all ([`SegmentWriter`]). It is read
//! by key range ([`Segment::scan`]) or by row ([`Segment::ids`] and others). Rows are in the order of
//! (fingerprint, id as bytes), and row `i` of every column describes the same document. A batch is a
//! segment, and so is a day of the store.
//!
//! A **store** ([`Store`]) is a folder of segments, one a day, and of manifests, one a version. Every
//! version stays readable ([`Store::at`]), so a day can be joined, today and in any rerun, with
//! exactly what was in the store before it ([`Version::before`]). Days are merged into larger segments, in
//! which every row keeps its day: as the store grows ([`Store::compact_tiers`]), so that it never has
//! many, or all of them ([`Store::compact`]). [`chunks`] divides the key space of a
//! version across all its segments; a chunk is the unit of work of a probe.
//!
//! Whatever is read is checked before it is used, and every length is checked before memory is
//! allocated for it. Damage gives an error that names the file and the byte.
//!
//! - `segment/`: the file format. `builder`, `id_filter`: segments made from documents, from a list of
//!   ids. `damage`, `digest`: small types that all share.
//! - `removals`, `replaced_rows`: which pages were removed or replaced; `row_sets`: their bytes. `slack`: what a page may lack in one that
//!   replaces it; `digest_files`: the folder of both lists. `removal_note`: how the journal learns of removals. `replacements`: what a day
//!   replaces. `expiry`: days that are too old; `future_day`: days that have not come. `id_search`: rows by their ids.
//! - `sidecars`: files that are kept beside the segments, most of which are tables.
//! - `manifest`, `manifest_file`, `version`, `file_record`, `dated`: what a version contains, and what a reader is shown.
//! - `folder`: the store, and how a change is committed. `addition`, `compact`, `draft`, `orphans`,
//!   `history`, `prune`, `removing`, `replacing`, `purge`, `verification`: what can be done with a store, one a file. `going_back`: what a store held before a day, where that version was pruned. `tiers`: which segments are merged
//!   when, with its bounds. `merge`: how.
//!
//! Imports `document`, `fingerprint`, `hamming` and what they import. FORMAT.md in this folder
//! specifies the bytes. Start with [`Segment`], then [`Store`].
//!
//! ```
//! use dupsieve_archive::store::{Added, NewDay, RecordCounts, KeyRange, Row, Segment, SegmentOptions, SegmentWriter, Store};
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("monday.seg");
//!
//! // A segment of two documents.
//! let mut writer = SegmentWriter::<u64>::create(&path, SegmentOptions::default())?;
//! for (fingerprint, id) in [(0x0123, "a"), (0xfedc, "b")] {
//!     writer.push(&Row::new(fingerprint, id))?;
//! }
//! let counts = RecordCounts { read: 2, fingerprinted: 2, ..RecordCounts::default() };
//! let segment = writer.finish(counts, "an example")?;
//!
//! // Its fingerprints in a range of keys, and the id of the row of the first.
//! let mut run = Vec::new();
//! let mut scan = segment.scan(KeyRange::<u64> { low: 0x1000, high: u64::MAX });
//! assert_eq!((scan.next(&mut run)?, &run), (Some(1), &vec![0xfedc]));
//! assert_eq!(segment.ids().get(1)?, "b");
//!
//! // A store with this one day. Version 1 is the empty store.
//! let (store, _) = Store::init(folder.path().join("store"))?;
//! let monday = NewDay::whole(&path, "2026-11-23".parse()?);
//! let Added::New(version) = store.add(&monday, None)? else { panic!() };
//! assert_eq!((version.number(), version.rows()), (2, 2));
//! assert_eq!(Store::open(store.path())?.at(Some(1))?.rows(), 0);
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

mod addition;
mod builder;
mod compact;
mod damage;
mod dated;
mod digest;
mod digest_files;
mod draft;
mod expiry;
mod file_record;
#[warn(missing_docs)]
mod folder;
mod future_day;
mod going_back;
mod history;
mod id_filter;
mod id_search;
mod manifest;
mod manifest_file;
mod merge;
mod orphans;
mod pointer;
mod prune;
mod purge;
mod removal_note;
mod removals;
mod removing;
mod replaced_rows;
mod replacements;
mod replacing;
mod row_sets;
mod segment;
mod sidecars;
mod slack;
mod tiers;
mod verification;
mod version;

pub use crate::day::{Day, DayRange};
pub use addition::{Added, Entering, NewDay};
pub use builder::{FingerprintedDocument, SegmentBuilder};
pub use compact::Merger;
pub use dated::{Dated, RowDays, Shown};
pub use digest::Digest;
pub use draft::Draft;
pub use expiry::{Expiry, Retention};
pub use folder::Store;
pub use future_day::expect_come;
pub use going_back::ComingBack;
pub use history::{Change, Revision};
pub use manifest::{Entry, Merged};
pub use prune::Pruning;
pub use purge::Purge;
pub use removal_note::{JOURNAL, RemovalNote};
pub use removing::{Removal, Removed};
pub use replacements::Replacements;
pub use segment::{
    Access, BLOCK_ROWS, Classes, Codec, Coding, Column, ColumnHead, Cursor, Days, DeclaredRows,
    DetailLookup, Details, EmptyIds, Expected, Fingerprints, IdKind, Ids, Integers, KeyRange,
    LANES, Lists, MAX_PACKED_ROW_BYTES, Ranked, RecordCounts, Row, RowBytes, SCANNED_ROWS, Scan,
    Segment, SegmentOptions, SegmentWriter, TextDigests, Times,
};
pub use sidecars::{Kept, SideTableWriter, Sidecar, Sidecars, open_side_table};
pub use slack::Slack;
pub use verification::Verification;
pub use version::{Version, chunk_bytes, chunks};

#[cfg(test)]
mod tests;
