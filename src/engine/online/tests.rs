//! The store and its journal: verdicts, days, and commits that were cut short. (Answers against all pairs: `tests/serve`.)

use std::fs;
use std::io::Write;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;

use tempfile::TempDir;

use super::*;
use crate::budget::Budget;
use crate::document::IdList;
use crate::error::{Kind, Result};
use crate::fingerprint::{Class, Recipe};
use crate::index::LookupOptions;
use crate::matches::Question;
use crate::store::{Day, Details, FingerprintedDocument, NewDay, Store};
use crate::work::Work;

fn open(store: &Store) -> Result<Online> {
    let recipe = Recipe::named("external-64", None)?;
    let lookup = LookupOptions { distance: 3, ..LookupOptions::default() };
    let budget = Budget::of(1 << 18);
    let options = OnlineOptions { limit: 1000, budget, ..OnlineOptions::of(&recipe, lookup) };
    Online::open(store.clone(), options)
}

fn empty() -> Result<(TempDir, Store, Online)> {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(home.path().join("store"))?;
    let online = open(&store)?;
    Ok((home, store, online))
}

fn page(id: &str, fingerprint: Option<u128>) -> FingerprintedDocument {
    FingerprintedDocument::new(id, fingerprint)
}

fn remember(online: &Online, pages: &[FingerprintedDocument], which: Remember) -> Result<Told> {
    let (told, acknowledged) = channel();
    let done = Box::new(move |done| drop(told.send(done)));
    let answers = online.remember(pages, which, done, &mut Work::unbounded())?;
    acknowledged.recv().expect("told")?;
    Ok(answers)
}

fn add(store: &Store, day: Day, pages: &[FingerprintedDocument]) -> Result<()> {
    let home = tempfile::tempdir().unwrap();
    let (elsewhere, _) = Store::init(home.path().join("elsewhere"))?;
    let other = open(&elsewhere)?;
    remember(&other, pages, Remember::All)?;
    other.journal().seal(day)?;
    let segment = home.path().join("theirs.seg");
    other.journal().write_segment(day, &segment, 1 << 20)?;
    store.add(&NewDay::whole(&segment, day), None).map(drop)
}

fn remove(store: &Store, ids: &str) -> Result<()> {
    let mut list = tempfile::NamedTempFile::new().unwrap();
    list.write_all(ids.as_bytes()).unwrap();
    let has_days = !store.at(None)?.entries().is_empty();
    let until = (!has_days).then(|| "2026-11-20".parse()).transpose()?;
    let removal = store.removal(IdList::read(list.path(), 1 << 20)?, until)?;
    removal.run(1, &AtomicU64::new(0)).map(drop)
}

fn holders(online: &Online, fingerprint: u128) -> Result<Vec<(String, Option<Day>)>> {
    let told =
        online.query(&[Some(Question { fingerprint, page: None })], 0, &mut Work::unbounded())?;
    Ok(told.answers[0].near.iter().map(|near| (near.id.clone(), near.day)).collect())
}

#[test]
fn an_id_comes_once_in_a_day_and_other_pages_of_a_day_are_refused() -> Result<()> {
    let (_home, _, online) = empty()?;
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
    let committed = online.commit(day, None)?;
    assert_eq!((committed.rows, committed.empties), (2, 1));
    remember(&online, &[page("a", Some(0xffff))], Remember::All)?;
    assert_eq!(online.commit(day, None).unwrap_err().kind(), Kind::Exists);
    assert_eq!(online.commit(next, None)?.rows, 1);
    Ok(())
}

#[test]
fn pages_of_a_day_that_others_have_added_go_back_and_take_another_day() -> Result<()> {
    let (_home, store, online) = empty()?;
    let [day, next]: [Day; 2] = ["2026-11-21".parse()?, "2026-11-22".parse()?];
    remember(&online, &[page("a", Some(0xa)), page("b", Some(0xb))], Remember::All)?;
    online.journal().seal(day)?;
    remember(&online, &[page("a", Some(0xaaaa)), page("c", Some(0xc))], Remember::All)?;
    add(&store, day, &[page("theirs", Some(0x70))])?;
    let [sealed, kept] = ["journal/000001.journal", "sealed"].map(|it| store.path().join(it));
    fs::copy(&sealed, &kept).unwrap();
    let refused = online.finish_commits().unwrap_err();
    assert_eq!(refused.kind(), Kind::Exists);
    assert!(refused.to_string().contains("commit them to another day"), "{refused}");
    let is_back = |online: &Online| {
        assert_eq!((online.finish_commits(), online.journal().sealed()), (Ok(0), vec![]));
        // Of the two pages a the first stays, as if both had come on one day.
        assert_eq!(online.journal().pages(), 3);
        assert_eq!(holders(online, 0xa), Ok(vec![("a".to_owned(), None)]));
        assert_eq!(online.commit(day, None).unwrap_err().kind(), Kind::Exists);
    };
    is_back(&online);
    drop(online);
    is_back(&open(&store)?);
    // As if it had died before the sealed file was removed.
    fs::rename(&kept, &sealed).unwrap();
    let online = open(&store)?;
    assert_eq!(online.finish_commits().unwrap_err().kind(), Kind::Exists);
    is_back(&online);
    assert_eq!(online.commit(next, None)?.rows, 3);
    assert_eq!(holders(&online, 0xc)?, [("c".to_owned(), Some(next))]);
    assert_eq!(holders(&online, 0xaaaa)?, []);
    Ok(())
}

