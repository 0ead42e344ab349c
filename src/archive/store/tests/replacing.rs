//! Pages that pages of later days replace: hidden from a version on, and in no other.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use tempfile::TempDir;

use super::{dated, day, documents, new_store, options, prune, rollback, write};
use crate::document::IdList;
use crate::error::{Error, Kind, Result};
use crate::store::replaced_rows;
use crate::store::{Codec, Day, NewDay, Replacements, Retention, Segment, Store};

/// A store with the days 1 and 2 of November, each of the pages 0 to 5; and a segment for a third day.
fn store() -> Result<(TempDir, Store, PathBuf)> {
    let (folder, store) = new_store();
    for day in ["2026-11-01", "2026-11-02"] {
        let path = folder.path().join(format!("{day}.seg"));
        write(&path, options("r"), &documents(&[1, 2, 3, 4, 5, 6_u64]), &["empty"])?;
        store.add(&NewDay::whole(&path, self::day(day)), None)?;
    }
    let path = folder.path().join("third.seg");
    write(&path, options("r"), &documents(&[10, 20_u64]), &[])?;
    Ok((folder, store, path))
}

fn list(pages: &[(&str, &str, &str)]) -> Replacements {
    let mut list = Replacements::new(Path::new("replaced.tsv"));
    for ((id, on, by), row) in pages.iter().zip(2..) {
        list.push(id, day(on), by, row);
    }
    list.sorted()
}

fn add(store: &Store, segment: &Path, on: &str, list: &Replacements) -> Result<()> {
    let new = NewDay { replaces: Some(list), ..NewDay::whole(segment, day(on)) };
    store.add(&new, None).map(drop)
}

fn shown(store: &Store) -> Result<Vec<(String, Day)>> {
    let rows = dated(&store.at(None)?)?;
    let mut shown: Vec<_> = rows.iter().map(|(page, day)| (page.id().to_owned(), *day)).collect();
    shown.sort();
    Ok(shown)
}

fn without(mut all: Vec<(String, Day)>, pages: &[(&str, &str)]) -> Vec<(String, Day)> {
    all.retain(|(id, on)| !pages.iter().any(|page| *page == (id, &on.to_string())));
    all
}

fn ids() -> Vec<String> {
    documents(&[1, 2, 3, 4, 5, 6_u64]).iter().map(|page| page.id().to_owned()).collect()
}

/// The version before the third day was pruned. Two pages of earlier days come back when it leaves: hidden rows are shown again, and what a merge has
/// left out is read from the segments that were given. What was removed stays away.
#[test]
fn what_a_day_that_leaves_has_replaced_comes_back() -> Result<()> {
    for (compacts, has_segments) in [(false, false), (false, true), (true, true), (true, false)] {
        let (folder, store, third) = store()?;
        let (ids, before) = (ids(), shown(&store)?);
        let back = [(&*ids[1], "2026-11-01"), (&*ids[4], "2026-11-02")];
        let pages = list(&[
            (&ids[1], "2026-11-01", &ids[0]),
            (&ids[4], "2026-11-02", &ids[0]),
            (&ids[5], "2026-11-02", &ids[0]),
        ]);
        add(&store, &third, "2026-11-03", &pages)?;
        fs::write(folder.path().join("ids.txt"), format!("{}\n", ids[5])).unwrap();
        let removed = IdList::read(&folder.path().join("ids.txt"), IdList::MOST_BYTES)?;
        store.removal(removed, None)?.run(1, &AtomicU64::new(0))?;
        let before = without(before, &[(&ids[5], "2026-11-01"), (&ids[5], "2026-11-02")]);
        if compacts {
            store.compact(Codec::Huffman, &AtomicU64::new(0))?;
        }
        prune(&store, 1)?;
        let newest = store.at(None)?;
        let coming = newest.coming_back(3, &pages, |entry| {
            let segment = Segment::open(folder.path().join(format!("{}.seg", entry.day)));
            segment.ok().filter(|_| has_segments)
        })?;
        let day = day("2026-11-03");
        let went = store.rollback_before(day, newest.number(), &coming, &AtomicU64::new(0))?;
        let is_lost = compacts && !has_segments;
        let lacks = back.map(|(id, on)| coming.lacks(id, self::day(on)));
        assert_eq!(lacks, [is_lost; 2], "{compacts} {has_segments}");
        assert!(!coming.lacks(&ids[5], self::day("2026-11-02")));
        let expected = if is_lost { without(before, &back) } else { before };
        assert_eq!(shown(&store)?, expected, "{compacts} {has_segments}");
        assert_eq!((went.shown_rows(), went.replaced_rows()), (expected.len() as u64, 0));
        store.verify()?;
        // Whoever saw another version is told so.
        let error = store.rollback_before(day, newest.number(), &coming, &AtomicU64::new(0));
        assert_eq!(error.unwrap_err().kind(), Kind::Temporary);
    }
    Ok(())
}

