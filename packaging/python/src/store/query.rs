//! What is near to the rows of a table, row by row.

use std::sync::Arc;

use arrow_array::builder::OffsetBufferBuilder;
use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, LargeStringArray, ListArray, RecordBatch,
    StringArray, StructArray, UInt8Array, UInt64Array,
};
use arrow_schema::Field;
use dupsieve::index::{Asker, LookupOptions};
use dupsieve::join::Preset;
use dupsieve::matches::{Answer, NearPage, Question};
use dupsieve::work::Work;
use dupsieve::{Lookup, Recipe, Result, Store};

use super::{days_since_1970, table};
use crate::interrupt::Stop;
use crate::pieces::{Piece, each_piece};
use crate::reading::{Fields, Read, Reader};
use crate::recipe;
use crate::source::Source;

pub(super) struct Asked {
    pub(super) fields: Fields,
    pub(super) distance: Option<u32>,
    pub(super) limit: usize,
    pub(super) version: Option<u64>,
    pub(super) threads: usize,
}

struct Answered {
    id: String,
    verdict: &'static str,
    answer: Answer,
}

impl Asked {
    pub(super) fn answer(&self, store: &Store, table: Source, stop: &Stop) -> Result<RecordBatch> {
        let table = self.fields.of(table)?;
        let version = store.at(self.version)?;
        let recipe = recipe::chosen(None, None, Some(&version))?;
        let preset = Preset::of(recipe.stamp().as_str()).unwrap_or(Preset::Paper);
        let distance = self.distance.unwrap_or(preset.distance());
        let mut options = LookupOptions::within(distance);
        options.check = preset.check();
        let lookup = Lookup::open(store, version, options)?;
        let handler = || self.handler(&lookup, &recipe, stop);
        let answered = each_piece(table, self.threads, stop, handler, |_, _| Ok(()))?;
        Ok(written(&answered.into_iter().flatten().collect::<Vec<_>>()))
    }

    fn handler(
        &self,
        lookup: &Arc<Lookup>,
        recipe: &Recipe,
        stop: &Stop,
    ) -> Result<impl FnMut(&Piece) -> Result<Vec<Answered>>> {
        let mut reader = Reader::new(&self.fields, recipe)?;
        let mut asker = Asker::new(lookup);
        Ok(move |piece: &Piece| {
            let mut answered = Vec::new();
            reader.each(piece, |row, read| {
                stop.check()?;
                answered.push(self.ask(row, read, &mut asker, stop)?);
                Ok(())
            })?;
            Ok(answered)
        })
    }

    fn ask(&self, row: u64, read: Read, asker: &mut Asker, stop: &Stop) -> Result<Answered> {
        let none = |id, verdict| Ok(Answered { id, verdict, answer: Answer::default() });
        let Ok(made) = read else { return none(row.to_string(), "bad") };
        let id = if self.fields.id.is_some() { made.id } else { row.to_string() };
        let Some(fingerprint) = made.fingerprint else { return none(id, "empty") };
        let question = Question { fingerprint, page: Some(&made.details) };
        let is_wanted = || stop.check().is_ok();
        let mut work = Work::unbounded().while_wanted(&is_wanted);
        let answer = asker.ask(&question, self.limit, &mut work)?;
        Ok(Answered { id, verdict: if answer.drops() { "drop" } else { "keep" }, answer })
    }
}

fn written(answered: &[Answered]) -> RecordBatch {
    let near = || answered.iter().flat_map(|row| &row.answer.near);
    let similarity = |page: &NearPage| page.similarity.map(|similarity| similarity.number());
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("id", Arc::new(LargeStringArray::from_iter(near().map(|it| Some(&it.id)))), false),
        (
            "day",
            Arc::new(Date32Array::from_iter(near().map(|it| it.day.map(days_since_1970)))),
            false,
        ),
        ("distance", Arc::new(UInt8Array::from_iter_values(near().map(|it| it.distance))), false),
        ("similarity", Arc::new(Float64Array::from_iter(near().map(similarity))), true),
    ];
    let pages = StructArray::from(table(columns));
    let mut lengths = OffsetBufferBuilder::<i32>::new(answered.len());
    answered.iter().for_each(|row| lengths.push_length(row.answer.near.len()));
    let item = Arc::new(Field::new("item", pages.data_type().clone(), false));
    let near = ListArray::new(item, lengths.finish(), Arc::new(pages), None);
    let ids = answered.iter().map(|row| &row.id);
    let verdicts = answered.iter().map(|row| row.verdict);
    let more = answered.iter().map(|row| row.answer.more);
    table([
        ("id", Arc::new(LargeStringArray::from_iter_values(ids)), false),
        ("verdict", Arc::new(StringArray::from_iter_values(verdicts)), false),
        ("near", Arc::new(near), false),
        ("more", Arc::new(UInt64Array::from_iter_values(more)), false),
    ])
}
