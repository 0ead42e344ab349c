//! What the inputs held when they were looked at, before they are read.

use xxhash_rust::xxh3::Xxh3;

use super::inputs::{Input, Inputs};
use super::share::Share;
use crate::error::Result;

/// What the files held when they were looked at, before they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    digest: u128,
    marks: Vec<u128>,
}

impl Contents {
    /// XXH3-128 over every file in order: its format, its name where that is the id, its bytes and their
    /// number.
    pub fn digest(&self) -> u128 {
        self.digest
    }

    /// The sum that reading this share of `inputs` comes to, [`Tally::contents`](super::Tally), if the
    /// files are still the same and the same for whoever reads them.
    pub fn of_share(&self, inputs: &Inputs, share: Share) -> u128 {
        let read = (0..).zip(&self.marks).filter(|(index, _)| share.reads(inputs, *index));
        read.fold(0, |sum, (_, mark)| sum.wrapping_add(*mark))
    }
}

impl Inputs {
    /// What all files hold, as they stand on disk. `None` where a stream is among them, which can be read
    /// only once.
    pub fn contents(&self) -> Result<Option<Contents>> {
        if self.files.iter().any(Input::is_stream) {
            return Ok(None);
        }
        let (mut hasher, mut buffer) = (Xxh3::new(), vec![0; 1 << 20]);
        let mut marks = Vec::with_capacity(self.files.len());
        for (index, file) in (0..).zip(&self.files) {
            let contents = file.digest(&mut hasher, &mut buffer)?;
            marks.push(self.mark(index, contents));
        }
        Ok(Some(Contents { digest: hasher.digest128(), marks }))
    }
}
