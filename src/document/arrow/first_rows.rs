//! The first rows of an Arrow file, in all columns that can be fields.

use super::damage::trying;
use super::file::{ArrowFile, NextBatch};
use super::schema::{Spot, places};
use crate::document::columns::{Wanted, bytes_of};
use crate::document::inputs::Input;
use crate::document::read_options::ReadOptions;
use crate::error::Result;

const MOST_COLUMNS: usize = 500;

pub(in crate::rooms::document) fn first_rows(
    input: &Input,
    most: u64,
    each: &mut dyn FnMut(&str, &str),
) -> Result<u64> {
    let opened = bytes_of(input)?;
    trying(input.path(), || {
        let mut file = ArrowFile::open(opened, ReadOptions::default().max_record_bytes)?;
        let spots: Vec<(String, Spot)> = places(&file.columns, MOST_COLUMNS)
            .into_iter()
            .filter_map(|(name, place)| {
                let place = place.checked(&file.columns, Wanted::Number).ok()?;
                Some((name, file.want(&place)))
            })
            .collect();
        let NextBatch::Batch(batch) = file.next()? else { return Ok(0) };
        let rows = batch.rows.min(most);
        for (name, spot) in &spots {
            let mut column = file.column(&batch, spot)?;
            for _ in 0..rows {
                if let Some(text) = column.next()?.as_ref().and_then(|value| value.text()) {
                    each(name, &text);
                }
            }
        }
        Ok(rows)
    })
}
