//! From files to fingerprints: the formats of pages, their words, the features of a text, its fingerprint and its sketch.
//!
//! ```text
//! document::Inputs -> document::Document -> features::Weigher -> fingerprint::Sketcher -> fingerprint, sketch, anchors
//! ```

// What the front does not show has comments where its name does not say all.
#![allow(missing_docs)]
#![deny(unsafe_code)]

pub mod hash;

pub mod document;

pub mod features;

pub mod fingerprint;

// A module of the crates below goes by the name that it has there: `crate::store`.
use dupsieve_base::*;
