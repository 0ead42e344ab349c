//! Values of a column with their levels, which say where lists begin and what is null.

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;

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
