//! A Parquet file, opened where it is.

use crate::document::columns::{Opened, bytes_of};
use crate::document::inputs::Input;
use crate::error::Result;
use crate::results::{ParquetFile, trying};

/// Opens an input.
///
/// # Errors
/// A stream is [`Kind::Usage`](crate::Kind::Usage); what is no Parquet is [`Kind::BadData`](crate::Kind::BadData).
pub(super) fn open(input: &Input) -> Result<ParquetFile<Opened>> {
    let bytes = bytes_of(input)?;
    trying(input.path(), || ParquetFile::new(bytes))
}
