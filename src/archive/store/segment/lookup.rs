//! Looks up columns by row: fingerprints, ids, lengths, times, days, classes.
//!
//! Each look-up keeps the last block that it decoded, so ascending rows decode every block once.

use std::fmt::Write;
use std::marker::PhantomData;
use std::mem;
use std::ops::Range;

use crate::day::Day;
use crate::error::Result;
use crate::fingerprint::{Class, Fingerprint, Width};
use crate::store::damage::damaged;

use super::block::BLOCK_ROWS;
use super::directory::{Coding, Column, IdKind};
use super::open::Segment;
use super::packed::{INTEGER_ROWS, TEXT_ROWS, Unpacker, lines, read_planes};

impl Segment {
    /// Looks up fingerprints by row. To read many in order, use [`Segment::scan`].
    pub fn fingerprints(&self) -> Fingerprints {
        Fingerprints(self.clone(), Keys::default())
    }

    /// Looks up ids by row.
    pub fn ids(&self) -> Ids {
        let (segment, kind) = (self.clone(), self.id_kind());
        let (text, keys, shown) = (Text::new(Column::Ids), Keys::default(), String::new());
        Ids { segment, kind, text, keys, shown }
    }

    /// Looks up lengths of texts by row, in UTF-8 bytes, if the segment has them.
    pub fn lengths(&self) -> Option<Integers<u64>> {
        self.integers(Column::Lengths)
    }

    /// Looks up times by row, if the segment has them.
    pub fn times(&self) -> Option<Times> {
        self.integers(Column::Times)
    }

    /// Looks up days by row, if the segment has them.
    pub fn days(&self) -> Option<Days> {
        self.column(Column::Days).map(|_| Days::new(self.clone()))
    }

    /// Looks up classes by row, if the segment has them. Without them all rows are [`Class::Full`].
    pub fn classes(&self) -> Option<Classes> {
        self.integers(Column::Classes)
    }

    pub(super) fn integers<T: Integer>(&self, column: Column) -> Option<Integers<T>> {
        self.column(column).map(|_| Integers::new(self.clone(), column))
    }

    /// The ids of the documents without a fingerprint, in ascending order.
    pub fn empty_ids(&self) -> EmptyIds {
        EmptyIds { segment: self.clone(), text: Text::new(Column::Empties), next: 0 }
    }
}

/// Looks up fingerprints by row, as 128 bits whatever their width.
pub struct Fingerprints(Segment, Keys);

impl Fingerprints {
    pub fn get(&mut self, row: u64) -> Result<u128> {
        self.1.get(&self.0, row)
    }
}

pub struct Ids {
    segment: Segment,
    kind: IdKind,
    text: Text,
    keys: Keys,
    shown: String,
}

impl Ids {
    pub fn get(&mut self, row: u64) -> Result<&str> {
        assert!(row < self.segment.rows(), "row {row} is not one of {:?}", self.segment);
        self.shown.clear();
        let shown = match self.kind {
            IdKind::Text => return self.text.get(&self.segment, row),
            IdKind::Numbers => write!(self.shown, "{row}"),
            IdKind::None => {
                let digits = self.segment.width().bits() as usize / 4;
                write!(self.shown, "0x{:0digits$x}", self.keys.get(&self.segment, row)?)
            }
        };
        shown.expect("a string takes what is written");
        Ok(&self.shown)
    }

    /// Calls `take` with each of `rows` and its id, faster than one look-up for each.
    pub fn each(
        &mut self,
        rows: Range<u64>,
        mut take: impl FnMut(u64, &str) -> Result<()>,
    ) -> Result<()> {
        if self.kind == IdKind::Text {
            return self.text.each(&self.segment, rows, take);
        }
        for row in rows {
            take(row, self.get(row)?)?;
        }
        Ok(())
    }
}

/// Looks up times by row, in seconds since 1970, if they are known.
pub type Times = Integers<Option<i64>>;

pub type Classes = Integers<Class>;

pub struct Integers<T> {
    segment: Segment,
    column: Column,
    held: Held,
    decoded: Vec<u64>,
    values: PhantomData<fn() -> T>,
}