#[test]
fn a_page_remembered_after_its_removal_waits_for_a_day_that_takes_it() -> Result<()> {
    let (home, store, online) = empty()?;
    let [day, next, last]: [Day; 3] =
        ["2026-11-19".parse()?, "2026-11-20".parse()?, "2026-11-21".parse()?];
    // Up to 2026-11-20, since the store has no day.
    remove(&store, "again\nempty\n")?;
    let all = [page("again", Some(0xa)), page("other", Some(0xff00)), page("empty", None)];
    remember(&online, &all, Remember::All)?;
    let committed = online.commit(day, None)?;
    assert_eq!((committed.rows, committed.empties, committed.waiting), (1, 0, 2));
    assert_eq!((online.journal().pages(), online.journal().sealed()), (2, vec![]));
    assert_eq!(holders(&online, 0xa)?, [("again".to_owned(), None)]);
    // The same day again changes nothing, and pages that wait belong to a later one.
    let again = online.commit(day, None)?;
    assert_eq!(again, Committed { already: true, ..committed });
    // It is cut short after the day is in the store, and a page comes meanwhile.
    online.journal().seal(next)?;
    remember(&online, &[page("since", Some(0xff_ffff))], Remember::All)?;
    let made = home.path().join("next.seg");
    online.journal().write_segment(next, &made, 1 << 20)?;
    store.add(&NewDay::whole(&made, next), None)?;
    drop(online);
    let online = open(&store)?;
    let committed = online.commit(next, None)?;
    assert_eq!((committed.rows, committed.waiting, online.journal().pages()), (0, 2, 3));
    assert_eq!(
        online.commit(next, None).unwrap_err().kind(),
        Kind::Exists,
        "one belongs to another day"
    );
    let committed = online.commit(last, None)?;
    assert_eq!((committed.rows, committed.empties, committed.waiting), (2, 1, 0));
    assert_eq!(holders(&online, 0xa)?, [("again".to_owned(), Some(last))]);
    assert_eq!((online.journal().pages(), store.verify()?.rows()), (0, 3));
    Ok(())
}

#[test]
fn of_a_page_that_waits_and_a_newer_one_of_its_id_the_newer_stays() -> Result<()> {
    let (_home, store, online) = empty()?;
    let [day, last]: [Day; 2] = ["2026-11-19".parse()?, "2026-11-21".parse()?];
    // Up to 2026-11-20, since the store has no day.
    remove(&store, "again\nother\n")?;
    remember(&online, &[page("again", Some(0xa)), page("other", Some(0xff00))], Remember::All)?;
    // The newer one comes while the day is being committed.
    online.journal().seal(day)?;
    let told = remember(&online, &[page("again", Some(0xa_ffff_0000))], Remember::Kept)?;
    assert_eq!(told.answers[0].verdict, Verdict::Keep);
    assert_eq!((online.commit(day, None)?.waiting, online.journal().pages()), (2, 2));
    assert_eq!((online.commit(last, None)?.rows, holders(&online, 0xa)?), (2, vec![]));
    assert_eq!(holders(&online, 0xa_ffff_0000)?, [("again".to_owned(), Some(last))]);
    Ok(())
}

#[test]
fn removed_pages_leave_a_day_that_is_being_committed() -> Result<()> {
    let (home, store, online) = empty()?;
    let [day, next]: [Day; 2] = ["2026-11-21".parse()?, "2026-11-22".parse()?];
    // The commit ended after the seal, ...
    remember(&online, &[page("a", Some(0xa)), page("b", Some(0xb))], Remember::All)?;
    online.journal().seal(day)?;
    remember(&online, &[page("b", Some(0xbb)), page("c", Some(0xc))], Remember::All)?;
    remove(&store, "b\n")?;
    let waits = remember(&online, &[page("d", Some(0xd))], Remember::All).unwrap_err();
    assert_eq!(waits.kind(), Kind::Temporary, "the note is still needed");
    assert_eq!(online.finish_commits()?, 1);
    online.refresh()?;
    assert_eq!(holders(&online, 0xa)?, [("a".to_owned(), Some(day))]);
    assert_eq!((holders(&online, 0xb)?, holders(&online, 0xbb)?), (vec![], vec![]));
    remember(&online, &[page("d", Some(0xd)), page("b", Some(0xb))], Remember::All)?;
    // ... or after the day was in the store: that is seen, though a page of it was removed since.
    online.journal().seal(next)?;
    let made = home.path().join("next.seg");
    online.journal().write_segment(next, &made, 1 << 20)?;
    store.add(&NewDay::whole(&made, next), None)?;
    remove(&store, "c\n")?;
    assert_eq!((online.finish_commits()?, online.journal().pages()), (1, 0));
    online.refresh()?;
    assert_eq!(holders(&online, 0xc)?, []);
    assert_eq!(holders(&online, 0xb)?, [("b".to_owned(), Some(next))]);
    assert_eq!(holders(&online, 0xd)?, [("d".to_owned(), Some(next))]);
    Ok(())
}