#[test]
fn a_list_of_another_join_is_refused_and_changes_nothing() -> Result<()> {
    let (_folder, store, third) = store()?;
    let ids = ids();
    let refused = |pages: &[(&str, &str, &str)]| -> Error {
        let error = add(&store, &third, "2026-11-03", &list(pages)).unwrap_err();
        assert_eq!((error.kind(), store.at(None).unwrap().number()), (Kind::BadData, 3));
        assert!(error.to_string().contains("replaced.tsv:2"), "{error}");
        error
    };
    for (page, said) in [
        (("nobody", "2026-11-01", &*ids[0]), "does not have the page"),
        ((&*ids[0], "2026-11-05", &*ids[0]), "does not have the page"),
        ((&*ids[0], "2026-11-01", &*ids[5]), "does not enter the store"),
    ] {
        let error = refused(&[page]).to_string();
        assert!(error.contains(said), "{error}");
    }
    // What a join before a merge lists may have gone meanwhile.
    let pages = list(&[(&ids[1], "2026-11-01", &ids[0])]);
    add(&store, &third, "2026-11-03", &pages)?;
    store.compact(Codec::Huffman, &AtomicU64::new(0))?;
    let left = shown(&store)?;
    let fourth = third.with_file_name("fourth.seg");
    write(&fourth, options("r"), &documents(&[30_u64]), &[])?;
    add(&store, &fourth, "2026-11-04", &pages)?;
    assert_eq!(without(shown(&store)?, &[(&ids[0], "2026-11-04")]), left);
    Ok(())
}

fn lists(store: &Store) -> Vec<PathBuf> {
    let folder = store.path().join("replaced");
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_damaged_or_lost_list_is_an_error_and_what_a_dead_run_left_goes() -> Result<()> {
    let (_folder, store, third) = store()?;
    let ids = ids();
    add(&store, &third, "2026-11-03", &list(&[(&ids[1], "2026-11-01", &ids[0])]))?;
    let path = lists(&store).remove(0);
    let bytes = fs::read(&path).unwrap();
    // Whoever writes the bytes can compute their digest too.
    for at in 0..bytes.len() {
        let flipped = |bit: u8| {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            flipped
        };
        for damaged in (0..8).map(flipped).chain([bytes[..at].to_vec()]) {
            match replaced_rows::parse(&damaged) {
                Ok(read) => assert_ne!(read, replaced_rows::parse(&bytes)?),
                Err(error) => assert_eq!(error.kind(), Kind::BadData),
            }
        }
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(store.at(None).unwrap_err().kind(), Kind::Missing);
    assert_eq!(store.at(Some(3))?.shown_rows(), 12);
    fs::write(&path, &bytes).unwrap();
    let stray = path.with_file_name(format!("{:032x}.rows", 7));
    let other = path.with_file_name("notes.rows");
    [&stray, &other].into_iter().for_each(|path| fs::write(path, "half").unwrap());
    rollback(&store, 3)?;
    prune(&store, 2)?;
    assert!(!stray.exists() && other.exists() && path.exists());
    prune(&store, 1)?;
    assert!(!path.exists());
    Ok(())
}

#[test]
fn slack_is_the_least_number_of_the_days_that_are_shown() -> Result<()> {
    let (_folder, store, third) = store()?;
    let ids = ids();
    let with = |pages: &[(&str, Option<&str>, u32)]| {
        let mut list = list(&[]);
        pages.iter().for_each(|(id, on, slack)| list.push_slack(id, on.map(day), *slack));
        list
    };
    let of = |store: &Store| -> Result<[Option<u32>; 3]> {
        let slack = store.at(None)?.slack()?;
        let pages = [(0, "2026-11-03"), (1, "2026-11-01"), (1, "2026-11-02")];
        Ok(pages.map(|(id, on)| slack.get(&ids[id], day(on))))
    };
    let first = with(&[(&ids[0], None, 9), (&ids[1], Some("2026-11-01"), 4)]);
    add(&store, &third, "2026-11-03", &first)?;
    assert_eq!(of(&store)?, [Some(9), Some(4), None]);
    // The same again changes nothing, and another number is another day.
    add(&store, &third, "2026-11-03", &first)?;
    let other = with(&[(&ids[0], None, 8), (&ids[1], Some("2026-11-01"), 4)]);
    assert_eq!(add(&store, &third, "2026-11-03", &other).unwrap_err().kind(), Kind::Exists);
    let fourth = third.with_file_name("fourth.seg");
    write(&fourth, options("r"), &documents(&[30_u64]), &[])?;
    let second = with(&[(&ids[0], Some("2026-11-03"), 12), (&ids[1], Some("2026-11-01"), 2)]);
    let before = store.at(None)?.digest();
    add(&store, &fourth, "2026-11-04", &second)?;
    let added = store.at(None)?.digest();
    assert_eq!((of(&store)?, lists(&store).len()), ([Some(9), Some(2), None], 2));
    store.compact(Codec::Huffman, &AtomicU64::new(0))?;
    assert_eq!((of(&store)?, store.at(None)?.digest()), ([Some(9), Some(2), None], added));
    rollback(&store, 4)?;
    assert_eq!((of(&store)?, store.at(None)?.digest()), ([Some(9), Some(4), None], before));
    store.verify()?;
    store.expire(Retention::From(day("2026-11-03")))?;
    prune(&store, 1)?;
    assert_eq!((of(&store)?, lists(&store).len()), ([Some(9), Some(4), None], 1));
    store.expire(Retention::From(day("2026-11-09")))?;
    assert_eq!(of(&store)?, [None, None, None]);
    Ok(())
}
