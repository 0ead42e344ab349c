//! The journal against a plain list, its file at every byte, and a disk that fails.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use super::*;
use crate::document::Position;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Class, Width};
use crate::matches::{Answer, Confirm, NearPage, Question, Similarity};
use crate::store::{Column, Day, Details, FingerprintedDocument, SegmentOptions, Store};
use crate::tests::{shared_anchors, signed, signed_options};
use crate::work::Work;

fn options(width: Width) -> JournalOptions {
    let segment = SegmentOptions {
        lengths: true,
        classes: true,
        check_bytes: 16,
        band_bytes: 5,
        digests: true,
        words: true,
        passage_anchors: true,
        keys: true,
        declared: true,
        stamp: "a recipe".to_owned(),
        ..SegmentOptions::default()
    };
    JournalOptions { width, segment, most_bytes: 1 << 30 }
}

fn pages(width: Width, count: usize, seed: u64) -> Vec<FingerprintedDocument> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mask = u128::MAX >> (128 - width.bits());
    let mut last = 0;
    let page = |number: usize| {
        let flips = (0..random.random_range(0..5))
            .fold(0, |flips, _| flips | 1_u128 << random.random_range(0..width.bits()));
        let base = if random.random_bool(0.8) { last } else { random.random() };
        last = (base ^ flips) & mask;
        let fingerprint = random.random_bool(0.95).then_some(last);
        let row = |bytes: usize, random: &mut ChaCha8Rng| match fingerprint {
            Some(_) => vec![random.random_range(0..2) * 255; bytes],
            None => Vec::new(),
        };
        FingerprintedDocument {
            id: format!("page {number}"),
            position: Position { file: 0, line: number as u64 + 1 },
            content: random.random(),
            fingerprint,
            details: Details {
                length: random.random_range(0..1 << 40),
                time: random.random_bool(0.5).then(|| random.random_range(-5..1 << 33)),
                class: if random.random_bool(0.3) && fingerprint.is_some() {
                    Class::Short
                } else {
                    Class::Full
                },
                check: row(16, &mut random),
                anchors: Vec::new(),
                bands: row(5, &mut random),
                digest: fingerprint.map_or(0, |_| random.random()),
                words: row(number % 7, &mut random),
                passage_anchors: row(5 * (number % 3), &mut random),
                key: fingerprint.map_or(0, |bits| !bits),
                declared: row(number % 40, &mut random),
            },
        }
    };
    (0..count).map(page).collect()
}

fn add(journal: &Journal, pages: &[FingerprintedDocument]) -> Result<Receiver<Result<()>>> {
    let (told, acknowledged) = channel();
    let mut insertion = journal.turn()?;
    pages.iter().for_each(|page| insertion.add(page.clone()));
    insertion.finish(Box::new(move |done| drop(told.send(done))))?;
    Ok(acknowledged)
}

fn add_all(journal: &Journal, pages: &[FingerprintedDocument]) -> Result<()> {
    add(journal, pages)?.recv().expect("every request is told")
}

fn opened(count: usize, seed: u64) -> Result<(TempDir, Vec<FingerprintedDocument>, Journal)> {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path(), options(Width::W64))?;
    Ok((home, pages(Width::W64, count, seed), journal))
}

/// Whether the journal of this number has these pages.
fn has(home: &TempDir, number: u32, pages: &[FingerprintedDocument]) -> Result<bool> {
    let read = file::read(&home.path().join(format!("journal/{number:06}.journal")))?;
    Ok(read.pages.iter().map(|page| &page.id).eq(pages.iter().map(|page| &page.id)))
}

fn near(pages: &[FingerprintedDocument], wanted: &Wanted<'_>) -> Vec<NearPage> {
    let mut near: Vec<NearPage> = pages
        .iter()
        .filter_map(|page| {
            let distance = (page.fingerprint? ^ wanted.question.fingerprint).count_ones();
            let (is_like, similarity) = match (wanted.question.page, wanted.check) {
                (None, _) => (true, None),
                (Some(asked), None) => (asked.class == page.details.class, None),
                (Some(Details { class, check: signature, .. }), Some(check)) => {
                    let is_copy = distance == 0 && *signature == page.details.check;
                    let similarity = match is_copy {
                        true => Some(Similarity::SAME),
                        false => {
                            let similarity = check.check.similarity(signature, &page.details.check);
                            (similarity >= check.least).then(|| Similarity::nearest(similarity))
                        }
                    };
                    (*class == page.details.class && similarity.is_some(), similarity)
                }
            };
            (distance <= wanted.distance && is_like).then(|| NearPage {
                distance: distance as u8,
                id: page.id.clone(),
                day: None,
                similarity,
            })
        })
        .collect();
    near.sort();
    near
}

