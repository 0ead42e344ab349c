//! Ledgers written, read, cut short and damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::error::{Kind, Result};
use crate::matches::{Pair, Place};
use crate::store::Digest;

type Chunks = BTreeMap<u64, Vec<Pair>>;

const KEY: Digest = Digest(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);

/// Some chunks, of which the second has no pairs.
fn chunks() -> Chunks {
    let store = Place::Store { segment: 2, row: 1 << 40, rows: 3 };
    let batch = Place::Batch { group: 5.into() };
    let crowd = Place::Crowd;
    let pair = |new: u32, existing| Pair { new: new.into(), existing, distance: new as u8 };
    let first = vec![pair(7, store), pair(9, batch), pair(9, crowd)];
    BTreeMap::from([(0, first), (3, vec![]), (u64::MAX, vec![pair(u32::MAX, batch)])])
}

fn write(ledger: &Ledger, chunks: &Chunks) {
    let mut writer = ledger.writer();
    for (&chunk, pairs) in chunks {
        writer.begin(chunk);
        let half = pairs.len().div_ceil(2).max(1);
        pairs.chunks(half).for_each(|part| writer.append(part).unwrap());
        let listed = pairs.len() as u64;
        let (fingerprints, resumed) = (chunk / 2, false);
        let receipt = Receipt { chunk, fingerprints, pairs: 3 * listed, listed, resumed };
        let finished = writer.finish(receipt).unwrap();
        assert!(finished.pairs().map(Result::unwrap).eq(pairs.iter().copied()));
    }
}

fn read(ledger: &Ledger) -> Chunks {
    let chunk = |finished: &Finished| {
        let pairs: Vec<Pair> = finished.pairs().collect::<Result<_>>().unwrap();
        let receipt = finished.receipt();
        assert_eq!(receipt.fingerprints, receipt.chunk / 2);
        assert_eq!((receipt.listed, receipt.resumed), (pairs.len() as u64, true));
        assert_eq!(receipt.pairs, 3 * receipt.listed);
        (receipt.chunk, pairs)
    };
    ledger.finished().map(chunk).collect()
}

fn written() -> (TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    write(&Ledger::open(folder.path(), KEY).unwrap(), &chunks());
    let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&path).unwrap();
    (folder, path, bytes)
}

#[test]
fn the_ledger_of_the_museum_is_read_and_written() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/ledger-1");
    let ledger = Ledger::open(&folder, KEY).unwrap();
    assert_eq!((read(&ledger), ledger.damage().len()), (chunks(), 0));
    let museum = fs::read(folder.join(format!("{KEY}-museum.ledger"))).unwrap();
    assert!(written().2 == museum, "what is written has changed: raise the version");
}

#[test]
fn a_ledger_that_breaks_off_anywhere_holds_what_is_whole() {
    let (folder, path, bytes) = written();
    let mut held = 0;
    for length in 0..=bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let ledger = Ledger::open(folder.path(), KEY).unwrap();
        let found = read(&ledger);
        assert!(ledger.damage().is_empty(), "{length}");
        assert!(found.iter().eq(chunks().iter().take(found.len())), "{length}");
        assert!(found.len() >= held);
        held = found.len();
    }
    assert_eq!(held, 3);
}

#[test]
fn a_flipped_bit_anywhere_is_found_and_costs_chunks_alone() {
    let (folder, path, bytes) = written();
    for at in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at / 8] ^= 1 << (at % 8);
        fs::write(&path, flipped).unwrap();
        let ledger = Ledger::open(folder.path(), KEY).unwrap();
        let (found, all) = (read(&ledger), chunks());
        assert!(found.len() < 3 && found.iter().all(|(chunk, pairs)| all[chunk] == *pairs), "{at}");
        let told = ledger.damage().iter().all(|damage| damage.to_string().contains(" at byte "));
        assert!(told && !ledger.damage().is_empty(), "bit {at}");
    }
}

#[test]
fn what_changes_after_it_was_found_sound_is_an_error() {
    let (folder, path, mut bytes) = written();
    let ledger = Ledger::open(folder.path(), KEY).unwrap();
    bytes[80] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = ledger.chunk(0).unwrap().pairs().collect::<Result<Vec<_>>>().unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
}

#[test]
fn a_chunk_that_follows_on_itself_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let one = Chunks::from([(0, chunks()[&0].clone())]);
    let ledger = Ledger::open(folder.path(), KEY).unwrap();
    let mut writer = ledger.writer();
    for _ in 0..2 {
        writer.begin(0);
        writer.append(&one[&0]).unwrap();
        let (pairs, listed, resumed) = (9, 3, false);
        writer.finish(Receipt { chunk: 0, fingerprints: 0, pairs, listed, resumed }).unwrap();
    }
    let ledger = Ledger::open(folder.path(), KEY).unwrap();
    assert_eq!((read(&ledger), ledger.damage().len()), (one, 0));
}

#[test]
fn ledgers_of_other_keys_are_not_read() {
    let (folder, path, _) = written();
    let other = Ledger::open(folder.path(), Digest(1)).unwrap();
    assert!(other.finished().next().is_none());
    assert_eq!(other.remove_others().unwrap(), 1);
    assert!(!path.exists());
    write(&other, &chunks());
    let ledger = Ledger::open(folder.path(), KEY).unwrap();
    ledger.remove().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    other.remove().unwrap();
    assert!(!folder.path().exists());
}

proptest! {
    #[test]
    fn what_several_workers_note_is_read_by_one(
        // Frames are full of pairs, too.
        sizes in prop::collection::vec((prop_oneof![9 => 0..5_u32, 1 => 0..100_000_u32], prop::bool::ANY), 0..9),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("made"), KEY).unwrap();
        let existing = Place::Batch { group: 0.into() };
        let pair = |new: u32| Pair { new: new.into(), existing, distance: 2 };
        let (mut all, mut parts) = (Chunks::new(), [Chunks::new(), Chunks::new()]);
        for (chunk, (size, second)) in (0..).zip(sizes) {
            let pairs: Vec<Pair> = (0..size).map(pair).collect();
            parts[usize::from(second)].insert(chunk, pairs.clone());
            all.insert(chunk, pairs);
        }
        parts.iter().for_each(|part| write(&ledger, part));
        prop_assert_eq!(read(&Ledger::open(&folder.path().join("made"), KEY).unwrap()), all);
    }
}
