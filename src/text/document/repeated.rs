//! The list of documents with an id that came before, with the same text or another.

use std::path::PathBuf;

use super::inputs::Inputs;
use super::record::Position;
use crate::error::Result;
use crate::output::{Fence, ListFile, Listed};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub position: Position,
    pub content: u64,
}

/// The list `OUTPUT.repeated.tsv` of documents whose id came before. Only the first
/// 100,000 are listed; documents come in the order of their ids.
pub struct Repeated<'a> {
    inputs: &'a Inputs,
    path: PathBuf,
    fence: &'a Fence,
    file: Option<ListFile>,
    count: u64,
    same: u64,
}

impl<'a> Repeated<'a> {
    pub const LISTED: u64 = 100_000;
    const SHOWN: usize = 1024;

    const HEADER: &'static str = "id\tfirst\tagain\ttext\n";

    pub fn new(inputs: &'a Inputs, path: PathBuf, fence: &'a Fence) -> Repeated<'a> {
        Repeated { inputs, path, fence, file: None, count: 0, same: 0 }
    }

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

    fn line(&mut self, line: &str) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = ListFile::beside(&self.path, self.fence)?;
                file.write(|out| out.write_all(Repeated::HEADER.as_bytes()))?;
                self.file.insert(file)
            }
        };
        file.write(|out| out.write_all(line.as_bytes()))
    }

    /// `file:line`, or the file if it is one document.
    fn place(&self, position: Position) -> String {
        let file = self.inputs.place(position);
        if position.is_file() { file } else { format!("{file}:{}", position.line) }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn same(&self) -> u64 {
        self.same
    }

    /// Completes the list; `None` if no id was repeated. A last line for the id `*` counts those not listed.
    pub fn finish(mut self) -> Result<Option<Listed>> {
        let more = self.count.saturating_sub(Repeated::LISTED);
        if more > 0 {
            self.line(&format!("*\t\t\t{more} more\n"))?;
        }
        self.file.map(ListFile::finish).transpose()
    }
}
