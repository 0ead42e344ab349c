//! Copies records whose ids are listed, unchanged and in their order.

use std::sync::atomic::AtomicU64;

#[cfg(feature = "parquet")]
use dupsieve::rooms::document::ParquetCopy;
use dupsieve::rooms::document::{
    self, Content, Document, Fields, Format, IdList, Inputs, NewText, Position, ReadOptions,
    Records, Share,
};
use dupsieve::rooms::output::PackedFile;
#[cfg(not(feature = "parquet"))]
use dupsieve::rooms::results::ResultFormat;
use dupsieve::{Error, Kind, Result};
use roaring::RoaringTreemap;
use serde_json::json;

use super::copied;
use super::cutting::{Cutting, Taken};
use crate::outcome::summary::Summary;

/// The ids whose records are copied. Of several records with the same id the first is copied, because that one was judged.
pub(super) struct Listed {
    wanted: IdList,
    /// For each wanted id whether its record was copied.
    found: Vec<bool>,
    /// How many records have a wanted id whose record was copied before.
    again: u64,
    /// Whether the records of all other ids are copied in place of these, and how many these are.
    others: Option<u64>,
    /// Passages that are cut out of the records.
    cutting: Option<Cutting>,
}

impl Listed {
    /// Nothing is copied yet.
    pub(super) fn new(wanted: IdList) -> Listed {
        let found = vec![false; wanted.len()];
        Listed { wanted, found, again: 0, others: None, cutting: None }
    }

    /// The records of all ids but these are copied. None is yet.
    pub(super) fn all_but(unwanted: IdList) -> Listed {
        Listed { others: Some(0), ..Listed::new(unwanted) }
    }

    /// They are copied without what is cut out of them.
    pub(super) fn cut(self, cutting: Option<Cutting>) -> Listed {
        Listed { cutting, ..self }
    }

    /// How many records were not copied because a record with their id came before.
    pub(super) fn again(&self) -> u64 {
        self.again
    }

    /// How many records are copied, once all are found.
    pub(super) fn len(&self) -> u64 {
        let listed = self.others.unwrap_or(self.wanted.len() as u64);
        self.cutting.as_ref().map_or(listed, Cutting::copied)
    }

    /// Adds to a summary what was cut out.
    pub(super) fn count_cut(&self, summary: Summary) -> Summary {
        self.cutting.iter().fold(summary, |summary, cutting| cutting.count(summary))
    }

    /// Copies the listed records of `inputs`, which have one format, to `out`. `progress` grows by the bytes that are read.
    pub(super) fn copy(
        &mut self,
        inputs: &Inputs,
        options: &ReadOptions,
        progress: &AtomicU64,
        out: PackedFile,
    ) -> Result<PackedFile> {
        let format = copied::format(inputs)?;
        let archives = (format == Format::Warc).then(Archives::default);
        let rows =
            (format == Format::Parquet).then(|| vec![RoaringTreemap::new(); inputs.files().len()]);
        let fields = &options.fields;
        let format = inputs.files().first().map_or(format, |file| file.format());
        let mut copier = Copier { archives, rows, fields, format, listed: self, header: None, out };
        let mut outcome = Ok(());
        document::read(inputs, &Share::whole(), options, progress, &mut |batch| {
            outcome = copier.batch(&batch);
            outcome.is_ok()
        })?;
        outcome?;
        let Copier { out, rows, .. } = copier;
        match rows {
            Some(rows) => copy_rows(inputs, &rows, out),
            None => Ok(out),
        }
    }

    /// Fails if the record of a listed id was not found.
    pub(super) fn expect_all(&self) -> Result<()> {
        let missing = self.found.iter().filter(|found| !**found).count();
        if missing == 0 {
            return Ok(());
        }
        let what = format!("{missing} listed ids were not found in the inputs");
        let error = self.wanted.missing(&self.found, &what);
        Err(error.help("use the same inputs and fields that the list was made from"))
    }

    /// Whether the record with this id is copied: the first one with a listed id, or one with an id that is not listed.
    pub(super) fn is_next(&mut self, id: &str) -> bool {
        let place = self.wanted.place(id);
        if let Some(others) = &mut self.others {
            *others += u64::from(place.is_none());
            place.into_iter().for_each(|place| self.found[place] = true);
            return place.is_none();
        }
        let Some(place) = place else { return false };
        let is_again = std::mem::replace(&mut self.found[place], true);
        self.again += u64::from(is_again);
        !is_again
    }
}

