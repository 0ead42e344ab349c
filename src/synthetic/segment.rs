//! Segments of random fingerprints, with near-duplicates planted where one is wanted: what a probe
//! is measured and checked on.

use std::collections::HashSet;
use std::path::Path;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Class, Fingerprint};
use crate::store::{Codec, Counts, IdKind, Row, Segment, SegmentOptions, SegmentWriter};

use super::random_sorted::RandomSorted;

/// How often other bits are flipped before a fingerprint that stands already is given up.
const ATTEMPTS: usize = 100;

/// A segment to generate.
#[derive(Clone, Debug)]
pub struct SegmentSpec {
    /// What every random choice follows from.
    pub seed: u64,
    /// Its fingerprints, planted ones included.
    pub count: u64,
    /// The size of the set, drawn over all keys, whose first fingerprints the segment takes; no
    /// less than `count`. (Planted ones are taken wherever they fall.)
    pub density: u64,
    /// How its rows are named: not by text.
    pub ids: IdKind,
    /// How it is coded.
    pub codec: Codec,
}

/// A fingerprint that stands at a known distance from a row of another segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted<F> {
    /// The fingerprint.
    pub fingerprint: F,
    /// The id of the row that it is near to.
    pub near: String,
}

/// Makes fingerprints that differ in exactly `distance` bits from as many random rows of `segment`,
/// each row another. They are distinct and ascend.
///
/// # Errors
/// More fingerprints than the segment has rows or room for, and a distance beyond the width, are
/// [`Kind::Usage`].
pub fn plant<F: Fingerprint>(
    segment: &Segment,
    count: u64,
    distance: u32,
    seed: u64,
) -> Result<Vec<Planted<F>>> {
    if count > segment.rows() {
        return Err(Error::new(Kind::Usage, "more is to be planted than the segment has rows")
            .at(segment.path())
            .expected(format_args!("at most {}", segment.rows()))
            .found(count));
    }
    if distance > F::BITS {
        return Err(Error::new(Kind::Usage, "the distance is wider than a fingerprint")
            .expected(format_args!("at most {}", F::BITS))
            .found(distance));
    }
    let refuse = |what: &str| Err(Error::new(Kind::Usage, what).at(segment.path()));
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x706c_616e_7465_6421);
    let mut rows = sample(&mut random, segment.rows() as usize, count as usize).into_vec();
    rows.sort_unstable();
    let (mut fingerprints, mut ids) = (segment.fingerprints(), segment.ids());
    let (mut taken, mut all) = (HashSet::new(), Vec::with_capacity(rows.len()));
    for row in rows {
        let original = F::from_u128(fingerprints.get(row as u64)?);
        let mut near = (0..ATTEMPTS).map(|_| flip(original, distance, &mut random));
        let Some(fingerprint) = near.find(|&fingerprint| taken.insert(fingerprint)) else {
            return refuse("its fingerprints leave no room for distinct near-duplicates");
        };
        all.push(Planted { fingerprint, near: ids.get(row as u64)?.to_owned() });
    }
    all.sort_unstable_by_key(|planted| planted.fingerprint);
    Ok(all)
}

/// Flips exactly `bits` random bits.
fn flip<F: Fingerprint>(fingerprint: F, bits: u32, random: &mut ChaCha8Rng) -> F {
    sample(random, F::BITS as usize, bits as usize)
        .iter()
        .fold(fingerprint, |flipped, bit| flipped ^ F::from_u128(1 << bit))
}

/// Writes to `path` the segment that `wanted` describes, with `planted` in it, which are distinct and
/// ascend; also returns the rows of these, in their order.
///
/// # Panics
/// If more are planted than there are fingerprints, or the density is below what is to be drawn.
pub fn generate<F: Fingerprint>(
    path: &Path,
    wanted: &SegmentSpec,
    planted: &[Planted<F>],
    stamp: String,
    identity: &str,
) -> Result<(Segment, Vec<u64>)> {
    assert!(planted.len() as u64 <= wanted.count && wanted.count <= wanted.density);
    let SegmentSpec { ids, codec, .. } = *wanted;
    let options = SegmentOptions { ids, codec, stamp, ..SegmentOptions::default() };
    let mut writer = SegmentWriter::create(path, options)?;
    let mut waiting = planted.iter().map(|planted| planted.fingerprint).peekable();
    let planted = planted.len() as u64;
    let mut sorted =
        RandomSorted::new(wanted.seed, wanted.density - planted, waiting.clone().collect());
    let (mut rows, mut random, mut run) = (Vec::new(), wanted.count - planted, Vec::new());
    let mut push = |fingerprint| {
        writer.push(&Row {
            fingerprint,
            id: "",
            length: 0,
            time: None,
            class: Class::Full,
            day: None,
            check: &[],
        })
    };
    let mut row = 0;
    'drawing: while sorted.next(&mut run) {
        for &fingerprint in &run {
            if waiting.next_if_eq(&fingerprint).is_some() {
                rows.push(row);
            } else if random == 0 {
                break 'drawing;
            } else {
                random -= 1;
            }
            push(fingerprint)?;
            row += 1;
        }
    }
    for fingerprint in waiting {
        rows.push(row);
        push(fingerprint)?;
        row += 1;
    }
    let counts = Counts { read: row, fingerprinted: row, ..Counts::default() };
    Ok((writer.finish(counts, identity)?, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::KeyRange;

    fn random(count: u64, density: u64) -> SegmentSpec {
        SegmentSpec { seed: 1, count, density, ids: IdKind::Numbers, codec: Codec::default() }
    }

    fn write<F: Fingerprint>(
        wanted: SegmentSpec,
        planted: &[Planted<F>],
    ) -> (Segment, Vec<F>, Vec<u64>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.seg");
        let (segment, rows) = generate(&path, &wanted, planted, "r".into(), "i").unwrap();
        let (mut scan, mut run, mut all) = (segment.scan(KeyRange::all()), Vec::new(), Vec::new());
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
