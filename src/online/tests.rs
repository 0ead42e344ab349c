//! The store and its journal against a plain list: answers, verdicts, days, and commits that were cut short.

use std::sync::mpsc::channel;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::document::Position;
use crate::error::{Kind, Result};
use crate::fingerprint::{Class, Width};
use crate::index::{LookupOptions, Question};
use crate::store::{Day, FingerprintedDocument, SegmentOptions, Store};

const STAMP: &str = r#"{"features":"external","width":64}"#;

fn open(store: &Store) -> Result<Online> {
    let options = OnlineOptions {
        lookup: LookupOptions { distance: 3, ..LookupOptions::default() },
        width: Width::W64,
        segment: SegmentOptions { stamp: STAMP.to_owned(), ..SegmentOptions::default() },
        limit: 1000,
        most_journal_bytes: 1 << 30,
        memory_bytes: 1 << 16,
    };
    Online::open(store.clone(), options)
}

fn page(id: &str, fingerprint: Option<u128>) -> FingerprintedDocument {
    FingerprintedDocument {
        id: id.to_owned(),
        position: Position { file: 0, line: 1 },
        content: 0,
        fingerprint,
        length: 0,
        time: None,
        class: Class::Full,
        check: Vec::new(),
        bands: Vec::new(),
        digest: 0,
    }
}

/// Random pages, many of them near others.
fn pages(seed: u64, count: usize) -> Vec<FingerprintedDocument> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let centres: Vec<u64> =
        (0..count / 4).map(|at| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let fingerprint = |number: usize| {
        let flips = (0..random.random_range(0..4))
            .fold(0, |it, _| it | 1_u64 << random.random_range(0..64));
        let centre = centres[random.random_range(0..centres.len())];
        page(
            &format!("{seed}-{number}"),
            (!number.is_multiple_of(29)).then_some(u128::from(centre ^ flips)),
        )
    };
    (0..count).map(fingerprint).collect()
}

fn remember(online: &Online, pages: &[FingerprintedDocument], which: Remember) -> Result<Told> {
    let (told, acknowledged) = channel();
    let answers = online.remember(pages, which, Box::new(move |done| drop(told.send(done))))?;
    acknowledged.recv().expect("told")?;
    Ok(answers)
}

/// A page that is held, with its day.
type Held = (String, u128, Option<Day>);

/// What is near by definition.
fn near(held: &[Held], fingerprint: u128, distance: u32) -> Vec<NearPage> {
    let mut near: Vec<NearPage> = held
        .iter()
        .map(|(id, other, day)| (id, (other ^ fingerprint).count_ones(), day))
        .filter(|&(_, apart, _)| apart <= distance)
        .map(|(id, apart, &day)| NearPage {
            distance: apart as u8,
            id: id.clone(),
            day,
            similarity: None,
        })
        .collect();
    near.sort();
    near
}

#[test]
fn days_of_pages_are_judged_and_found_as_by_definition() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(home.path().join("store"))?;
    let mut online = open(&store)?;
    let mut held: Vec<Held> = Vec::new();
    for day in 1..=4 {
        let date = Day::of(2026, 11, day);
        let all = pages(day.into(), 240);
        for (number, some) in all.chunks(16).enumerate() {
            let told = remember(&online, some, Remember::Kept)?;
            for (page, found) in some.iter().zip(&told.answers) {
                let Some(fingerprint) = page.fingerprint else {
                    assert_eq!(found.verdict, Verdict::Empty);
                    continue;
                };
                let expected = near(&held, fingerprint, 3);
                let is_new = expected.is_empty();
                assert_eq!(found.near, expected);
                assert_eq!(found.verdict, if is_new { Verdict::Keep } else { Verdict::Drop });
                if is_new {
                    held.push((page.id.clone(), fingerprint, None));
                }
            }
            if number == 7 {
                drop(online);
                online = open(&store)?;
            }
        }
        for distance in 0..=7 {
            let asked: Vec<_> = all.iter().take(40).map(|page| page.fingerprint).collect();
            let questions: Vec<_> = asked
                .iter()
                .map(|it| it.map(|fingerprint| Question { fingerprint, page: None }))
                .collect();
            let told = online.query(&questions, distance)?;
            for (asked, found) in asked.iter().zip(told.answers) {
                let expected = asked.map_or(Vec::new(), |asked| near(&held, asked, distance));
                assert_eq!((found.near, found.more), (expected, 0));
            }
        }
        let date = date.expect("a day of November");
        let committed = online.commit(date)?;
        let rows = held.iter().filter(|it| it.2.is_none()).count() as u64;
        assert_eq!((committed.rows, committed.already), (rows, false));
        held.iter_mut().filter(|it| it.2.is_none()).for_each(|it| it.2 = Some(date));
        assert!(online.commit(date)?.already);
        assert_eq!(online.journal().pages(), 0);
    }
    assert_eq!(store.at(None)?.rows(), held.len() as u64);
    Ok(())
}

