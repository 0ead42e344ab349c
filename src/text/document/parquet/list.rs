//! A column of lists of numbers, decoded row by row: each list is a vector.
//!
//! | definition level | what it stands for |
//! |---|---|
//! | that of a value | a number |
//! | less, but not below the repeated ancestor's | a null in a list |
//! | one below the repeated ancestor's | an empty list |
//! | less | no list |

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use half::f16;
use parquet::basic::{LogicalType, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::document::value::MOST_COMPONENTS;

pub(super) const SAME_NAME: &str = "two columns of this name";

/// The most values of the pages from which a row is decoded. A page can say in few bytes that it has billions.
const MOST_VALUES: u64 = 32 << 20;

pub(super) fn find(schema: &SchemaDescriptor, field: &str) -> Option<Result<usize, String>> {
    let is_of_field = |column: &ColumnDescriptor| {
        let path = column.path().string();
        path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let leaves = (0..schema.num_columns()).filter(|&leaf| is_of_field(&schema.column(leaf)));
    match leaves.collect::<Vec<_>>()[..] {
        [] => None,
        [leaf] => Some(checked(&schema.column(leaf)).map(|()| leaf)),
        [first, second, ..] => {
            let path = |leaf| schema.column(leaf).path().string();
            let is_same = path(first) == path(second);
            let found = if is_same { SAME_NAME } else { "a group of columns" };
            Some(Err(found.to_owned()))
        }
    }
}

fn checked(column: &ColumnDescriptor) -> Result<(), String> {
    let is_half = matches!(column.logical_type_ref(), Some(LogicalType::Float16));
    match (column.max_rep_level(), column.physical_type()) {
        (0, _) => Err("no lists".to_owned()),
        (1, Type::FLOAT | Type::DOUBLE) => Ok(()),
        (1, Type::FIXED_LEN_BYTE_ARRAY) if is_half => Ok(()),
        (1, other) => Err(format!("lists of values of type {other}")),
        _ => Err("lists of lists".to_owned()),
    }
}

/// The levels of a number, and of what is in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListLevels {
    number: i16,
    in_list: i16,
}

impl ListLevels {
    pub(super) fn of(column: &ColumnDescriptor) -> ListLevels {
        let in_list = column.repeated_ancestor_def_level();
        ListLevels { number: column.max_def_level(), in_list }
    }
}

/// The list of the next row. `left` is that of its [`BoundedPages`].
pub(super) fn next(
    reader: &mut ColumnReader,
    levels: ListLevels,
    left: &AtomicU64,
) -> Result<Option<Vec<Option<f64>>>, ParquetError> {
    left.store(MOST_VALUES, Ordering::Relaxed);
    match reader {
        ColumnReader::FloatColumnReader(it) => list(it, levels, |&number| f64::from(number)),
        ColumnReader::DoubleColumnReader(it) => list(it, levels, |&number| number),
        ColumnReader::FixedLenByteArrayColumnReader(it) => list(it, levels, half),
        _ => unreachable!("columns of other types were refused"),
    }
}

/// The list of the next row; one that is too long is cut.
fn list<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    levels: ListLevels,
    number: impl Fn(&T::T) -> f64,
) -> Result<Option<Vec<Option<f64>>>, ParquetError> {
    let (part, records) = read::<T>(reader, 1)?;
    if records == 0 {
        return Err(ended());
    }
    if !part.has_levels_up_to(levels.number, 1) {
        return Err(ParquetError::General("a list has levels that it cannot have".to_owned()));
    }
    let Part { values, definitions, .. } = part;
    let mut values = values.iter();
    let is_there = definitions.first().is_some_and(|definition| definition + 1 >= levels.in_list);
    let mut list = Vec::new();
    for definition in definitions {
        let value = if definition == levels.number { values.next() } else { None };
        if definition >= levels.in_list && list.len() <= MOST_COMPONENTS {
            list.push(value.map(&number));
        }
    }
    Ok(is_there.then_some(list))
}

fn half(bytes: &FixedLenByteArray) -> f64 {
    bytes.data().try_into().map_or(f64::NAN, |bytes| f16::from_le_bytes(bytes).to_f64())
}

/// Values of a column with their levels, which say where lists begin and what is null.
pub(super) struct Part<V> {
    pub(super) values: Vec<V>,
    pub(super) definitions: Vec<i16>,
    pub(super) repetitions: Vec<i16>,
}

impl<V> Part<V> {
    pub(super) fn empty() -> Part<V> {
        Part { values: Vec::new(), definitions: Vec::new(), repetitions: Vec::new() }
    }

    /// Whether all levels are up to these. The library does not check them as it reads.
    pub(super) fn has_levels_up_to(&self, definition: i16, repetition: i16) -> bool {
        self.definitions.iter().all(|level| (0..=definition).contains(level))
            && self.repetitions.iter().all(|level| (0..=repetition).contains(level))
    }
}

pub(super) fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    most: usize,
) -> Result<(Part<T::T>, usize), ParquetError> {
    let mut part = Part::empty();
    let Part { values, definitions, repetitions } = &mut part;
    let (records, _, levels) =
        reader.read_records(most, Some(definitions), Some(repetitions), values)?;
    let is_whole = [definitions.len(), repetitions.len()].iter().all(|&it| it == 0 || it == levels);
    if !is_whole {
        return Err(ParquetError::General("a column has levels of two lengths".to_owned()));
    }
    Ok((part, records))
}

pub(super) fn ended() -> ParquetError {
    ParquetError::General("a column ends before its row group".to_owned())
}

pub(super) struct BoundedPages {
    pub(super) inner: Box<dyn PageReader>,
    /// How many values more the pages of the current row may have.
    pub(super) left: Arc<AtomicU64>,
}

impl PageReader for BoundedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.inner.get_next_page()?;
        let values = page.as_ref().map_or(0, |page| u64::from(page.num_values()));
        let left = self.left.load(Ordering::Relaxed).checked_sub(values);
        let left = left.ok_or_else(|| {
            ParquetError::General(format!("lists with more than {MOST_VALUES} values in a row"))
        })?;
        self.left.store(left, Ordering::Relaxed);
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.inner.at_record_boundary()
    }
}

impl Iterator for BoundedPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Result<Page, ParquetError>> {
        self.get_next_page().transpose()
    }
}
