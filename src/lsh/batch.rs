//! The batch in groups: documents that no comparison can tell apart are one group.
//!
//! A million copies of a page are one group, and so one entry of each bucket. Documents are of one group if
//! they have the same band keys and the same evidence, by a digest of 128 bits.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::document::SketchedDocument;
use super::evidence::{Evidence, Gathering};
use super::scheme::Sketch;
use crate::document::Occurrence;
use crate::error::{Error, Kind, Result};
use crate::features::by_hash::ByHash;
use crate::matches::{IdRank, KeepOrder, KeepRank, LengthClass, Number, Outcome, Turn};
use crate::output::Sum;
use crate::runs::{SortedRecords, Sorter};

/// The documents of the batch, each id once, in groups. Groups are counted in keep order.
#[derive(Debug)]
pub(super) struct Batch {
    /// The group of each document that has a sketch, by the rank of its id.
    pub(super) groups: Vec<KeepRank>,
    /// The first document of each group in keep order, the only one of it that can be kept.
    pub(super) leaders: Vec<IdRank>,
    /// How many documents each group has.
    pub(super) sizes: Vec<u32>,
    /// The number of each group's evidence.
    items: Vec<u32>,
    evidence: Evidence,
    bands: usize,
}

/// What is kept of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    /// The keys of its bands, eight bytes each.
    keys: &'a [u8],
    /// What is compared.
    pub(super) evidence: &'a [u8],
}

/// The evidence of all groups in memory, where all have as many bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slab<'a> {
    pub(super) memory: &'a [u8],
    /// The number of each group's item.
    pub(super) items: &'a [u32],
    /// The bytes of an item, and how many of them are keys.
    pub(super) stride: usize,
    pub(super) offset: usize,
}

impl Slab<'_> {
    /// The evidence of the group with this index.
    #[inline(always)]
    pub(super) fn evidence(&self, group: usize) -> &[u8] {
        let start = self.items[group] as usize * self.stride;
        &self.memory[start + self.offset..start + self.stride]
    }

    /// How many bytes it has of each group.
    pub(super) fn evidence_bytes(&self) -> usize {
        self.stride - self.offset
    }
}

/// The ids of a batch, sorted.
pub(super) struct Ids {
    /// Of documents with a sketch.
    pub(super) sketched: SortedRecords<String>,
    /// Of documents without.
    pub(super) empty: SortedRecords<String>,
}

/// When a document is taken: the longest first, lengths within a tenth counting as one, then in keep order. So of two documents that overlap the
/// one with less text goes.
type Taking = (Reverse<LengthClass>, Turn, IdRank);

/// A batch while its documents are taken.
struct Loading<'a> {
    keep: KeepOrder,
    numbers: ByHash<u128, u32>,
    /// The group of each document, counted as they come.
    groups: Vec<u32>,
    leaders: Vec<Taking>,
    sizes: Vec<u32>,
    bands: usize,
    evidence: Gathering,
    empty: Sorter<String>,
    last: Option<(String, Occurrence)>,
    /// The first vector.
    vector: Option<(String, usize)>,
    repeated: &'a mut dyn FnMut(&str, Occurrence, Occurrence) -> Result<()>,
}

impl Batch {
    /// Takes `documents`, which come in order. Of documents with one id only the first is taken, and
    /// `repeated` is called for the others. Holds four bytes for each document, some 60 for each group, and
    /// evidence up to `memory_bytes`.
    ///
    /// # Errors
    /// Vectors of different lengths are [`Kind::BadData`].
    pub(super) fn load(
        documents: SortedRecords<SketchedDocument>,
        keep: KeepOrder,
        folder: &Path,
        memory_bytes: usize,
        repeated: &mut dyn FnMut(&str, Occurrence, Occurrence) -> Result<()>,
    ) -> Result<(Batch, Ids)> {
        let mut loading = Loading {
            keep,
            numbers: ByHash::default(),
            groups: Vec::new(),
            leaders: Vec::new(),
            sizes: Vec::new(),
            bands: 0,
            evidence: Gathering::new(folder, memory_bytes),
            empty: Sorter::new(folder, memory_bytes),
            last: None,
            vector: None,
            repeated,
        };
        let ids = documents.filter_map(|document| {
            document.and_then(|document| loading.take(document)).transpose()
        });
        let sketched = SortedRecords::through_disk(folder, ids)?;
        loading.finish(sketched)
    }

    /// How many groups there are.
    pub(super) fn len(&self) -> u32 {
        self.leaders.len() as u32
    }

    /// How many keys each group has.
    pub(super) fn bands(&self) -> usize {
        self.bands
    }

    /// The outcome for so many groups that are kept.
    pub(super) fn outcome(&self, kept: u64, matches: u64, files: BTreeMap<String, Sum>) -> Outcome {
        let sizes = || self.sizes.iter().map(|&size| u64::from(size));
        Outcome {
            kept,
            dropped: self.groups.len() as u64 - kept,
            matches,
            copies: sizes().filter(|&size| size > 1).sum(),
            largest_group: sizes().max().unwrap_or(0),
            files,
            ..Outcome::default()
        }
    }

