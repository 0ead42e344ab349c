//! The filter of a segment, by the ids or by the texts of its pages: two files in the folder
//! `filters` of a store.
//!
//! The file `<digest>-ids.fuse` says in nine bits a page which hashes the segment does not have.
//! The file `<digest>-ids.seg` has the rows of the hashes that the segment has. Both files are made
//! in one pass over the sorted hashes. FORMAT.md beside this file specifies both.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};

use super::by::By;
use super::fuse::{FILTER_BITS, Fuse, FuseWriter};
use super::readers::Readers;
use super::table::{Table, TableWriter, entry};
use crate::error::Result;
use crate::output::{Fence, parent_of};
use crate::parallel::{in_parallel, row_parts};
use crate::progress::{self, Activity};
use crate::runs::{Record, Sorter};
use crate::store::{Dated, Digest, IdKind, Segment};

/// Parts for each thread whose hashes are computed before they are sorted.
const AHEAD: usize = 8;

pub(super) struct Filter {
    fuse: Fuse,
    table: Table,
}

pub(super) struct FilterPlace {
    by: By,
    fuse: PathBuf,
    table: PathBuf,
}

/// The hash of a row, in the order of the entries of the table. Hashes that begin alike are ordered by their rows there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Hashed {
    entry: u64,
    hash: u64,
}

impl Record for Hashed {}

impl FilterPlace {
    pub(super) fn new(folder: &Path, of: Digest, by: By) -> FilterPlace {
        let path = |suffix| folder.join(format!("{of}-{}{suffix}", by.name()));
        FilterPlace { by, fuse: path(FUSE), table: path(TABLE) }
    }

    pub(super) fn paths(self) -> [PathBuf; 2] {
        [self.fuse, self.table]
    }

    pub(super) fn open(&self, segment: &Segment) -> Result<Option<Filter>> {
        let of = segment.digest();
        let fuse = Fuse::open(&self.fuse, of)?;
        let table = Table::open(&self.table, self.by, of, segment.rows())?;
        Ok(fuse.zip(table).map(|(fuse, table)| Filter { fuse, table }))
    }

    /// Makes the filter of `segment`. The sort takes about `memory_bytes`, and `hashed` grows by the rows that were
    /// read.
    pub(super) fn make(
        &self,
        segment: &Segment,
        memory_bytes: usize,
        hashed: &AtomicU64,
        fence: &Fence,
    ) -> Result<()> {
        let (of, rows) = (segment.digest(), segment.rows());
        let mut sorter = Sorter::new(parent_of(&self.fuse), memory_bytes);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let parts = row_parts(rows, threads);
        for parts in parts.chunks(threads * AHEAD) {
            for part in in_parallel(threads, parts, |part| self.hashes(segment, part.clone())) {
                sorter.extend(part?)?;
            }
            hashed
                .fetch_add(parts.iter().map(|part| part.end - part.start).sum(), Ordering::Relaxed);
        }
        let mut fuse = FuseWriter::create(&self.fuse, of, rows, FILTER_BITS, fence)?;
        let mut table = TableWriter::create(&self.table, self.by, of, fence)?;
        for hashed in sorter.sorted()? {
            let Hashed { entry, hash } = hashed?;
            fuse.push(hash)?;
            table.push(entry)?;
        }
        table.finish()?;
        fuse.finish()
    }

    fn hashes(&self, segment: &Segment, rows: Range<u64>) -> Result<Vec<Hashed>> {
        progress::tick(Activity::Reading);
        let mut hashed = Vec::with_capacity((rows.end - rows.start) as usize);
        let mut readers = Readers::of(&Dated::new(segment.clone(), None));
        for row in rows {
            if let Some(hash) = readers.hash(self.by, row)? {
                hashed.push(Hashed { entry: entry(hash, row, segment.rows()), hash });
            }
        }
        Ok(hashed)
    }
}

impl Filter {
    /// Replaces `rows` by the rows of the segment that may have this hash. Only the segment says
    /// whether a row is the page that is sought.
    pub(super) fn find(&self, hash: u64, rows: &mut Vec<u64>) -> Result<()> {
        match self.fuse.may_have(hash)? {
            true => self.table.find(hash, rows),
            false => {
                rows.clear();
                Ok(())
            }
        }
    }

    pub(super) fn verify(&self) -> Result<()> {
        self.fuse.verify()?;
        self.table.verify()
    }
}

const FUSE: &str = ".fuse";
const TABLE: &str = ".seg";

/// Whether filters have such names: a digest, a dash, `ids` or `texts`, and one of the two ends.
pub(super) fn is_ours(name: &str) -> bool {
    let stem = name.strip_suffix(FUSE).or_else(|| name.strip_suffix(TABLE));
    stem.and_then(|stem| stem.split_once('-')).is_some_and(|(digest, by)| {
        digest.parse::<Digest>().is_ok() && By::ALL.iter().any(|it| it.name() == by)
    })
}

pub(super) fn kinds_of(segment: &Segment) -> impl Iterator<Item = By> {
    let has = [segment.id_kind() == IdKind::Text, segment.has_digests()];
    By::ALL.into_iter().zip(has).filter_map(|(by, has)| has.then_some(by))
}
