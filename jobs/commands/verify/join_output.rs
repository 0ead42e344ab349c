//! An output of `dedup` and its report: what it says it was made from, and what is checked against that. Pages that explain a difference by having left the
//! store are looked up, and one that is there still is a contradiction.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use dupsieve::error::Named;
use dupsieve::report::{LaterDays, Made, Report, records};
use dupsieve::seen::{By, Holdings, Sought};
use dupsieve::store::{Day, Entry, Segment, Store, Version};
use dupsieve::{Error, Kind, Result};

use crate::commands::dedup;
use crate::flags::GlobalFlags;

pub(super) struct JoinOutput<'a> {
    pub(super) output: &'a Path,
    pub(super) report: &'a Report,
    pub(super) global: &'a GlobalFlags,
}

pub(super) struct StoreRead {
    pub(super) store: Store,
    /// The version that was read, with the rows that are left of it.
    pub(super) version: Version,
    /// Whether it shows all rows that it showed then.
    pub(super) is_whole: bool,
}

/// How many pages of the store are looked up at once.
pub(super) const PORTION: usize = 1 << 16;

/// A page of the store, by its id and day, that must be gone, because something else comes out for the page `id`.
pub(super) struct Gone {
    pub(super) id: String,
    pub(super) of: String,
    pub(super) against: String,
}