impl<T: Integer> Integers<T> {
    pub(super) fn new(segment: Segment, column: Column) -> Integers<T> {
        let (held, decoded) = (Held::of(Coding::Integers), Vec::new());
        Integers { segment, column, held, decoded, values: PhantomData }
    }

    pub fn get(&mut self, row: u64) -> Result<T> {
        let (index, at) = place(row, INTEGER_ROWS);
        let Integers { segment, column, held, decoded, .. } = self;
        held.turn_to(segment, *column, index, |plain| {
            read_planes(plain, segment.rows_in(*column, index), decoded)
        })?;
        T::of(decoded[at]).map_err(|error| error.at(segment.path()))
    }
}

/// A type whose values are integers in a segment.
pub trait Integer: Sized {
    /// The value of a row of which nothing is known.
    const NONE: Self;

    fn number(&self) -> u64;

    fn of(number: u64) -> Result<Self>;
}

impl Integer for u64 {
    const NONE: u64 = 0;

    fn number(&self) -> u64 {
        *self
    }

    fn of(number: u64) -> Result<u64> {
        Ok(number)
    }
}

/// `i64::MIN` also means unknown.
impl Integer for Option<i64> {
    const NONE: Option<i64> = None;

    fn number(&self) -> u64 {
        self.unwrap_or(i64::MIN).cast_unsigned()
    }

    fn of(number: u64) -> Result<Option<i64>> {
        Ok(Some(number.cast_signed()).filter(|&known| known != i64::MIN))
    }
}

impl Integer for Class {
    const NONE: Class = Class::Full;

    fn number(&self) -> u64 {
        *self as u64
    }

    fn of(number: u64) -> Result<Class> {
        let class = [Class::Full, Class::Short].into_iter().find(|it| *it as u64 == number);
        class.ok_or_else(|| damaged("the class of a row is unknown").found(number))
    }
}

pub struct Days(Integers<u64>);

impl Days {
    pub fn new(segment: Segment) -> Days {
        Days(Integers::new(segment, Column::Days))
    }

    pub fn get(&mut self, row: u64) -> Result<Day> {
        let number = self.0.get(row)?;
        Day::of_number(number).ok_or_else(|| {
            let error = damaged("the day of a row is invalid").at(self.0.segment.path());
            error.expected("eight digits: year, month, day").found(number)
        })
    }
}

pub struct EmptyIds {
    segment: Segment,
    text: Text,
    next: u64,
}

impl Iterator for EmptyIds {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        let row = self.next;
        self.next += 1;
        (row < self.segment.empties()).then(|| self.text.get(&self.segment, row).map(str::to_owned))
    }
}

/// The block that was looked at last.
#[derive(Default)]
pub(crate) struct Held {
    index: Option<usize>,
    bytes: Vec<u8>,
    /// None if blocks are not compressed.
    unpacker: Option<Unpacker>,
    plain: Vec<u8>,
}

impl Held {
    pub(crate) fn of(coding: Coding) -> Held {
        let unpacker = coding.most_unpacked().map(Unpacker::of);
        Held { unpacker, ..Held::default() }
    }

    /// Makes the block of this index the one that is held. `decode` is called with its bytes, if it is another one.
    pub(crate) fn turn_to(
        &mut self,
        segment: &Segment,
        column: Column,
        index: usize,
        decode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        if self.index.take() != Some(index) {
            let block = segment.blocks(column)?.all[index];
            segment.read(block.range(), &mut self.bytes)?;
            segment.check(&block, &self.bytes)?;
            let Held { bytes, unpacker, plain, .. } = self;
            let decoded = match unpacker {
                Some(unpacker) => unpacker.unpack(bytes, plain).and_then(|()| decode(plain)),
                None => decode(bytes),
            };
            decoded.map_err(|error| error.at(segment.path()).offset(block.offset))?;
        }
        self.index = Some(index);
        Ok(())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.unpacker.is_some() { &self.plain } else { &self.bytes }
    }
}

struct Text {
    column: Column,
    held: Held,
    plain: String,
    ends: Vec<usize>,
}

impl Text {
    fn new(column: Column) -> Text {
        let (held, plain) = (Held::of(Coding::Text), String::new());
        Text { column, held, plain, ends: Vec::new() }
    }

