//! Features to fixed-size sketches: what a fingerprint is, and the recipes that make one.
//!
//! A [`Recipe`] says everything that decides a fingerprint, a [`Sketcher`] makes the fingerprints of one
//! recipe, and its [`Stamp`] is written beside them. A [`Check`] names a second signature, by which near
//! pages are confirmed. If the recipe has a table of lines, [`Boilerplate`] drops them from a page before
//! either is made. The methods have a file each: [`simhash`], [`minhash`], `nilsimsa`, and those that only
//! checks use below [`check`].
//!
//! Start with [`recipe`], then `sketcher`. May import `features` and what it imports.

mod bits;
mod boilerplate;
pub mod check;
mod class;
pub mod minhash;
mod nilsimsa;
mod page_time;
mod reader;
pub mod recipe;
mod shingle_set;
pub mod simhash;
mod sketcher;
mod stamp;
mod tally;

pub use bits::{Fingerprint, Width, hex, of_hex};
pub use boilerplate::{Boilerplate, Rest};
pub use check::{Check, Contained, Signer, TextMeasure};
pub use class::Class;
pub use nilsimsa::Nilsimsa;
pub use page_time::{PageClock, PageTime};
pub use recipe::Recipe;
pub use shingle_set::ShingleSet;
pub use sketcher::{Sketcher, Weighted};
pub use stamp::Stamp;
