//! What is near to the rows of a table, row by row.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Date32Builder, Float64Builder, LargeStringBuilder, ListBuilder, StringBuilder,
    StructBuilder, UInt8Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields as Columns};
use dupsieve::rooms::index::{Asker, LookupOptions};
use dupsieve::rooms::join::Preset;
use dupsieve::rooms::matches::{Answer, NearPage, Question};
use dupsieve::rooms::work::Work;
use dupsieve::{Lookup, Recipe, Result, Store};

use super::days_since_1970;
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

fn near_columns() -> Columns {
    Columns::from(vec![
        Field::new("id", DataType::LargeUtf8, false),
        Field::new("day", DataType::Date32, false),
        Field::new("distance", DataType::UInt8, false),
        Field::new("similarity", DataType::Float64, true),
    ])
}

fn written(answered: &[Answered]) -> RecordBatch {
    let (mut id, mut verdict, mut more) =
        (LargeStringBuilder::new(), StringBuilder::new(), UInt64Builder::new());
    let builders: Vec<Box<dyn ArrayBuilder>> = vec![
        Box::new(LargeStringBuilder::new()),
        Box::new(Date32Builder::new()),
        Box::new(UInt8Builder::new()),
        Box::new(Float64Builder::new()),
    ];
    let mut near = ListBuilder::new(StructBuilder::new(near_columns(), builders))
        .with_field(Field::new("item", DataType::Struct(near_columns()), false));
    for row in answered {
        id.append_value(&row.id);
        verdict.append_value(row.verdict);
        more.append_value(row.answer.more);
        row.answer.near.iter().for_each(|page| append(page, near.values()));
        near.append(true);
    }
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("id", Arc::new(id.finish()), false),
        ("verdict", Arc::new(verdict.finish()), false),
        ("near", Arc::new(near.finish()), false),
        ("more", Arc::new(more.finish()), false),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).expect("the columns are of one length")
}

fn append(page: &NearPage, to: &mut StructBuilder) {
    const TYPED: &str = "the builders are those of `near_columns`";
    to.field_builder::<LargeStringBuilder>(0).expect(TYPED).append_value(&page.id);
    to.field_builder::<Date32Builder>(1).expect(TYPED).append_option(page.day.map(days_since_1970));
    to.field_builder::<UInt8Builder>(2).expect(TYPED).append_value(page.distance);
    let similarity = page.similarity.map(|similarity| similarity.number());
    to.field_builder::<Float64Builder>(3).expect(TYPED).append_option(similarity);
    to.append(true);
}
