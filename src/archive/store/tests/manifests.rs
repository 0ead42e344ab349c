//! Manifests that say what has changed are read as if each were whole.

use std::fs;
use std::path::PathBuf;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::{add, batch, new_store, prune};
use crate::error::{Kind, Result};
use crate::output::Lock;
use crate::store::manifest::{Entry, Manifest, Merged, manifest_name};
use crate::store::{Day, Digest, Store};

/// A folder, in memory where that is possible, and its lock.
fn folder() -> (TempDir, Lock) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let lock = Lock::take(&folder.path().join("LOCK")).unwrap();
    (folder, lock)
}

fn entry(number: u64, version: u64) -> Entry {
    let day = Day::of(
        (2000 + number / 336) as u16,
        (number % 336 / 28 + 1) as u8,
        (number % 28 + 1) as u8,
    );
    let day = day.unwrap();
    let digest = Digest(number.into());
    Entry {
        day,
        file: format!("{day}.seg"),
        digest,
        rows: 1,
        empties: 0,
        bytes: 9,
        added_in: version,
        source: digest,
        only: None,
        replaces: None,
        slack: None,
        dropped: 0,
        expired_in: None,
    }
}

/// The versions of a store that gets a day in each, in any order, merges ten, and lets days expire or goes back at times.
fn history(versions: u64, random: &mut ChaCha8Rng) -> Vec<Manifest> {
    let mut all = vec![Manifest::empty()];
    let mut days: Vec<u64> = (0..versions).collect();
    days.shuffle(random);
    for version in 2..=versions {
        let last = all.last().unwrap();
        let mut next =
            Manifest { version, stamp: Some("r".into()), width: Some(64), ..last.clone() };
        let own = |entry: &&mut Entry| entry.file.starts_with("20");
        if random.random_ratio(1, 40) {
            next = Manifest { version, ..all.choose(random).unwrap().clone() };
        } else if !last.shown().is_empty() && random.random_ratio(1, 40) {
            next = last.expiring(last.shown().choose(random).unwrap().day);
        } else if next.entries.iter_mut().filter(own).count() >= 10 {
            let file = format!("compacted-{version:06}.seg");
            let merged = next.entries.iter_mut().filter(own).map(|it| it.file.clone_from(&file));
            let rows = merged.count() as u64;
            next.merged.push(Merged { file, digest: Digest(version.into()), rows, bytes: 99 });
        } else {
            let added = entry(days.pop().unwrap(), version);
            if next.expired_before.is_none_or(|first| added.day >= first) {
                next.entries.push(added);
                next.entries.sort_by_key(|entry| entry.day);
            }
        }
        all.push(next);
    }
    all
}

fn path(folder: &TempDir, version: u64) -> PathBuf {
    folder.path().join(manifest_name(version))
}

fn write(folder: &TempDir, lock: &Lock, all: &[Manifest]) -> Result<Vec<u64>> {
    all.iter().map(|manifest| manifest.write(&path(folder, manifest.version), lock)).collect()
}

#[test]
fn every_version_is_read_as_it_was_written() -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for versions in [1, 2, 3, 30, 500] {
        let (folder, lock) = folder();
        let all = history(versions, &mut random);
        let checksums = write(&folder, &lock, &all)?;
        let mut based = 0;
        for (manifest, checksum) in all.iter().zip(checksums) {
            let path = path(&folder, manifest.version);
            assert_eq!(Manifest::read(&path, manifest.version)?, (manifest.clone(), checksum));
            if let Some(base) = Manifest::base_of(&path, manifest.version)? {
                // Two files are enough.
                assert_eq!(
                    Manifest::base_of(&path.with_file_name(manifest_name(base)), base)?,
                    None
                );
                based += 1;
            }
        }
        assert!(versions < 100 || based > versions / 2, "{based} of {versions}");
    }
    Ok(())
}

