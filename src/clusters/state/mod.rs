//! The state of a clustering in files: a pile of layers, of which each says what one day has changed.
//!
//! ```text
//! layer 3   what 2026-11-22 has changed      pages-3.bin   groups-3.bin   links-3.bin
//! layer 2   what 2026-11-21 has changed      pages-2.bin   groups-2.bin   links-2.bin
//! layer 1   all clusters of 2026-11-20       pages-1.bin   groups-1.bin   links-1.bin
//! ```
//!
//! A day adds a layer and shares the files of the others with the state before it. Now and then layers become one.
//!
//! - `bytes`, `keys`: rows as bytes. `table`, `table_writer`, `cursor`: sorted tables in files, see FORMAT.md.
//! - `layer`, `layer_writer`: the three tables of a layer. `merge`: tables side by side.
//! - `pile`: what the layers say together. `due`, `flatten`: when and how they become one.
//!
//! Start with [`Pile`].

mod bytes;
mod cursor;
mod due;
mod flatten;
mod keys;
mod layer;
mod layer_writer;
mod merge;
mod pile;
mod table;
mod table_writer;

pub(super) use keys::PageRow;
pub use layer::is_layer;
pub(super) use layer::{SharedLinks, names};
pub(super) use layer_writer::{GroupWriter, LinkCounts, LinkWriter, PageWriter};
pub(super) use pile::{Member, Pile};
pub(super) use table_writer::Named;
