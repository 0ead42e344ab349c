//! The handler that finds something in the texts of documents: items of a reference set, or the words in which passages are looked for.

use super::fingerprinting::naming;
use super::read::Read;
use super::reading::Handler;
use crate::document::{Content, Document, Position};
use crate::error::{Error, Kind, Result};
use crate::runs::Record;

pub(super) struct Finding<F, M> {
    find: F,
    found: Vec<M>,
}

impl<F, M> Finding<F, M> {
    pub(super) fn new(find: F) -> Finding<F, M> {
        Finding { find, found: Vec::new() }
    }
}

impl<F, I, M> Handler for Finding<F, M>
where
    F: FnMut(Position, &Document<'_>, &str) -> Result<I> + 'static,
    I: IntoIterator<Item = M>,
    M: timely::ExchangeData + Record,
{
    type Made = M;

    fn take(&mut self, position: Position, document: Document<'_>) -> Result<Option<M>> {
        let Content::Text(text) = &document.content else {
            return Err(Error::new(Kind::Usage, "this is looked for in texts alone"));
        };
        let found = (self.find)(position, &document, text);
        self.found.extend(found.map_err(|error| naming(error, &document))?);
        Ok(None)
    }

    fn end_batch(&mut self, _read: &mut Read, made: &mut dyn FnMut(M)) {
        self.found.drain(..).for_each(made);
    }
}
