//! Which index a store keeps, and its files: segments of permuted fingerprints, and of anchors, without ids, in the folder `index` of the store. They
//! come and go with the segments (see `store/sidecars.rs`).
//!
//! The file `INDEX` of a store names the design. Files of another design, and of segments that the newest version
//! does not have, are removed, and what is missing is made. A reader that finds a file missing asks that segment by flips.
//!
//! A file is named by the digest of the segment that it was made from, and its stamp says the same. So it belongs
//! to these very rows, whatever their segment is called. FORMAT.md beside this file specifies both.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::anchor_table;
use super::design::{IndexDesign, Shape};
use crate::error::{Error, Kind, Named, Result};
use crate::fingerprint::check::ANCHOR_BYTES;
use crate::fingerprint::{Fingerprint, Width};
use crate::output::{Fence, parent_of};
use crate::runs::{Record, Sorter};
use crate::store::{
    Column, Digest, Kept, KeyRange, Segment, SideTableWriter, Sidecar, Sidecars, Store,
    open_side_table,
};

const SUFFIX: &str = ".seg";

/// About the bytes of an anchor in its table.
const ANCHOR_ENTRY_BYTES: u64 = 7;

const ANCHORS_NAME: &str = "anchors";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Permuted { design: IndexDesign, number: usize, shape: Shape },
    Anchors,
}

pub(super) struct TableFile {
    path: PathBuf,
    of: Digest,
    pub(super) content: Content,
}

pub(super) fn sidecars(store: &Store) -> Sidecars<'_> {
    Sidecars { store, folder: "index", marker: "INDEX", is_ours }
}

pub(super) fn files(
    folder: &Path,
    segment: &Segment,
    design: IndexDesign,
) -> Result<Vec<TableFile>> {
    let tables = design.files(segment.width())?.into_iter().enumerate();
    let tables = tables.map(|(number, shape)| Content::Permuted { design, number, shape });
    let has_anchors = design != IndexDesign::None && segment.anchors().is_some();
    let of = segment.digest();
    let file = |content: Content| {
        let path = folder.join(format!("{of}-{}{SUFFIX}", content.name()));
        TableFile { path, of, content }
    };
    Ok(tables.chain(has_anchors.then_some(Content::Anchors)).map(file).collect())
}

/// The design of the index that a store keeps.
pub fn design_of(store: &Store) -> Result<IndexDesign> {
    let advised = |error: Error| error.help("make the index again").job("store index");
    let sidecars = sidecars(store);
    let Some(name) = sidecars.named().map_err(advised)? else {
        return Ok(IndexDesign::None);
    };
    let design = IndexDesign::ALL.into_iter().find(|design| design.to_string() == name);
    design.ok_or_else(|| {
        let error = Error::new(Kind::BadData, "there is no such index");
        advised(error.at(store.path().join(sidecars.marker)).found(name))
    })
}

fn files_of(store: &Store, design: IndexDesign) -> impl Fn(&Segment) -> Result<Vec<TableFile>> {
    let folder = sidecars(store).folder();
    move |segment| files(&folder, segment, design)
}

/// How many files an index of this design of the newest version lacks, and how many fingerprints go into them.
pub fn missing(store: &Store, design: IndexDesign) -> Result<(u64, u64)> {
    sidecars(store).missing(files_of(store, design))
}

/// Gives a store the index of this design, and takes away any other. The sorts of so many threads take about
/// `memory_bytes` together; `sorted` grows by the fingerprints of each file that is done.
pub fn index(
    store: &Store,
    design: IndexDesign,
    (memory_bytes, threads): (usize, usize),
    sorted: &AtomicU64,
) -> Result<Kept> {
    let name = (design != IndexDesign::None).then(|| design.to_string());
    let files = files_of(store, design);
    sidecars(store).change(name, files, TableFile::is_there, (memory_bytes, threads), sorted)
}

/// Makes the files that the index of a store lacks after a change, and removes the files that the
/// index no longer needs. A store without an index stays as it is.
pub fn keep(store: &Store, space: (usize, usize), sorted: &AtomicU64) -> Result<Kept> {
    match design_of(store)? {
        IndexDesign::None => Ok(Kept::default()),
        design => index(store, design, space, sorted),
    }
}

/// The files of the index of a store and their bytes.
pub fn size(store: &Store) -> Result<(u64, u64)> {
    sidecars(store).size()
}

/// Reads and checks every file of the index of a store, and that none is missing. Returns how many there are.
pub fn verify(store: &Store) -> Result<u64> {
    let sidecars = sidecars(store);
    let paths = sidecars.all()?;
    paths.iter().try_for_each(|path| Segment::open(path)?.verify())?;
    let design = design_of(store)?;
    sidecars.each(files_of(store, design), |segment, file| match file.open(segment)? {
        Some(_) => Ok(()),
        None => {
            let error = sidecars.lacking(&file.paths()[0]).help("make the index again");
            let error = error.job(format!("store index {}", store.path().named()));
            Err(error.setting(format!("design {design}")))
        }
    })?;
    Ok(paths.len() as u64)
}