#[test]
fn an_id_comes_once_in_a_day_and_other_pages_of_a_day_are_refused() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(home.path().join("store"))?;
    let online = open(&store)?;
    let [day, next]: [Day; 2] = ["2026-11-21".parse()?, "2026-11-22".parse()?];
    let twice = [
        page("a", Some(1)),
        page("a", Some(u128::from(u64::MAX))),
        page("b", Some(1)),
        page("c", None),
    ];
    let told = remember(&online, &twice, Remember::All)?;
    let verdicts: Vec<Verdict> = told.answers.iter().map(|it| it.verdict).collect();
    assert_eq!(verdicts, [Verdict::Keep, Verdict::Repeated, Verdict::Drop, Verdict::Empty]);
    let committed = online.commit(day)?;
    assert_eq!((committed.rows, committed.empties), (2, 1));
    remember(&online, &[page("a", Some(0xffff))], Remember::All)?;
    assert_eq!(online.commit(day).unwrap_err().kind(), Kind::Exists);
    assert_eq!(online.commit(next)?.rows, 1);
    Ok(())
}

#[test]
fn a_commit_that_was_cut_short_is_finished() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(home.path().join("store"))?;
    let [day, next]: [Day; 2] = ["2026-11-21".parse()?, "2026-11-22".parse()?];
    let online = open(&store)?;
    remember(&online, &pages(5, 50), Remember::All)?;
    // It ended after the seal, ...
    online.journal().seal(day)?;
    remember(&online, &pages(6, 10), Remember::All)?;
    drop(online);
    let online = open(&store)?;
    assert_eq!((online.finish_commits()?, online.version().entries().len()), (1, 1));
    assert_eq!((online.finish_commits()?, online.journal().pages()), (0, 10));
    // ... or after the day was in the store.
    online.journal().seal(next)?;
    let segment = home.path().join("next.seg");
    online.journal().write_segment(next, &segment, 1 << 20)?;
    store.add(&segment, next, None, None)?;
    drop(online);
    let online = open(&store)?;
    let before = online.version().number();
    assert_eq!(online.commit(next)?.rows, online.version().entry(next).unwrap().rows);
    assert_eq!((online.version().number(), online.journal().sealed()), (before, vec![]));
    Ok(())
}

#[test]
fn a_version_of_others_is_taken_up_and_what_is_remembered_stays() -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(home.path().join("store"))?;
    let online = open(&store)?;
    remember(&online, &[page("ours", Some(0xff))], Remember::All)?;
    let (elsewhere, _) = Store::init(home.path().join("elsewhere"))?;
    let other = open(&elsewhere)?;
    remember(&other, &[page("theirs", Some(0xfe))], Remember::All)?;
    let day: Day = "2026-11-20".parse()?;
    other.journal().seal(day)?;
    let segment = home.path().join("theirs.seg");
    other.journal().write_segment(day, &segment, 1 << 20)?;
    assert!(!online.refresh()?);
    store.add(&segment, day, None, None)?;
    assert!(online.refresh()?);
    let question = Some(Question { fingerprint: 0xff, page: None });
    let told = online.query(&[question], 3)?;
    let near =
        |distance, id: &str, day| NearPage { distance, id: id.to_owned(), day, similarity: None };
    let expected = [near(0, "ours", None), near(1, "theirs", Some(day))];
    assert_eq!((told.store_version, &told.answers[0].near[..]), (2, &expected[..]));
    assert_eq!(online.query(&[None], 16).unwrap_err().kind(), Kind::Usage);
    Ok(())
}
