//! The messages of a file, one after the other.
//!
//! ```text
//! "ARROW1" and two bytes                                  of a file that is no stream
//! ff ff ff ff, 4 bytes: the length; a table; its body     a message, again and again
//! ff ff ff ff, 00 00 00 00                                the end
//! a table: the columns, and where messages begin          of a file that is no stream, and so are the next two
//! 4 bytes: the length of this table
//! "ARROW1"
//! ```
//!
//! Of a file that is no stream, only what that table names is read: some programs write no columns before the batches.

use std::io::{self, Read};
use std::rc::Rc;
use std::vec;

use parquet::file::reader::Length;

use super::damage::damaged;
use super::flat::Table;
use crate::document::columns::{Opened, Stretch};

const MAGIC: &[u8] = b"ARROW1";

const MARK: [u8; 4] = [0xff; 4];
const HEAD_BYTES: u64 = 8;

const MOST_BYTES: u64 = 64 << 20;

/// Where the table at the end lists dictionaries and batches: where each message begins, and two lengths.
const DICTIONARIES: usize = 2;
const BATCHES: usize = 3;

const VERSIONS: std::ops::RangeInclusive<i64> = 3..=4;

pub(super) struct Messages {
    file: Rc<Opened>,
    pub(super) at: u64,
    bytes: u64,
    order: Order,
}

enum Order {
    Stream,
    /// Such, of a file whose end is not there.
    Unended,
    Listed(vec::IntoIter<u64>),
}

pub(super) struct Message {
    table: Vec<u8>,
    pub(super) body: Stretch,
}

pub(super) enum Next {
    Message(Message),
    End,
    Cut,
}

pub(super) enum Header<'a> {
    Schema(Table<'a>),
    Dictionary(Table<'a>),
    Batch(Table<'a>),
}

impl Messages {
    pub(super) fn of(file: Opened) -> io::Result<(Messages, Option<Vec<u8>>)> {
        let bytes = file.len();
        let mut messages = Messages { file: Rc::new(file), at: 0, bytes, order: Order::Stream };
        let magic = messages.taken(0, MAGIC.len() as u64)?;
        if magic != MAGIC {
            return Ok((messages, None));
        }
        (messages.at, messages.order) = (HEAD_BYTES, Order::Unended);
        let last = MAGIC.len() as u64 + 4;
        let tail = messages.taken(bytes.saturating_sub(last), last)?;
        let Some((length, MAGIC)) = tail.split_first_chunk() else { return Ok((messages, None)) };
        let length = u64::from(u32::from_le_bytes(*length));
        let start = bytes.checked_sub(last + length).filter(|_| length <= MOST_BYTES);
        let start = start.ok_or_else(|| damaged(format_args!("a last table of {length} bytes")))?;
        let table = messages.taken(start, length)?;
        let mut places = Vec::new();
        for list in [DICTIONARIES, BATCHES] {
            let first = places.len();
            for [offset, ..] in Table::root(&table)?.numbers::<3>(list)? {
                places
                    .push(u64::try_from(offset).map_err(|_| damaged("a message before the file"))?);
            }
            if !places[first..].is_sorted_by(|one, next| one < next) {
                return Err(damaged("messages that are not in order"));
            }
        }
        messages.order = Order::Listed(places.into_iter());
        Ok((messages, Some(table)))
    }

    pub(super) fn next(&mut self) -> io::Result<Next> {
        if let Order::Listed(places) = &mut self.order {
            match places.next() {
                Some(place) => self.at = place,
                None => return Ok(Next::End),
            }
        }
        let head = self.taken(self.at, HEAD_BYTES)?;
        let Some((mark, &[a, b, c, d])) = head.split_first_chunk() else { return Ok(Next::Cut) };
        if *mark != MARK {
            return Err(damaged(format_args!("no message at byte {}", self.at)));
        }
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        if length == 0 {
            return match self.order {
                Order::Stream if self.at + HEAD_BYTES == self.bytes => Ok(Next::End),
                Order::Unended => Ok(Next::Cut),
                _ => Err(damaged(format_args!("an end at byte {}, and more behind it", self.at))),
            };
        }
        if length > MOST_BYTES {
            return Err(damaged(format_args!("a table of {length} bytes at byte {}", self.at)));
        }
        let table = self.taken(self.at + HEAD_BYTES, length)?;
        if (table.len() as u64) < length {
            return Ok(Next::Cut);
        }
        let body_bytes = u64::try_from(Table::root(&table)?.number::<8>(3, 0)?)
            .map_err(|_| damaged("a body of less than no bytes"))?;
        let body = self.at + HEAD_BYTES + length;
        let end = body.saturating_add(body_bytes);
        if end > self.bytes {
            return Ok(Next::Cut);
        }
        self.at = end;
        Ok(Next::Message(Message {
            table,
            body: Stretch { of: Rc::clone(&self.file), at: body, end },
        }))
    }

    fn taken(&self, at: u64, length: u64) -> io::Result<Vec<u8>> {
        let end = self.bytes.min(at.saturating_add(length));
        let mut bytes = Vec::new();
        Stretch { of: Rc::clone(&self.file), at, end }.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Message {
    pub(super) fn header(&self) -> io::Result<(Header<'_>, i64)> {
        let table = Table::root(&self.table)?;
        let version = version(table)?;
        let kind = table.number::<1>(1, 0)?;
        let of = table.table(2)?.ok_or_else(|| damaged("a message about nothing"))?;
        let header = match kind {
            1 => Header::Schema(of),
            2 => Header::Dictionary(of),
            3 => Header::Batch(of),
            _ => return Err(damaged(format_args!("a message of kind {kind}"))),
        };
        Ok((header, version))
    }
}

pub(super) fn version(table: Table<'_>) -> io::Result<i64> {
    let version = table.number::<2>(0, 0)?;
    match VERSIONS.contains(&version) {
        true => Ok(version),
        false => Err(damaged(format_args!("version V{} of the format", version + 1))),
    }
}
