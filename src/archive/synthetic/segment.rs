//! Segments of random fingerprints, with near-duplicates planted at a known distance, on which a probe
//! is measured and checked.

use std::collections::HashSet;
use std::path::Path;

use rand::seq::index::sample;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::check::{AS_NEEDED, sketch_of};
use crate::fingerprint::{Fingerprint, ShingleSet};
use crate::store::{Details, IdKind, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};

use super::random_sorted::RandomSorted;

const ATTEMPTS: usize = 100;
const SHINGLES: usize = 64;
const LONGEST: u64 = 10_000;
const LATEST: i64 = 1_767_225_600;
const YEAR: i64 = 31_536_000;

#[derive(Clone, Debug)]
pub struct SegmentSpec {
    pub seed: u64,
    pub count: u64,
    /// The size of a set over all keys of which the segment takes the first fingerprints: `count` of
    /// 8e9, for example, to measure a small part of a large store. At least `count`. (Planted
    /// fingerprints are taken wherever they fall.)
    pub density: u64,
    /// Its columns and its stamp. All columns are random, except that ids are the numbers of the rows, all rows are
    /// full, and there are no days.
    pub options: SegmentOptions,
    /// Whether ids that are text look like URLs. Each follows from the number of its row.
    pub urls: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted<F> {
    pub fingerprint: F,
    pub near: String,
}

/// Makes `count` fingerprints, each at exactly `distance` bits from another random row of `segment`. They
/// are distinct and in ascending order.
pub fn plant<F: Fingerprint>(
    segment: &Segment,
    count: u64,
    distance: u32,
    seed: u64,
) -> Result<Vec<Planted<F>>> {
    if count > segment.rows() {
        let what = "the segment has fewer rows than fingerprints to plant";
        return Err(Error::new(Kind::Usage, what)
            .at(segment.path())
            .expected(format_args!("at most {}", segment.rows()))
            .found(count));
    }
    if distance > F::BITS {
        return Err(Error::new(Kind::Usage, "the distance is larger than the width")
            .expected(format_args!("at most {}", F::BITS))
            .found(distance));
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x706c_616e_7465_6421);
    let mut rows = sample(&mut random, segment.rows() as usize, count as usize).into_vec();
    rows.sort_unstable();
    let mut fingerprints = segment.fingerprints();
    let mut ids = segment.ids();
    let mut taken = HashSet::new();
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let original = F::from_u128(fingerprints.get(row as u64)?);
        let mut near = (0..ATTEMPTS).map(|_| flip(original, distance, &mut random));
        let Some(fingerprint) = near.find(|&fingerprint| taken.insert(fingerprint)) else {
            let what = "no distinct near-duplicates of its fingerprints were found";
            return Err(Error::new(Kind::Usage, what).at(segment.path()));
        };
        all.push(Planted { fingerprint, near: ids.get(row as u64)?.to_owned() });
    }
    all.sort_unstable_by_key(|planted| planted.fingerprint);
    Ok(all)
}

fn flip<F: Fingerprint>(fingerprint: F, bits: u32, random: &mut ChaCha8Rng) -> F {
    sample(random, F::BITS as usize, bits as usize)
        .iter()
        .fold(fingerprint, |flipped, bit| flipped ^ F::from_u128(1 << bit))
}

/// Writes the segment that `wanted` describes to `path`, including `planted`, which are distinct and in
/// ascending order. Also returns the rows of the planted fingerprints, in their order.
pub fn generate<F: Fingerprint>(
    path: &Path,
    wanted: &SegmentSpec,
    planted: &[Planted<F>],
    identity: &str,
) -> Result<(Segment, Vec<u64>)> {
    assert!(planted.len() as u64 <= wanted.count && wanted.count <= wanted.density);
    let mut writer = SegmentWriter::create(path, wanted.options.clone())?;
    let mut rows = Vec::with_capacity(planted.len());
    let mut row = 0;
    let mut columns = RandomColumns::new(wanted);
    each_fingerprint(wanted, planted, |fingerprint, is_planted| {
        rows.extend(is_planted.then_some(row));
        writer.push(&columns.row(fingerprint, row))?;
        row += 1;
        Ok(())
    })?;
    let counts = RecordCounts { read: row, fingerprinted: row, ..RecordCounts::default() };
    Ok((writer.finish(counts, identity)?, rows))
}

