//! The handler that makes sketches of documents, for their buckets.

use super::fingerprinting::naming;
use super::reading::Handler;
use crate::document::{Document, Position};
use crate::error::Result;
use crate::fingerprint::PageTime;
use crate::lsh::{Scheme, SketchedDocument, Sketches};

/// Makes sketches.
pub(super) struct Sketching(Sketches);

impl Sketching {
    /// A handler that makes the sketches of a `scheme`. A page that takes longer than `time` is quarantined.
    pub(super) fn new(scheme: &Scheme, time: PageTime) -> Sketching {
        Sketching(scheme.sketches(time))
    }
}

impl Handler for Sketching {
    type Made = SketchedDocument;

    fn take(
        &mut self,
        position: Position,
        document: Document<'_>,
    ) -> Result<Option<SketchedDocument>> {
        let sketch = self.0.of(&document.content).map_err(|error| naming(error, &document))?;
        Ok(Some(SketchedDocument {
            position,
            content: document.content.digest(),
            length: document.content.text_bytes(),
            time: document.order.key(),
            id: document.id.into_owned(),
            sketch,
        }))
    }
}