/// Copies rows of Parquet: of each file those that are listed for it.
#[cfg(feature = "parquet")]
fn copy_rows(inputs: &Inputs, rows: &[RoaringTreemap], out: PackedFile) -> Result<PackedFile> {
    let Some(first) = inputs.files().first() else { return Ok(out) };
    let output = out.path().to_path_buf();
    let mut copy = ParquetCopy::like(first, out, &output)?;
    for (file, rows) in inputs.files().iter().zip(rows) {
        copy.copy(file, rows)?;
    }
    copy.finish()
}

#[cfg(not(feature = "parquet"))]
fn copy_rows(_: &Inputs, _: &[RoaringTreemap], out: PackedFile) -> Result<PackedFile> {
    ResultFormat::Parquet.check().map(|()| out)
}

struct Copier<'a> {
    /// Set if the inputs are web archives.
    archives: Option<Archives>,
    /// Set if the inputs are Parquet: for each file the rows to copy, which are copied with all their columns at the end.
    rows: Option<Vec<RoaringTreemap>>,
    fields: &'a Fields,
    format: Format,
    listed: &'a mut Listed,
    header: Option<Vec<u8>>,
    out: PackedFile,
}

impl Copier<'_> {
    fn batch(&mut self, batch: &Records) -> Result<()> {
        if let Some(header) = batch.header() {
            self.header(header)?;
        }
        let mut outcome = Ok(());
        let fields = self.fields;
        let is_cut = self.listed.cutting.as_ref().is_some_and(|it| it.cut.is_some());
        let new_text = || NewText::of(self.format, &fields.text, batch.header());
        let new_text = is_cut.then(new_text).transpose()?;
        batch.parse(fields, &mut |position, document| {
            if let Ok(document) = document
                && outcome.is_ok()
                && self.listed.is_next(&document.id)
            {
                outcome = self.record_or_cut(position, &document, new_text.as_ref());
            }
        });
        outcome
    }

    /// Copies a record, without what is cut out of its text.
    fn record_or_cut(
        &mut self,
        position: Position,
        document: &Document<'_>,
        new_text: Option<&NewText>,
    ) -> Result<()> {
        let taken = self.listed.cutting.as_mut().map(|cutting| cutting.take(document));
        match (taken.transpose()?, new_text) {
            (Some(Taken::Dropped), _) => Ok(()),
            (Some(Taken::Cut(text)), Some(new_text)) => {
                self.out.line(&new_text.record(document.record, &text)?)
            }
            _ => self.record(position, document),
        }
    }

    /// Copies the header of the first file with columns, and the first record of each ARC file. The columns
    /// of other files must be the same.
    fn header(&mut self, header: &[u8]) -> Result<()> {
        if let Some(archives) = &mut self.archives {
            archives.check(header)?;
            return self.out.record(header);
        }
        match &self.header {
            None => {
                self.header = Some(header.to_vec());
                self.out.line(header)
            }
            Some(first) if first == header => Ok(()),
            Some(first) => {
                let [expected, found] =
                    [first, header].map(|it| String::from_utf8_lossy(it).into_owned());
                Err(Error::new(Kind::Usage, "the inputs have different columns")
                    .expected(expected)
                    .found(found)
                    .help("filter the files one by one"))
            }
        }
    }

    fn record(&mut self, position: Position, document: &Document<'_>) -> Result<()> {
        if let Some(archives) = &mut self.archives {
            archives.check(document.record)?;
            return self.out.record(document.record);
        }
        if let Some(rows) = &mut self.rows {
            rows[position.file as usize].insert(position.line);
            return Ok(());
        }
        match &document.content {
            Content::Text(text) if position.is_file() => {
                self.out.line(json!({"id": document.id, "text": text}).to_string().as_bytes())
            }
            _ => self.out.line(document.record),
        }
    }
}

/// The web archives that are copied: all WARC or all ARC, for no reader takes both in one file.
#[derive(Default)]
struct Archives {
    are_warc: Option<bool>,
}

impl Archives {
    fn check(&mut self, record: &[u8]) -> Result<()> {
        let is_warc = record.starts_with(b"WARC/");
        if *self.are_warc.get_or_insert(is_warc) == is_warc {
            return Ok(());
        }
        Err(Error::new(Kind::Usage, "WARC and ARC files cannot be copied into one file")
            .help("filter them one after the other"))
    }
}