struct RandomColumns<'a> {
    wanted: &'a SegmentOptions,
    urls: bool,
    random: ChaCha8Rng,
    id: String,
    details: Details,
}

impl RandomColumns<'_> {
    fn new(wanted: &SegmentSpec) -> RandomColumns<'_> {
        RandomColumns {
            wanted: &wanted.options,
            urls: wanted.urls,
            random: ChaCha8Rng::seed_from_u64(wanted.seed ^ 0x636f_6c75_6d6e_7321),
            id: String::new(),
            details: Details {
                check: match wanted.options.check_bytes {
                    AS_NEEDED => Vec::new(),
                    bytes => vec![0; bytes],
                },
                bands: vec![0; wanted.options.band_bytes],
                ..Details::default()
            },
        }
    }

    fn row<F: Fingerprint>(&mut self, fingerprint: F, row: u64) -> Row<'_, F> {
        let RandomColumns { wanted, urls, random, id, details } = self;
        if wanted.ids == IdKind::Text {
            *id = if *urls { url(row) } else { row.to_string() };
        }
        if wanted.check_bytes == AS_NEEDED {
            let shingles =
                ShingleSet::gather(|add| (0..SHINGLES).for_each(|_| add(random.random())));
            (details.check, details.anchors) = sketch_of(&shingles);
        } else {
            random.fill_bytes(&mut details.check);
        }
        random.fill_bytes(&mut details.bands);
        details.length = if wanted.lengths { random.random_range(1..LONGEST) } else { 0 };
        details.time = wanted.times.then(|| LATEST - random.random_range(0..YEAR));
        details.digest = if wanted.digests { random.random() } else { 0 };
        details.key = if wanted.keys { random.random() } else { 0 };
        Row { details, ..Row::new(fingerprint, id) }
    }
}

/// The URL of row `row`, which no other row below 2^40 has: of one of 65,536 hosts, which have pages all over the segment.
fn url(row: u64) -> String {
    let bits = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (host, month) = (bits >> 48, (bits >> 40) % 12 + 1);
    let page = bits & ((1 << 40) - 1);
    format!("https://www.site-{host:05}.example/2026/{month:02}/page-{page:010x}.html")
}

