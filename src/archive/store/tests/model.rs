//! A store against a plain list of rows for each version, through random changes: days of any size and in
//! any order, pages that they replace, merges, compactions, expiries, rollbacks, prunings, removals, purges, and what runs that
//! died on the way leave.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;

use super::{Document, dated, documents, numbers, options, prune, rollback, write};
use crate::document::IdList;
use crate::error::{Kind, Result};
use crate::store::{
    Added, Codec, Day, Digest, Expiry, NewDay, Replacements, Retention, Segment, Store, Version,
};

type Rows = Vec<(Document<u64>, Day)>;

#[derive(Clone, Debug)]
enum Step {
    /// Adds a day of so many rows, whose first page replaces those whose ids end in this digit; then merges as often as it is due,
    /// or leaves it.
    Add {
        day: u16,
        rows: usize,
        replaced: Option<char>,
        merges: bool,
    },
    Compact,
    Expire(u16),
    /// Keeps so many days.
    KeepDays(u64),
    Rollback(u64),
    Prune {
        keep: u64,
        dies: bool,
    },
    Remove(char),
    /// Takes so many steps of a purge.
    Purge(usize),
    /// A run leaves a segment and a manifest, and no version.
    Die,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rows =
        prop_oneof![2 => Just(0usize), 6 => 1..10usize, 3 => 10..100usize, 1 => 100..300usize];
    let replaced = prop::option::weighted(0.3, prop::char::range('0', '9'));
    let add = (0..400u16, rows, replaced, prop::bool::weighted(0.9));
    let step = prop_oneof![
        20 => add.prop_map(|(day, rows, replaced, merges)| Step::Add { day, rows, replaced, merges }),
        1 => Just(Step::Compact),
        1 => (0..400u16).prop_map(Step::Expire),
        2 => (1..4000u64).prop_map(Step::KeepDays),
        1 => (0..4u64).prop_map(Step::Rollback),
        1 => (1..12u64, any::<bool>()).prop_map(|(keep, dies)| Step::Prune { keep, dies }),
        2 => prop::char::range('0', '9').prop_map(Step::Remove),
        1 => (0..8usize).prop_map(Step::Purge),
        1 => Just(Step::Die),
    ];
    prop::collection::vec(step, 1..60)
}

struct Model {
    folder: tempfile::TempDir,
    store: Store,
    versions: Vec<Past>,
    /// The version that each day of the newest version was joined with.
    joined: HashMap<Day, u64>,
    first: Option<Day>,
    /// By the last digit of their ids, the last day whose pages were removed.
    removed: HashMap<char, Day>,
    /// Whether every addition so far was followed by its merges.
    in_tiers: bool,
}

/// A version; without its rows once it was pruned.
struct Past {
    rows: Option<Rows>,
    digest: Digest,
    joined: HashMap<Day, u64>,
    first: Option<Day>,
}

impl Model {
    fn new() -> Result<Model> {
        // In memory where that is possible: a store syncs every change, which a busy disk makes slow.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let (store, _) = Store::init(folder.path().join("store"))?;
        let (versions, joined, removed) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut model =
            Model { folder, store, versions, joined, first: None, removed, in_tiers: true };
        model.push(Rows::new())?;
        Ok(model)
    }

    fn rows(&self) -> &Rows {
        self.versions.last().unwrap().rows.as_ref().unwrap()
    }

    fn newest(&self) -> u64 {
        self.versions.len() as u64
    }

    fn take(&mut self, step: &Step) -> Result<()> {
        match *step {
            Step::Add { day, rows, replaced, merges } => {
                self.add(day_of(day), rows, replaced, merges)
            }
            Step::Compact => {
                let before = self.newest();
                self.store.compact(Codec::Huffman, &AtomicU64::new(0))?;
                self.made(self.store.at(None)?.number() > before)
            }
            Step::Expire(first) => self.expire(Retention::From(day_of(first))),
            Step::KeepDays(days) => self.expire(Retention::Days(NonZero::new(days).unwrap())),
            Step::Rollback(back) => {
                let to = self.newest().saturating_sub(back).max(1);
                let past = &self.versions[to as usize - 1];
                let Some(rows) = past.rows.clone() else {
                    let error = rollback(&self.store, to).unwrap_err();
                    assert_eq!(error.kind(), Kind::Missing);
                    return Ok(());
                };
                rollback(&self.store, to)?;
                (self.joined, self.first) = (past.joined.clone(), past.first);
                // What it goes back to may have had a merge due.
                self.in_tiers = false;
                self.push(rows)
            }
            Step::Prune { keep, dies } => self.prune(keep, dies),
            Step::Remove(digit) => self.remove(digit),
            Step::Purge(steps) => self.purge(steps),
            Step::Die => {
                let next = self.newest() + 1;
                let stray = |name: String| fs::write(self.store.path().join(name), "half").unwrap();
                stray(format!("segments/compacted-{next:06}.seg"));
                stray(format!("segments/.unfinished-{next}"));
                stray(format!("manifests/{next:06}.json"));
                Ok(())
            }
        }
    }

