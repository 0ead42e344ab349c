//! A document on its way from the reader to its group.

use serde::{Deserialize, Serialize};

use super::scheme::Sketch;
use crate::document::Position;
use crate::runs::Record;

/// A document with its sketch: ordered by id, then by position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SketchedDocument {
    /// Its id.
    pub id: String,
    /// Where it is in the input.
    pub position: Position,
    /// The digest of its content.
    pub content: u64,
    /// The length of its text in UTF-8 bytes.
    pub length: u64,
    /// Its time in seconds since 1970, if known.
    pub time: Option<i64>,
    /// Its sketch, none if it has nothing to compare.
    pub sketch: Option<Sketch>,
}

impl Record for SketchedDocument {
    fn bytes(&self) -> usize {
        let sketch = |sketch: &Sketch| 8 * sketch.keys.len() + sketch.evidence.len();
        size_of::<Self>() + self.id.len() + self.sketch.as_ref().map_or(0, sketch)
    }
}
