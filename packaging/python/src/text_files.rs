//! The texts of a table in files: the join reads them once more, to compare pages by their texts.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use dupsieve::Result;
use dupsieve::rooms::document::{Format, Inputs, ReadOptions};
use dupsieve::rooms::error::At;
use dupsieve::rooms::matches::Texts;

/// About the most bytes of a file. The threads share the files.
const FILE_BYTES: usize = 32 << 20;

/// What a record has besides its id and its text.
const FRAME_BYTES: usize = 64;

/// Files of JSON Lines that are being written, in the order of the rows.
pub(crate) struct TextFiles {
    folder: PathBuf,
    files: u32,
    out: Option<BufWriter<File>>,
    bytes: usize,
    longest: usize,
}

impl TextFiles {
    /// Files in a new folder at this path.
    pub(crate) fn new(folder: &Path) -> Result<TextFiles> {
        fs::create_dir(folder).at(folder)?;
        let folder = folder.to_path_buf();
        Ok(TextFiles { folder, files: 0, out: None, bytes: 0, longest: 0 })
    }

    /// Writes the text of a row.
    pub(crate) fn push(&mut self, id: &str, text: &str) -> Result<()> {
        // A byte of a text takes six as it is escaped at most.
        let bytes = 6 * (id.len() + text.len()) + FRAME_BYTES;
        self.longest = self.longest.max(bytes);
        self.bytes += id.len() + text.len();
        if self.bytes > FILE_BYTES {
            self.close()?;
        }
        let path = self.folder.join(format!("{:08}.jsonl", self.files));
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(BufWriter::new(File::create(&path).at(&path)?)),
        };
        let mut write = || {
            out.write_all(b"{\"id\":")?;
            serde_json::to_writer(&mut *out, id)?;
            out.write_all(b",\"text\":")?;
            serde_json::to_writer(&mut *out, text)?;
            out.write_all(b"}\n")
        };
        write().at(&path)
    }

    /// Ends the file that is being written.
    fn close(&mut self) -> Result<()> {
        self.bytes = 0;
        self.files += 1;
        self.out.take().map_or(Ok(()), |mut out| out.flush()).at(&self.folder)
    }

    /// The texts, to be read; none if there is no row.
    pub(crate) fn finish(mut self) -> Result<Option<Texts>> {
        if self.longest == 0 {
            return Ok(None);
        }
        self.close()?;
        let inputs = Inputs::find(&[self.folder], Format::Jsonl)?;
        let usual = ReadOptions::default();
        let max_record_bytes = usual.max_record_bytes.max(self.longest);
        Texts::new(inputs, ReadOptions { max_record_bytes, ..usual }).map(Some)
    }
}
