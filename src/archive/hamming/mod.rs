//! Within k bits, over slices, and the only home of unsafe code.
//!
//! [`within`] is scalar code, and the meaning of everything here. The unsafe code gives advice to the machine
//! ([`memory`]), keeps bytes that were read in mapped files ([`mapped`]), chooses among compilations of one and the same code ([`multiversion`]),
//! and looks up many keys at once ([`bitmap`]). Many fingerprints at once are compared by [`lanes`], and
//! the bytes of numbers that lie packed by [`packed`]. Imports `fingerprint` only.
//!
//! ```
//! use dupsieve_archive::hamming::within;
//!
//! let mut near = Vec::new();
//! within(0b0000_u64, &[0b0111, 0b1111, 0b0001], 3, |at, distance| near.push((at, distance)));
//! assert_eq!(near, [(0, 3), (2, 1)]);
//! ```

#![allow(unsafe_code)]

pub mod bitmap;
pub mod lanes;
pub mod mapped;
pub mod memory;
pub mod multiversion;
pub mod packed;
mod within;

pub use within::{within, words};