    /// Calls `key` with the band keys of a group.
    pub(super) fn each_key(
        &self,
        group: KeepRank,
        buffer: &mut Vec<u8>,
        mut key: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.item(group, buffer)?.keys().try_for_each(&mut key)
    }

    /// The evidence of all groups, if it is in memory and of one length.
    pub(super) fn slab(&self) -> Option<Slab<'_>> {
        let (memory, stride) = self.evidence.slab()?;
        Some(Slab { memory, items: &self.items, stride, offset: 8 * self.bands })
    }

    /// What is kept of a group.
    pub(super) fn item<'a>(&'a self, group: KeepRank, buffer: &'a mut Vec<u8>) -> Result<Item<'a>> {
        let item = self.evidence.get(self.items[group.index()] as usize, buffer)?;
        let (keys, evidence) = item.split_at(8 * self.bands);
        Ok(Item { keys, evidence })
    }
}

impl Item<'_> {
    /// The key of each band.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.keys.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes))
    }

    /// The least key that both have.
    pub(super) fn first_shared(&self, other: &Item<'_>) -> Option<u64> {
        let shared = self.keys().zip(other.keys()).filter(|(one, other)| one == other);
        shared.map(|(key, _)| key).min()
    }
}

impl Loading<'_> {
    /// Takes a document, and gives its id if it has a sketch.
    fn take(&mut self, document: SketchedDocument) -> Result<Option<String>> {
        let SketchedDocument { id, position, content, length, time, sketch } = document;
        let place = Occurrence { position, content };
        if let Some((last, first)) = &self.last
            && *last == id
        {
            (self.repeated)(&id, *first, place)?;
            return Ok(None);
        }
        self.last = Some((id.clone(), place));
        let Some(sketch) = sketch else {
            self.empty.push(id)?;
            return Ok(None);
        };
        self.check_length(&id, sketch.components)?;
        let rank = u32::try_from(self.groups.len()).map_err(|_| too_large())?;
        let class = Reverse(LengthClass::of(length));
        let first = (class, self.keep.turn(time, length), IdRank::from(rank));
        let group = self.group(&sketch, first)?;
        self.groups.push(group);
        Ok(Some(id))
    }

    /// The group of a sketch, which counts one document more.
    fn group(&mut self, sketch: &Sketch, first: Taking) -> Result<u32> {
        let mut digest = Xxh3::new();
        sketch.keys.iter().for_each(|key| digest.update(&key.to_le_bytes()));
        digest.update(&sketch.evidence);
        let next = self.leaders.len() as u32;
        let group = *self.numbers.entry(digest.digest128()).or_insert(next);
        if group == next {
            let keys = sketch.keys.iter().flat_map(|key| key.to_le_bytes());
            self.evidence
                .push(&keys.chain(sketch.evidence.iter().copied()).collect::<Vec<u8>>())?;
            self.bands = sketch.keys.len();
            self.leaders.push(first);
            self.sizes.push(0);
        }
        let leader = &mut self.leaders[group as usize];
        *leader = first.min(*leader);
        self.sizes[group as usize] += 1;
        Ok(group)
    }

    /// Fails unless a vector has as many components as the first one that came.
    fn check_length(&mut self, id: &str, components: usize) -> Result<()> {
        let (other, expected) = self.vector.get_or_insert_with(|| (id.to_owned(), components));
        if *expected == components {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, "the vectors have different lengths")
            .expected(format_args!("{expected} components, as {other:?} has"))
            .found(format_args!("{components} components in {id:?}"))
            .help("give vectors of one model only"))
    }

    /// Counts the groups in keep order.
    fn finish(self, sketched: SortedRecords<String>) -> Result<(Batch, Ids)> {
        let Loading { groups, leaders, sizes, bands, evidence, empty, .. } = self;
        let mut items: Vec<u32> = (0..leaders.len() as u32).collect();
        items.sort_unstable_by_key(|&group| leaders[group as usize]);
        let mut ranks = vec![KeepRank::from(0); items.len()];
        for (rank, &group) in (0..).zip(&items) {
            ranks[group as usize] = KeepRank::from(rank);
        }
        let batch = Batch {
            groups: groups.into_iter().map(|group| ranks[group as usize]).collect(),
            leaders: items.iter().map(|&group| leaders[group as usize].2).collect(),
            sizes: items.iter().map(|&group| sizes[group as usize]).collect(),
            items,
            evidence: evidence.finish()?,
            bands,
        };
        Ok((batch, Ids { sketched, empty: empty.sorted()? }))
    }
}

fn too_large() -> Error {
    Error::new(Kind::BadData, "the batch has more than 2^32 documents").help("divide it")
}
