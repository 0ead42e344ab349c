//! What was removed is never shown again, and a certificate is never more than what was found.

use std::fs::{self, File};
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use roaring::RoaringTreemap;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::{add, batch, day, documents, new_store, options, write};
use crate::document::IdList;
use crate::error::{Error, Kind, Result};
use crate::store::removals::Removals;
use crate::store::removing::Removed;
use crate::store::row_sets::RowSet;
use crate::store::segment::tests::read;
use crate::store::{Codec, Day, Digest, Store};

/// A store with a segment of `rows` pages for each of these days.
fn store(rows: usize, days: &[&str]) -> Result<(TempDir, Store)> {
    let (folder, store) = new_store();
    for (seed, on) in (1..).zip(days) {
        add(&store, &batch(&folder, seed, rows), on)?;
    }
    Ok((folder, store))
}

fn remove(store: &Store, ids: &[&str], until: Option<Day>) -> Result<Removed> {
    let list = store.path().with_file_name("ids.txt");
    fs::write(&list, ids.join("\n")).unwrap();
    store.removal(IdList::read(&list, 1 << 20)?, until)?.run(2, &AtomicU64::new(0))
}

/// Rewrites and prunes what is to go, and certifies nothing.
fn purge(store: &Store) -> Result<()> {
    let read = AtomicU64::new(0);
    while store.rewrite_removed(&read)? {}
    store.purge()?.last.map_or(Ok(()), |last| store.prune_removed(last, &read))
}

fn certify(store: &Store) -> Result<bool> {
    store.certify(&AtomicU64::new(0))
}

