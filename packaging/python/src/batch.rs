//! The documents of a table as a segment in a folder, and what is known of the rows beside it.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use arrow_array::ArrayRef;
use dupsieve::budget::Budget;
use dupsieve::document::{Occurrence, Reason, Tolerance};
use dupsieve::flow::Fingerprinting;
use dupsieve::output::Lock;
use dupsieve::parallel::lock;
use dupsieve::runs::Sorter;
use dupsieve::store::{FingerprintedDocument, Lists, RecordCounts, SegmentBuilder, SegmentOptions};
use dupsieve::{Error, Kind, Recipe, Result, Segment};

use crate::interrupt::Stop;
use crate::pieces::each_piece;
use crate::reading::{Fields, Reader};
use crate::source::Source;

pub(crate) struct Batch {
    pub(crate) segment: Segment,
    /// The ids of the rows, batch by batch; empty if the numbers of the rows are the ids.
    pub(crate) ids: Vec<ArrayRef>,
    pub(crate) rows: u64,
    pub(crate) bad: Vec<(u64, Reason)>,
}

pub(crate) struct Making {
    pub(crate) fields: Fields,
    pub(crate) recipe: Recipe,
    pub(crate) threads: usize,
    pub(crate) budget: Budget,
}

impl Making {
    /// Reads the table to its end, and makes the file `batch.seg` in `folder`.
    pub(crate) fn make(&self, source: Source, folder: &Path, stop: &Stop) -> Result<Batch> {
        let source = self.fields.of(source)?;
        let (mut ids, mut rows) = (Vec::new(), 0);
        let documents = Mutex::new(Sorter::new(folder, self.budget.documents()));
        let handler = || {
            let mut reader = Reader::new(&self.fields, &self.recipe)?;
            let documents = &documents;
            Ok(move |piece: &_| {
                let (mut made, mut bad) = (Vec::new(), Vec::new());
                reader.each(piece, |row, read| {
                    match read {
                        Ok(document) => made.push(document),
                        Err(reason) => bad.push((row, reason)),
                    }
                    stop.check()
                })?;
                lock(documents).extend(made)?;
                Ok(bad)
            })
        };
        let bad = each_piece(source, self.threads, stop, handler, |batch, _| {
            rows += batch.num_rows() as u64;
            let named = self.fields.id.as_ref().and_then(|id| batch.column_by_name(id));
            ids.extend(named.cloned());
            Ok(())
        })?;
        let bad: Vec<(u64, Reason)> = bad.into_iter().flatten().collect();
        check_bad(&bad, rows)?;
        let documents = documents.into_inner().unwrap_or_else(PoisonError::into_inner);
        let segment = self.segment(documents, folder, rows, bad.len() as u64)?;
        stop.check()?;
        Ok(Batch { segment, ids, rows, bad })
    }

    fn segment(
        &self,
        documents: Sorter<FingerprintedDocument>,
        folder: &Path,
        rows: u64,
        bad: u64,
    ) -> Result<Segment> {
        let counts = RecordCounts { read: rows, quarantined: bad, ..RecordCounts::default() };
        let path = folder.join("batch.seg");
        let lock = Lock::on_file(&path)?;
        let (mut repeated, mut same) = (0, 0);
        let mut take = |_: &str, first: Occurrence, again: Occurrence| {
            repeated += 1;
            same += u64::from(first.content == again.content);
            Ok(())
        };
        let builder = SegmentBuilder::of(
            documents.sorted()?,
            self.recipe.width(),
            &path,
            self.options()?,
            counts,
            self.budget.rows(),
            &mut take,
        )?;
        if Tolerance::REPEATED.exceeded(repeated, rows - bad) {
            let what = "too many ids are repeated; a wrong id field looks like this";
            let found = format!("{repeated} of {rows} records, {same} of them with the same text");
            return Err(Error::new(Kind::BadData, what)
                .expected(format_args!("at most {}", Tolerance::REPEATED))
                .found(found)
                .help("check the column that `id` names"));
        }
        builder.write("a table", Lists::default(), &lock)
    }

    fn options(&self) -> Result<SegmentOptions> {
        let Making { recipe, fields, .. } = self;
        let order = fields.order.as_ref();
        let mut options = Fingerprinting::columns(recipe)?;
        options.times = order.is_some();
        options.order = order.filter(|field| !field.is_time()).map(ToString::to_string);
        Ok(options)
    }
}

fn check_bad(bad: &[(u64, Reason)], rows: u64) -> Result<()> {
    let Some((row, reason)) = bad.first() else { return Ok(()) };
    if !Tolerance::BAD.exceeded(bad.len() as u64, rows) {
        return Ok(());
    }
    Err(Error::new(Kind::BadData, "too many rows cannot be read")
        .expected(format_args!("at most {}", Tolerance::BAD))
        .found(format_args!("{} of {rows}, the first of them row {row}: {reason}", bad.len())))
}
