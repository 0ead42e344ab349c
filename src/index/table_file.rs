//! The files of an index: segments of permuted fingerprints without ids, in the folder `index` of a store.
//!
//! A file is named by the digest of the segment that it was made from, and its stamp says the same. So it belongs
//! to these very rows, whatever their segment is called. FORMAT.md beside this file specifies both.

use std::path::{Path, PathBuf};

use super::design::{IndexDesign, Shape};
use crate::error::{Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::output::Fence;
use crate::runs::{Record, Sorter};
use crate::store::{
    Codec, Digest, IdKind, KeyRange, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter,
    Sidecars,
};

/// The end of their names.
const SUFFIX: &str = ".seg";

/// Where the files of the index of a store are.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableFile<'a> {
    pub(super) store: &'a Path,
}

impl<'a> TableFile<'a> {
    /// All files of the index.
    pub(super) fn sidecars(&self) -> Sidecars<'a> {
        Sidecars { store: self.store, folder: "index", marker: "INDEX", is_ours }
    }

    pub(super) fn path(&self, digest: Digest, design: IndexDesign, number: usize) -> PathBuf {
        let number =
            if design == IndexDesign::Mirror { String::new() } else { format!("-{number}") };
        self.sidecars().folder().join(format!("{digest}-{design}{number}{SUFFIX}"))
    }

    /// Table `number` of `segment`; `None` if there is no such file.
    pub(super) fn open(
        &self,
        segment: &Segment,
        design: IndexDesign,
        number: usize,
    ) -> Result<Option<Segment>> {
        let path = self.path(segment.digest(), design, number);
        match Segment::open(&path) {
            Err(error) if error.kind() == Kind::Missing => Ok(None),
            table => {
                let stamp = stamp(segment.digest(), design, number);
                Ok(table
                    .map(Some)?
                    .filter(|it| it.stamp() == stamp && it.width() == segment.width()))
            }
        }
    }

    /// Makes table `number` of `segment`, of this shape. The sort takes about `memory_bytes`.
    pub(super) fn make(
        &self,
        segment: &Segment,
        design: IndexDesign,
        number: usize,
        shape: &Shape,
        memory_bytes: usize,
        fence: &Fence,
    ) -> Result<()> {
        let path = self.path(segment.digest(), design, number);
        let options = SegmentOptions {
            ids: IdKind::None,
            codec: Codec::EliasFano,
            stamp: stamp(segment.digest(), design, number),
            ..SegmentOptions::default()
        };
        match segment.width() {
            Width::W64 => write::<u64>(segment, shape, &path, options, memory_bytes, fence),
            Width::W128 => write::<u128>(segment, shape, &path, options, memory_bytes, fence),
        }
    }
}

/// Whether an index gives such names: a digest, a dash, a design and perhaps a number.
fn is_ours(name: &str) -> bool {
    let stem = name.strip_suffix(SUFFIX).and_then(|stem| stem.split_once('-'));
    stem.is_some_and(|(digest, design)| {
        let design = design.split_once('-').map_or(design, |(design, _)| design);
        digest.parse::<Digest>().is_ok() && design.parse::<IndexDesign>().is_ok()
    })
}

/// What the file says about itself, in place of a recipe.
fn stamp(digest: Digest, design: IndexDesign, number: usize) -> String {
    let cut = match design.cut() {
        0 => String::new(),
        bits => format!(",\"cut\":{bits}"),
    };
    format!("{{\"index\":\"{design}\",\"table\":{number},\"of\":\"{digest}\"{cut}}}")
}

/// A permuted fingerprint on its way into a table.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(bound = "")]
struct Permuted<F: Fingerprint>(F);

impl<F: Fingerprint> Record for Permuted<F> {}

fn write<F: Fingerprint>(
    segment: &Segment,
    shape: &Shape,
    path: &Path,
    options: SegmentOptions,
    memory_bytes: usize,
    fence: &Fence,
) -> Result<()> {
    let mut sorter = Sorter::new(crate::output::parent_of(path), memory_bytes);
    let mut scan = segment.scan(KeyRange::<F>::all());
    let (mut run, mut last) = (Vec::new(), None);
    while scan.next(&mut run)?.is_some() {
        for &fingerprint in &run {
            // Copies are one row: a hit is looked up in the segment.
            if last.replace(fingerprint) != Some(fingerprint) {
                sorter.push(Permuted(shape.arrange(fingerprint)))?;
            }
        }
    }
    let mut writer = SegmentWriter::<F>::create(path, options)?;
    writer.fenced(fence);
    let mut counts = RecordCounts::default();
    let mut last = None;
    for permuted in sorter.sorted()? {
        let Permuted(fingerprint) = permuted?;
        // Fingerprints that differ only in what was cut off are one row.
        if last.replace(fingerprint) == Some(fingerprint) {
            continue;
        }
        writer.push(&Row::new(fingerprint, ""))?;
        counts.read += 1;
        counts.fingerprinted += 1;
    }
    writer.finish(counts, "").map(drop)
}
