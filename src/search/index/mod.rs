//! A store that answers at once: which of its pages are near to one?
//!
//! A join streams the store past a batch. To ask for one page, the paper keeps the fingerprints in several sorted
//! tables, each with other bits in front, and looks in each for those that begin as the page does. Here the
//! segments are one such table already, and an [`IndexDesign`] says which others are kept beside them:
//!
//! ```text
//! mirror   the halves exchanged. Of 3 bits that differ at most one is in one of the halves, so 1 + 30 beginnings
//!          of 30 bits are looked at in each of two tables. The default.
//! none     no other table; the first 30 bits are flipped in all 4,526 ways
//! 4        the paper's 4 tables, for 3 bits: the key must be equal, and what has it is compared
//! ```
//!
//! A page may also contain another one whose fingerprint is far away. Candidates of that kind share anchors with the page that is asked for, as in
//! a join. An index has the anchors of each segment in a sorted table; without it, the column of the segment is read from its beginning to
//! its end.
//!
//! All give the same answers. What is found in a table, a segment without ids, is looked up in the segment of the rows.
//!
//! - `lookup`, `asker`: a version is opened once ([`Lookup`]) and asked by any number of threads ([`Asker`]).
//! - `design`: which tables there are, how they are sorted, what each finds.
//! - `shelf`, `walk`, `anchor_table`: a segment with its tables, and how one table is searched.
//! - `keeping`: the files, and how they come and go with the segments.
//!
//! Imports `store`, `tables`, `matches` and what they import. FORMAT.md in this folder specifies the files. Start
//! with [`Lookup::open`].
//!
//! ```
//! use dupsieve_search::index::{Asker, Lookup, LookupOptions};
//! use dupsieve_search::matches::Question;
//! use dupsieve_archive::store::{NewDay, RecordCounts, Row, SegmentOptions, SegmentWriter, Store};
//! use dupsieve_base::work::Work;
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("monday.seg");
//!
//! let mut writer = SegmentWriter::<u64>::create(&path, SegmentOptions::default())?;
//! for (fingerprint, id) in [(0x0123, "a"), (0xfedc, "b")] {
//!     writer.push(&Row::new(fingerprint, id))?;
//! }
//! writer.finish(RecordCounts { read: 2, fingerprinted: 2, ..RecordCounts::default() }, "an example")?;
//! let (store, _) = Store::init(folder.path().join("store"))?;
//! store.add(&NewDay::whole(&path, "2026-11-23".parse()?), None)?;
//!
//! let options = LookupOptions::within(3);
//! let lookup = Lookup::open(&store, store.at(None)?, options)?;
//! let answer = Asker::new(&lookup).ask(&Question { fingerprint: 0xfedf, page: None }, 10, &mut Work::unbounded())?;
//! assert!(answer.drops());
//! assert_eq!((answer.near[0].id.as_str(), answer.near[0].distance), ("b", 2));
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

mod anchor_table;
mod asker;
mod design;
mod keeping;
mod lookup;
mod shelf;
mod walk;

pub use asker::Asker;
pub use design::IndexDesign;
pub use keeping::{design_of, index, keep, missing, size, verify};
pub use lookup::{Lookup, LookupOptions};

#[cfg(test)]
mod tests;
