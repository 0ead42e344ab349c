//! A Parquet file, opened where it is, and read at any place. One in an object store is read by blocks, of which the last few are kept. So the pages
//! of a column come together, and a row group of many gigabytes takes no more memory than some blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use bytes::{Buf, Bytes};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::document::inputs::Input;
use crate::document::origin::Origin;
use crate::error::{At, Error, Kind, Result};
use crate::object_storage::ObjectFile;
use crate::parallel::lock;

const BLOCK_BYTES: u64 = 4 << 20;

/// How many blocks are kept: several columns are read side by side.
const KEPT: usize = 8;

pub(super) enum Opened {
    File(File),
    Object(Blocks),
}

pub(super) fn bytes_of(input: &Input) -> Result<Opened> {
    let path = input.path();
    match input.origin() {
        Origin::File(_) => Ok(Opened::File(File::open(path).at(path)?)),
        Origin::Object(object) => {
            let blocks = Blocks { object: object.clone(), kept: Arc::default() };
            Ok(Opened::Object(blocks))
        }
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

#[derive(Clone)]
pub(super) struct Blocks {
    object: ObjectFile,
    /// The blocks that were read last, by their numbers; the newest is the first.
    kept: Arc<Mutex<VecDeque<(u64, Bytes)>>>,
}

/// Reads an object from some place on.
struct Onward {
    blocks: Blocks,
    at: u64,
    here: Bytes,
}

impl Blocks {
    fn onward(&self, at: u64) -> Onward {
        Onward { blocks: self.clone(), at, here: Bytes::new() }
    }

    fn exactly(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.saturating_add(length as u64) > self.object.bytes() {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are not there")));
        }
        let mut bytes = vec![0; length];
        self.onward(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }

    fn rest_of_block(&self, at: u64) -> Result<Bytes> {
        if at >= self.object.bytes() {
            return Ok(Bytes::new());
        }
        let number = at / BLOCK_BYTES;
        let block = self.block(number)?;
        Ok(block.slice((at - number * BLOCK_BYTES) as usize..))
    }

    fn block(&self, number: u64) -> Result<Bytes> {
        let mut kept = lock(&self.kept);
        let held = kept.iter().position(|(held, _)| *held == number).and_then(|at| kept.remove(at));
        let block = match held {
            Some((_, block)) => block,
            None => {
                let start = number * BLOCK_BYTES;
                self.object.range(start..self.object.bytes().min(start + BLOCK_BYTES))?
            }
        };
        kept.push_front((number, block.clone()));
        kept.truncate(KEPT);
        Ok(block)
    }
}

impl Read for Onward {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.here.is_empty() {
            self.here = self.blocks.rest_of_block(self.at).map_err(io::Error::other)?;
        }
        let read = into.len().min(self.here.len());
        self.here.copy_to_slice(&mut into[..read]);
        self.at += read as u64;
        Ok(read)
    }
}
