//! Joins by the library against the definition, which compares all pairs.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Join, Preset};
use crate::error::Kind;
use crate::fingerprint::Fingerprint;
use crate::flow::Processes;
use crate::store::{IdKind, KeyRange, NewDay, Segment, SegmentOptions, Store, Version};
use crate::synthetic::{Planted, SegmentSpec, generate, plant};

const STAMP: &str = "test";

fn write<F: Fingerprint>(path: &Path, seed: u64, count: u64, planted: &[Planted<F>]) -> Segment {
    let options =
        SegmentOptions { ids: IdKind::Numbers, stamp: STAMP.into(), ..SegmentOptions::default() };
    let spec = SegmentSpec { seed, count, density: count, options, urls: false };
    generate(path, &spec, planted, "test").unwrap().0
}

/// A store of one day and a batch with 100 fingerprints near to it, in a folder.
fn inputs<F: Fingerprint>(folder: &Path) -> (Segment, Version) {
    let day = write::<F>(&folder.join("day.seg"), 1, 3000, &[]);
    let (store, _) = Store::init(folder.join("store")).unwrap();
    let date = "2026-11-20".parse().unwrap();
    store.add(&NewDay::whole(day.path(), date), None).unwrap();
    let planted = plant::<F>(&day, 100, 3, 2).unwrap();
    let batch = write(&folder.join("batch.seg"), 3, 1000, &planted);
    (batch, store.at(None).unwrap())
}

fn fingerprints<F: Fingerprint>(segment: &Segment) -> Vec<F> {
    let (mut scan, mut run, mut all) = (segment.scan(KeyRange::all()), Vec::new(), Vec::new());
    while scan.next(&mut run).unwrap().is_some() {
        all.extend(&run);
    }
    all
}

/// The near pairs of a batch with a store and with itself.
fn near_pairs<F: Fingerprint>(batch: &[F], held: &[F]) -> u64 {
    let is_near = |a: &F, b: &F| a.distance(*b) <= Preset::Paper.distance();
    let near = |new: &F, others: &[F]| others.iter().filter(|other| is_near(new, other)).count();
    let pairs = |at: usize| near(&batch[at], held) + near(&batch[at], &batch[..at]);
    (0..batch.len()).map(pairs).sum::<usize>() as u64
}

fn assert_exact<F: Fingerprint>() {
    let folder = tempfile::tempdir().unwrap();
    let (batch, store) = inputs::<F>(folder.path());
    let held = fingerprints::<F>(&store.segments().unwrap()[0]);
    let expected = near_pairs(&fingerprints::<F>(&batch), &held);
    let join = Join::new(batch, Some(store)).unwrap();
    let outputs: Vec<PathBuf> = [1, 3]
        .map(|workers| {
            let output = folder.path().join(format!("out-{workers}"));
            let joined = join.run(&mut Processes::alone(workers), &output).unwrap();
            let joined = joined.leader().unwrap();
            assert!(joined.proof.is_complete());
            assert_eq!((joined.proof.pairs, joined.proof.store_fingerprints), (expected, 3000));
            assert_eq!((joined.outcome.kept, joined.outcome.dropped), (900, 100));
            output
        })
        .into();
    for name in ["verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt"] {
        let [one, other] = [0, 1].map(|at| fs::read(outputs[at].join(name)).unwrap());
        assert!(one == other, "{name} depends on the number of workers");
    }
}

#[test]
fn joins_are_exact_at_both_widths() {
    assert_exact::<u64>();
    assert_exact::<u128>();
}

#[test]
fn a_store_of_another_width_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = inputs::<u64>(folder.path());
    let batch = write::<u128>(&folder.path().join("other.seg"), 1, 10, &[]);
    assert_eq!(Join::new(batch, Some(store)).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn inputs_that_process_0_does_not_see_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (batch, store) = inputs::<u64>(folder.path());
    let alone = Join::new(batch.clone(), None).unwrap();
    let join = Join::new(batch, Some(store)).unwrap();
    assert_eq!(join.check_inputs(&join.inputs()), Ok(()));
    assert_eq!(join.check_inputs(&alone.inputs()).unwrap_err().kind(), Kind::Missing);
}
