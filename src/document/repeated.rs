//! Ids that were met before: where, and with the same text or another.

use super::{Inputs, Position};
use crate::error::Result;
use crate::output::{ListFile, Listed};

/// Where a document stands, and the digest of what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it stands.
    pub position: Position,
    /// [`Content::digest`](super::Content::digest).
    pub content: u64,
}

/// The list of the documents whose ids came before: `OUTPUT.repeated.tsv`. It is bounded; what it lists
/// is decided by the order in which they come, which is that of their ids.
pub struct Repeated<'a> {
    inputs: &'a Inputs,
    file: ListFile,
    count: u64,
    same: u64,
}

impl<'a> Repeated<'a> {
    /// How many documents are listed; the others are counted.
    pub const LISTED: u64 = 100_000;
    /// The most characters that are shown of an id.
    const SHOWN: usize = 1024;

    /// The first line of the list.
    const HEADER: &'static str = "id\tfirst\tagain\ttext\n";

    /// Begins the list.
    pub fn new(inputs: &'a Inputs, mut file: ListFile) -> Result<Repeated<'a>> {
        file.write_with(|out| out.write_all(Repeated::HEADER.as_bytes()))?;
        Ok(Repeated { inputs, file, count: 0, same: 0 })
    }

    /// Takes a document whose id came before, at `first`.
    pub fn push(&mut self, id: &str, first: Place, again: Place) -> Result<()> {
        let is_same = first.content == again.content;
        self.count += 1;
        self.same += u64::from(is_same);
        if self.count > Repeated::LISTED {
            return Ok(());
        }
        let id = match id.char_indices().nth(Repeated::SHOWN) {
            Some((end, _)) => format!("{}...", &id[..end]),
            None => id.to_owned(),
        };
        let [first, again] = [first, again].map(|place| self.place(place.position));
        let text = if is_same { "same" } else { "other" };
        self.file.write_with(|out| writeln!(out, "{id}\t{first}\t{again}\t{text}"))
    }

    /// `file:line`, or the file where it is the document.
    fn place(&self, position: Position) -> String {
        let file = self.inputs.place(position);
        if position.is_file() { file } else { format!("{file}:{}", position.line) }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them had the same text as the first of their id.
    pub fn same(&self) -> u64 {
        self.same
    }

    /// Completes the list; there is none where no id is repeated. Where more are repeated than are listed
    /// the last line, for the id `*`, counts the others.
    pub fn finish(mut self) -> Result<Option<Listed>> {
        let more = self.count.saturating_sub(Repeated::LISTED);
        if more > 0 {
            self.file.write_with(|out| writeln!(out, "*\t\t\t{more} more"))?;
        }
        if self.count == 0 { Ok(None) } else { self.file.finish().map(Some) }
    }
}