fn certificate(store: &Store) -> serde_json::Value {
    let path = store.path().join(format!("purges/{:06}.json", store.at(None).unwrap().number()));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn ids(store: &Store, count: usize) -> Vec<String> {
    let segments = store.at(None).unwrap().segments().unwrap();
    let pages = segments.iter().flat_map(|segment| read::<u64>(segment).unwrap());
    pages.take(count).map(|page| page.id().to_owned()).collect()
}

#[test]
fn nothing_is_certified_while_a_version_names_a_file_with_removed_rows() -> Result<()> {
    let (_folder, store) = store(100, &["2026-01-01", "2026-01-02"])?;
    let ids = ids(&store, 2);
    remove(&store, &[&ids[0]], None)?;
    purge(&store)?;
    // Another process removes a page when everything was rewritten.
    remove(&store, &[&ids[1]], None)?;
    let error = certify(&store).unwrap_err();
    assert_eq!(error.kind(), Kind::Temporary, "{error}");
    assert!(!store.path().join("purges").exists());
    purge(&store)?;
    assert!(certify(&store)? && !certify(&store)?);
    for segment in store.at(None)?.segments()? {
        assert!(read::<u64>(&segment)?.iter().all(|page| !ids.iter().any(|id| id == page.id())));
    }
    Ok(())
}

#[test]
fn the_newest_version_is_not_pruned_for_pages_that_were_removed_meanwhile() -> Result<()> {
    let (_folder, store) = store(10, &["2026-01-01"])?;
    remove(&store, &[&ids(&store, 1)[0]], None)?;
    let last = store.purge()?.last.unwrap();
    let error = store.prune_removed(last, &AtomicU64::new(0)).unwrap_err();
    assert_eq!((last, error.kind()), (2, Kind::Temporary), "{error}");
    Ok(())
}

#[test]
fn a_certificate_tells_which_ids_a_page_of_a_later_day_has() -> Result<()> {
    let (folder, store) = new_store();
    let path = folder.path().join("day.seg");
    write(&path, options("r"), &documents(&[1_u64, 2, 3]), &["blank"])?;
    add(&store, &path, "2026-01-01")?;
    let both = ids(&store, 2);
    remove(&store, &[&both[0], &both[1], "blank"], None)?;
    purge(&store)?;
    assert!(certify(&store)?);
    let told = certificate(&store);
    assert_eq!((told["ids"].as_object().unwrap().len(), &told["later"]), (3, &[(); 0][..].into()));
    // The second page comes again, and so does the one without words.
    let again = documents(&[1_u64, 2]).pop().unwrap();
    assert_eq!(again.id(), both[1]);
    write(&path, options("r"), &[again], &["blank"])?;
    add(&store, &path, "2026-01-02")?;
    store.compact(Codec::Huffman, &AtomicU64::new(0))?;
    assert!(certify(&store)? && !certify(&store)?);
    let digest = |id: &str| Digest::of(id.as_bytes()).to_string();
    let mut later = [digest(&both[1]), digest("blank")];
    later.sort();
    assert_eq!(certificate(&store)["later"], serde_json::json!(later));
    Ok(())
}

#[test]
fn segments_of_no_version_go_before_a_certificate_is_written() -> Result<()> {
    let (_folder, store) = store(10, &["2026-01-01"])?;
    // Older than `CURRENT`, as in a copy of a store.
    let stray = store.path().join("segments/2020-01-01-stray.seg");
    fs::write(&stray, "pages").unwrap();
    File::options().write(true).open(&stray).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    remove(&store, &[&ids(&store, 1)[0]], None)?;
    assert!(stray.exists());
    purge(&store)?;
    fs::write(&stray, "pages").unwrap();
    File::options().write(true).open(&stray).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert!(certify(&store)? && !stray.exists());
    Ok(())
}

fn forge(store: &Store, change: impl FnOnce(&mut Removals)) -> Result<()> {
    let mut removals = Removals::clone(&*Removals::read(store.path())?);
    change(&mut removals);
    removals.write(store.path(), &store.lock()?)
}

#[test]
fn pages_that_are_hidden_by_mistake_are_found() -> Result<()> {
    let (_folder, store) = store(100, &["2026-01-01"])?;
    remove(&store, &["nobody"], None)?;
    store.verify()?;
    let file = store.at(None)?.entries()[0].file.clone();
    let hide = |rows: &[u64], empties: &[u64]| {
        let bitmap = |rows: &[u64]| rows.iter().copied().collect::<RoaringTreemap>();
        let days = [(day("2026-01-01"), rows.len() as u64)];
        let days = days.into_iter().filter(|(_, rows)| *rows > 0).collect();
        let removed = RowSet { rows: bitmap(rows), empties: bitmap(empties), days };
        forge(&store, |removals| drop(removals.files.insert(file.clone(), removed.into())))
    };
    for (rows, empties) in [(&[7][..], &[][..]), (&[], &[0])] {
        hide(rows, empties)?;
        assert_eq!(store.verify().unwrap_err().kind(), Kind::BadData, "{rows:?} {empties:?}");
    }
    forge(&store, |removals| removals.files.clear())?;
    store.verify()?;
    remove(&store, &["nothing"], None)?;
    store.verify().map(drop)
}

#[test]
fn a_removal_that_died_between_its_two_files_is_finished_by_the_next() -> Result<()> {
    let (_folder, store) = store(100, &["2026-01-01"])?;
    let id = ids(&store, 1).remove(0);
    let current = store.path().join("CURRENT");
    let before = fs::read(&current).unwrap();
    assert!(remove(&store, &[&id], None)?.is_new);
    let [after, list] = ["CURRENT", "REMOVED"].map(|it| fs::read(store.path().join(it)).unwrap());
    fs::write(&current, before).unwrap();
    assert_eq!(store.verify()?.shown_rows(), 99);
    assert!(!remove(&store, &[&id], None)?.is_new);
    assert_eq!(fs::read(&current).unwrap(), after);
    assert_eq!(fs::read(store.path().join("REMOVED")).unwrap(), list);
    Ok(())
}

#[test]
fn a_list_that_names_a_file_twice_is_refused() -> Result<()> {
    let (_folder, store) = store(10, &["2026-01-01", "2026-01-02"])?;
    let ids: Vec<String> = ids(&store, 20);
    remove(&store, &ids.iter().map(String::as_str).collect::<Vec<_>>(), None)?;
    let path = store.path().join("REMOVED");
    let sound = fs::read(&path).unwrap();
    let names: Vec<String> = store.at(None)?.entries().iter().map(|it| it.file.clone()).collect();
    let rename = |from: &str, to: &str| {
        let mut bytes = sound[..sound.len() - 8].to_vec();
        let at = bytes.windows(from.len()).position(|it| it == from.as_bytes()).unwrap();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        fs::write(&path, bytes).unwrap();
        store.at(None).map(drop)
    };
    rename(&names[0], &names[0])?;
    assert_eq!(rename(&names[1], &names[0]).unwrap_err().kind(), Kind::BadData);
    assert_eq!(rename(&names[0], &names[1]).unwrap_err().kind(), Kind::BadData);
    Ok(())
}

fn errors(folder: &TempDir, store: &Store) -> Vec<Error> {
    let added = add(store, &batch(folder, 9, 10), "2026-02-01").err();
    let removed = remove(store, &["other"], None).err();
    [store.at(None).err(), store.verify().err(), added, removed, certify(store).err()]
        .map(Option::unwrap)
        .into()
}

#[test]
fn a_lost_or_an_old_list_of_removed_pages_is_noticed_by_all() -> Result<()> {
    let (folder, store) = store(100, &["2026-01-01"])?;
    let ids = ids(&store, 2);
    let path = store.path().join("REMOVED");
    remove(&store, &[&ids[0]], None)?;
    let old = fs::read(&path).unwrap();
    remove(&store, &[&ids[1]], None)?;
    let new = fs::read(&path).unwrap();
    // Whatever changes the store keeps the count.
    add(&store, &batch(&folder, 8, 10), "2026-01-02")?;
    super::rollback(&store, 2)?;
    super::prune(&store, 1)?;
    fs::write(&path, old).unwrap();
    for error in errors(&folder, &store) {
        assert_eq!(error.kind(), Kind::BadData, "{error}");
    }
    fs::remove_file(&path).unwrap();
    for error in errors(&folder, &store) {
        assert_eq!(error.kind(), Kind::Missing, "{error}");
        assert!(error.to_string().contains("lost its list of removed pages"), "{error}");
    }
    // What the error says to do without a copy.
    let current = fs::read_to_string(store.path().join("CURRENT")).unwrap();
    let line = current.trim_end().strip_suffix(" 2").unwrap();
    fs::write(store.path().join("CURRENT"), format!("{line}\n")).unwrap();
    assert_eq!(remove(&store, &[&ids[0], &ids[1]], None)?.rows, 2);
    fs::write(&path, new).unwrap();
    store.verify().map(drop)
}
