//! The first rows of a Parquet file, in all columns that can be fields.

use parquet::errors::ParquetError;

use super::column::{Column, Place};
use super::open::open;
use crate::document::inputs::Input;
use crate::document::read_options::ReadOptions;
use crate::error::Result;
use crate::results::trying;

const MOST_COLUMNS: usize = 500;

/// Calls `each` with the name of the column and the value, as text, of the first `most` rows of the first row group. Times
/// are seconds since 1970. Returns how many rows these are.
pub(in crate::rooms::document) fn first_rows(
    input: &Input,
    most: usize,
    each: &mut dyn FnMut(&str, &str),
) -> Result<u64> {
    let path = input.path();
    let file = open(input)?;
    let max_bytes = ReadOptions::default().max_record_bytes;
    trying(path, || {
        if file.groups() == 0 {
            return Ok(0);
        }
        let group = file.group(0);
        let rows = usize::try_from(group.rows()).unwrap_or(usize::MAX).min(most);
        let schema = file.metadata().schema_descr();
        for leaf in schema.columns().iter().take(MOST_COLUMNS) {
            let name = leaf.path().string();
            let Some(Ok(place)) = Place::find(schema, &name, false) else { continue };
            let mut column = Column::new(&group, place, max_bytes)?;
            for _ in 0..rows {
                if let Some(text) = column.next()?.as_ref().and_then(|value| value.text()) {
                    each(&name, &text);
                }
            }
        }
        Ok::<u64, ParquetError>(rows as u64)
    })
}
