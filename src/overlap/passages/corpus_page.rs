//! A page of a corpus as its words, which is put in keep order.

use serde::{Deserialize, Serialize};

use super::page_words::PageWords;
use crate::document::{Document, Position};
use crate::error::Result;
use crate::matches::{KeepOrder, Turn};
use crate::runs::Record;

/// A page of a corpus. Pages of one id come in the order in which they are read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CorpusPage {
    turn: Turn,
    pub(super) id: String,
    pub(super) position: Position,
    /// Its words, as [`PageWords`] writes them.
    pub(super) words: Vec<u8>,
}

impl Record for CorpusPage {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.words.len()
    }
}

impl CorpusPage {
    /// The page that this document is, with this text. `words` are a buffer.
    pub fn of(
        position: Position,
        document: &Document<'_>,
        text: &str,
        keep: KeepOrder,
        words: &mut PageWords,
    ) -> Result<CorpusPage> {
        words.take(text)?;
        let mut row = Vec::new();
        words.write(&mut row);
        let turn = keep.turn(document.order.key(), words.hashes.len() as u64);
        Ok(CorpusPage { turn, id: document.id.clone().into_owned(), position, words: row })
    }
}
