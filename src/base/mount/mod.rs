//! Places in an object store, as folders of this machine: whatever works on folders works on them.
//!
//! A mount is filled with the tree that is at its address. In the place of the segments of a store there are
//! notes: their bytes are read by ranges when they are needed ([`object_storage::far`](crate::object_storage)). What has changed is
//! [published](Mounts::publish): new files are written under names of their own, and one conditional put of the list of all files
//! commits them. So a reader sees the old tree or the new one, and of two writers one wins.
//!
//! - `mounts`: all mounts of a program; `mount`: one of them; `cache`: the folders that they are in. `pull`, `push`: from the tree to the folder, and back.
//! - `tree`, `head`: the tree in the object store, and the list of its files. `files`: those of a folder.
//! - `shown`: what one process of a run has made, for those on other machines.
//! - `single`: an output that is one file, which is an object and no tree. `trees`: several trees by a pattern or their folder; `trial`: whether
//!   a server does what a tree needs.
//! - `absent`: in place of all these in a build without object stores.
//!
//! FORMAT.md in this folder specifies the list, and how it is put.
//!
//! Imports `error`, `object_storage`, `parallel`, `progress` and `output`. Start with [`Mounts`].

#[cfg(not(feature = "object-store"))]
mod absent;
#[cfg(feature = "object-store")]
mod cache;
#[cfg(feature = "object-store")]
mod files;
#[cfg(feature = "object-store")]
mod head;
#[cfg(feature = "object-store")]
#[allow(clippy::module_inception)]
mod mount;
#[cfg(feature = "object-store")]
mod mounts;
#[cfg(feature = "object-store")]
mod pull;
#[cfg(feature = "object-store")]
mod push;
#[cfg(feature = "object-store")]
mod shown;
#[cfg(feature = "object-store")]
mod single;
#[cfg(feature = "object-store")]
mod tree;
#[cfg(feature = "object-store")]
mod trees;
#[cfg(feature = "object-store")]
mod trial;

#[cfg(not(feature = "object-store"))]
pub use absent::{Mounts, trees_with, try_out};
#[cfg(feature = "object-store")]
pub use mounts::Mounts;
#[cfg(feature = "object-store")]
pub use trees::trees_with;
#[cfg(feature = "object-store")]
pub use trial::try_out;

#[cfg(all(test, feature = "object-store"))]
mod tests;
