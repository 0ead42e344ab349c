//! Places outside of this machine: object stores.
//!
//! - `address`: what names such a place. Always there, so that a build without object stores can say what it lacks.
//! - `objects`: a client for the objects below an address; `listing`: all of them; `reader`: one of them as a file; `read_ahead`: several of them, one
//!   after the other. `connect`, `failure`:
//!   connections, and what it means when they fail. The protocols are those of the crate `object_store`.
//! - `bill`: what was asked for, as `counted` counts it.
//! - `text`: small text files, whole.
//! - `absent`: in place of these in a build without object stores.
//! - `far`: files of a [`mount`](crate::mount) whose bytes are read from their objects, which are `Remote`.
//!
//! Imports `error`, `progress`, `small_file` and `parallel`. Start with [`Address`].

#[cfg(not(feature = "object-store"))]
mod absent;
mod address;
mod bill;
#[cfg(feature = "object-store")]
mod connect;
#[cfg(feature = "object-store")]
mod counted;
#[cfg(feature = "object-store")]
mod failure;
mod far;
#[cfg(feature = "object-store")]
mod listing;
mod matching;
#[cfg(feature = "object-store")]
mod objects;
#[cfg(feature = "object-store")]
mod read_ahead;
#[cfg(feature = "object-store")]
mod reader;
mod remote;
mod text;

#[cfg(not(feature = "object-store"))]
pub use absent::{ObjectFile, Objects, ReadAhead};
pub use address::Address;
pub use bill::{Bill, Used};
#[cfg(feature = "object-store")]
pub(crate) use far::{FarTree, Note};
pub use far::{bytes_of, far};
pub use matching::{SHELL, folders_in};
#[cfg(feature = "object-store")]
pub use objects::{Objects, Tag};
#[cfg(feature = "object-store")]
pub use read_ahead::ReadAhead;
#[cfg(feature = "object-store")]
pub use reader::ObjectFile;
pub use remote::Remote;
pub use text::read_text;
