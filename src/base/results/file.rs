//! A table in a file of an output.

use std::fmt;

use super::column::ResultColumn;
use super::format::ResultFormat;
use super::writer::ResultWriter;
use crate::error::Result;
use crate::output::{OutputFile, Staging, Sum};

pub struct ResultFile {
    name: String,
    writer: ResultWriter<OutputFile>,
}

impl ResultFile {
    pub fn create(
        staging: &Staging,
        format: ResultFormat,
        table: &str,
        columns: &[ResultColumn],
    ) -> Result<ResultFile> {
        let name = format.file_name(table);
        let path = staging.folder().join(&name);
        let writer = ResultWriter::new(staging.create(&name)?, &path, format, columns)?;
        Ok(ResultFile { name, writer })
    }

    /// Writes rows: lines with their ends, each the texts of its columns with tabs between them.
    pub fn rows(&mut self, lines: &str) -> Result<()> {
        self.writer.rows(lines)
    }

    pub fn row(&mut self, texts: fmt::Arguments<'_>) -> Result<()> {
        self.writer.row(texts)
    }

    pub fn finish(self) -> Result<(String, Sum)> {
        Ok((self.name, self.writer.finish()?.finish()?))
    }
}