impl JoinOutput<'_> {
    /// Checks that every document of the batch was judged and every chunk of the store was probed.
    pub(super) fn check_counts(&self) -> Result<()> {
        let Report { batch, outcome, probe, .. } = self.report;
        let judged = batch.fingerprinted == outcome.kept + outcome.dropped;
        let lost = self.report.lost.is_none_or(|lost| lost.dropped_shingles <= lost.shingles);
        if judged && lost && probe.is_none_or(|probe| probe.is_complete()) {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, "the counts of the report do not add up")
            .at(self.output)
            .found(format_args!("{batch:?}, {outcome:?}, {probe:?}")))
    }

    /// What the report says under this name decided the output.
    pub(super) fn parameter<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T> {
        self.find(name)?.ok_or_else(|| {
            Error::new(Kind::BadData, format!("the report has no parameter {name}")).at(self.output)
        })
    }

    pub(super) fn find<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>> {
        let told = self.report.parameters.get(name).map(|told| told.parse());
        told.transpose().map_err(|wrong: T::Err| {
            let what = format!("the report has no valid parameter {name}: {wrong}");
            Error::new(Kind::BadData, what).at(self.output)
        })
    }

    /// Opens the version of the store that was read, or what is left of it, and checks that it had the same contents. None if it was
    /// pruned, and the store has other contents now.
    pub(super) fn verify_store(&self, path: &Path) -> Result<Option<StoreRead>> {
        let store = Store::open(path)?;
        self.check_day(&store)?;
        let (number, is_pruned) = match self.report.store_version {
            Some(number) => (number, store.is_pruned(number)?),
            None => (store.at(None)?.number(), false),
        };
        let known = store.known(number)?;
        let digest = known.digest().to_string();
        if is_pruned && digest != self.parameter::<String>("store")? {
            return Ok(None);
        }
        self.expect("store", digest, path)?;
        self.check_later_days(&known)?;
        let version = store.left_of(number)?;
        version.segments()?;
        let is_whole = !is_pruned && version.removals() == self.report.removals;
        Ok(Some(StoreRead { store, version, is_whole }))
    }

    /// Fails if the store has the batch, joined with the version that was read, under another day than that of the report.
    fn check_day(&self, store: &Store) -> Result<()> {
        let Some(day) = self.report.day else { return Ok(()) };
        let parameters = &self.report.parameters;
        let current = store.at(None)?;
        let is_batch = |entry: &&Entry| parameters.get("batch") == Some(&entry.source.to_string());
        let mut days = current.entries().iter().filter(is_batch).map(|entry| entry.day).peekable();
        if days.peek().is_none() {
            tracing::info!(
                "the store does not hold {day} any more, so whether {} is of that day was not checked",
                self.output.named()
            );
        }
        let joined = |day: &Day| {
            let version = store.before(*day).ok().map(|version| version.digest().to_string());
            version.as_ref() == parameters.get("store")
        };
        let days: Vec<Day> = days.collect();
        match days.iter().find(|day| joined(day)) {
            Some(&held) if !days.contains(&day) => Err(self.differs("store", "day", held, day)),
            _ => Ok(()),
        }
    }

    /// Fails unless the report says which later days than its own the version has that was read.
    fn check_later_days(&self, version: &Version) -> Result<()> {
        let Some(day) = self.report.day else { return Ok(()) };
        let later = LaterDays::of(version, day, self.output)?;
        if later == self.report.later_days {
            return Ok(());
        }
        let named =
            |later: &Option<LaterDays>| later.as_ref().map_or("none".to_owned(), LaterDays::named);
        let told = &self.report.later_days;
        Err(self.differs("store", "later_days", named(&later), named(told)))
    }

    /// The error for a report that says another `name` than what it was made from.
    pub(super) fn differs(
        &self,
        what: &str,
        name: &str,
        expected: impl Display,
        found: impl Display,
    ) -> Error {
        let what = format!("the {what} gives another `{name}` than the report");
        let error = Error::new(Kind::BadData, what).at(self.output.join(Report::NAME));
        error.expected(expected).found(found).help("make the output again with --overwrite")
    }

    /// The batch, if it and the store are where they were; else a warning says that nothing is recomputed.
    pub(super) fn is_there<'a>(
        &self,
        batch: Option<&'a Segment>,
        store: Option<&Version>,
    ) -> Option<&'a Segment> {
        let lacks_store = store.is_none() && self.report.store_version.is_some();
        let there = batch.filter(|_| !lacks_store);
        if there.is_none() {
            let which =
                if batch.is_none() { "batch" } else { "store, its version or a page in it" };
            tracing::warn!(
                "nothing was made again, because the {which} that {} was made from is no longer there. \
                 The files are as they were written, but this does not prove that they are right",
                self.output.named()
            );
        }
        there
    }

    /// Fails unless it is the batch that was read, and the report has its counts.
    pub(super) fn check_batch(&self, batch: &Segment) -> Result<()> {
        self.expect("batch", batch.digest().to_string(), batch.path())?;
        self.expect("records", records(&batch.counts()), batch.path())?;
        let recipe = dedup::recipe(batch.stamp());
        if self.report.recipe != recipe {
            return Err(self.differs("batch", "recipe", recipe, &self.report.recipe));
        }
        if self.report.batch == batch.counts() {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, "the counts of the report and of the batch differ")
            .at(self.output)
            .expected(format_args!("{:?}", batch.counts()))
            .found(format_args!("{:?}", self.report.batch)))
    }

    /// Fails unless `found`, the digest of the input at `path`, is the one in the report.
    pub(super) fn expect(&self, name: &str, found: String, path: &Path) -> Result<()> {
        let expected: String = self.parameter(name)?;
        if expected == found {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, format!("this is not the {name} the output was made from"))
            .at(path)
            .expected(expected)
            .found(found))
    }

    /// Fails if the store shows one of these pages, once there are so many of them.
    pub(super) fn expect_gone(
        &self,
        gone: &mut Vec<Gone>,
        portion: usize,
        read: &StoreRead,
        what: &str,
    ) -> Result<()> {
        if gone.is_empty() || gone.len() < portion {
            return Ok(());
        }
        let holdings = Holdings::open(&read.store, read.version.clone())?;
        let sought: Vec<Sought<'_>> = gone.iter().map(|gone| Sought::Id(&gone.of)).collect();
        let days = holdings.newest_days(By::Ids, &sought, self.global.workers(1))?;
        for (Gone { id, against, .. }, day) in gone.drain(..).zip(days) {
            if day.is_some_and(|day| day.to_string() == against) {
                return Err(self.is_wrong(&id, what));
            }
        }
        Ok(())
    }

    /// The error for a page of which something else comes out, and no page is gone that explains it.
    pub(super) fn is_wrong(&self, id: &str, what: &str) -> Error {
        let what = format!(
            "joined with what is left of the store, a page has another {what}, which no page explains that is gone"
        );
        Error::new(Kind::BadData, what)
            .at(self.output)
            .found(id)
            .help(format!("make {} again with --overwrite", self.output.named()))
    }
}
