//! Text to weighted features.
//!
//! A text is [normalised](normalise), then read as [words] (Chinese and everything else, mixed) or as
//! [shingles]. Each occurrence of a feature weighs 1, or what `tfidf`, [counts] of a corpus or its part of
//! `speech` say; the weight may depend on how often it occurs (`frequency`) or on its neighbours
//! (`text_rank`). Users may bring [lists] of words. [host_lines] finds
//! the lines that the pages of a host share. Nothing here holds a list of features: they are handed on one by
//! one, as slices of the text. Weights are fixed-point integers, so sums of weights do not depend on their
//! order.
//!
//! Start with [`normalise::Normalise`] and [`words::Words`]. May import `output` and what it imports.

pub mod by_hash;
mod characters;
pub mod counts;
pub mod frequency;
mod han_words;
pub mod host_lines;
pub mod lists;
pub(crate) mod markup;
pub mod normalise;
pub mod segmenter;
pub mod shingle_hashes;
pub mod shingles;
pub(crate) mod speech;
mod stretches;
pub(crate) mod text_rank;
pub(crate) mod tfidf;
pub(crate) mod weigher;
pub mod words;

pub use frequency::{ONE, SCALE_BITS, fixed};
