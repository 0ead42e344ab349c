//! Writes a segment: rows in order, in one pass. The file appears at its path when the segment is
//! complete.

use std::io::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::day::Day;
use crate::error::{At, Error, Excerpt, Kind, Result};
use crate::fingerprint::{Fingerprint, Width, hex};
use crate::output::{Fence, Listed, NewFile, Sum};
use crate::store::digest::Digest;

use super::columns::{Ending, FingerprintColumn, SpooledColumn};
use super::details::{DetailColumns, Details, SegmentOptions};
use super::directory::{Coding, Column, ColumnHead, IdKind};
use super::metadata::{MAGIC, Metadata, RecordCounts, VERSION, content_digest};
use super::open::Segment;
use super::packed::is_id;

/// The lists beside a segment: complete, but not yet in their places.
#[derive(Debug, Default)]
pub struct Lists {
    /// The records that could not be read.
    pub quarantine: Option<Listed>,
    /// The documents whose id came before.
    pub repeated: Option<Listed>,
}

/// One document with a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a, F> {
    /// Its fingerprint.
    pub fingerprint: F,
    /// Its id; ignored unless the segment has [`IdKind::Text`].
    pub id: &'a str,
    /// Its day; ignored by a segment without days, which is of one day.
    pub day: Option<Day>,
    /// What else is known of it; a segment ignores that for which it has no column.
    pub details: &'a Details,
}

impl<'a, F> Row<'a, F> {
    /// A document of which nothing else is known.
    pub fn new(fingerprint: F, id: &'a str) -> Row<'a, F> {
        Row { fingerprint, id, day: None, details: Details::NONE }
    }
}

/// A segment that is being written. If it is dropped before [`SegmentWriter::finish`], nothing remains.
pub struct SegmentWriter<F: Fingerprint> {
    path: PathBuf,
    options: SegmentOptions,
    fingerprints: FingerprintColumn<F, NewFile>,
    ids: Option<SpooledColumn>,
    days: Option<SpooledColumn>,
    empties: SpooledColumn,
    details: DetailColumns,
    last: Option<F>,
    last_id: String,
    last_day: Option<Day>,
    last_empty: String,
}

impl<F: Fingerprint> SegmentWriter<F> {
    /// Starts a segment for `path`, in a folder that exists.
    pub fn create(path: impl AsRef<Path>, options: SegmentOptions) -> Result<SegmentWriter<F>> {
        let path = path.as_ref();
        let mut fingerprints = FingerprintColumn::new(NewFile::beside(path)?, path, options.codec);
        fingerprints.blocks.out.write_all(&header(F::WIDTH)).at(path)?;
        let has_ids = options.ids == IdKind::Text;
        let column = |column| SpooledColumn::beside(path, column, 0);
        Ok(SegmentWriter {
            path: path.to_path_buf(),
            fingerprints,
            ids: has_ids.then(|| column(Column::Ids)).transpose()?,
            days: options.days.then(|| column(Column::Days)).transpose()?,
            empties: column(Column::Empties)?,
            details: DetailColumns::beside(path, &options)?,
            options,
            last: None,
            last_id: String::new(),
            last_day: None,
            last_empty: String::new(),
        })
    }

    /// From now on the segment gets its path only while the lock of `fence` is held.
    pub fn fenced(&mut self, fence: &Fence) {
        self.fingerprints.blocks.out.get_mut().fenced(fence);
    }

    /// Adds a row, which must come after the last one by (fingerprint, id as bytes, day).
    ///
    /// # Errors
    /// A row out of order or twice is [`Kind::Internal`]; an invalid id is [`Kind::BadData`], and so is a row without the
    /// signature, the bands or the digest that the segment keeps.
    pub fn push(&mut self, row: &Row<'_, F>) -> Result<()> {
        match self.last {
            Some(last) if row.fingerprint <= last => self.check_order(last, row)?,
            _ => {}
        }
        self.last = Some(row.fingerprint);
        self.fingerprints.push(row.fingerprint)?;
        if let Some(ids) = &mut self.ids {
            check_id(row.id)?;
            row.id.clone_into(&mut self.last_id);
            ids.push_id(row.id)?;
        }
        if let Some(days) = &mut self.days {
            let day = row.day.ok_or_else(|| dayless(&self.path))?;
            self.last_day = Some(day);
            days.push_integer(day.number())?;
        }
        self.details.push(row.details).map_err(|error| error.at(&self.path))
    }

    /// Adds the id of a document without a fingerprint. These ids are pushed in ascending order.
    pub fn push_empty(&mut self, id: &str) -> Result<()> {
        check_id(id)?;
        if id <= self.last_empty.as_str() {
            return Err(Error::new(Kind::Internal, "empty documents are out of order")
                .at(&self.path)
                .expected(format_args!("an id after `{}`", self.last_empty))
                .found(format_args!("`{id}`")));
        }
        id.clone_into(&mut self.last_empty);
        self.empties.push_id(id)
    }

