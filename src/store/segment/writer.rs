//! Writes a segment: rows in order, in one pass. The file appears at its path when the segment is
//! complete.

use std::io::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Error, Kind, Result, Shown};
use crate::fingerprint::{Check, Class, Fingerprint, Recipe, Width, hex};
use crate::output::{Fence, Listed, NewFile};
use crate::store::day::Day;
use crate::store::digest::Digest;

use super::block::Codec;
use super::columns::{FingerprintColumn, IntegerRows, PackedColumn, TextRows};
use super::directory::{Coding, Column, Head, IdKind};
use super::metadata::{MAGIC, Metadata, RecordCounts, VERSION, content_digest};
use super::open::Segment;
use super::packed::is_id;
use super::row_bytes::RowBytesColumn;

/// The bytes of the digest of a text.
const DIGEST_BYTES: usize = 16;

impl IdKind {
    pub(crate) fn coding(self) -> Coding {
        match self {
            IdKind::Text => Coding::Text,
            IdKind::Numbers => Coding::RowNumber,
            IdKind::None => Coding::Hex,
        }
    }
}

/// The columns of a segment, and the recipe of its fingerprints.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SegmentOptions {
    /// The kind of ids of its rows.
    pub ids: IdKind,
    /// The codec of its fingerprints.
    pub codec: Codec,
    /// Whether it has the lengths of the texts.
    pub lengths: bool,
    /// Whether it has times, or other keys of a keep order.
    pub times: bool,
    /// The field that these keys are of, if they are not times.
    pub order: Option<String>,
    /// Whether it has the class of each row.
    pub classes: bool,
    /// Whether it has the day of each row, as a segment of several days must.
    pub days: bool,
    /// The bytes of the signature of each row; 0 for no signatures.
    pub check_bytes: usize,
    /// The bytes of the band keys of each row; 0 for none.
    pub band_bytes: usize,
    /// Whether it has the digests of the texts.
    pub digests: bool,
    /// The stamp of the recipe.
    pub stamp: String,
}

impl SegmentOptions {
    /// Those of a segment of `recipe`, with the columns that the recipe fills: classes, signatures and digests.
    #[must_use]
    pub fn of(recipe: &Recipe) -> SegmentOptions {
        SegmentOptions {
            classes: recipe.has_classes(),
            check_bytes: recipe.check().map_or(0, Check::bytes),
            digests: recipe.has_digests(),
            stamp: recipe.stamp().to_string(),
            ..SegmentOptions::default()
        }
    }

    /// The options of a segment with the columns of `segment`, for rows of one day, with the usual
    /// codec.
    #[must_use]
    pub fn like(segment: &Segment) -> SegmentOptions {
        SegmentOptions {
            ids: segment.id_kind(),
            codec: Codec::default(),
            lengths: segment.has_lengths(),
            times: segment.has_times(),
            order: segment.order().map(str::to_owned),
            classes: segment.has_classes(),
            days: false,
            check_bytes: segment.check_bytes(),
            band_bytes: segment.band_bytes(),
            digests: segment.has_digests(),
            stamp: segment.stamp().to_owned(),
        }
    }

    /// With the columns of `other` as well. The rest is as it is here.
    #[must_use]
    pub(crate) fn or(self, other: SegmentOptions) -> SegmentOptions {
        SegmentOptions {
            lengths: self.lengths || other.lengths,
            times: self.times || other.times,
            classes: self.classes || other.classes,
            days: self.days || other.days,
            check_bytes: self.check_bytes.max(other.check_bytes),
            band_bytes: self.band_bytes.max(other.band_bytes),
            digests: self.digests || other.digests,
            ..self
        }
    }
}

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
#[non_exhaustive]
pub struct Row<'a, F> {
    /// Its fingerprint.
    pub fingerprint: F,
    /// Its id; ignored unless the segment has [`IdKind::Text`].
    pub id: &'a str,
    /// The length of its text in UTF-8 bytes; ignored by a segment without lengths.
    pub length: u64,
    /// Its time in seconds since 1970, or its key in another order, if known (`i64::MIN` also means unknown); ignored by a segment
    /// without times.
    pub time: Option<i64>,
    /// Its class; ignored by a segment without classes.
    pub class: Class,
    /// Its day; ignored by a segment without days, which is of one day.
    pub day: Option<Day>,
    /// Its signature; ignored by a segment without signatures.
    pub check: &'a [u8],
    /// The keys of its bands; ignored by a segment without bands.
    pub bands: &'a [u8],
    /// The XXH3-128 of its text, 0 if it is not known; ignored by a segment without digests.
    pub digest: u128,
}

