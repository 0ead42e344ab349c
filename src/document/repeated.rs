//! The list of documents with an id that came before, with the same text or another.

use std::path::PathBuf;

use super::inputs::Inputs;
use super::record::Position;
use crate::error::Result;
use crate::output::{Fence, ListFile, Listed};

/// One document with an id: where it is, and the digest of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where it is.
    pub position: Position,
    /// [`Content::digest`](super::Content::digest).
    pub content: u64,
}

/// The list `OUTPUT.repeated.tsv` of documents whose id came before. Only the first
/// 100,000 are listed; documents come in the order of their ids.
pub struct Repeated<'a> {
    inputs: &'a Inputs,
    path: PathBuf,
    fence: &'a Fence,
    /// The list; created with the first document.
    file: Option<ListFile>,
    count: u64,
    same: u64,
}

impl<'a> Repeated<'a> {
    /// How many documents are listed. Further ones are only counted.
    pub(crate) const LISTED: u64 = 100_000;
    /// The most characters of an id in the list.
    const SHOWN: usize = 1024;

    /// The first line of the list.
    const HEADER: &'static str = "id\tfirst\tagain\ttext\n";

    /// A list for `path`, to be published only while the lock of `fence` is held.
    pub fn new(inputs: &'a Inputs, path: PathBuf, fence: &'a Fence) -> Repeated<'a> {
        Repeated { inputs, path, fence, file: None, count: 0, same: 0 }
    }

    /// Takes a document whose id came before, at `first`.
    pub fn push(&mut self, id: &str, first: Occurrence, again: Occurrence) -> Result<()> {
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

    /// Adds a line to the list, after the header.
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

    /// `file:line`, or the file if it is one document.
    fn place(&self, position: Position) -> String {
        let file = self.inputs.place(position);
        if position.is_file() { file } else { format!("{file}:{}", position.line) }
    }

    /// The number of repeated documents.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them have the same text as the first document with their id.
    pub fn same(&self) -> u64 {
        self.same
    }

    /// Completes the list; `None` if no id was repeated. If some were not listed, a last line for the id
    /// `*` counts them.
    pub fn finish(mut self) -> Result<Option<Listed>> {
        let more = self.count.saturating_sub(Repeated::LISTED);
        if more > 0 {
            self.line(&format!("*\t\t\t{more} more\n"))?;
        }
        self.file.map(ListFile::finish).transpose()
    }
}
