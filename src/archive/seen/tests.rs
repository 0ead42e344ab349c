//! A store against a plain set of its pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use tempfile::TempDir;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::*;
use crate::document::IdList;
use crate::error::{Kind, Result};
use crate::fingerprint::{Class, Fingerprint, Recipe};
use crate::output::Lock;
use crate::seen::fuse::FuseWriter;
use crate::seen::table::{entry, stamp};
use crate::store::{
    Codec, Day, Details, NewDay, RecordCounts, Row, SegmentOptions, SegmentWriter, SideTableWriter,
    Sidecar, Store, Version,
};

/// A page: its number, and that of its text.
type Page = (u32, u32);

fn id_of(page: u32) -> String {
    format!("page-{page}")
}

fn digest_of(text: u32) -> u128 {
    if text == 0 { 0 } else { xxh3_128(&text.to_le_bytes()) }
}

fn fingerprint_of(text: u32) -> u64 {
    xxh3_64(&text.to_le_bytes()) & 0xff_0000_0000_00ff
}

fn held_page(text: u32) -> HeldPage {
    let (check, bands) = (vec![text as u8; 3], vec![!text as u8; 5]);
    let class = if text.is_multiple_of(2) { Class::Full } else { Class::Short };
    let details = Details { class, check, bands, ..Details::default() };
    HeldPage { fingerprint: fingerprint_of(text).into(), details }
}

/// A segment of these pages; pages with one text have all in common but their ids.
fn segment<F: Fingerprint>(path: &Path, pages: &[Page]) -> Result<()> {
    let recipe = Recipe::named("words", Some(F::WIDTH))?.with_digests()?;
    let options = SegmentOptions {
        classes: true,
        check_bytes: 3,
        band_bytes: 5,
        digests: true,
        stamp: recipe.stamp().to_string(),
        ..SegmentOptions::default()
    };
    let mut writer = SegmentWriter::create(path, options)?;
    let mut rows: Vec<(u64, String, u32)> =
        pages.iter().map(|&(page, text)| (fingerprint_of(text), id_of(page), text)).collect();
    rows.sort();
    rows.dedup_by(|one, other| one.1 == other.1 && one.0 == other.0);
    for (fingerprint, id, text) in &rows {
        let details = &Details { digest: digest_of(*text), ..held_page(*text).details };
        writer.push(&Row { details, ..Row::new(F::from_u128((*fingerprint).into()), id) })?;
    }
    writer.finish(RecordCounts::default(), "").map(drop)
}

type Days = BTreeMap<Day, Vec<Page>>;

fn day(number: usize) -> Day {
    format!("2026-11-{:02}", number + 1).parse().unwrap()
}

fn store_of<F: Fingerprint>(folder: &TempDir, days: &Days) -> Result<Store> {
    let (store, _) = Store::init(folder.path().join("store"))?;
    let path = folder.path().join("day.seg");
    for (&day, pages) in days {
        segment::<F>(&path, pages)?;
        store.add(&NewDay::whole(&path, day), None)?;
    }
    Ok(store)
}

fn check(store: &Store, version: Version, days: &Days, most: u32) -> Result<()> {
    let holdings = Holdings::open(store, version)?;
    let newest = |is: &dyn Fn(&Page) -> bool| {
        let held = days.iter().filter(|(_, pages)| pages.iter().any(is));
        held.map(|(&day, _)| day).max()
    };
    let ids: Vec<String> = (0..most).map(id_of).collect();
    let ids: Vec<Sought<'_>> = ids.iter().map(|id| Sought::Id(id)).collect();
    let expected: Vec<_> = (0..most).map(|page| newest(&|it| it.0 == page)).collect();
    assert_eq!(holdings.newest_days(By::Ids, &ids, 2)?, expected);
    let texts: Vec<Sought<'_>> = (0..most).map(|text| Sought::Text(digest_of(text))).collect();
    let expected: Vec<_> =
        (0..most).map(|text| newest(&|it| it.1 == text).filter(|_| text != 0)).collect();
    assert_eq!(holdings.newest_days(By::Texts, &texts, 3)?, expected);
    if holdings.without_filter(By::Texts) == 0 {
        let mut seeker = Seeker::new(&holdings);
        for (text, day) in (0..).zip(&expected) {
            let found = seeker.page(digest_of(text), |id| Ok(id.get()?.starts_with("page")))?;
            assert_eq!(found, day.map(|_| held_page(text)), "{text}");
            let none = seeker.page(digest_of(text), |_| Ok(false))?;
            assert_eq!(none, None);
        }
    }
    Ok(())
}

