//! The handler that finds the items of a reference set in documents.

use std::sync::Arc;

use super::fingerprinting::naming;
use super::read::Read;
use super::reading::Handler;
use crate::document::{Content, Document, Position};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::PageTime;
use crate::items::{Finder, ItemHit, Items};

/// Finds items.
pub(super) struct Finding {
    finder: Finder,
    /// The hits of the batch at hand.
    hits: Vec<ItemHit>,
}

impl Finding {
    /// A handler that finds these items. A page that takes longer than `time` is quarantined.
    pub(super) fn new(items: Arc<Items>, time: PageTime) -> Finding {
        Finding { finder: Finder::new(items, time), hits: Vec::new() }
    }
}

impl Handler for Finding {
    type Made = ItemHit;

    fn take(&mut self, _: Position, document: Document<'_>) -> Result<Option<ItemHit>> {
        let Content::Text(text) = &document.content else {
            return Err(Error::new(Kind::Usage, "items are found in texts alone"));
        };
        let hits = self.finder.hits(&document.id, text);
        self.hits.extend(hits.map_err(|error| naming(error, &document))?);
        Ok(None)
    }

    fn end_batch(&mut self, _read: &mut Read, made: &mut dyn FnMut(ItemHit)) {
        self.hits.drain(..).for_each(made);
    }
}
