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
//!
//! In a build without object stores `absent` stands in place of all this.
//!
//! FORMAT.md in this folder specifies the list, and how it is put.
//!
//! Imports `error`, `object_storage`, `parallel`, `progress` and `output`. Start with [`Mounts`].

mod cache;
mod files;
mod head;
#[allow(clippy::module_inception)]
mod mount;
mod mounts;
mod pull;
mod push;
mod shown;
mod single;
mod tree;
mod trees;
mod trial;

pub use mounts::Mounts;
pub use trees::trees_with;
pub use trial::try_out;

#[cfg(test)]
mod tests;