fn files(store: &Store) -> Vec<PathBuf> {
    let entries = fs::read_dir(store.path().join("filters")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn make(store: &Store) -> Result<crate::store::Kept> {
    set(store, true, (1 << 12, 2), &AtomicU64::new(0))
}

/// Each page has one text a day, so that a page is one row of a day.
fn days(numbers: &[Vec<Page>]) -> Days {
    let pages = |pages: &Vec<Page>| {
        let last: BTreeMap<u32, u32> = pages.iter().copied().collect();
        last.into_iter().collect()
    };
    numbers.iter().enumerate().map(|(at, numbers)| (day(at), pages(numbers))).collect()
}

fn some(folder: &TempDir) -> Result<(Store, Days)> {
    let pages = |day: u32| (0..150).map(|page| (page * (day + 1), page * (day + 2) / 3)).collect();
    let days = days(&[0, 1, 2].map(pages));
    Ok((store_of::<u64>(folder, &days)?, days))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// Before there are filters, with them, and in one segment; with pages removed.
    #[test]
    fn answers_are_those_of_a_plain_set(
        numbers in prop::collection::vec(prop::collection::vec((0u32..300, 0u32..90), 0..200), 1..4),
        removed in prop::collection::vec(0u32..300, 0..20),
        is_wide in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut days = days(&numbers);
        let store =
            if is_wide { store_of::<u128>(&folder, &days)? } else { store_of::<u64>(&folder, &days)? };
        check(&store, store.at(None)?, &days, 320)?;
        make(&store)?;
        check(&store, store.at(None)?, &days, 320)?;
        let list = folder.path().join("ids");
        fs::write(&list, removed.iter().map(|&page| id_of(page) + "\n").collect::<String>()).unwrap();
        store.removal(IdList::read(&list, 1 << 20)?, None)?.run(1, &AtomicU64::new(0))?;
        days.values_mut().for_each(|pages| pages.retain(|page| !removed.contains(&page.0)));
        check(&store, store.at(None)?, &days, 320)?;
        store.compact(Codec::Huffman, &AtomicU64::new(0))?;
        check(&store, store.at(None)?, &days, 320)?;
        keep(&store, (1 << 12, 2), &AtomicU64::new(0))?;
        check(&store, store.at(None)?, &days, 320)?;
    }
}

/// Filters through which every hash passes, and tables that name every row for every hash.
#[test]
fn a_filter_is_never_believed() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let (store, days) = some(&folder)?;
    make(&store)?;
    let most = 400;
    let hashes = |by| {
        let hash = |number| match by {
            By::Ids => Sought::Id(&id_of(number)).hash(),
            By::Texts => Sought::Text(digest_of(number)).hash(),
        };
        let mut hashes: Vec<u64> = (0..most).map(hash).collect();
        hashes.sort_unstable();
        hashes
    };
    let lock = Lock::on_file(&folder.path().join("x"))?;
    for segment in store.at(None)?.segments()? {
        for place in filter::places(&store.path().join("filters"), &segment) {
            let paths = place.paths();
            let [fuse, table] = &paths[..] else { panic!("two files") };
            let (of, rows, by) = (segment.digest(), segment.rows(), place.by);
            let mut writer = FuseWriter::create(fuse, of, rows, 6, lock.fence())?;
            writer.lets_all_pass()?;
            writer.finish()?;
            let mut writer = SideTableWriter::create(table, stamp(by, of), lock.fence())?;
            let every = |hash| (0..rows).map(move |row| entry(hash, row, rows));
            let entries: BTreeSet<u64> = hashes(by).into_iter().flat_map(every).collect();
            entries.into_iter().try_for_each(|entry| writer.push(entry))?;
            writer.finish()?;
        }
    }
    assert_eq!(missing(&store)?, (0, 0));
    check(&store, store.at(None)?, &days, most)
}

#[test]
fn damage_at_every_byte_is_found_and_mended() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let days = days(&[(0..40).map(|page| (page, page / 2)).collect()]);
    let store = store_of::<u64>(&folder, &days)?;
    assert_eq!(make(&store)?.made, 2);
    for file in files(&store) {
        let sound = fs::read(&file).unwrap();
        for at in 0..sound.len() {
            let mut flipped = sound.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&file, flipped).unwrap();
            let is_found = verify(&store).is_err_and(|error| error.kind() == Kind::BadData);
            assert!(is_found, "{} at {at}", file.display());
        }
        assert_eq!(make(&store)?.made, 1, "the damaged one is made again");
        assert_eq!(fs::read(&file).unwrap(), sound, "the same bytes again");
    }
    assert_eq!(verify(&store)?, 2);
    check(&store, store.at(None)?, &days, 60)
}

#[test]
fn filters_come_and_go_with_their_segments() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let (store, days) = some(&folder)?;
    let count = AtomicU64::new(0);
    assert_eq!((keep(&store, (1 << 12, 2), &count)?.files, missing(&store)?.0), (0, 6));
    assert_eq!((make(&store)?.files, files(&store).len(), is_kept(&store)?), (12, 12, true));
    assert_eq!((make(&store)?.made, size(&store)?.0, verify(&store)?), (0, 12, 6));
    fs::remove_file(&files(&store)[3]).unwrap();
    fs::write(&files(&store)[7], "damaged").unwrap();
    fs::write(store.path().join("filters/.unfinished-x"), "").unwrap();
    fs::write(store.path().join("filters/notes.txt"), "").unwrap();
    let holdings = Holdings::open(&store, store.at(None)?)?;
    assert_eq!(holdings.without_filter(By::Ids) + holdings.without_filter(By::Texts), 2);
    check(&store, store.at(None)?, &days, 500)?;
    let kept = keep(&store, (1 << 12, 2), &count)?;
    assert_eq!((kept.made, kept.files, files(&store).len()), (2, 12, 13), "the notes stay");
    store.compact(Codec::EliasFano, &count)?;
    let kept = keep(&store, (1 << 12, 2), &count)?;
    assert_eq!((kept.made, kept.removed, kept.files), (2, 12, 4));
    assert_eq!(Holdings::open(&store, store.at(None)?)?.without_filter(By::Texts), 0);
    store.rollback(4, &count)?;
    assert_eq!(keep(&store, (1 << 12, 2), &count)?.files, 12);
    let kept = set(&store, false, (1 << 12, 2), &count)?;
    assert_eq!((kept.removed, is_kept(&store)?), (12, false));
    fs::write(store.path().join("FILTERS"), "fuse 0123\n").unwrap();
    assert_eq!(is_kept(&store).unwrap_err().kind(), Kind::BadData);
    Ok(())
}