#[test]
fn answers_as_a_comparison_of_all_pairs_does() -> Result<()> {
    for width in [Width::W64, Width::W128] {
        let home = tempfile::tempdir().unwrap();
        let all = pages(width, 400, 3);
        let mut journal = Journal::open(home.path(), options(width))?;
        for (number, some) in all.chunks(40).enumerate() {
            add_all(&journal, some)?;
            if number == 6 {
                drop(journal);
                journal = Journal::open(home.path(), options(width))?;
            }
        }
        assert_eq!(journal.pages(), 400);
        let check = Some("minhash-64x2:0.5".parse()?);
        for page in all.iter().filter(|page| page.fingerprint.is_some()).take(60) {
            for distance in (0..=7).chain([10, 15]) {
                let fingerprint = page.fingerprint.unwrap_or_default();
                let itself = Some(&page.details);
                for (page, check) in [(None, None), (itself, None), (itself, check)] {
                    let question = Question { fingerprint, page };
                    let wanted = Wanted { question, distance, check };
                    let expected = near(&all, &wanted);
                    let all = journal.near(&wanted, usize::MAX, &mut Work::unbounded());
                    let near = expected.clone();
                    assert_eq!(all, Answer { near, more: 0, is_cut: false });
                    let Answer { near: nearest, more, .. } =
                        journal.near(&wanted, 3, &mut Work::unbounded());
                    assert_eq!(nearest, expected[..expected.len().min(3)]);
                    assert_eq!(nearest.len() as u64 + more, expected.len() as u64);
                }
            }
        }
    }
    Ok(())
}

fn three_frames(folder: &Path) -> Result<(Vec<FingerprintedDocument>, Vec<u8>, Vec<usize>)> {
    let all = pages(Width::W64, 9, 5);
    let journal = Journal::open(folder, options(Width::W64))?;
    let mut ends = vec![journal.bytes() as usize];
    for some in all.chunks(3) {
        add_all(&journal, some)?;
        ends.push(journal.bytes() as usize);
    }
    Ok((all, fs::read(folder.join("journal/000001.journal")).unwrap(), ends))
}

#[test]
fn a_journal_cut_at_any_byte_has_all_whole_frames() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (all, bytes, ends) = three_frames(home.path())?;
    let path = home.path().join("journal/000001.journal");
    for cut in 0..=bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let contents = file::read(&path);
        let Some(frames) = ends.iter().rposition(|&end| end <= cut) else {
            assert_eq!(contents.unwrap_err().kind(), Kind::BadData, "{cut}");
            continue;
        };
        let contents = contents?;
        assert_eq!(contents.pages, all[..3 * frames], "{cut}");
        assert_eq!(contents.torn, (cut - ends[frames]) as u64);
        let journal = Journal::open(home.path(), options(Width::W64))?;
        add_all(&journal, &all[3 * frames..])?;
        drop(journal);
        assert_eq!(file::read(&path)?.pages, all, "what is added after a cut is read back");
    }
    Ok(())
}

#[test]
fn damage_before_the_last_frame_is_an_error_that_names_the_byte() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (all, bytes, ends) = three_frames(home.path())?;
    let path = home.path().join("journal/000001.journal");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, &damaged).unwrap();
        let read = file::read(&path);
        if at < ends[2] {
            let error = Journal::open(home.path(), options(Width::W64)).unwrap_err();
            assert_eq!(error.kind(), Kind::BadData, "{at}");
            let is_named = error.to_string().contains(" at byte ") || at < ends[0];
            assert!(is_named && error.to_string().contains("000001.journal"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), damaged, "nothing is cut");
        } else {
            assert_eq!(read?.pages, all[..6], "the last frame looks unfinished");
        }
    }
    Ok(())
}

#[test]
fn a_full_journal_says_so_and_another_recipe_is_refused() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let small = JournalOptions { most_bytes: 500, ..options(Width::W64) };
    let journal = Journal::open(home.path(), small.clone())?;
    let all = pages(Width::W64, 20, 1);
    add_all(&journal, &all)?;
    let full = add(&journal, &all).unwrap_err();
    assert_eq!((full.kind(), full.what()), (Kind::Temporary, "the journal is full"));
    let second = Journal::open(home.path(), small).unwrap_err();
    assert_eq!(second.kind(), Kind::Temporary, "one process writes it");
    drop(journal);
    let other = Journal::open(home.path(), options(Width::W128)).unwrap_err();
    assert_eq!(other.kind(), Kind::Exists);
    Ok(())
}

