//! Copies records whose ids are listed, unchanged and in their order.

use std::path::Path;
use std::sync::atomic::AtomicU64;

#[cfg(feature = "parquet")]
use dupsieve::document::ParquetCopy;
use dupsieve::document::{
    self, Content, Document, Fields, Format, IdList, Inputs, NewText, Position, ReadOptions,
    Records, Share,
};
use dupsieve::output::{PackedFile, parent_of};
#[cfg(not(feature = "parquet"))]
use dupsieve::results::ResultFormat;
use dupsieve::runs::{Record, Sorter};
use dupsieve::{Error, Kind, Result};
use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::copied;
use super::cutting::{Cutting, Taken};
use crate::outcome::{Summary, tally};

/// The ids whose records are copied. Of several records with the same id the first is copied, because that one was judged.
pub(super) struct Listed {
    wanted: IdList,
    /// For each wanted id whether its record was copied.
    found: Vec<bool>,
    /// How many records have a wanted id whose record was copied before.
    pub(super) again: u64,
    /// Whether the records of all other ids are copied in place of these, and how many these are.
    others: Option<u64>,
    cutting: Option<Cutting>,
}

impl Listed {
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

    /// How many records are copied, once all are found.
    pub(super) fn len(&self) -> u64 {
        let listed = self.others.unwrap_or(self.wanted.len() as u64);
        self.cutting.as_ref().map_or(listed, |cutting| cutting.copied)
    }

    pub(super) fn count_cut(&self, summary: Summary) -> Summary {
        self.cutting.iter().fold(summary, |summary, cutting| cutting.count(summary))
    }

    /// Whether the pages of these files are copied as JSON Lines: what is cut cannot be put back into their records.
    pub(super) fn makes_pages(&self, inputs: &Inputs, fields: &Fields) -> bool {
        let Some(cutting) = &self.cutting else { return false };
        inputs.files().iter().any(|file| {
            let is_cut = cutting.cut.is_some() && !copied::takes_texts(file, fields);
            is_cut || file.format().is_whole_file()
        })
    }

    pub(super) fn copy(
        &mut self,
        inputs: &Inputs,
        options: &ReadOptions,
        progress: &AtomicU64,
        out: PackedFile,
    ) -> Result<PackedFile> {
        let format = copied::format(inputs)?;
        let fields = &options.fields;
        let are_pages = self.makes_pages(inputs, fields);
        let is_cut = self.cutting.as_ref().is_some_and(|it| it.cut.is_some());
        let is = |wanted: Format| !are_pages && format == wanted;
        let archives = is(Format::Warc).then(Archives::default);
        let rows = is(Format::Parquet).then(|| Rows::of(inputs, parent_of(out.path())));
        let format = inputs.files().first().map_or(format, |file| file.format());
        let (listed, header) = (self, None);
        let mut copier = Copier { archives, rows, are_pages, fields, format, listed, header, out };
        let mut outcome = Ok(());
        document::read(inputs, &Share::whole(), options, progress, &mut |batch| {
            outcome = copier.batch(&batch);
            outcome.is_ok()
        })?;
        outcome?;
        let Copier { out, rows, .. } = copier;
        match rows {
            Some(rows) => rows.copy(inputs, is_cut.then_some(&*fields.text), out),
            None => Ok(out),
        }
    }

    pub(super) fn expect_all(&self) -> Result<()> {
        let missing = self.found.iter().filter(|found| !**found).count();
        if missing == 0 {
            return Ok(());
        }
        let ids = tally(missing as u64, "listed id(s)", &[]);
        let what = format!("not found in the inputs: {ids}");
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

/// Rows of Parquet that are copied with all their columns once all are known.
struct Rows {
    /// For each file those that are copied.
    copied: Vec<RoaringTreemap>,
    cut: Sorter<CutRow>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct CutRow {
    file: u32,
    row: u64,
    text: String,
}

impl Record for CutRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.text.len()
    }
}

impl Rows {
    /// The memory of texts before they go to disk.
    const TEXT_BYTES: usize = 16 << 20;

    fn of(inputs: &Inputs, folder: &Path) -> Rows {
        let copied = vec![RoaringTreemap::new(); inputs.files().len()];
        Rows { copied, cut: Sorter::new(folder, Rows::TEXT_BYTES) }
    }

    /// Copies them. The column `text`, if there is one, has the texts that are cut.
    #[cfg(feature = "parquet")]
    fn copy(self, inputs: &Inputs, text: Option<&str>, out: PackedFile) -> Result<PackedFile> {
        let Some(first) = inputs.files().first() else { return Ok(out) };
        let output = out.path().to_path_buf();
        let mut copy = ParquetCopy::like(first, out, &output)?;
        let mut cut = self.cut.sorted()?.peekable();
        for (number, (file, rows)) in (0..).zip(inputs.files().iter().zip(&self.copied)) {
            let is_of = |next: &Result<CutRow>, row| {
                next.as_ref().map_or(true, |next| (next.file, next.row) == (number, row))
            };
            copy.copy(file, rows, text, &mut |row| {
                let next = cut.next_if(|next| is_of(next, row)).transpose()?;
                Ok(next.map(|next| next.text))
            })?;
        }
        copy.finish()
    }

    #[cfg(not(feature = "parquet"))]
    fn copy(self, _: &Inputs, _: Option<&str>, out: PackedFile) -> Result<PackedFile> {
        ResultFormat::Parquet.check().map(|()| out)
    }
}

struct Copier<'a> {
    archives: Option<Archives>,
    rows: Option<Rows>,
    /// Whether pages are written as JSON Lines in place of their records.
    are_pages: bool,
    fields: &'a Fields,
    format: Format,
    listed: &'a mut Listed,
    header: Option<Vec<u8>>,
    out: PackedFile,
}

impl Copier<'_> {
    fn batch(&mut self, batch: &Records) -> Result<()> {
        if let Some(header) = batch.header().filter(|_| !self.are_pages) {
            self.header(header)?;
        }
        let mut outcome = Ok(());
        let fields = self.fields;
        let is_cut = self.listed.cutting.as_ref().is_some_and(|it| it.cut.is_some());
        let has_records = self.rows.is_none() && !self.are_pages;
        let new_text = || NewText::of(self.format, &fields.text, batch.header());
        let new_text = (is_cut && has_records).then(new_text).transpose()?;
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

    fn record_or_cut(
        &mut self,
        position: Position,
        document: &Document<'_>,
        new_text: Option<&NewText>,
    ) -> Result<()> {
        let taken = self.listed.cutting.as_mut().map(|cutting| cutting.take(document));
        match taken.transpose()? {
            Some(Taken::Dropped) => Ok(()),
            Some(Taken::Cut(text)) => match (new_text, &mut self.rows) {
                (Some(new_text), _) => self.out.line(&new_text.record(document.record, &text)?),
                (None, Some(rows)) => {
                    let Position { file, line: row } = position;
                    rows.cut.push(CutRow { file, row, text })?;
                    self.record(position, document)
                }
                (None, None) => self.page(document, &text),
            },
            _ => self.record(position, document),
        }
    }

    fn page(&mut self, document: &Document<'_>, text: &str) -> Result<()> {
        self.out.line(json!({"id": document.id, "text": text}).to_string().as_bytes())
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
            rows.copied[position.file as usize].insert(position.line);
            return Ok(());
        }
        match &document.content {
            Content::Text(text) if self.are_pages || position.is_file() => {
                self.page(document, text)
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
