//! Items of a reference set, such as test questions, licences or leaked documents, and where they stand in pages.
//!
//! An item stands in a page if a stretch of the page, of at most one and a half times the words of the item, has a large enough share of the
//! item's distinct 3-word shingles. So an item is found though it was wrapped, cased or punctuated anew, and though some of its words are others.
//!
//! ```text
//! items --> the rarest shingles of each --+
//!                                         +-> items that may stand in the page -> the best stretch for each -> hits
//! page ---> its shingles -----------------+
//! ```
//!
//! - `reference`: the items as their shingles, and the index by which a page meets few.
//! - `finder`: what a worker does with a page. `stretch`: the best stretch among the places of an item's shingles.
//! - `hits`: the tables that come of it.
//!
//! Imports `output`, `results`, `features` and `fingerprint`. Start with [`Items`].
//!
//! ```
//! use dupsieve_overlap::items::{Finder, Items};
//!
//! let question = "Which planet of the solar system has the most moons?";
//! let items = Items::new(vec![("q1".to_owned(), question.to_owned())], 0.8)?;
//! let mut finder = Finder::new(items.into(), Default::default());
//! let page = "Quiz night! WHICH planet\nof the Solar System has the most moons... Saturn.";
//! let found = finder.find(page)?;
//! assert_eq!((found[0].item, found[0].shared, found[0].shingles), (0, 8, 8));
//! assert_eq!(&page[found[0].place.clone()], "WHICH planet\nof the Solar System has the most moons");
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

mod finder;
mod hits;
mod reference;
mod stretch;
#[cfg(test)]
mod tests;

pub use finder::{Finder, ItemFound};
pub use hits::{ItemHit, ItemsFound};
pub use reference::Items;