    /// Completes the segment, renames the file into its place and opens the segment. `identity`
    /// says what the segment was made from, in the words of the caller.
    pub fn finish(self, counts: RecordCounts, identity: &str) -> Result<Segment> {
        self.finish_with(counts, identity, Lists::default())
    }

    /// Like [`SegmentWriter::finish`], for a segment that has taken rows of `source` and stands in its place: it names the
    /// same origin and the same lists.
    pub(crate) fn finish_like(self, source: &Segment, counts: RecordCounts) -> Result<Segment> {
        let sums = [source.quarantine().cloned(), source.repeated().cloned()];
        self.publish(counts, source.identity(), sums, Lists::default())
    }

    /// Like [`SegmentWriter::finish`], with lists beside the segment. They get their places right before
    /// the segment does, and the segment records their lengths and hashes.
    pub(crate) fn finish_with(
        self,
        counts: RecordCounts,
        identity: &str,
        lists: Lists,
    ) -> Result<Segment> {
        let sums = [&lists.quarantine, &lists.repeated];
        let sums = sums.map(|list| list.as_ref().map(|list| list.sum.clone()));
        self.publish(counts, identity, sums, lists)
    }

    fn publish(
        mut self,
        counts: RecordCounts,
        identity: &str,
        [quarantine, repeated]: [Option<Sum>; 2],
        lists: Lists,
    ) -> Result<Segment> {
        let (heads, entries) = self.append_columns()?;
        let SegmentOptions { stamp, order, .. } = self.options;
        let identity = identity.to_owned();
        let metadata = Metadata { stamp, counts, identity, order, quarantine, repeated };
        let out = &mut self.fingerprints.blocks.out;
        out.write_all(&entries)
            .and_then(|()| out.write_all(&ending(F::WIDTH, &heads, &metadata)))
            .at(&self.path)?;
        let file = self.fingerprints.blocks.out.into_inner();
        let file = file.map_err(|failed| Error::io(&self.path, failed.error()))?;
        file.sync()?;
        [lists.quarantine, lists.repeated].into_iter().flatten().try_for_each(Listed::publish)?;
        file.publish()?;
        Segment::open(&self.path)
    }

    fn append_columns(&mut self) -> Result<(Vec<ColumnHead>, Vec<u8>)> {
        let heads = vec![self.fingerprints.finish()?];
        let blocks = &mut self.fingerprints.blocks;
        let entries = std::mem::take(&mut blocks.entries);
        let mut ending = Ending { out: &mut blocks.out, heads, entries };
        match &mut self.ids {
            Some(ids) => ending.append(Some(ids))?,
            None => {
                ending.heads.push(computed(self.options.ids.coding(), self.fingerprints.rows));
            }
        }
        self.details.append_to(&mut ending, ..Column::Days)?;
        ending.append(self.days.as_mut())?;
        ending.append(Some(&mut self.empties))?;
        self.details.append_to(&mut ending, Column::Empties..)?;
        Ok((ending.heads, ending.entries))
    }

    fn check_order(&self, last: F, row: &Row<'_, F>) -> Result<()> {
        let id = if self.ids.is_some() { row.id } else { "" };
        let day = row.day.filter(|_| self.days.is_some());
        if row.fingerprint == last && (id, day) > (self.last_id.as_str(), self.last_day) {
            return Ok(());
        }
        let show =
            |fingerprint: F, id: &str| format!("{} `{id}`", hex(fingerprint.to_u128(), F::WIDTH));
        Err(Error::new(Kind::Internal, "the rows of a segment are out of order")
            .at(&self.path)
            .expected(format_args!("a row after {}", show(last, &self.last_id)))
            .found(show(row.fingerprint, row.id)))
    }
}

fn dayless(path: &Path) -> Error {
    Error::new(Kind::Internal, "a row of a segment of several days has no day").at(path)
}

fn check_id(id: &str) -> Result<()> {
    if is_id(id) {
        return Ok(());
    }
    Err(Error::new(Kind::BadData, "this id is invalid")
        .expected("1 to 65536 bytes without tab, CR, LF and NUL")
        .found(Excerpt(id)))
}

fn computed(coding: Coding, rows: u64) -> ColumnHead {
    ColumnHead { column: Column::Ids, coding, rows, bytes: 0, entries: Digest::of(&[]).0 }
}

fn header(width: Width) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &width.bits().to_le_bytes()].concat()
}

/// The last bytes of a segment: table of columns, metadata, trailer.
fn ending(width: Width, heads: &[ColumnHead], metadata: &Metadata) -> Vec<u8> {
    let mut table = Vec::new();
    for head in heads {
        head.write(&mut table);
    }
    let json = serde_json::to_vec(metadata).expect("metadata is plain data");
    let mut trailer = Vec::new();
    for part in [&table, &json] {
        trailer.extend((part.len() as u64).to_le_bytes());
        trailer.extend(xxh3_64(part).to_le_bytes());
    }
    trailer.extend(content_digest(width, &table, &metadata.stamp).0.to_le_bytes());
    [table, json, trailer, MAGIC.to_vec()].concat()
}
