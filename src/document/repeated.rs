//! Ids that were met before: where, and with the same text or another.

use std::path::PathBuf;

use super::inputs::Inputs;
use super::record::Position;
use crate::error::Result;
use crate::output::{Fence, ListFile, Listed};

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
    path: PathBuf,
    fence: &'a Fence,
    /// The list, once there is something to write.
    file: Option<ListFile>,
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

    /// A list for `path`, to be published only while the lock of `fence` is held.
    pub fn new(inputs: &'a Inputs, path: PathBuf, fence: &'a Fence) -> Repeated<'a> {
        Repeated { inputs, path, fence, file: None, count: 0, same: 0 }
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
        self.line(&format!("{id}\t{first}\t{again}\t{text}\n"))
    }

    /// Adds a line to the list, which begins with the first.
    fn line(&mut self, line: &str) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = ListFile::beside(&self.path, self.fence)?;
                file.write_with(|out| out.write_all(Repeated::HEADER.as_bytes()))?;
                self.file.insert(file)
            }
        };
        file.write_with(|out| out.write_all(line.as_bytes()))
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
            self.line(&format!("*\t\t\t{more} more\n"))?;
        }
        self.file.map(ListFile::finish).transpose()
    }
}
