//! A Parquet file, opened where it is.

use std::fs::File;

use crate::document::inputs::Input;
use crate::document::origin::Origin;
use crate::error::{At, Error, Kind, Result};
use crate::results::{ParquetFile, trying};

#[cfg(feature = "object-store")]
pub(super) use super::blocks::Opened;

/// A Parquet file that is open.
#[cfg(not(feature = "object-store"))]
pub(super) type Opened = File;

/// Opens an input.
///
/// # Errors
/// A stream is [`Kind::Usage`]; what is no Parquet is [`Kind::BadData`].
pub(super) fn open(input: &Input) -> Result<ParquetFile<Opened>> {
    let bytes = bytes_of(input)?;
    trying(input.path(), || ParquetFile::new(bytes))
}

/// The bytes of an input.
pub(super) fn bytes_of(input: &Input) -> Result<Opened> {
    let path = input.path();
    match input.origin() {
        Origin::File(_) => {
            let file = File::open(path).at(path)?;
            #[cfg(feature = "object-store")]
            let file = file.into();
            Ok(file)
        }
        #[cfg(feature = "object-store")]
        Origin::Object(object) => Ok(object.clone().into()),
        _ => {
            let what = "Parquet cannot be read from a stream, for what is where stands at its end";
            Err(Error::new(Kind::Usage, what).at(path).help("give the file by its name"))
        }
    }
}