    fn add(&mut self, day: Day, rows: usize, ending: Option<char>, merges: bool) -> Result<()> {
        let path = self.folder.path().join("day.seg");
        // Few different fingerprints, so that days share them.
        let fingerprints: Vec<u64> =
            numbers(day.number()).take(rows).map(|bits| (bits % 97) << 50).collect();
        let pages = documents(&fingerprints);
        write(&path, options("r"), &pages, &["nothing"])?;
        let before = self.newest();
        let mut all = self.rows().clone();
        let by = pages.first().map_or("nothing", Document::id).to_owned();
        let is_replaced = |(page, _): &(Document<u64>, Day)| {
            ending.is_some_and(|ending| rows > 0 && page.id().ends_with(ending))
        };
        let mut list = Replacements::new(Path::new("replaced.tsv"));
        for ((page, day), row) in all.iter().filter(|row| is_replaced(row)).zip(1..) {
            list.push(page.id(), *day, &by, row);
        }
        let list = list.sorted();
        let new = NewDay { replaces: Some(&list), ..NewDay::whole(&path, day) };
        match self.store.add(&new, None) {
            Ok(Added::New(_)) => {
                if pages.first().is_some_and(|by| !is_removed(&(by.clone(), day), &self.removed)) {
                    all.retain(|row| !is_replaced(row));
                }
                let rows = pages.into_iter().map(|page| (page, day));
                all.extend(rows.filter(|row| !is_removed(row, &self.removed)));
                all.sort();
                self.joined.insert(day, before);
                self.push(all)?;
            }
            Ok(Added::Already(_)) => assert!(self.joined.contains_key(&day)),
            Err(error) if error.kind() == Kind::Exists => assert!(self.joined.contains_key(&day)),
            Err(error) => {
                assert_eq!(error.kind(), Kind::Usage);
                assert!(!self.joined.contains_key(&day) && Some(day) < self.first);
            }
        }
        // What is left of a segment may be of another tier.
        self.in_tiers &= merges && list.is_empty();
        if merges {
            let before = self.newest();
            self.store.compact_tiers(&AtomicU64::new(0))?;
            self.made(self.store.at(None)?.number() > before)?;
        }
        Ok(())
    }

    fn expire(&mut self, retention: Retention) -> Result<()> {
        let newest = self.store.at(None)?.entries().last().map(|entry| entry.day);
        let first = match (retention, newest) {
            (Retention::From(first), _) => Some(first),
            (Retention::Days(days), Some(newest)) => newest.back(days.get() - 1),
            (Retention::Days(_), None) => None,
        };
        let expired = self.store.expire(retention)?;
        let shown = self.joined.keys().filter(|day| self.first.is_none_or(|it| **day >= it));
        let days: BTreeSet<Day> =
            shown.copied().filter(|day| first.is_some_and(|it| *day < it)).collect();
        let told = expired.as_ref().map_or(Vec::new(), |expired| expired.days.clone());
        assert_eq!(told, days.into_iter().collect::<Vec<_>>());
        if let Some(Expiry { first, rows, .. }) = expired {
            let mut left = self.rows().clone();
            let before = left.len() as u64;
            left.retain(|(_, day)| *day >= first);
            assert_eq!(rows, before - left.len() as u64);
            self.first = Some(first);
            self.in_tiers = false;
            self.push(left)?;
        }
        assert_eq!(self.store.expire(retention)?, None);
        Ok(())
    }

    fn remove(&mut self, digit: char) -> Result<()> {
        self.in_tiers = false;
        let path = self.folder.path().join("ids.txt");
        let pages = documents(&[0_u64; 300]);
        let ids = pages.iter().map(Document::id).filter(|id| id.ends_with(digit));
        fs::write(&path, ids.chain(["nothing"]).collect::<Vec<_>>().join("\n")).unwrap();
        let kept = self.versions.iter().filter(|past| past.rows.is_some());
        let days = kept.flat_map(|past| past.joined.keys());
        let newest = days.max().copied();
        // A store without a day does not know up to which day the pages are to stay out.
        let given = newest.is_none().then_some(Day::of(2005, 1, 1).unwrap());
        let removal = |until| self.store.removal(IdList::read(&path, IdList::MOST_BYTES)?, until);
        let removed = removal(given)?.run(2, &AtomicU64::new(0))?;
        let last = newest.or(given).unwrap();
        let until = self.removed.entry(digit).or_insert(last);
        *until = last.max(*until);
        assert!(!removal(given)?.run(1, &AtomicU64::new(0))?.is_new);
        for rows in self.versions.iter_mut().filter_map(|past| past.rows.as_mut()) {
            let before = rows.len();
            rows.retain(|row| !is_removed(row, &self.removed));
            assert!(rows.len() == before || removed.rows > 0);
        }
        Ok(())
    }

