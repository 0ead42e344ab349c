//! The library for Parquet, called so that damage is an error.

use std::io;
use std::path::Path;

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;

use crate::catch_panic;
use crate::error::{Error, Kind, Result};

/// Calls the library to read the file at `path`. It panics on some damaged files.
pub fn trying<T>(path: &Path, work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T> {
    let done = catch_panic::call(work).unwrap_or_else(|panic| Err(ParquetError::General(panic)));
    done.map_err(|cause| {
        if let Some(error) = io_error(&cause).and_then(Error::within) {
            return error.clone().at(path);
        }
        Error::new(Kind::BadData, "the Parquet file cannot be read").at(path).found(cause).help(
            "is it whole, and is it Parquet? Parquet inside of .gz or .zst must be unpacked first",
        )
    })
}

pub fn unwritten(path: &Path, cause: ParquetError) -> Error {
    match io_error(&cause) {
        Some(inner) => Error::io(path, inner),
        None => {
            Error::new(Kind::Internal, "the Parquet file cannot be written").at(path).found(cause)
        }
    }
}

fn io_error(cause: &ParquetError) -> Option<&io::Error> {
    match cause {
        ParquetError::External(inner) => inner.downcast_ref(),
        _ => None,
    }
}

/// The values of the next `rows` rows of a column, fewer at the end; none for null. `present` is the level of a value that is
/// not null, 0 if there are no nulls.
pub fn values_of<T: DataType, V>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    present: i16,
    value: impl Fn(T::T) -> V,
) -> Result<Vec<Option<V>>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let (records, _, _) =
            reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    let mut values = values.into_iter().map(value);
    if present == 0 {
        return Ok(values.map(Some).collect());
    }
    Ok(levels.iter().map(|&level| if level == present { values.next() } else { None }).collect())
}