#[test]
fn a_page_whose_verdict_costs_too_much_is_not_kept() -> Result<()> {
    let (_home, _, online) = empty()?;
    // A crowd that is near, of another class: each is compared, and none is found.
    let crowd = (0..400).map(|at| FingerprintedDocument {
        details: Details { class: Class::Short, ..Details::default() },
        ..page(&format!("short-{at}"), Some(0xff ^ (1 << (at % 60))))
    });
    let crowd: Vec<_> = crowd.collect();
    remember(&online, &crowd, Remember::All)?;
    let asked = [page("asked", Some(0xff)), page("next", Some(0xffff_0000_0000_ffff))];
    let questions = asked.each_ref().map(|page| {
        Some(Question { fingerprint: page.fingerprint.unwrap(), page: Some(&page.details) })
    });
    let verdicts = |told: Told| -> Vec<(Verdict, bool)> {
        told.answers.iter().map(|found| (found.verdict, found.is_cut)).collect()
    };
    let expected = [(Verdict::Unknown, true), (Verdict::Keep, false)];
    let told = online.query(&questions, 3, &mut Work::of(600))?;
    assert_eq!(verdicts(told), expected);
    let (done, written) = channel();
    let done = Box::new(move |result| drop(done.send(result)));
    let told = online.remember(&asked[..1], Remember::Kept, done, &mut Work::of(100))?;
    written.recv().expect("told")?;
    assert_eq!((verdicts(told)[0], online.journal().pages()), (expected[0], 400));
    let told = remember(&online, &asked, Remember::Kept)?;
    assert_eq!(verdicts(told), [(Verdict::Keep, false); 2]);
    Ok(())
}

#[test]
fn what_is_found_takes_room_as_it_is_found() -> Result<()> {
    let (_home, _, online) = empty()?;
    let long = |number: u128| page(&format!("{number}{}", "a".repeat(1000)), Some(number));
    remember(&online, &(0..3).map(long).collect::<Vec<_>>(), Remember::All)?;
    let question = Some(Question { fingerprint: 1, page: None });
    for (room, found) in [(1 << 20, true), (5000, false), (10, false)] {
        let taken = std::cell::Cell::new(0);
        let takes = |bytes| {
            taken.set(taken.get() + bytes);
            taken.get() <= room
        };
        let mut work = Work::unbounded().within(&takes);
        let told = online.query(&[question, question], 3, &mut work);
        assert_eq!((told.is_ok(), work.lacks_room()), (found, !found), "{room}");
        match told {
            Ok(told) => {
                let near = told.answers.iter().flat_map(|found| &found.near);
                let named: usize = near.map(|near| near.id.len()).sum();
                assert!(named > 5000 && taken.get() > named, "{named} {}", taken.get());
            }
            Err(error) => assert_eq!(error.kind(), Kind::Temporary),
        }
    }
    Ok(())
}

#[test]
fn a_commit_of_nothing_makes_no_day_and_one_of_a_day_far_ahead_is_refused() -> Result<()> {
    let (_home, store, online) = empty()?;
    let today: Day = "2026-11-23".parse()?;
    let far: Day = "9999-12-31".parse()?;
    for (day, today) in [(far, None), (today, Some(today))] {
        let committed = online.commit(day, today)?;
        assert_eq!(committed, Committed { store_version: 1, ..Committed::default() });
    }
    assert!(store.at(None)?.entries().is_empty());
    remember(&online, &[page("a", Some(1))], Remember::All)?;
    // A day that is not meant is refused before anything is sealed.
    assert_eq!(online.commit(far, Some(today)).unwrap_err().kind(), Kind::Usage);
    assert_eq!((online.journal().sealed(), online.journal().pages()), (vec![], 1));
    // Pages that are all to stay out of a day make no day.
    remove(&store, "a\n")?;
    remember(&online, &[page("a", Some(1))], Remember::All)?;
    let early = online.commit("2026-11-20".parse()?, Some(today))?;
    assert_eq!((early.is_held, early.waiting), (false, 1));
    assert!(online.commit(far, None)?.is_held, "it is meant");
    assert!(online.commit(far, Some(today))?.already, "a day that is held is known");
    Ok(())
}