#[test]
fn sealed_pages_become_a_segment_and_are_forgotten() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(home.path().join("store"))?;
    let [one, two]: [Day; 2] = ["2026-11-21".parse()?, "2026-11-22".parse()?];
    let all = pages(Width::W64, 3000, 9);
    let journal = Journal::open(store.path(), options(Width::W64))?;
    add_all(&journal, &all)?;
    journal.seal(one)?;
    add_all(&journal, &all[..10])?;
    drop(journal);
    let journal = Journal::open(store.path(), options(Width::W64))?;
    assert_eq!((journal.sealed(), journal.pages()), (vec![one], 3010));
    let path = home.path().join("one.seg");
    let segment = journal.write_segment(one, &path, 1 << 16)?;
    let empties = all.iter().filter(|page| page.fingerprint.is_none()).count() as u64;
    assert_eq!((segment.rows(), segment.empties()), (3000 - empties, empties));
    assert!(segment.times().is_some() && segment.classes().is_some());
    assert_eq!(segment.row_bytes(Column::Checks), 16);
    let again = journal.write_segment(one, &path, 1 << 30)?;
    assert_eq!(again.digest(), segment.digest());
    let fingerprint = all.iter().find_map(|page| page.fingerprint).unwrap_or_default();
    let question = Question { fingerprint, page: None };
    let wanted = Wanted { question, distance: 0, check: None };
    let near = journal.near(&wanted, 9, &mut Work::unbounded()).near;
    assert_eq!(near.iter().filter(|near| near.day == Some(one)).count(), 1);
    assert_eq!((journal.forget(one, |_| false)?, journal.forget(one, |_| true)?), (0, 0));
    assert_eq!((journal.sealed(), journal.pages()), (vec![], 10));
    assert_eq!(journal.write_segment(one, &path, 1 << 16).unwrap_err().kind(), Kind::Missing);
    journal.seal(two)?;
    drop(journal);
    let journal = Journal::open(store.path(), options(Width::W64))?;
    let two = journal.write_segment(two, &path, 1 << 16)?;
    assert_eq!(two.rows() + two.empties(), 10);
    Ok(())
}

#[test]
fn after_a_failed_write_the_file_is_made_anew_and_nothing_else_is_lost() -> Result<()> {
    let (home, all, journal) = opened(30, 2)?;
    add_all(&journal, &all[..10])?;
    journal.break_down();
    let failed = add(&journal, &all[10..20])?.recv().expect("told");
    assert!(failed.is_err(), "it was not written");
    assert_eq!(journal.pages(), 10);
    add_all(&journal, &all[20..])?;
    assert_eq!(journal.pages(), 20);
    journal.break_down();
    assert!(journal.seal("2026-11-22".parse()?).is_err());
    add_all(&journal, &all[10..20])?;
    drop(journal);
    assert!(has(&home, 1, &[&all[..10], &all[20..], &all[10..20]].concat())?);
    Ok(())
}

#[test]
fn a_day_stays_sealed_while_its_file_cannot_be_removed() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let all = pages(Width::W64, 20, 6);
    let day = "2026-11-22".parse()?;
    let [sealed, elsewhere] =
        ["journal/000001.journal", "elsewhere"].map(|it| home.path().join(it));
    let journal = Journal::open(home.path(), options(Width::W64))?;
    type End = fn(&Journal, Day) -> Result<()>;
    let ends: [End; 2] = [Journal::unseal, |it, day| it.forget(day, |_| true).map(drop)];
    add_all(&journal, &all[..10])?;
    journal.seal(day)?;
    add_all(&journal, &all[10..])?;
    for end in ends {
        fs::rename(&sealed, &elsewhere).unwrap();
        fs::create_dir(&sealed).unwrap();
        assert!(end(&journal, day).is_err());
        assert_eq!(journal.sealed(), [day]);
        fs::remove_dir(&sealed).unwrap();
        fs::rename(&elsewhere, &sealed).unwrap();
    }
    journal.unseal(day)?;
    assert_eq!((journal.sealed(), journal.pages(), sealed.exists()), (vec![], 20, false));
    drop(journal);
    assert!(has(&home, 2, &all)?);
    Ok(())
}

#[test]
fn pages_that_could_not_be_written_are_not_sealed() -> Result<()> {
    let (home, all, journal) = opened(20, 3)?;
    let day = "2026-11-22".parse()?;
    add_all(&journal, &all[..10])?;
    journal.break_down();
    let failed = add(&journal, &all[10..])?;
    journal.seal(day)?;
    assert!(failed.recv().expect("told").is_err(), "it was not written");
    assert_eq!(journal.pages(), 10);
    let segment = journal.write_segment(day, &home.path().join("day.seg"), 1 << 20)?;
    assert_eq!(segment.counts().read, 10);
    Ok(())
}

