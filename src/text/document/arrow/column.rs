//! The values of one column of a batch, row by row.

use std::io;
use std::rc::Rc;

use half::f16;

use super::batch::{Batch, Buffer};
use super::damage::{damaged, too_much};
use super::schema::{Field, Integer, Kind, Spot};
use crate::document::columns::{Stretch, Value, held_bytes};
use crate::document::vector::{self, MOST_COMPONENTS};

const DAY: i64 = 86_400;

const VIEW_BYTES: usize = 16;
const IN_VIEW: usize = 12;

#[derive(Clone, Default)]
pub(super) struct Values {
    all: Vec<Option<Value>>,
    bytes: usize,
}

pub(in crate::document) struct Column {
    /// Which rows have a value: of each of the groups that it is in, and its own.
    present: Vec<Bits>,
    values: Source,
    max_bytes: usize,
}

enum Source {
    Numbers(Numbers),
    Texts { ends: Ends, bytes: Option<Buffer>, at: u64 },
    Views { views: Numbers16, buffers: Vec<ViewBuffer>, batch: Rc<Batch>, left: usize },
    Named { numbers: Numbers, values: Rc<Values> },
    Lists { ends: Ends, items: Items },
    FixedLists { each: u64, items: Items },
}

struct Numbers {
    bytes: Option<Buffer>,
    meaning: Kind,
}

type Numbers16 = Option<Buffer>;

struct Ends {
    bytes: Option<Buffer>,
    each: usize,
    /// Where the next one begins; none before the first.
    begin: Option<u64>,
}

struct Items {
    present: Bits,
    numbers: Numbers,
    at: u64,
}

/// One bit for each row; all of them are set if they are left out.
struct Bits {
    bytes: Option<Buffer>,
    byte: u8,
    left: u8,
}

enum ViewBuffer {
    Here(Stretch),
    Packed(usize),
    Unpacked(Vec<u8>),
    TooLarge,
}

impl Column {
    pub(super) fn of(
        batch: &Rc<Batch>,
        Spot { column, way }: &Spot,
        values: Option<Rc<Values>>,
        max_bytes: usize,
    ) -> io::Result<Column> {
        let (way, more) = batch.way(way)?;
        let present = way.iter().map(|&first| Bits::of(batch, first));
        let present = present.collect::<io::Result<_>>()?;
        let first = way.last().map_or(0, |first| first.saturating_add(1));
        let values = match (column.dictionary, values) {
            (Some(dictionary), Some(values)) => {
                let numbers = Numbers::of(batch, first, Kind::Integer(dictionary.index))?;
                Source::Named { numbers, values }
            }
            (Some(_), None) => return Err(damaged("a column whose dictionary did not come")),
            (None, _) => Source::of(batch, column, first, (more, max_bytes))?,
        };
        Ok(Column { present, values, max_bytes })
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Value>> {
        let mut is_present = true;
        for bits in &mut self.present {
            is_present &= bits.next()?;
        }
        self.values.next(is_present, self.max_bytes)
    }
}

impl Source {
    fn of(
        batch: &Rc<Batch>,
        column: &Field,
        first: usize,
        (more, max_bytes): (usize, usize),
    ) -> io::Result<Source> {
        let items = |bits: usize| {
            let kind = column.children.first().map(|of| of.kind);
            let numbers =
                Numbers::of(batch, bits.saturating_add(1), kind.unwrap_or(Kind::Float(8)))?;
            Ok::<Items, io::Error>(Items { present: Bits::of(batch, bits)?, numbers, at: 0 })
        };
        Ok(match column.kind {
            Kind::Texts { end_bytes } => Source::Texts {
                ends: Ends::of(batch, first, end_bytes)?,
                bytes: batch.buffer(first.saturating_add(1))?,
                at: 0,
            },
            Kind::Views => Source::Views {
                views: batch.buffer(first)?,
                buffers: (first.saturating_add(1)..first.saturating_add(1).saturating_add(more))
                    .map(|number| ViewBuffer::of(batch, number))
                    .collect::<io::Result<_>>()?,
                batch: Rc::clone(batch),
                left: held_bytes(max_bytes),
            },
            Kind::Lists { end_bytes } => Source::Lists {
                ends: Ends::of(batch, first, end_bytes)?,
                items: items(first.saturating_add(1))?,
            },
            Kind::FixedLists(each) => Source::FixedLists { each, items: items(first)? },
            kind => Source::Numbers(Numbers::of(batch, first, kind)?),
        })
    }