    fn get(&mut self, segment: &Segment, row: u64) -> Result<&str> {
        let (index, at) = place(row, TEXT_ROWS);
        self.turn_to(segment, index)?;
        Ok(self.line(at))
    }

    fn each(
        &mut self,
        segment: &Segment,
        mut rows: Range<u64>,
        mut take: impl FnMut(u64, &str) -> Result<()>,
    ) -> Result<()> {
        while !rows.is_empty() {
            let (index, at) = place(rows.start, TEXT_ROWS);
            self.turn_to(segment, index)?;
            let end = rows.end.min(((index + 1) * TEXT_ROWS) as u64);
            for (row, at) in (rows.start..end).zip(at..) {
                take(row, self.line(at))?;
            }
            rows.start = end;
        }
        Ok(())
    }

    fn turn_to(&mut self, segment: &Segment, index: usize) -> Result<()> {
        let Text { column, held, plain, ends } = self;
        held.turn_to(segment, *column, index, |bytes| {
            // The two take turns, so that none is allocated for a block.
            let bytes = mem::replace(bytes, mem::take(plain).into_bytes());
            *plain = String::from_utf8(bytes).map_err(|_| damaged("an id is not UTF-8"))?;
            lines(plain, segment.rows_in(*column, index), ends)
        })
    }

    fn line(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] + 1 };
        &self.plain[start..self.ends[at]]
    }
}

#[derive(Default)]
struct Keys {
    held: Held,
    decoded: Vec<u128>,
}

impl Keys {
    fn get(&mut self, segment: &Segment, row: u64) -> Result<u128> {
        let (index, at) = place(row, BLOCK_ROWS);
        let Keys { held, decoded } = self;
        held.turn_to(segment, Column::Fingerprints, index, |block| match segment.width() {
            Width::W64 => decode_wide::<u64>(segment, index, block, decoded),
            Width::W128 => decode_wide::<u128>(segment, index, block, decoded),
        })?;
        Ok(decoded[at])
    }
}

fn decode_wide<F: Fingerprint>(
    segment: &Segment,
    index: usize,
    block: &[u8],
    wide: &mut Vec<u128>,
) -> Result<()> {
    let mut decoded = vec![F::default(); segment.rows_in(Column::Fingerprints, index)];
    segment.decode(index, block, &mut decoded)?;
    wide.clear();
    wide.extend(decoded.into_iter().map(F::to_u128));
    Ok(())
}

pub(crate) fn place(row: u64, block_rows: usize) -> (usize, usize) {
    let block_rows = block_rows as u64;
    ((row / block_rows) as usize, (row % block_rows) as usize)
}

/// Blocks that will be looked up soon: the last block of each column of a segment that was announced. Rows are announced in
/// their order.
///
/// A request of an object store takes tens of milliseconds, however few bytes are asked for. Who looks up rows in their order
/// knows the next rows beforehand, and announces them here: the answers are on their way while others are looked up. A file on
/// a disk answers at once, so nothing is announced.
#[derive(Debug, Default)]
pub struct Expected(Vec<(Column, usize)>);

impl Expected {
    /// Announces the blocks of `columns` that have `row`. A column that the segment lacks has none. What fails here is asked for once more
    /// when it is looked up.
    pub fn announce(&mut self, segment: &Segment, columns: &[Column], row: u64) {
        let Some(remote) = segment.remote() else { return };
        for &column in columns {
            let column = match (column, segment.id_kind()) {
                (Column::Ids, IdKind::None) => Column::Fingerprints,
                _ => column,
            };
            let Some(placed) = segment.column(column) else { continue };
            let (index, _) = place(row, placed.head.coding.block_rows() as usize);
            if self.is_new(column, index)
                && let Ok(blocks) = segment.blocks(column)
            {
                remote.expect(blocks.all[index].range());
            }
        }
    }

    /// Whether a block was not the last one of its column. It is from now on.
    fn is_new(&mut self, column: Column, index: usize) -> bool {
        match self.0.iter_mut().find(|(of, _)| *of == column) {
            Some((_, last)) => std::mem::replace(last, index) != index,
            None => {
                self.0.push((column, index));
                true
            }
        }
    }
}
