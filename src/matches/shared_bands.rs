//! Candidates within the batch that the distance of fingerprints does not reach: pages whose signatures share a band.
//!
//! A fingerprint is made of the words of a page and their weights, a signature of the runs of its text. An edit that moves heavy words
//! moves the fingerprint far, and may touch few runs. So a check with a direction names candidates too: the signatures are
//! cut into [bands](crate::fingerprint::Check::bands), and pages that agree in all slots of one meet (Indyk and Motwani, "Approximate nearest
//! neighbors", STOC 1998). Pages of a Jaccard similarity of 0.8 agree in a slot of one bit in 0.9 of all cases, and in
//! one of 16 bands of 16 slots in 0.96.
//!
//! The pages of a band are taken in the order of their lengths, and each meets the 32 before it. So the time is linear in the
//! pages, whatever they are. What is within the distance is found without bands, all of it.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::result;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::distinct::each_distinct;
use super::numbers::{FingerprintIndex, Number};
use super::pair::{Pair, Place};
use super::similarity::Confirm;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::MAX_SIGNATURE_BYTES;
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortedRecords, Space};
use crate::store::Segment;

/// How many pages of its band a page meets, of those before it in the order of lengths.
const NEIGHBOURS: usize = 32;

/// A batch whose signatures name candidates.
pub(crate) struct SharedBands<'a> {
    pub(crate) batch: &'a Segment,
    pub(crate) confirm: Confirm,
    /// Pairs within this distance are known already, and left out.
    pub(crate) distance: u32,
    /// The space of a sort. The workers divide its memory.
    pub(crate) space: Space<'a>,
    pub(crate) workers: usize,
}

/// A page in a band, with a signature of at most `BYTES`. Ordered by what it has in that band, then by its length.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct InBand<const BYTES: usize> {
    band: [u8; 2],
    runs: u64,
    row: u32,
    index: FingerprintIndex,
    signature: InPlace<BYTES>,
}

impl<const BYTES: usize> Record for InBand<BYTES> {}

/// The signature of a page in a record of fixed size, with zeros behind it: records with memory of their own would take longer to make than
/// to sort.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InPlace<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> InPlace<BYTES> {
    fn of(signature: &[u8]) -> InPlace<BYTES> {
        let mut bytes = [0; BYTES];
        bytes[..signature.len()].copy_from_slice(signature);
        InPlace(bytes)
    }
}

impl<const BYTES: usize> Serialize for InPlace<BYTES> {
    fn serialize<S: Serializer>(&self, to: S) -> result::Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de, const BYTES: usize> Deserialize<'de> for InPlace<BYTES> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> result::Result<InPlace<BYTES>, D::Error> {
        from.deserialize_bytes(Bytes)
    }
}

/// Takes the bytes of a signature.
struct Bytes<const BYTES: usize>;

impl<const BYTES: usize> Visitor<'_> for Bytes<BYTES> {
    type Value = InPlace<BYTES>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BYTES} bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> result::Result<InPlace<BYTES>, E> {
        bytes.try_into().map(InPlace).map_err(|_| E::invalid_length(bytes.len(), &self))
    }
}

/// Room for the signatures of the preset `balanced`.
const SMALL: usize = 40;

/// Room for those of `thorough`.
const MEDIUM: usize = 136;

impl SharedBands<'_> {
    /// The pairs of fingerprints beyond the distance of which two pages met, and the check confirms them. Each once.
    pub(crate) fn pairs<F: Fingerprint>(&self) -> Result<impl Iterator<Item = Result<Pair>>> {
        let mut fingerprints: Vec<F> = Vec::new();
        let mut starts = Vec::new();
        each_distinct::<F>(self.batch, |fingerprint, row| {
            fingerprints.push(fingerprint);
            starts.push(row);
        })?;
        starts.push(self.batch.rows() as u32);
        let bands = if fingerprints.is_empty() { 0 } else { self.confirm.check.bands() };
        let share = bands.div_ceil(self.workers).max(1);
        let shares: Vec<Range<usize>> =
            (0..bands).step_by(share).map(|first| first..bands.min(first + share)).collect();
        let memory_bytes = self.space.memory_bytes / shares.len().max(1);
        let meeting = Meeting {
            bands: self,
            fingerprints: &fingerprints,
            starts: &starts,
            most_differing: self.confirm.most_differing(),
            space: Space { memory_bytes, ..self.space },
        };
        let bytes = self.confirm.check.bytes();
        let met = in_parallel(self.workers, &shares, |bands| {
            if bytes <= SMALL {
                meeting.pairs::<SMALL>(bands.clone())
            } else if bytes <= MEDIUM {
                meeting.pairs::<MEDIUM>(bands.clone())
            } else {
                meeting.pairs::<MAX_SIGNATURE_BYTES>(bands.clone())
            }
        });
        let mut pairs = self.space.sorter();
        for met in met {
            met?.try_for_each(|pair| pairs.push(pair?))?;
        }
        let mut last = None;
        // Two fingerprints can have several pages that meet.
        Ok(pairs.sorted()?.filter(move |pair| match pair {
            Ok(pair) => last.replace(*pair) != Some(*pair),
            Err(_) => true,
        }))
    }
}

