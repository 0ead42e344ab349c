//! A Parquet file, opened where it is.

use crate::document::columns::{Opened, bytes_of};
use crate::document::inputs::Input;
use crate::error::Result;
use crate::results::{ParquetFile, trying};

pub(super) fn open(input: &Input) -> Result<ParquetFile<Opened>> {
    let bytes = bytes_of(input)?;
    trying(input.path(), || ParquetFile::new(bytes))
}