impl TableFile {
    /// The table; none if there is no such file, or one of another segment.
    pub(super) fn open(&self, segment: &Segment) -> Result<Option<Segment>> {
        open_side_table(&self.path, &self.content.stamp(self.of), self.content.width(segment))
    }

    fn sorter<F: Fingerprint>(&self, memory_bytes: usize) -> Sorter<Entry<F>> {
        Sorter::new(parent_of(&self.path), memory_bytes)
    }

    fn write<F: Fingerprint>(&self, sorter: Sorter<Entry<F>>, fence: &Fence) -> Result<()> {
        let mut writer = SideTableWriter::create(&self.path, self.content.stamp(self.of), fence)?;
        for entry in sorter.sorted()? {
            // Fingerprints that differ only in what was cut off are one row.
            writer.push(entry?.0)?;
        }
        writer.finish().map(drop)
    }
}

impl Sidecar for TableFile {
    fn paths(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn is_there(&self, segment: &Segment) -> bool {
        matches!(self.open(segment), Ok(Some(_)))
    }

    fn bytes_to_write(&self, segment: &Segment, memory_bytes: usize) -> u64 {
        let (table, sorted) = match self.content {
            Content::Permuted { .. } => {
                let bytes = segment.rows() * u64::from(segment.width().bits() / 8);
                (segment.cuts().map(|(_, bytes)| bytes).sum(), bytes)
            }
            Content::Anchors => {
                let anchors = segment
                    .columns()
                    .find(|it| it.column == Column::Anchors)
                    .map_or(0, |it| it.bytes)
                    / ANCHOR_BYTES as u64;
                (anchors * ANCHOR_ENTRY_BYTES, anchors * size_of::<u128>() as u64)
            }
        };
        if sorted + sorted / 2 < memory_bytes as u64 { table } else { table + sorted }
    }

    fn make(
        &self,
        segment: &Segment,
        memory_bytes: usize,
        done: &AtomicU64,
        fence: &Fence,
    ) -> Result<()> {
        match (&self.content, segment.width()) {
            (Content::Permuted { shape, .. }, Width::W64) => {
                self.write(permuted::<u64>(segment, shape, self.sorter(memory_bytes))?, fence)
            }
            (Content::Permuted { shape, .. }, Width::W128) => {
                self.write(permuted::<u128>(segment, shape, self.sorter(memory_bytes))?, fence)
            }
            (Content::Anchors, _) => {
                let mut sorter = self.sorter(memory_bytes);
                anchor_table::each_entry(segment, |entry| sorter.push(Entry(entry)))?;
                self.write(sorter, fence)
            }
        }?;
        done.fetch_add(segment.rows(), Ordering::Relaxed);
        Ok(())
    }
}

impl Content {
    fn name(&self) -> String {
        match self {
            Content::Permuted { design: IndexDesign::Mirror, .. } => {
                IndexDesign::Mirror.to_string()
            }
            Content::Permuted { design, number, .. } => format!("{design}-{number}"),
            Content::Anchors => ANCHORS_NAME.to_owned(),
        }
    }

    fn width(&self, segment: &Segment) -> Width {
        match self {
            Content::Permuted { .. } => segment.width(),
            Content::Anchors => Width::W128,
        }
    }

    /// What the file says about itself, in place of a recipe.
    fn stamp(&self, digest: Digest) -> String {
        match self {
            Content::Permuted { design, number, .. } => {
                let cut = match design.cut() {
                    0 => String::new(),
                    bits => format!(",\"cut\":{bits}"),
                };
                format!("{{\"index\":\"{design}\",\"table\":{number},\"of\":\"{digest}\"{cut}}}")
            }
            Content::Anchors => format!("{{\"index\":\"{ANCHORS_NAME}\",\"of\":\"{digest}\"}}"),
        }
    }
}

/// Whether an index gives such names: a digest, a dash, and a design and perhaps a number, or the anchors.
fn is_ours(name: &str) -> bool {
    let stem = name.strip_suffix(SUFFIX).and_then(|stem| stem.split_once('-'));
    stem.is_some_and(|(digest, content)| {
        let design = content.split_once('-').map_or(content, |(design, _)| design);
        digest.parse::<Digest>().is_ok()
            && (content == ANCHORS_NAME || design.parse::<IndexDesign>().is_ok())
    })
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(bound = "")]
struct Entry<F: Fingerprint>(F);

impl<F: Fingerprint> Record for Entry<F> {}

/// The permuted fingerprints of a segment. Copies are one row: a hit is looked up in the segment.
fn permuted<F: Fingerprint>(
    segment: &Segment,
    shape: &Shape,
    mut sorter: Sorter<Entry<F>>,
) -> Result<Sorter<Entry<F>>> {
    let mut scan = segment.scan(KeyRange::<F>::all());
    let (mut run, mut last) = (Vec::new(), None);
    while scan.next(&mut run)?.is_some() {
        for &fingerprint in &run {
            if last.replace(fingerprint) != Some(fingerprint) {
                sorter.push(Entry(shape.arrange(fingerprint)))?;
            }
        }
    }
    Ok(sorter)
}
