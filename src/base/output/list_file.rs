//! A list beside an output, such as the records that could not be read. It is hashed as it is written
//! and renamed into its place together with the output.

use std::path::Path;

use super::lock::Fence;
use super::new_file::NewFile;
use super::output_file::{OutputFile, Sum};
use crate::error::Result;

pub const QUARANTINE: &str = ".quarantine.tsv";
pub const REPEATED: &str = ".repeated.tsv";

/// A list that is being written. Dropped before it is published, it leaves nothing behind.
pub type ListFile = OutputFile<NewFile>;

impl ListFile {
    pub fn beside(path: &Path, fence: &Fence) -> Result<ListFile> {
        let mut file = NewFile::beside(path)?;
        file.fenced(fence);
        Ok(OutputFile::of(path, file))
    }

    pub fn finish(self) -> Result<Listed> {
        let (_, file, sum) = self.parts()?;
        file.sync()?;
        Ok(Listed { file, sum })
    }
}

#[derive(Debug)]
pub struct Listed {
    file: NewFile,
    sum: Sum,
}

impl Listed {
    pub fn sum(&self) -> &Sum {
        &self.sum
    }

    pub fn publish(self) -> Result<()> {
        self.file.publish()
    }

    pub fn publish_at(self, path: &Path) -> Result<()> {
        self.file.publish_at(path)
    }
}