    fn next(&mut self, is_present: bool, max_bytes: usize) -> io::Result<Option<Value>> {
        match self {
            Source::Numbers(numbers) => Ok(Some(numbers.next()?).filter(|_| is_present)),
            Source::Texts { ends, bytes, at } => {
                let (begin, end) = ends.next()?;
                let gap = begin.checked_sub(*at).ok_or_else(|| damaged("texts that overlap"))?;
                let length = end - begin;
                *at = end;
                let Some(bytes) = bytes.as_mut() else {
                    let is_empty = gap == 0 && length == 0;
                    return match is_empty {
                        true => Ok(is_present.then(|| Value::Bytes(Vec::new().into()))),
                        false => Err(damaged("texts without their bytes")),
                    };
                };
                bytes.pass(gap)?;
                if is_present && length <= max_bytes as u64 {
                    return Ok(Some(Value::Bytes(bytes.value(length)?.into())));
                }
                bytes.pass(length)?;
                Ok(is_present.then_some(Value::TooLong))
            }
            Source::Views { views, buffers, batch, left } => {
                let view: [u8; VIEW_BYTES] = there(views)?.next()?;
                if !is_present {
                    return Ok(None);
                }
                viewed(view, (buffers, batch, left), max_bytes).map(Some)
            }
            Source::Named { numbers, values } => {
                let Value::Integer(number) = numbers.next()? else { return Ok(None) };
                if !is_present {
                    return Ok(None);
                }
                let value = usize::try_from(number).ok().and_then(|number| values.all.get(number));
                value.cloned().ok_or_else(|| damaged("a number that its dictionary does not have"))
            }
            Source::Lists { ends, items } => {
                let (begin, end) = ends.next()?;
                let gap =
                    begin.checked_sub(items.at).ok_or_else(|| damaged("lists that overlap"))?;
                items.pass(gap)?;
                items.list(end - begin, is_present)
            }
            Source::FixedLists { each, items } => items.list(*each, is_present),
        }
    }
}

/// The value that a view leads to: a length, and the bytes themselves or four of them, the number of a block and a place in it.
fn viewed(
    view: [u8; VIEW_BYTES],
    (buffers, batch, left): (&mut [ViewBuffer], &Batch, &mut usize),
    max_bytes: usize,
) -> io::Result<Value> {
    let number = |at: usize| {
        let bytes = view[at..at + 4].try_into().expect("4 bytes");
        usize::try_from(i32::from_le_bytes(bytes)).map_err(|_| outside())
    };
    let length = number(0)?;
    if length > max_bytes {
        return Ok(Value::TooLong);
    }
    if length <= IN_VIEW {
        return Ok(Value::Bytes(view[4..4 + length].to_vec().into()));
    }
    let (block, at) = (buffers.get_mut(number(8)?).ok_or_else(outside)?, number(12)?);
    if let ViewBuffer::Packed(buffer) = *block {
        *block = match batch.whole(buffer, *left)? {
            Some(bytes) => {
                *left -= bytes.len();
                ViewBuffer::Unpacked(bytes)
            }
            None => ViewBuffer::TooLarge,
        };
    }
    let bytes = match block {
        ViewBuffer::Unpacked(bytes) => {
            bytes.get(at..).and_then(|rest| rest.get(..length)).ok_or_else(outside)?.to_vec()
        }
        ViewBuffer::Here(stretch) => {
            let at = stretch.at + at as u64;
            let stretch =
                Stretch { at, end: stretch.end.min(at + length as u64), ..stretch.clone() };
            let mut bytes = Vec::with_capacity(length);
            io::Read::read_to_end(&mut { stretch }, &mut bytes)?;
            bytes
        }
        ViewBuffer::TooLarge | ViewBuffer::Packed(_) => return Ok(Value::Crowded),
    };
    if bytes.len() < length { Err(outside()) } else { Ok(Value::Bytes(bytes.into())) }
}

fn outside() -> io::Error {
    damaged("a view that leads out of its buffers")
}

impl ViewBuffer {
    fn of(batch: &Batch, number: usize) -> io::Result<ViewBuffer> {
        match batch.is_packed() {
            true => Ok(ViewBuffer::Packed(number)),
            false => batch.stretch(number).map(ViewBuffer::Here),
        }
    }
}

impl Bits {
    fn of(batch: &Batch, number: usize) -> io::Result<Bits> {
        Ok(Bits { bytes: batch.buffer(number)?, byte: 0, left: 0 })
    }

