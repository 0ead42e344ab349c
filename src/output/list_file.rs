//! A list beside an output, such as the records that could not be read. It is hashed as it is written
//! and renamed into its place together with the output.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::lock::Fence;
use super::new_file::NewFile;
use super::output_file::{Sum, Summing};
use crate::error::{At, Error, Result};

pub const QUARANTINE: &str = ".quarantine.tsv";
pub const REPEATED: &str = ".repeated.tsv";

/// A list that is being written. Dropped before it is published, it leaves nothing behind.
pub struct ListFile {
    path: PathBuf,
    file: BufWriter<Summing<NewFile>>,
}

impl ListFile {
    pub fn beside(path: &Path, fence: &Fence) -> Result<ListFile> {
        let mut file = NewFile::beside(path)?;
        file.fenced(fence);
        Ok(ListFile { path: path.to_path_buf(), file: BufWriter::new(Summing::new(file)) })
    }

    pub fn finish(self) -> Result<Listed> {
        let ListFile { path, file } = self;
        let summing = file.into_inner().map_err(|failed| Error::io(&path, failed.error()))?;
        let (file, sum) = summing.finish();
        file.sync()?;
        Ok(Listed { file, sum })
    }

    pub fn write_with(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        write(&mut self.file).at(&self.path)
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