#[test]
fn days_that_are_added_take_much_less_than_their_square() -> Result<()> {
    let (folder, lock) = folder();
    let mut last = Manifest { stamp: Some("r".into()), width: Some(64), ..Manifest::empty() };
    let (mut bytes, mut whole) = (0, 0);
    for version in 2..=1000 {
        last.version = version;
        last.entries.push(entry(version, version));
        let path = path(&folder, version);
        last.write(&path, &lock)?;
        bytes += fs::metadata(&path).unwrap().len();
        whole += u64::from(Manifest::base_of(&path, version)?.is_none());
    }
    // The first ones have too few days for a base.
    assert!(whole < 31 + 60, "{whole}");
    // Whole, half a million entries of more than 300 bytes.
    assert!(bytes < 500_000 * 300 / 8, "{bytes}");
    Ok(())
}

/// The days of a store that has enough of them for a manifest with a base, and its newest version.
const DAYS: usize = 36;
const NEWEST: u64 = DAYS as u64 + 1;

/// A store of so many days, whose newest manifest is based on another one.
fn based() -> Result<(TempDir, Store, PathBuf)> {
    let (folder, store) = new_store();
    for day in 0..DAYS {
        let name = format!("2026-{:02}-{:02}", day / 28 + 1, day % 28 + 1);
        add(&store, &batch(&folder, day as u64, 2), &name)?;
    }
    let newest = store.manifest_path(NEWEST);
    let base = Manifest::base_of(&newest, NEWEST)?.expect("it has a base");
    let base = store.manifest_path(base);
    Ok((folder, store, base))
}

/// Changes a manifest, and makes its checksum and that in `CURRENT` right.
fn forge(store: &Store, version: u64, from: &str, to: &str) {
    let path = store.manifest_path(version);
    let text = fs::read_to_string(&path).unwrap();
    let lines = text[..text.rfind("xxh3-64").unwrap()].replacen(from, to, 1);
    assert!(!text.starts_with(&lines), "nothing was forged in {text}");
    let whole = format!("{lines}xxh3-64 {:016x}\n", xxh3_64(lines.as_bytes()));
    let current = format!("{version:06} {:016x}\n", xxh3_64(whole.as_bytes()));
    fs::write(path, whole).unwrap();
    fs::write(store.path().join("CURRENT"), current).unwrap();
}

#[test]
fn a_manifest_that_contradicts_its_base_is_an_error() -> Result<()> {
    let refused = |from: &str, to: &str, what: &str| {
        let (_folder, store, _) = based()?;
        forge(&store, NEWEST, from, to);
        let error = store.at(None).unwrap_err();
        assert!(error.kind() == Kind::BadData && error.to_string().contains(what), "{error}");
        Ok(())
    };
    let gone = |days: &str| format!("\"base\": {{ \"gone\": {days},");
    refused("\"base\": {", &gone("[\"2027-01-01\"]"), "takes out what its base does not have")?;
    let replaced = "\"base\": { \"replaced\": [\"compacted-000001.seg\"],";
    refused("\"base\": {", replaced, "takes out what its base does not have")?;
    refused("\"format\": 1", "\"format\": 3", "expected format 1")?;
    refused("\"checksum\": \"", "\"checksum\": \"0", "not the manifest that another")
}

#[test]
fn pruning_keeps_the_base_that_is_needed_and_no_longer() -> Result<()> {
    let (folder, store, base) = based()?;
    let manifests = || {
        let names = fs::read_dir(store.path().join("manifests")).unwrap();
        let mut names: Vec<PathBuf> = names.map(|it| it.unwrap().path()).collect();
        names.sort();
        names
    };
    prune(&store, 1)?;
    assert_eq!(manifests(), [base.clone(), store.manifest_path(NEWEST)]);
    assert_eq!((store.verify()?.entries().len(), *store.versions()?.start()), (DAYS, NEWEST));
    let number = base.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let error = store.at(Some(number)).unwrap_err();
    assert!(error.to_string().contains("was pruned"), "{error}");
    // Until a version is whole again.
    for day in 1..=30 {
        add(&store, &batch(&folder, 100 + day, 2), &format!("2026-03-{day:02}"))?;
        prune(&store, 1)?;
        let newest = *store.versions()?.end();
        let base = Manifest::base_of(&store.manifest_path(newest), newest)?;
        let kept = base.into_iter().chain([newest]).map(|it| store.manifest_path(it));
        assert_eq!(manifests(), kept.collect::<Vec<_>>());
    }
    assert!(!base.exists());
    store.verify().map(drop)
}
