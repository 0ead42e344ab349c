//! Digests of the input files before they are read, to compare with what was read later.

use xxhash_rust::xxh3::Xxh3;

use super::inputs::{Input, Inputs};
use super::share::Share;
use crate::error::Result;

/// Digests of all input files, taken before they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    digest: u128,
    marks: Vec<u128>,
}

impl Contents {
    /// XXH3-128 of all files in order: for each its format, its name if that is the id, its bytes and
    /// their number.
    pub fn digest(&self) -> u128 {
        self.digest
    }

    /// The sum that [`FilesRead::contents`](super::FilesRead) must have after this share of `inputs` was
    /// read. Any other sum means that a file changed, or that the process reads other files.
    pub fn of_share(&self, inputs: &Inputs, share: Share) -> u128 {
        let read = (0..).zip(&self.marks).filter(|(index, _)| share.reads(inputs, *index));
        read.fold(0, |sum, (_, mark)| sum.wrapping_add(*mark))
    }
}

impl Inputs {
    /// Reads all files and computes their digests. `None` if there is a stream among them, because a
    /// stream can be read only once.
    pub fn contents(&self) -> Result<Option<Contents>> {
        if self.files.iter().any(Input::is_stream) {
            return Ok(None);
        }
        let mut hasher = Xxh3::new();
        let mut buffer = vec![0; 1 << 20];
        let mut marks = Vec::with_capacity(self.files.len());
        for (index, file) in (0..).zip(&self.files) {
            let contents = file.digest(&mut hasher, &mut buffer)?;
            marks.push(self.mark(index, contents));
        }
        Ok(Some(Contents { digest: hasher.digest128(), marks }))
    }
}
