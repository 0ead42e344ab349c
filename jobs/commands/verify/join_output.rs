//! An output of `dedup` or `lsh` and its report: what it says it was made from, and what is checked against that.

use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use dupsieve::rooms::error::Named;
use dupsieve::rooms::matches::{
    Audit, BatchDocument, ByDistance, Confirm, Detail, KeepOrder, Near, Recompute, Recomputed,
    Texts,
};
use dupsieve::rooms::report::{LaterDays, Made, Report, records};
use dupsieve::rooms::runs::{SortedRecords, Sorter};
use dupsieve::rooms::store::{Dated, Day, Entry, Segment, Store, Version};
use dupsieve::{Error, Kind, Result};

use crate::commands::pages::{PageInputs, PageSource};
use crate::flags::place::Place;
use crate::flags::settings::{Compare, PageSettings};

/// An output of `dedup` and its report.
pub(super) struct JoinOutput<'a> {
    pub(super) output: &'a Path,
    pub(super) report: &'a Report,
    pub(super) memory_bytes: usize,
    pub(super) workers: usize,
}

impl JoinOutput<'_> {
    /// Checks that every document of the batch was judged and every chunk of the store was probed.
    pub(super) fn check_counts(&self) -> Result<()> {
        let Report { batch, outcome, probe, .. } = self.report;
        let judged = batch.fingerprinted == outcome.kept + outcome.dropped;
        let lost = self.report.lost.is_none_or(|lost| lost.dropped_runs <= lost.runs);
        if judged && lost && probe.is_none_or(|probe| probe.is_complete()) {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, "the counts of the report do not add up")
            .at(self.output)
            .found(format_args!("{batch:?}, {outcome:?}, {probe:?}")))
    }

    /// The path of an input, if it still exists.
    pub(super) fn input(&self, name: &str) -> Result<Option<PathBuf>> {
        let named = self.report.run["inputs"][name].as_str();
        let path = named.map(|it| Place::from(it).here()).transpose()?;
        Ok(path.filter(|path| path.exists()))
    }

    /// The value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Result<&str> {
        self.report.parameters.get(name).map(String::as_str).ok_or_else(|| {
            Error::new(Kind::BadData, format!("the report has no parameter {name}")).at(self.output)
        })
    }

    /// Opens the version of the store that was read, and checks that its contents are the same. None if it
    /// was pruned, or if pages have been removed from it since.
    pub(super) fn verify_store(&self, path: &Path) -> Result<Option<Version>> {
        let store = Store::open(path)?;
        self.check_day(&store)?;
        let number = self.report.store_version;
        if number.map_or(Ok(false), |number| store.is_pruned(number))? {
            return Ok(None);
        }
        let version = store.at(number)?;
        self.expect("store", version.digest().to_string(), path)?;
        self.check_later_days(&version)?;
        version.segments()?;
        Ok(Some(version).filter(|version| version.removals() == self.report.removals))
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
                "the day {day} of {} was not compared, because the store does not hold the batch",
                self.output.join(Report::NAME).named()
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

    /// Checks that the files agree with each other and with the batch.
    pub(super) fn audit(&self, batch: Option<&Segment>) -> Result<()> {
        let documents = batch.map(|batch| self.documents(batch)).transpose()?;
        let spill = env::temp_dir();
        let near = Near::Distance(self.distance()?);
        let confirm = self.confirm()?;
        let audit = Audit { confirm, ..self.audit_of(near, &spill)? };
        audit.run(documents)
    }

    /// The audit of files that say how near two pages are.
    pub(super) fn audit_of<'a>(&'a self, near: Near, spill: &'a Path) -> Result<Audit<'a>> {
        Ok(Audit {
            output: self.output,
            outcome: &self.report.outcome,
            empty: self.report.batch.empty,
            near,
            detail: self.detail()?,
            confirm: None,
            spill,
            memory_bytes: self.memory_bytes,
        })
    }

    /// What is recomputed, with this store and sample.
    pub(super) fn recompute_of<'a>(
        &'a self,
        store: &'a [Dated],
        (sample, seed): (u64, u64),
        spill: &'a Path,
    ) -> Result<Recompute<'a>> {
        Ok(Recompute {
            output: self.output,
            outcome: &self.report.outcome,
            pairs: self.report.probe.map(|probe| probe.pairs),
            replaces: self.confirm()?.is_some_and(|confirm| confirm.has_direction()),
            store,
            detail: self.detail()?,
            sample,
            seed,
            spill,
            memory_bytes: self.memory_bytes,
            workers: self.workers,
        })
    }

    /// Every match, the verdicts of a sample, and the figures of the report, from the batch and the store. Where the store is not
    /// where it was, only the figures of the batch are computed, and a warning says so; without the batch, nothing is.
    pub(super) fn recompute(
        &self,
        batch: Option<&Segment>,
        store: Option<&Version>,
        sample: (u64, u64),
    ) -> Result<Recomputed> {
        let mut is_whole = self.is_there(batch, store).is_some();
        let Some(batch) = batch else { return Ok(Recomputed::default()) };
        let texts = if is_whole && self.compares_texts() { self.texts()? } else { None };
        is_whole &= texts.is_some() || !self.compares_texts();
        let dated = store.map_or(Ok(Vec::new()), Version::dated)?;
        let by = ByDistance {
            batch,
            distance: self.distance()?,
            confirm: self.confirm()?,
            keep: KeepOrder::recorded(self.parameter("keep")?)?,
            texts: texts.as_ref(),
        };
        let spill = env::temp_dir();
        let of = self.recompute_of(&dated, sample, &spill)?;
        if !is_whole {
            by.check_copies(&of)?;
            return Ok(Recomputed::default());
        }
        self.expect_rows_of(store)?;
        let recomputed = match by.recompute(&of) {
            Err(error) if error.kind() == Kind::Missing && texts.is_some() => {
                tracing::warn!("{error}");
                self.say_gone("text of a page");
                by.check_copies(&of)?;
                return Ok(Recomputed::default());
            }
            recomputed => recomputed?,
        };
        self.say_sampled(&recomputed);
        Ok(recomputed)
    }

    /// Whether the texts of the batch decided the verdicts.
    fn compares_texts(&self) -> bool {
        let compare = self.report.parameters.get(Compare::PARAMETER);
        compare.is_some_and(|it| *it == Compare::Texts.to_string())
    }

    /// The texts of the batch, if the inputs are where they were; else a warning says that nothing is recomputed.
    fn texts(&self) -> Result<Option<Texts>> {
        let mut source = PageSource::of_report(&self.report.run).unwrap_or_default();
        source.day = self.report.day;
        let settings = source.settings(PageSettings::default())?;
        let inputs = PageInputs::new(source.inputs_of(None)?, settings);
        match inputs.map_or(Ok(None), |inputs| inputs.texts().map(Some)) {
            Err(error) if error.kind() == Kind::Missing => {
                self.say_gone("input");
                Ok(None)
            }
            texts => texts,
        }
    }

    /// Fails unless the report says how many fingerprints the store has that was read.
    fn expect_rows_of(&self, store: Option<&Version>) -> Result<()> {
        let rows = store.map_or(0, Version::rows);
        match self.report.probe {
            Some(probe) if probe.store_fingerprints != rows => {
                Err(self.differs("store", "store_fingerprints", rows, probe.store_fingerprints))
            }
            _ => Ok(()),
        }
    }

    /// The error for a report that says another `name` than what it was made from.
    fn differs(
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

    /// Says which figures of the report were not computed, if the sample was not the whole batch.
    pub(super) fn say_sampled(&self, recomputed: &Recomputed) {
        if recomputed.all {
            return;
        }
        let listed = self.report.outcome.hot_matches.len();
        let listed = if listed > 0 { ", `hot_matches`" } else { "" };
        let counted = self.report.outcome.candidates.map_or("", |_| ", `candidates`");
        tracing::info!(
            "`pairs`{counted}{listed} of {} were not computed from a sample; --all computes them",
            self.output.join(Report::NAME).named()
        );
    }

    /// Says which figures of what is lost are computed by no check.
    pub(super) fn say_lost(&self) {
        if self.report.lost.is_some() {
            tracing::info!(
                "`lost.runs` and `lost.dropped_runs` of {} were not computed again",
                self.output.join(Report::NAME).named()
            );
        }
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
            self.say_gone(if batch.is_none() {
                "batch"
            } else {
                "store, its version or a page in it"
            });
        }
        there
    }

    /// Warns that nothing is recomputed, because an input is gone.
    pub(super) fn say_gone(&self, which: &str) {
        tracing::warn!(
            "nothing was recomputed, because the {which} that {} was made from is no longer there. \
             The files agree with each other, but this does not prove that they are right",
            self.output.named()
        );
    }

    fn distance(&self) -> Result<u32> {
        let wrong =
            |_| Error::new(Kind::BadData, "the report has an invalid distance").at(self.output);
        self.parameter("distance")?.parse().map_err(wrong)
    }

    fn detail(&self) -> Result<Detail> {
        self.parameter("matches")?.parse()
    }

    /// The check that confirmed matches, if there was one.
    fn confirm(&self) -> Result<Option<Confirm>> {
        self.report.parameters.get("check").map(|check| check.parse()).transpose()
    }

    /// The documents of the batch in the order of their ids. Fails unless it is the batch that was read.
    fn documents(&self, batch: &Segment) -> Result<SortedRecords<BatchDocument>> {
        self.expect("batch", batch.digest().to_string(), batch.path())?;
        self.expect("records", records(&batch.counts()), batch.path())?;
        if self.report.batch != batch.counts() {
            return Err(Error::new(
                Kind::BadData,
                "the counts of the report and of the batch differ",
            )
            .at(self.output)
            .expected(format_args!("{:?}", batch.counts()))
            .found(format_args!("{:?}", self.report.batch)));
        }
        let mut sorter = Sorter::new(&env::temp_dir(), self.memory_bytes);
        let mut ids = batch.ids();
        for row in 0..batch.rows() {
            sorter.push(BatchDocument { id: ids.get(row)?.to_owned(), empty: false })?;
        }
        for id in batch.empty_ids() {
            sorter.push(BatchDocument { id: id?, empty: true })?;
        }
        sorter.sorted()
    }

    /// Fails unless `found`, the digest of the input at `path`, is the one in the report.
    pub(super) fn expect(&self, name: &str, found: String, path: &Path) -> Result<()> {
        let expected = self.parameter(name)?;
        if expected == found {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, format!("this is not the {name} the output was made from"))
            .at(path)
            .expected(expected)
            .found(found))
    }
}
