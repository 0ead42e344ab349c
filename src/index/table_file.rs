//! The files of an index: segments of permuted fingerprints, and of anchors, without ids, in the folder `index` of a store.
//!
//! A file is named by the digest of the segment that it was made from, and its stamp says the same. So it belongs
//! to these very rows, whatever their segment is called. FORMAT.md beside this file specifies both.

use std::path::{Path, PathBuf};

use super::anchor_table;
use super::design::{IndexDesign, Shape};
use crate::error::{Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::output::Fence;
use crate::runs::{Record, Sorter};
use crate::store::{
    Codec, Digest, IdKind, KeyRange, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter,
    Sidecars,
};

const SUFFIX: &str = ".seg";

const ANCHORS: &str = "anchors";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Permuted { design: IndexDesign, number: usize, shape: Shape },
    Anchors,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TableFile<'a> {
    pub(super) store: &'a Path,
}

impl<'a> TableFile<'a> {
    pub(super) fn sidecars(&self) -> Sidecars<'a> {
        Sidecars { store: self.store, folder: "index", marker: "INDEX", is_ours }
    }

    pub(super) fn contents(&self, segment: &Segment, design: IndexDesign) -> Result<Vec<Content>> {
        let tables = design.files(segment.width())?.into_iter().enumerate();
        let tables = tables.map(|(number, shape)| Content::Permuted { design, number, shape });
        let has_anchors = design != IndexDesign::None && segment.anchors().is_some();
        Ok(tables.chain(has_anchors.then_some(Content::Anchors)).collect())
    }

    pub(super) fn path(&self, digest: Digest, content: &Content) -> PathBuf {
        self.sidecars().folder().join(format!("{digest}-{}{SUFFIX}", content.name()))
    }

    pub(super) fn open(&self, segment: &Segment, content: &Content) -> Result<Option<Segment>> {
        match Segment::open(self.path(segment.digest(), content)) {
            Err(error) if error.kind() == Kind::Missing => Ok(None),
            table => {
                let stamp = content.stamp(segment.digest());
                let width = content.width(segment);
                Ok(table.map(Some)?.filter(|it| it.stamp() == stamp && it.width() == width))
            }
        }
    }

    pub(super) fn make(
        &self,
        segment: &Segment,
        content: &Content,
        memory_bytes: usize,
        fence: &Fence,
    ) -> Result<()> {
        let path = self.path(segment.digest(), content);
        let options = SegmentOptions {
            ids: IdKind::None,
            codec: Codec::EliasFano,
            stamp: content.stamp(segment.digest()),
            ..SegmentOptions::default()
        };
        match (content, segment.width()) {
            (Content::Permuted { shape, .. }, Width::W64) => {
                permute::<u64>(segment, shape, &path, options, memory_bytes, fence)
            }
            (Content::Permuted { shape, .. }, Width::W128) => {
                permute::<u128>(segment, shape, &path, options, memory_bytes, fence)
            }
            (Content::Anchors, _) => {
                let mut sorter = Sorter::new(crate::output::parent_of(&path), memory_bytes);
                anchor_table::each_entry(segment, |entry| sorter.push(Entry(entry)))?;
                write(sorter, &path, options, fence)
            }
        }
    }
}

impl Content {
    fn name(&self) -> String {
        match self {
            Content::Permuted { design: IndexDesign::Mirror, .. } => {
                IndexDesign::Mirror.to_string()
            }
            Content::Permuted { design, number, .. } => format!("{design}-{number}"),
            Content::Anchors => ANCHORS.to_owned(),
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
            Content::Anchors => format!("{{\"index\":\"{ANCHORS}\",\"of\":\"{digest}\"}}"),
        }
    }
}

/// Whether an index gives such names: a digest, a dash, and a design and perhaps a number, or the anchors.
fn is_ours(name: &str) -> bool {
    let stem = name.strip_suffix(SUFFIX).and_then(|stem| stem.split_once('-'));
    stem.is_some_and(|(digest, content)| {
        let design = content.split_once('-').map_or(content, |(design, _)| design);
        digest.parse::<Digest>().is_ok()
            && (content == ANCHORS || design.parse::<IndexDesign>().is_ok())
    })
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(bound = "")]
struct Entry<F: Fingerprint>(F);

impl<F: Fingerprint> Record for Entry<F> {}

fn permute<F: Fingerprint>(
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
                sorter.push(Entry(shape.arrange(fingerprint)))?;
            }
        }
    }
    write(sorter, path, options, fence)
}

fn write<F: Fingerprint>(
    sorter: Sorter<Entry<F>>,
    path: &Path,
    options: SegmentOptions,
    fence: &Fence,
) -> Result<()> {
    let mut writer = SegmentWriter::<F>::create(path, options)?;
    writer.fenced(fence);
    let mut counts = RecordCounts::default();
    let mut last = None;
    for entry in sorter.sorted()? {
        let Entry(entry) = entry?;
        // Fingerprints that differ only in what was cut off are one row.
        if last.replace(entry) == Some(entry) {
            continue;
        }
        writer.push(&Row::new(entry, ""))?;
        counts.read += 1;
        counts.fingerprinted += 1;
    }
    writer.finish(counts, "").map(drop)
}