    fn purge(&mut self, steps: usize) -> Result<()> {
        let read = AtomicU64::new(0);
        // Fewer rows may make segments of one size.
        self.in_tiers = false;
        for _ in 0..steps {
            let rewritten = self.store.rewrite_removed(&read)?;
            self.made(rewritten)?;
            if rewritten {
                continue;
            }
            let Some(last) = self.store.purge()?.last else { break };
            self.store.prune_removed(last, &read)?;
            self.versions.iter_mut().take(last as usize).for_each(|past| past.rows = None);
        }
        let left = self.store.purge()?;
        if left.last.is_some() {
            return Ok(());
        }
        assert_eq!((left.segments, left.rows), (0, 0));
        self.store.certify(&read)?;
        assert!(!self.store.certify(&read)?);
        for (number, rows) in self.kept() {
            let version = self.store.at(Some(number))?;
            let held: u64 = version.segments()?.iter().map(Segment::rows).sum();
            let shown = held - version.expired_rows() - version.replaced_rows();
            assert_eq!((shown, version.removals()), (rows.len() as u64, None));
        }
        Ok(())
    }

    fn made(&mut self, is_new: bool) -> Result<()> {
        if is_new { self.push(self.rows().clone()) } else { Ok(()) }
    }

    fn push(&mut self, rows: Rows) -> Result<()> {
        let (digest, joined) = (self.store.at(None)?.digest(), self.joined.clone());
        self.versions.push(Past { rows: Some(rows), digest, joined, first: self.first });
        Ok(())
    }

    fn prune(&mut self, keep: u64, dies: bool) -> Result<()> {
        let before = files(self.store.path());
        prune(&self.store, keep)?;
        let gone = self.newest().saturating_sub(keep) as usize;
        self.versions.iter_mut().take(gone).for_each(|past| past.rows = None);
        if dies {
            // As if it had died when `OLDEST` had moved: the next prune removes the rest.
            for (path, bytes) in before.iter().filter(|(path, _)| !path.exists()) {
                fs::write(path, bytes).unwrap();
            }
            self.check()?;
            prune(&self.store, keep)?;
        }
        let named: BTreeSet<PathBuf> = self.named()?;
        let held: BTreeSet<PathBuf> =
            files(&self.store.path().join("segments")).into_keys().collect();
        assert_eq!(held, named, "a pruned store has the files of its versions and no others");
        Ok(())
    }

    fn kept(&self) -> impl Iterator<Item = (u64, &Rows)> {
        (1..).zip(&self.versions).filter_map(|(number, past)| Some((number, past.rows.as_ref()?)))
    }

    fn named(&self) -> Result<BTreeSet<PathBuf>> {
        let segments = self.store.path().join("segments");
        let mut named = BTreeSet::new();
        for (number, _) in self.kept() {
            let version = self.store.at(Some(number))?;
            named.extend(version.files().into_iter().map(|record| segments.join(record.file)));
        }
        Ok(named)
    }

    /// Compares everything but the rows of older versions.
    fn check(&self) -> Result<()> {
        let newest = self.store.at(None)?;
        assert_eq!(newest.number(), self.newest());
        assert_eq!(&dated(&newest)?, self.rows());
        if self.in_tiers {
            let weight: u64 = newest.entries().iter().map(|it| it.rows + it.empties + 1).sum();
            assert!(newest.segment_count() <= 9 * (1 + u64::from(weight.max(1).ilog10())));
            assert_eq!(newest.due(), None);
        }
        for (&day, &number) in &self.joined {
            let before = self.store.before(day)?;
            let past = &self.versions[number as usize - 1];
            assert_eq!((before.number(), before.digest()), (number, past.digest));
            assert_eq!(before.segments().is_ok(), past.rows.is_some());
        }
        Ok(())
    }

    fn check_versions(&self) -> Result<()> {
        self.store.verify()?;
        for (number, rows) in self.kept() {
            assert_eq!(&dated(&self.store.at(Some(number))?)?, rows, "version {number}");
        }
        let history = self.store.history()?;
        let told: Vec<u64> = history.iter().map(|revision| revision.version).collect();
        assert_eq!(told, self.kept().map(|(number, _)| number).collect::<Vec<_>>());
        for number in (1..=self.newest()).filter(|number| !told.contains(number)) {
            let missing = |found: Result<Version>| found.unwrap_err().kind() == Kind::Missing;
            assert!(missing(self.store.at(Some(number))) && self.store.is_pruned(number)?);
        }
        Ok(())
    }
}

fn day_of(number: u16) -> Day {
    Day::of(2000 + number / 28, 1, 1 + (number % 28) as u8).unwrap()
}

/// Whether a page was removed: the last day of each last digit says so.
fn is_removed((page, day): &(Document<u64>, Day), removed: &HashMap<char, Day>) -> bool {
    page.id().chars().last().is_some_and(|it| removed.get(&it).is_some_and(|last| day <= last))
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_store_holds_what_a_list_of_rows_holds(steps in steps()) {
        let mut model = Model::new()?;
        for step in &steps {
            model.take(step)?;
            model.check()?;
        }
        model.check_versions()?;
    }
}