/// The pages of a batch, to meet in bands.
struct Meeting<'a, F> {
    bands: &'a SharedBands<'a>,
    fingerprints: &'a [F],
    /// The first row of each fingerprint, and where the rows end.
    starts: &'a [u32],
    /// The most slots in which signatures differ that the check confirms.
    most_differing: Option<u32>,
    space: Space<'a>,
}

impl<F: Fingerprint> Meeting<'_, F> {
    /// The pairs of fingerprints that meet in these bands.
    fn pairs<const BYTES: usize>(&self, bands: Range<usize>) -> Result<SortedRecords<Pair>> {
        let mut pairs = self.space.sorter();
        for band in bands {
            let mut before: VecDeque<InBand<BYTES>> = VecDeque::with_capacity(NEIGHBOURS);
            for page in self.in_order(band)? {
                let page = page?;
                progress::tick(Activity::Working);
                if before.back().is_some_and(|last| last.band != page.band) {
                    before.clear();
                }
                pairs.extend(before.iter().filter_map(|other| self.pair(band, [&page, other])))?;
                if before.len() == NEIGHBOURS {
                    before.pop_front();
                }
                before.push_back(page);
            }
        }
        pairs.sorted()
    }

    /// The pages of the batch in the order of a band. Of neighbouring copies one is enough.
    fn in_order<const BYTES: usize>(&self, band: usize) -> Result<SortedRecords<InBand<BYTES>>> {
        let SharedBands { batch, confirm, .. } = self.bands;
        let mut pages = self.space.sorter();
        let mut signatures = confirm.signatures(batch)?;
        let mut last = Vec::new();
        for (index, rows) in (0_u32..).zip(self.starts.windows(2)) {
            progress::tick(Activity::Sorting);
            last.clear();
            for row in rows[0]..rows[1] {
                let signature = signatures.get(row.into())?;
                let runs = confirm.check.runs(signature).unwrap_or(0);
                if runs == 0 || last == signature {
                    continue;
                }
                last.clear();
                last.extend_from_slice(signature);
                let band = confirm.check.band(signature, band);
                let signature = InPlace::of(signature);
                pages.push(InBand { band, runs, row, index: index.into(), signature })?;
            }
        }
        pages.sorted()
    }

    /// The pair of two pages that share this band, if they match, are not near, and share no band before it.
    fn pair<const BYTES: usize>(&self, band: usize, pages: [&InBand<BYTES>; 2]) -> Option<Pair> {
        let SharedBands { confirm, distance, .. } = self.bands;
        let bytes = confirm.check.bytes();
        let [one, other] = pages.map(|page| &page.signature.0[..bytes]);
        // Most pages of a band meet there by chance, and differ in more slots.
        if confirm.check.differing(one, other) > self.most_differing {
            return None;
        }
        let is_first = || confirm.check.shared_band(one, other) == Some(band);
        if !confirm.confirms(one, other) || !is_first() {
            return None;
        }
        let [one, other] = pages.map(|page| page.index);
        let fingerprint = |index: FingerprintIndex| self.fingerprints[index.index()];
        let apart = fingerprint(one).distance(fingerprint(other));
        let existing = Place::Batch { group: one.min(other) };
        (apart > *distance).then(|| Pair { new: one.max(other), existing, distance: apart as u8 })
    }
}
