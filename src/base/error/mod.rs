//! The one error type of dupsieve, and the names by which messages call paths.
//!
//! - `error`: [`Error`], its [`Kind`] and [`Remedy`], and [`At`], which adds a path to a failed read or write.
//! - `named`: the names of the values of an enum.
//! - `naming`: [`name_of`] a path, and [`Named`], which shows it. A folder that stands for an address has the name of the address.
//!
//! Imports nothing. Start with [`Error`].

#[allow(clippy::module_inception)]
mod error;
mod named;
mod naming;

pub use error::{At, Error, Excerpt, Kind, Remedy, Result};
pub use named::{as_text, by_name, named};
#[cfg(feature = "object-store")]
pub(crate) use naming::GivenName;
pub use naming::{Named, is_named, name_of};
