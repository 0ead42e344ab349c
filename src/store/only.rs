//! Cuts a segment down to a list of ids.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::document::MAX_ID_BYTES;
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::{Fingerprint, Width};

use super::digest::Digest;
use super::segment::Details;
use super::segment::KeyRange;
use super::segment::Segment;
use super::segment::{Counts, IdKind, SegmentOptions, SegmentWriter};

/// A set of ids, each known by its XXH3-128: 16 bytes for each, however long it is.
pub(crate) struct IdList {
    path: PathBuf,
    keys: Vec<u128>,
}

impl IdList {
    /// Reads a list of ids, one a line, in any order; blank lines are passed over.
    pub(crate) fn read(path: &Path) -> Result<IdList> {
        let mut keys = Vec::new();
        each_id(path, |_, id| {
            keys.push(xxh3_128(id));
            Ok(())
        })?;
        keys.sort_unstable();
        keys.dedup();
        Ok(IdList { path: path.to_path_buf(), keys })
    }

    /// The digest of the set.
    pub(crate) fn digest(&self) -> Digest {
        let mut bytes = Vec::with_capacity(16 * self.keys.len());
        bytes.extend(self.keys.iter().flat_map(|key| key.to_le_bytes()));
        Digest::of(&bytes)
    }

    /// Writes to `path` the rows of `segment` whose ids the list holds, and nothing else.
    ///
    /// # Errors
    /// An id that the segment does not hold is [`Kind::BadData`].
    pub(crate) fn write(&self, segment: &Segment, path: &Path) -> Result<Segment> {
        match segment.width() {
            Width::W64 => self.write_rows::<u64>(segment, path),
            Width::W128 => self.write_rows::<u128>(segment, path),
        }
    }

    fn write_rows<F: Fingerprint>(&self, segment: &Segment, path: &Path) -> Result<Segment> {
        let mut scan = segment.scan::<F>(KeyRange::all());
        let (mut ids, mut details) = (segment.ids(), Details::new(segment));
        let mut writer = SegmentWriter::create(path, options(segment))?;
        let mut found = vec![false; self.keys.len()];
        let mut run = Vec::new();
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                let id = ids.get(row)?;
                if let Ok(place) = self.keys.binary_search(&xxh3_128(id.as_bytes())) {
                    found[place] = true;
                    writer.push(&details.row(row, fingerprint, id)?)?;
                }
            }
        }
        if found.contains(&false) {
            return Err(self.missing(segment, &found));
        }
        let rows = self.keys.len() as u64;
        let counts = Counts { read: rows, fingerprinted: rows, ..Counts::default() };
        writer.finish(counts, &format!("{} only {}", segment.digest(), self.digest()))
    }

    /// Names the first id of the list that was not found.
    fn missing(&self, segment: &Segment, found: &[bool]) -> Error {
        let named = each_id(&self.path, |line, id| {
            match self.keys.binary_search(&xxh3_128(id)).map(|place| found[place]) {
                Ok(true) => Ok(()),
                _ => Err(Error::new(Kind::BadData, "the segment does not hold this id")
                    .at(&self.path)
                    .line(line)
                    .found(format_args!("`{:.100}`", String::from_utf8_lossy(id)))
                    .help(format_args!("it was looked up in {}", segment.path().display()))),
            }
        });
        let changed = || Error::new(Kind::BadData, "the list of ids has changed").at(&self.path);
        named.err().unwrap_or_else(changed)
    }
}

/// The columns of a segment cut down: row numbers would change, so they become ids.
fn options(segment: &Segment) -> SegmentOptions {
    SegmentOptions {
        ids: match segment.id_kind() {
            IdKind::None => IdKind::None,
            IdKind::Numbers | IdKind::Text => IdKind::Text,
        },
        lengths: segment.has_lengths(),
        times: segment.has_times(),
        classes: segment.has_classes(),
        check_bytes: segment.check_bytes(),
        stamp: segment.stamp().to_owned(),
        ..SegmentOptions::default()
    }
}

/// Calls `take` with the number and the id of each line of `path` that is not blank.
fn each_id(path: &Path, mut take: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    let mut lines = BufReader::new(File::open(path).at(path)?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut bounded = lines.by_ref().take(MAX_ID_BYTES as u64 + 2);
        if bounded.read_until(b'\n', &mut line).at(path)? == 0 {
            break;
        }
        let id = line.strip_suffix(b"\n").unwrap_or(&line);
        if id.len() > MAX_ID_BYTES {
            let error = Error::new(Kind::BadData, "a line is too long for an id").at(path);
            return Err(error.line(number));
        }
        if !id.is_empty() {
            take(number, id)?;
        }
    }
    Ok(())
}
