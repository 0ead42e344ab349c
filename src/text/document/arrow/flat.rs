//! Tables of flatbuffers, read where they stand. Nothing is taken on trust: whatever leads out of the bytes is damage.
//!
//! ```text
//! table    4 bytes: how far before it its list of fields stands; then the fields
//! list     2 bytes: its length; 2 bytes: that of the table; for each field 2 bytes: where in the table it is, 0 if it is left out
//! field    a number; or how many bytes behind this place a table, a text or a vector stands
//! vector   4 bytes: how many there are; then they
//! ```

use std::io;

use super::damage::damaged;

#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    list: usize,
    list_bytes: usize,
}

impl<'a> Table<'a> {
    pub(super) fn root(bytes: &'a [u8]) -> io::Result<Table<'a>> {
        Table::at(bytes, 0)
    }

    fn at(bytes: &'a [u8], place: usize) -> io::Result<Table<'a>> {
        let at = led(bytes, place)?;
        let back = i64::from(i32::from_le_bytes(taken(bytes, at)?));
        let list = usize::try_from(at as i64 - back).map_err(|_| outside())?;
        let list_bytes = u16::from_le_bytes(taken(bytes, list)?).into();
        Ok(Table { bytes, at, list, list_bytes })
    }

    fn field(&self, number: usize) -> io::Result<Option<usize>> {
        let entry = 4 + 2 * number;
        if entry + 2 > self.list_bytes {
            return Ok(None);
        }
        let offset = u16::from_le_bytes(taken(self.bytes, self.list + entry)?);
        Ok((offset > 0).then_some(self.at + usize::from(offset)))
    }

    pub(super) fn number<const N: usize>(&self, field: usize, left_out: i64) -> io::Result<i64> {
        let Some(at) = self.field(field)? else { return Ok(left_out) };
        let bytes = taken::<N>(self.bytes, at)?;
        Ok(bytes.iter().rev().fold(if bytes[N - 1] >= 0x80 { -1 } else { 0 }, |number, &byte| {
            number << 8 | i64::from(byte)
        }))
    }

    pub(super) fn text(&self, field: usize) -> io::Result<&'a str> {
        let Some(at) = self.field(field)? else { return Ok("") };
        let at = led(self.bytes, at)?;
        let length = u32::from_le_bytes(taken(self.bytes, at)?) as usize;
        let bytes = self.bytes[at + 4..].get(..length).ok_or_else(outside)?;
        str::from_utf8(bytes).map_err(|_| damaged("a name that is not UTF-8"))
    }

    pub(super) fn table(&self, field: usize) -> io::Result<Option<Table<'a>>> {
        self.field(field)?.map(|at| Table::at(self.bytes, at)).transpose()
    }

    pub(super) fn tables(
        &self,
        field: usize,
    ) -> io::Result<impl ExactSizeIterator<Item = io::Result<Table<'a>>>> {
        let (first, count) = self.vector(field, 4)?;
        let bytes = self.bytes;
        Ok((0..count).map(move |number| Table::at(bytes, first + 4 * number)))
    }

    pub(super) fn numbers<const N: usize>(&self, field: usize) -> io::Result<Vec<[i64; N]>> {
        let (first, count) = self.vector(field, 8 * N)?;
        let number = |at| taken(self.bytes, at).map(i64::from_le_bytes);
        let mut all = Vec::with_capacity(count);
        for at in (0..count).map(|struct_| first + 8 * N * struct_) {
            let mut numbers = [0; N];
            for (place, to) in numbers.iter_mut().enumerate() {
                *to = number(at + 8 * place)?;
            }
            all.push(numbers);
        }
        Ok(all)
    }

    fn vector(&self, field: usize, each: usize) -> io::Result<(usize, usize)> {
        let Some(at) = self.field(field)? else { return Ok((0, 0)) };
        let at = led(self.bytes, at)?;
        let count = u32::from_le_bytes(taken(self.bytes, at)?) as usize;
        if count > self.bytes.len() / each {
            return Err(outside());
        }
        Ok((at + 4, count))
    }
}

fn led(bytes: &[u8], place: usize) -> io::Result<usize> {
    Ok(place + u32::from_le_bytes(taken(bytes, place)?) as usize)
}

fn taken<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    let taken = bytes.get(at..).and_then(|rest| rest.first_chunk());
    taken.copied().ok_or_else(outside)
}

fn outside() -> io::Error {
    damaged("a table that leads out of its message")
}