#[test]
fn pages_of_a_request_that_breaks_off_are_withdrawn() -> Result<()> {
    let (home, all, journal) = opened(30, 4)?;
    let told = add(&journal, &all[..10])?;
    let mut insertion = journal.turn()?;
    all[10..20].iter().for_each(|page| insertion.add(page.clone()));
    drop(insertion);
    assert!(told.recv().expect("told").is_ok());
    assert!(!journal.turn()?.has(&all[10].id));
    add_all(&journal, &all[20..])?;
    drop(journal);
    assert!(has(&home, 1, &[&all[..10], &all[20..]].concat())?);
    Ok(())
}

#[test]
fn of_near_pages_that_come_at_once_one_is_kept() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path(), options(Width::W64))?;
    let keep = |number: u64| {
        let page = pages(Width::W64, 1, number).remove(0);
        let page = FingerprintedDocument {
            id: format!("{number}"),
            fingerprint: Some(u128::from(number % 16) << 32),
            details: Details { check: vec![0; 16], bands: vec![0; 5], digest: 7, ..page.details },
            ..page
        };
        let (told, acknowledged) = channel();
        let fingerprint = page.fingerprint.unwrap_or_default();
        let question = Question { fingerprint, page: None };
        let wanted = Wanted { question, distance: 0, check: None };
        let mut insertion = journal.turn()?;
        let kept = insertion.near(&wanted, 1, &mut Work::unbounded()).near.is_empty();
        if kept {
            insertion.add(page);
        }
        insertion.finish(Box::new(move |done| drop(told.send(done))))?;
        acknowledged.recv().expect("told")?;
        Ok::<_, Error>(kept)
    };
    let kept: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let keep = &keep;
                scope.spawn(move || (0..50).filter(|it| keep(it * 8 + thread) == Ok(true)).count())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((kept, journal.pages()), (16, 16));
    Ok(())
}

/// Pages of one text in versions, of which more share anchors with a page than are compared: those that share most are.
#[test]
fn pages_that_share_anchors_are_found_as_all_are() -> Result<()> {
    let check: Check = "containment".parse()?;
    let confirm = Confirm::new(check, 0.9);
    let segment = signed_options(check);
    let options = JournalOptions { width: Width::W64, segment, most_bytes: 1 << 30 };
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut version = |number: usize| {
        let mut words: Vec<String> = (0..50).map(|at| format!("w{at}")).collect();
        for _ in 0..random.random_range(0..4) {
            words[random.random_range(0..50)] = format!("c{number}");
        }
        words.extend((0..random.random_range(0..60)).map(|at| format!("m{number}x{at}")));
        let bits = random.random_range(1..64);
        let fingerprint = random.random_range(0..1_u64 << bits);
        FingerprintedDocument {
            details: signed(check, &words.join(" ")),
            ..FingerprintedDocument::new(format!("page-{number}"), Some(fingerprint.into()))
        }
    };
    let mut all: Vec<_> = (0..150).map(&mut version).collect();
    let copies = all.iter().take(9).cloned();
    let copies: Vec<_> =
        copies.map(|it| FingerprintedDocument { id: format!("{}-copy", it.id), ..it }).collect();
    all.extend(copies);
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path(), options)?;
    add_all(&journal, &all[..80])?;
    journal.seal("2026-11-20".parse()?)?;
    add_all(&journal, &all[80..])?;
    let mut far = 0;
    for number in 0..40 {
        let asked = version(number);
        let question =
            Question { fingerprint: asked.fingerprint.unwrap(), page: Some(&asked.details) };
        let wanted = Wanted { question, distance: 3, check: Some(confirm) };
        let distance = |page: &FingerprintedDocument| {
            (page.fingerprint.unwrap() ^ question.fingerprint).count_ones()
        };
        let apart = |page: &FingerprintedDocument| {
            8_usize.saturating_sub(shared_anchors(&page.details.anchors, &asked.details.anchors))
        };
        let key = |page: &FingerprintedDocument| {
            (apart(page), distance(page), page.fingerprint, page.details.check.clone())
        };
        let keys: std::collections::BTreeSet<_> =
            all.iter().map(key).filter(|key| key.0 < 8).collect();
        let nearest: Vec<_> = keys.into_iter().take(32).collect();
        let mut expected: Vec<(u32, &str)> = Vec::new();
        for page in &all {
            let is_candidate = distance(page) <= 3 || nearest.contains(&key(page));
            let [of_asked, _] =
                check.containment(&asked.details.check, &page.details.check).unwrap();
            if is_candidate && of_asked.is_at_least(0.9) {
                expected.push((distance(page), &page.id));
            }
        }
        expected.sort_unstable();
        let answer = journal.near(&wanted, usize::MAX, &mut Work::unbounded());
        let found = answer.near.iter().map(|near| (u32::from(near.distance), near.id.as_str()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{number}");
        far += expected.iter().filter(|near| near.0 > 3).count();
    }
    assert!(far > 15, "{far}");
    Ok(())
}