    fn next(&mut self) -> io::Result<bool> {
        let Some(bytes) = &mut self.bytes else { return Ok(true) };
        if self.left == 0 {
            [self.byte] = bytes.next()?;
            self.left = 8;
        }
        let is_set = self.byte & 1 == 1;
        self.byte >>= 1;
        self.left -= 1;
        Ok(is_set)
    }
}

impl Ends {
    fn of(batch: &Batch, number: usize, each: usize) -> io::Result<Ends> {
        Ok(Ends { bytes: batch.buffer(number)?, each, begin: None })
    }

    fn next(&mut self) -> io::Result<(u64, u64)> {
        let begin = match self.begin {
            Some(begin) => begin,
            None => self.number()?,
        };
        let end = self.number()?;
        self.begin = Some(end);
        match begin <= end {
            true => Ok((begin, end)),
            false => Err(damaged("something that ends before it begins")),
        }
    }

    fn number(&mut self) -> io::Result<u64> {
        let bytes = there(&mut self.bytes)?;
        let number = match self.each {
            4 => i32::from_le_bytes(bytes.next()?).into(),
            _ => i64::from_le_bytes(bytes.next()?),
        };
        u64::try_from(number).map_err(|_| damaged("something that ends before the beginning"))
    }
}

impl Items {
    /// The next list of so many numbers, which is passed over if it is not there. Of one that is too long, the beginning.
    fn list(&mut self, count: u64, is_present: bool) -> io::Result<Option<Value>> {
        let taken = if is_present { count.min(MOST_COMPONENTS as u64 + 1) } else { 0 };
        let mut list = Vec::new();
        for _ in 0..taken {
            list.push(self.next()?);
        }
        self.pass(count - taken)?;
        Ok(is_present.then(|| Value::Vector(vector::checked(list))))
    }

    fn next(&mut self) -> io::Result<Option<f64>> {
        self.at = self.at.checked_add(1).ok_or_else(|| damaged("too many numbers"))?;
        let (is_present, number) = (self.present.next()?, self.numbers.next()?);
        Ok(match number {
            Value::Float(number) if is_present => Some(number),
            _ => None,
        })
    }

    fn pass(&mut self, count: u64) -> io::Result<()> {
        (0..count).try_for_each(|_| self.next().map(drop))
    }
}

impl Numbers {
    fn of(batch: &Batch, number: usize, meaning: Kind) -> io::Result<Numbers> {
        Ok(Numbers { bytes: batch.buffer(number)?, meaning })
    }

    fn next(&mut self) -> io::Result<Value> {
        let bytes = there(&mut self.bytes)?;
        Ok(match self.meaning {
            Kind::Integer(Integer { bytes: length, is_signed }) => {
                let mut number = [0; 16];
                bytes.fill(&mut number[..length])?;
                let is_negative = is_signed && number[length - 1] >= 0x80;
                number[length..].fill(if is_negative { 0xff } else { 0 });
                Value::Integer(i128::from_le_bytes(number))
            }
            Kind::Float(2) => Value::Float(f16::from_le_bytes(bytes.next()?).to_f64()),
            Kind::Float(4) => Value::Float(f32::from_le_bytes(bytes.next()?).into()),
            Kind::Float(_) => Value::Float(f64::from_le_bytes(bytes.next()?)),
            Kind::Days => {
                Value::Day(i64::from(i32::from_le_bytes(bytes.next()?)).saturating_mul(DAY))
            }
            Kind::Moments { units, is_utc, is_day } => {
                let seconds = i64::from_le_bytes(bytes.next()?).div_euclid(units);
                if is_day { Value::Day(seconds) } else { Value::Moment { seconds, is_utc } }
            }
            Kind::Uuid => Value::of_uuid(&bytes.next::<16>()?),
            _ => return Err(damaged("a column of other values than it says")),
        })
    }
}

fn there(buffer: &mut Option<Buffer>) -> io::Result<&mut Buffer> {
    buffer.as_mut().ok_or_else(|| damaged("a column without its values"))
}

impl Values {
    pub(super) fn of(
        batch: &Rc<Batch>,
        column: &Field,
        before: Option<Rc<Values>>,
        max_bytes: usize,
    ) -> io::Result<Rc<Values>> {
        let most = held_bytes(max_bytes);
        let column = Field { dictionary: None, ..column.clone() };
        let spot = Spot { column, way: vec![(0, 0)] };
        let mut column = Column::of(batch, &spot, None, max_bytes)?;
        let mut values = before.map_or_else(Values::default, Rc::unwrap_or_clone);
        for _ in 0..batch.rows {
            let value = column.next()?;
            values.bytes += size_of_val(&value) + value.as_ref().map_or(0, Value::bytes);
            if values.bytes > most {
                return Err(too_much("a dictionary", most));
            }
            values.all.push(value);
        }
        Ok(Rc::new(values))
    }
}
