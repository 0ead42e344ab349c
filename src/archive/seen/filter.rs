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
use super::table::{Table, entry, stamp};
use crate::error::Result;
use crate::output::{Fence, parent_of};
use crate::parallel::{in_parallel, row_parts};
use crate::progress::{self, Activity};
use crate::runs::{Record, Sorter};
use crate::store::{Dated, Digest, IdKind, Segment, SideTableWriter, Sidecar};

/// Parts for each thread whose hashes are computed before they are sorted.
const AHEAD: usize = 8;

pub(super) struct Filter {
    fuse: Fuse,
    table: Table,
}

pub(super) struct FilterPlace {
    pub(super) by: By,
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

/// About how many bytes of files and of sorted runs a row needs while its filter is made.
const ROW_BYTES: u64 = 24;

/// The places, in `folder`, of the filters of a segment: by all that its pages can be looked for.
pub(super) fn places(folder: &Path, segment: &Segment) -> Vec<FilterPlace> {
    let has = [segment.id_kind() == IdKind::Text, segment.has_digests()];
    let kinds = By::ALL.into_iter().zip(has).filter(|(_, has)| *has);
    let place = |by: By| {
        let path = |suffix| folder.join(format!("{}-{}{suffix}", segment.digest(), by.name()));
        FilterPlace { by, fuse: path(FUSE), table: path(TABLE) }
    };
    kinds.map(|(by, _)| place(by)).collect()
}

impl FilterPlace {
    pub(super) fn open(&self, segment: &Segment) -> Result<Option<Filter>> {
        let of = segment.digest();
        let fuse = Fuse::open(&self.fuse, of)?;
        let table = Table::open(&self.table, self.by, of, segment.rows())?;
        Ok(fuse.zip(table).map(|(fuse, table)| Filter { fuse, table }))
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

impl Sidecar for FilterPlace {
    fn paths(&self) -> Vec<PathBuf> {
        vec![self.fuse.clone(), self.table.clone()]
    }

    fn is_there(&self, segment: &Segment) -> bool {
        matches!(self.open(segment), Ok(Some(_)))
    }

    fn bytes_to_write(&self, segment: &Segment, _memory_bytes: usize) -> u64 {
        ROW_BYTES * segment.rows()
    }

    fn make(
        &self,
        segment: &Segment,
        memory_bytes: usize,
        done: &AtomicU64,
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
            done.fetch_add(parts.iter().map(|part| part.end - part.start).sum(), Ordering::Relaxed);
        }
        let mut fuse = FuseWriter::create(&self.fuse, of, rows, FILTER_BITS, fence)?;
        let mut table = SideTableWriter::create(&self.table, stamp(self.by, of), fence)?;
        for hashed in sorter.sorted()? {
            let Hashed { entry, hash } = hashed?;
            fuse.push(hash)?;
            table.push(entry)?;
        }
        table.finish()?;
        fuse.finish()
    }
}

impl Filter {
    /// Makes `rows` the rows of the segment that may have this hash. Only the segment says
    /// whether a row is the page that is sought.
    pub(super) fn find(&self, hash: u64, rows: &mut Vec<u64>) -> Result<()> {
        rows.clear();
        if self.fuse.may_have(hash)? { self.table.find(hash, rows) } else { Ok(()) }
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
