//! A Parquet file that is open: its row groups, and their columns page by page.

use std::sync::Arc;

use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::reader::ChunkReader;

use super::grammar;
use super::pages::{Gaps, MOST_BYTES, Pages};

/// A Parquet file that is open. A page of it that is too large is refused before it is unpacked.
pub struct ParquetFile<R> {
    bytes: Arc<R>,
    metadata: ParquetMetaData,
}

pub struct RowGroup<'a, R> {
    bytes: &'a Arc<R>,
    metadata: &'a RowGroupMetaData,
}

impl<R: ChunkReader + 'static> ParquetFile<R> {
    pub fn new(bytes: R) -> Result<ParquetFile<R>, ParquetError> {
        check_end(&bytes)?;
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes)?;
        Ok(ParquetFile { bytes: Arc::new(bytes), metadata })
    }

    pub fn metadata(&self) -> &FileMetaData {
        self.metadata.file_metadata()
    }

    pub fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    pub fn group(&self, number: usize) -> RowGroup<'_, R> {
        RowGroup { bytes: &self.bytes, metadata: self.metadata.row_group(number) }
    }
}

/// Checks what stands at the end of a file, if it is where the format has it. What is no Parquet is left to the library.
fn check_end(bytes: &impl ChunkReader) -> Result<(), ParquetError> {
    let Some(end) = bytes.len().checked_sub(8) else { return Ok(()) };
    let last = bytes.get_bytes(end, 8)?;
    let (length, name) = last.split_at(4);
    let length = length.try_into().map_or(0, u32::from_le_bytes);
    match end.checked_sub(length.into()) {
        Some(start) if name == b"PAR1" => {
            let said = bytes.get_bytes(start, length as usize)?;
            grammar::check(&*said, grammar::FILE, &mut |_, _| ())
        }
        _ => Ok(()),
    }
}

impl<R: ChunkReader + 'static> RowGroup<'_, R> {
    pub fn metadata(&self) -> &RowGroupMetaData {
        self.metadata
    }

    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata.num_rows()).unwrap_or(0)
    }

    pub fn column(&self, leaf: usize) -> Result<ColumnReader, ParquetError> {
        let column = self.metadata.column(leaf).column_descr_ptr();
        Ok(get_column_reader(column, self.pages(leaf, MOST_BYTES, None)?))
    }

    pub fn column_within(
        &self,
        leaf: usize,
        most: usize,
        gaps: &Gaps,
    ) -> Result<ColumnReader, ParquetError> {
        let column = self.metadata.column(leaf).column_descr_ptr();
        Ok(get_column_reader(column, self.pages(leaf, most, Some(gaps))?))
    }

    pub fn pages(
        &self,
        leaf: usize,
        most: usize,
        gaps: Option<&Gaps>,
    ) -> Result<Box<dyn PageReader>, ParquetError> {
        let rows = usize::try_from(self.rows()).unwrap_or(usize::MAX);
        let bytes = Arc::clone(self.bytes);
        Ok(Box::new(Pages::new(bytes, self.metadata.column(leaf), rows, most, gaps)?))
    }
}
