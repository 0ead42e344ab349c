//! Rows to a stream or to a file of an output, in any format.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::column::ResultColumn;
use super::format::ResultFormat;
use super::json_lines::write_object;
#[cfg(feature = "parquet")]
use super::parquet::ParquetWriter;
use crate::error::{At, Result};
use crate::output::{OutputFile, Staging, Sum};

pub struct ResultWriter<W: Write + Send> {
    path: PathBuf,
    encoder: Encoder<W>,
    row: String,
}

enum Encoder<W: Write + Send> {
    Tsv(W),
    JsonLines {
        out: W,
        columns: Vec<ResultColumn>,
        objects: Vec<u8>,
    },
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<W>>),
}

impl<W: Write + Send> ResultWriter<W> {
    pub fn new(
        mut out: W,
        path: &Path,
        format: ResultFormat,
        columns: &[ResultColumn],
    ) -> Result<ResultWriter<W>> {
        format.check()?;
        let encoder = match format {
            ResultFormat::JsonLines => {
                Encoder::JsonLines { out, columns: columns.to_vec(), objects: Vec::new() }
            }
            #[cfg(feature = "parquet")]
            ResultFormat::Parquet => {
                Encoder::Parquet(Box::new(ParquetWriter::new(out, path, columns)?))
            }
            _ => {
                let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
                writeln!(out, "{}", names.join("\t")).at(path)?;
                Encoder::Tsv(out)
            }
        };
        Ok(ResultWriter { path: path.to_path_buf(), encoder, row: String::new() })
    }

    pub fn without_names(out: W, path: &Path) -> ResultWriter<W> {
        ResultWriter { path: path.to_path_buf(), encoder: Encoder::Tsv(out), row: String::new() }
    }

    /// Writes rows: lines with their ends, each the texts of its columns with tabs between them.
    pub fn rows(&mut self, lines: &str) -> Result<()> {
        match &mut self.encoder {
            Encoder::Tsv(out) => out.write_all(lines.as_bytes()).at(&self.path),
            Encoder::JsonLines { out, columns, objects } => {
                objects.clear();
                lines.lines().for_each(|line| write_object(line, columns, objects));
                out.write_all(objects).at(&self.path)
            }
            #[cfg(feature = "parquet")]
            Encoder::Parquet(writer) => {
                lines.lines().try_for_each(|line| writer.push(line)).map_err(|e| e.at(&self.path))
            }
        }
    }

    pub fn row(&mut self, texts: fmt::Arguments<'_>) -> Result<()> {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        writeln!(row, "{texts}").expect("a string takes any text");
        let written = self.rows(&row);
        self.row = row;
        written
    }

    pub fn finish(self) -> Result<W> {
        match self.encoder {
            Encoder::Tsv(out) | Encoder::JsonLines { out, .. } => Ok(out),
            #[cfg(feature = "parquet")]
            Encoder::Parquet(writer) => writer.finish().map_err(|error| error.at(&self.path)),
        }
    }
}

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
