//! A Parquet file, opened where it is, and read at any place.

use std::fs::File;
use std::io::Read;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::blocks::Blocks;
use crate::document::inputs::Input;
use crate::document::origin::Origin;
use crate::error::{At, Error, Kind, Result};

pub(super) enum Opened {
    File(File),
    Object(Blocks),
}

pub(super) fn bytes_of(input: &Input) -> Result<Opened> {
    let path = input.path();
    match input.origin() {
        Origin::File(_) => Ok(Opened::File(File::open(path).at(path)?)),
        Origin::Object(object) => Ok(Opened::Object(Blocks::of(object.clone()))),
        _ => {
            let what =
                "a file of columns cannot be read from a stream, for it is read at several places";
            Err(Error::new(Kind::Usage, what)
                .at(path)
                .found(input.format())
                .help("give the file by its name"))
        }
    }
}

impl Length for Opened {
    fn len(&self) -> u64 {
        match self {
            Opened::File(file) => file.len(),
            Opened::Object(blocks) => blocks.object.bytes(),
        }
    }
}

impl ChunkReader for Opened {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Box<dyn Read>, ParquetError> {
        Ok(match self {
            Opened::File(file) => Box::new(file.get_read(start)?),
            Opened::Object(blocks) => Box::new(blocks.onward(start)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            Opened::File(file) => file.get_bytes(start, length),
            Opened::Object(blocks) => blocks.exactly(start, length),
        }
    }
}