fn each_fingerprint<F: Fingerprint>(
    wanted: &SegmentSpec,
    planted: &[Planted<F>],
    mut take: impl FnMut(F, bool) -> Result<()>,
) -> Result<()> {
    let mut waiting = planted.iter().map(|planted| planted.fingerprint).peekable();
    let planted = planted.len() as u64;
    let density = wanted.density - planted;
    let mut sorted = RandomSorted::new(wanted.seed, density, waiting.clone().collect());
    let mut random = wanted.count - planted;
    let mut run = Vec::new();
    while sorted.next(&mut run) {
        for &fingerprint in &run {
            if waiting.next_if_eq(&fingerprint).is_some() {
                take(fingerprint, true)?;
            } else if random > 0 {
                random -= 1;
                take(fingerprint, false)?;
            } else {
                return waiting.try_for_each(|fingerprint| take(fingerprint, true));
            }
        }
    }
    waiting.try_for_each(|fingerprint| take(fingerprint, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Column, KeyRange};

    fn random(count: u64, density: u64) -> SegmentSpec {
        let ids = IdKind::Numbers;
        let options = SegmentOptions { ids, stamp: "r".into(), ..SegmentOptions::default() };
        SegmentSpec { seed: 1, count, density, options, urls: false }
    }

    fn write<F: Fingerprint>(
        wanted: SegmentSpec,
        planted: &[Planted<F>],
    ) -> (Segment, Vec<F>, Vec<u64>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.seg");
        let (segment, rows) = generate(&path, &wanted, planted, "i").unwrap();
        let mut scan = segment.scan(KeyRange::all());
        let mut run = Vec::new();
        let mut all = Vec::new();
        while scan.next(&mut run).unwrap().is_some() {
            all.extend(&run);
        }
        segment.verify().unwrap();
        (segment, all, rows)
    }

    #[test]
    fn a_slice_is_the_start_of_the_whole() {
        let (_, whole, _) = write::<u64>(random(50_000, 50_000), &[]);
        assert_eq!(whole.len(), 50_000);
        for count in [0, 1, 1000, 49_999] {
            let (_, slice, _) = write::<u64>(random(count, 50_000), &[]);
            assert_eq!(slice, whole[..count as usize]);
        }
        let (_, slice, _) = write::<u128>(random(1000, 1 << 24), &[]);
        assert_eq!(slice.len(), 1000);
    }

    #[test]
    fn a_segment_like_another_has_its_columns() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, seed, options| {
            let wanted = SegmentSpec { seed, options, ..random(5000, 5000) };
            generate::<u64>(&folder.path().join(name), &wanted, &[], "i").unwrap().0
        };
        let every = SegmentOptions {
            ids: IdKind::Text,
            lengths: true,
            times: true,
            classes: true,
            check_bytes: 36,
            band_bytes: 70,
            digests: true,
            words: true,
            passage_anchors: true,
            keys: true,
            ..random(0, 0).options
        };
        let one = make("a", 1, every);
        let [same, other] =
            [("b", 1), ("c", 2)].map(|(name, seed)| make(name, seed, SegmentOptions::like(&one)));
        same.verify().unwrap();
        assert_eq!(same.digest(), one.digest());
        assert_ne!(other.digest(), one.digest());
        let columns = |segment: &Segment| segment.columns().map(|it| it.column).collect::<Vec<_>>();
        assert_eq!(columns(&other), columns(&one));
        assert_eq!((other.stamp(), other.row_bytes(Column::Checks)), ("r", 36));
        assert_eq!(other.ids().get(4999).unwrap(), "4999");
        let mut checks = other.checks().unwrap();
        let signatures = [0, 1].map(|row| checks.get(row).unwrap().to_vec());
        assert_ne!(signatures[0], signatures[1]);
    }

    #[test]
    fn planted_fingerprints_stand_at_their_distance() {
        let (near, originals, _) = write::<u64>(random(5000, 5000), &[]);
        for (count, density, distance) in [(3000, 3000, 3), (3000, 1 << 24, 7), (300, 300, 64)] {
            let planted = plant::<u64>(&near, 300, distance, 9).unwrap();
            let (_, all, rows) = write(SegmentSpec { seed: 2, ..random(count, density) }, &planted);
            assert_eq!((all.len() as u64, rows.len()), (count, 300));
            assert!(all.is_sorted_by(|a, b| a < b));
            for (planted, row) in planted.iter().zip(rows) {
                let original = originals[planted.near.parse::<usize>().unwrap()];
                assert_eq!(all[row as usize], planted.fingerprint);
                assert_eq!(original.distance(planted.fingerprint), distance);
            }
        }
    }

    #[test]
    fn what_cannot_be_planted_is_refused() {
        let (near, _, _) = write::<u64>(random(10, 10), &[]);
        assert_eq!(plant::<u64>(&near, 11, 3, 1).unwrap_err().kind(), Kind::Usage);
        assert_eq!(plant::<u64>(&near, 1, 65, 1).unwrap_err().kind(), Kind::Usage);
        assert_eq!(plant::<u64>(&near, 10, 0, 1).unwrap().len(), 10);
    }
}
