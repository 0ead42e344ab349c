//! A record batch: how many rows there are, and where the buffers of its columns stand. A buffer is read from its beginning, and
//! unpacked on the way.

use std::io::{self, BufReader, Read};

use lz4_flex::frame::FrameDecoder;

use super::damage::damaged;
use super::flat::Table;
use crate::document::columns::Stretch;
use crate::document::source::zstd_decoder;

const READ_BYTES: usize = 32 << 10;

/// What stands in place of the length of a buffer that is not packed, where others are.
const NOT_PACKED: i64 = -1;

pub(super) struct Batch {
    pub(super) rows: u64,
    body: Stretch,
    /// For each buffer, where in the body it begins, and its length.
    buffers: Vec<[i64; 2]>,
    /// For each column of views, how many more buffers it has.
    more: Vec<[i64; 1]>,
    packing: Option<Packing>,
}

#[derive(Clone, Copy)]
enum Packing {
    Lz4,
    Zstd,
}

pub(super) struct Buffer {
    bytes: Box<dyn Read>,
}

impl Batch {
    pub(super) fn of(table: Table<'_>, body: Stretch) -> io::Result<Batch> {
        let rows = u64::try_from(table.number::<8>(0, 0)?);
        let packing = match table.table(3)? {
            None => None,
            Some(packing) => match packing.number::<1>(0, 0)? {
                0 => Some(Packing::Lz4),
                1 => Some(Packing::Zstd),
                other => return Err(damaged(format_args!("buffers packed in the way {other}"))),
            },
        };
        Ok(Batch {
            rows: rows.map_err(|_| damaged("a batch of less than no rows"))?,
            body,
            buffers: table.numbers(2)?,
            more: table.numbers(4)?,
            packing,
        })
    }

    /// The number of the first buffer of each of the columns on the way to one, that one included; and how many buffers more that one
    /// has, if it has views.
    pub(super) fn way(&self, way: &[(usize, usize)]) -> io::Result<(Vec<usize>, usize)> {
        let more = |views: usize| {
            let before = self.more.get(..views).ok_or_else(|| damaged("views without buffers"))?;
            before.iter().try_fold(0_usize, |sum, &[more]| {
                let sum = usize::try_from(more).ok().and_then(|more| sum.checked_add(more));
                sum.ok_or_else(|| damaged("views of less than no buffers, or of too many"))
            })
        };
        let numbers = way.iter().map(|&(before, views)| Ok(before.saturating_add(more(views)?)));
        let of_last = way.last().and_then(|&(_, views)| self.more.get(views));
        let of_last = of_last.and_then(|&[more]| usize::try_from(more).ok());
        Ok((numbers.collect::<io::Result<_>>()?, of_last.unwrap_or(0)))
    }

    pub(super) fn stretch(&self, number: usize) -> io::Result<Stretch> {
        let &[offset, length] =
            self.buffers.get(number).ok_or_else(|| damaged("a column without its buffers"))?;
        let at = u64::try_from(offset).ok().and_then(|offset| self.body.at.checked_add(offset));
        let end =
            at.zip(u64::try_from(length).ok()).and_then(|(at, length)| at.checked_add(length));
        match at.zip(end).filter(|&(_, end)| end <= self.body.end) {
            Some((at, end)) => Ok(Stretch { at, end, ..self.body.clone() }),
            None => Err(damaged("a buffer that leads out of its batch")),
        }
    }

    pub(super) fn is_packed(&self) -> bool {
        self.packing.is_some()
    }

    pub(super) fn buffer(&self, number: usize) -> io::Result<Option<Buffer>> {
        let mut stretch = self.stretch(number)?;
        if stretch.at == stretch.end {
            return Ok(None);
        }
        let Some(packing) = self.packing else { return Ok(Some(Buffer::of(stretch))) };
        let mut length = [0; 8];
        stretch.read_exact(&mut length)?;
        let length = i64::from_le_bytes(length);
        if length == NOT_PACKED {
            return Ok(Some(Buffer::of(stretch)));
        }
        let length =
            u64::try_from(length).map_err(|_| damaged("a buffer of less than no bytes"))?;
        let packed = BufReader::with_capacity(READ_BYTES, stretch);
        let unpacked: Box<dyn Read> = match packing {
            Packing::Lz4 => Box::new(FrameDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd_decoder(packed, &[])?),
        };
        Ok(Some(Buffer::of(unpacked.take(length))))
    }

    pub(super) fn whole(&self, number: usize, most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        if let Some(buffer) = self.buffer(number)? {
            buffer.bytes.take(most as u64 + 1).read_to_end(&mut bytes)?;
        }
        Ok((bytes.len() <= most).then_some(bytes))
    }
}

impl Buffer {
    fn of(bytes: impl Read + 'static) -> Buffer {
        Buffer { bytes: Box::new(BufReader::with_capacity(READ_BYTES, bytes)) }
    }

    pub(super) fn next<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn fill(&mut self, into: &mut [u8]) -> io::Result<()> {
        self.bytes.read_exact(into)
    }

    pub(super) fn value(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.bytes.by_ref().take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length { Err(short()) } else { Ok(bytes) }
    }

    pub(super) fn pass(&mut self, length: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.bytes.by_ref().take(length), &mut io::sink())?;
        if passed < length { Err(short()) } else { Ok(()) }
    }
}

fn short() -> io::Error {
    damaged("a buffer that ends before the rows of its batch")
}