impl<'a, F> Row<'a, F> {
    /// A document of which nothing else is known.
    pub fn new(fingerprint: F, id: &'a str) -> Row<'a, F> {
        let (length, time, class, day) = (0, None, Class::Full, None);
        Row { fingerprint, id, length, time, class, day, check: &[], bands: &[], digest: 0 }
    }

    /// The same document with another form of its fingerprint.
    pub(crate) fn with<G>(self, fingerprint: G) -> Row<'a, G> {
        let Row { id, length, time, class, day, check, bands, digest, .. } = self;
        Row { fingerprint, id, length, time, class, day, check, bands, digest }
    }
}

/// A segment that is being written. If it is dropped before [`SegmentWriter::finish`], nothing remains.
pub struct SegmentWriter<F: Fingerprint> {
    path: PathBuf,
    options: SegmentOptions,
    fingerprints: FingerprintColumn<F, NewFile>,
    ids: Option<PackedColumn<TextRows>>,
    lengths: Option<PackedColumn<IntegerRows>>,
    times: Option<PackedColumn<IntegerRows>>,
    days: Option<PackedColumn<IntegerRows>>,
    empties: PackedColumn<TextRows>,
    classes: Option<PackedColumn<IntegerRows>>,
    checks: Option<RowBytesColumn>,
    bands: Option<RowBytesColumn>,
    digests: Option<RowBytesColumn>,
    last: Option<F>,
    last_id: String,
    last_day: Option<Day>,
    last_empty: String,
}

impl<F: Fingerprint> SegmentWriter<F> {
    /// Starts a segment for `path`, in a folder that exists.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn create(path: impl AsRef<Path>, options: SegmentOptions) -> Result<SegmentWriter<F>> {
        let path = path.as_ref();
        let mut fingerprints = FingerprintColumn::new(NewFile::beside(path)?, path, options.codec);
        fingerprints.blocks.out.write_all(&header(F::WIDTH)).at(path)?;
        let column =
            |wanted: bool, column| wanted.then(|| PackedColumn::beside(path, column)).transpose();
        let row_bytes = |column, bytes| {
            (bytes > 0).then(|| RowBytesColumn::beside(path, column, bytes)).transpose()
        };
        Ok(SegmentWriter {
            path: path.to_path_buf(),
            fingerprints,
            ids: (options.ids == IdKind::Text)
                .then(|| PackedColumn::beside(path, Column::Ids))
                .transpose()?,
            lengths: column(options.lengths, Column::Lengths)?,
            times: column(options.times, Column::Times)?,
            days: column(options.days, Column::Days)?,
            empties: PackedColumn::beside(path, Column::Empties)?,
            classes: column(options.classes, Column::Classes)?,
            checks: row_bytes((Column::Checks, Coding::Signatures), options.check_bytes)?,
            bands: row_bytes((Column::Bands, Coding::Scanned), options.band_bytes)?,
            digests: row_bytes(
                (Column::Digests, Coding::Signatures),
                if options.digests { DIGEST_BYTES } else { 0 },
            )?,
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
    /// A row out of order or twice is [`Kind::Internal`]; an invalid id is [`Kind::BadData`].
    pub fn push(&mut self, row: &Row<'_, F>) -> Result<()> {
        match self.last {
            Some(last) if row.fingerprint <= last => self.check_order(last, row)?,
            _ => {}
        }
        self.last = Some(row.fingerprint);
        self.fingerprints.push(row.fingerprint)?;
        if let Some(ids) = &mut self.ids {
            check_id(row.id)?;
            self.last_id.clear();
            self.last_id.push_str(row.id);
            ids.push(row.id)?;
        }
        if let Some(lengths) = &mut self.lengths {
            lengths.push(row.length)?;
        }
        if let Some(times) = &mut self.times {
            times.push(row.time.unwrap_or(i64::MIN) as u64)?;
        }
        if let Some(classes) = &mut self.classes {
            classes.push(row.class as u64)?;
        }
        if let Some(days) = &mut self.days {
            let day = row.day.ok_or_else(|| dayless(&self.path))?;
            self.last_day = Some(day);
            days.push(day.number())?;
        }
        if let Some(checks) = &mut self.checks {
            checks.push(row.check)?;
        }
        if let Some(bands) = &mut self.bands {
            bands.push(row.bands)?;
        }
        if let Some(digests) = &mut self.digests {
            digests.push(&row.digest.to_le_bytes())?;
        }
        Ok(())
    }

    /// Adds the id of a document without a fingerprint. These ids are pushed in ascending order.
    ///
    /// # Errors
    /// Those of [`SegmentWriter::push`].
    pub fn push_empty(&mut self, id: &str) -> Result<()> {
        check_id(id)?;
        if id <= self.last_empty.as_str() {
            return Err(Error::new(Kind::Internal, "empty documents are out of order")
                .at(&self.path)
                .expected(format_args!("an id after `{}`", self.last_empty))
                .found(format_args!("`{id}`")));
        }
        self.last_empty.clear();
        self.last_empty.push_str(id);
        self.empties.push(id)
    }

    /// Completes the segment, renames the file into its place and opens the segment. `identity`
    /// says what the segment was made from, in the words of the caller.
    pub fn finish(self, counts: RecordCounts, identity: &str) -> Result<Segment> {
        self.finish_with(counts, identity, Lists::default())
    }

    /// Like [`SegmentWriter::finish`], with lists beside the segment. They get their places right before
    /// the segment does, and the segment records their lengths and hashes.
    pub(crate) fn finish_with(
        mut self,
        counts: RecordCounts,
        identity: &str,
        lists: Lists,
    ) -> Result<Segment> {
        let (heads, entries) = self.append_columns()?;
        let out = &mut self.fingerprints.blocks.out;
        let [quarantine, repeated] = [&lists.quarantine, &lists.repeated]
            .map(|list| list.as_ref().map(|list| list.sum().clone()));
        let metadata = Metadata {
            stamp: self.options.stamp,
            counts,
            identity: identity.to_owned(),
            order: self.options.order,
            quarantine,
            repeated,
        };
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

    /// Writes the last blocks of all columns. Returns the table of columns and their entries.
    fn append_columns(&mut self) -> Result<(Vec<Head>, Vec<u8>)> {
        let mut heads = vec![self.fingerprints.finish()?];
        let blocks = &mut self.fingerprints.blocks;
        let mut entries = std::mem::take(&mut blocks.entries);
        let out = &mut blocks.out;
        match &mut self.ids {
            Some(ids) => append(ids.append_to(out)?, &mut heads, &mut entries),
            None => heads.push(computed(self.options.ids.coding(), self.fingerprints.rows)),
        }
        for integers in [&mut self.lengths, &mut self.times, &mut self.days].into_iter().flatten() {
            append(integers.append_to(out)?, &mut heads, &mut entries);
        }
        append(self.empties.append_to(out)?, &mut heads, &mut entries);
        if let Some(classes) = &mut self.classes {
            append(classes.append_to(out)?, &mut heads, &mut entries);
        }
        let row_bytes = [&mut self.checks, &mut self.bands, &mut self.digests];
        for row_bytes in row_bytes.into_iter().flatten() {
            append(row_bytes.append_to(out)?, &mut heads, &mut entries);
        }
        Ok((heads, entries))
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
        .found(Shown(id)))
}

/// Appends a finished column to the directory.
fn append((head, column): (Head, &[u8]), heads: &mut Vec<Head>, entries: &mut Vec<u8>) {
    heads.push(head);
    entries.extend(column);
}

/// The column of ids that are not stored.
fn computed(coding: Coding, rows: u64) -> Head {
    Head { column: Column::Ids, coding, rows, bytes: 0, entries: Digest::of(&[]).0 }
}

/// The first bytes of a segment.
fn header(width: Width) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &width.bits().to_le_bytes()].concat()
}

/// The last bytes of a segment: table of columns, metadata, trailer.
fn ending(width: Width, heads: &[Head], metadata: &Metadata) -> Vec<u8> {
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
