//! An output of `dedup` or `lsh` and its report: what it says it was made from, and what is checked against that.

use std::env;
use std::path::{Path, PathBuf};

use dupsieve::rooms::matches::{
    Audit, ByDistance, Confirm, Detail, Document, KeepOrder, Near, Recompute, Recomputed,
};
use dupsieve::rooms::report::{Report, records};
use dupsieve::rooms::runs::{SortedRecords, Sorter};
use dupsieve::rooms::store::{Dated, Segment, Store, Version};
use dupsieve::{Error, Kind, Result};

use crate::commands::places;

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
        if judged && probe.is_none_or(|probe| probe.is_complete()) {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, "the counts of the report do not add up")
            .at(self.output)
            .found(format_args!("{batch:?}, {outcome:?}, {probe:?}")))
    }

    /// The path of an input, if it still exists.
    pub(super) fn input(&self, name: &str) -> Result<Option<PathBuf>> {
        let named = self.report.run["inputs"][name].as_str();
        let path = named.map(|path| places::mounted(Path::new(path))).transpose()?;
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
        let number = self.report.store_version;
        if number.map_or(Ok(false), |number| store.is_pruned(number))? {
            return Ok(None);
        }
        let version = store.at(number)?;
        self.expect("store", version.digest().to_string(), path)?;
        version.segments()?;
        Ok(Some(version).filter(|version| version.removals() == self.report.removals))
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
            store,
            detail: self.detail()?,
            sample,
            seed,
            spill,
            memory_bytes: self.memory_bytes,
            workers: self.workers,
        })
    }

    /// Every match, and the verdicts of a sample, from the batch and the store. Where they are not
    /// where they were, nothing is recomputed, and a warning says so.
    pub(super) fn recompute(
        &self,
        batch: Option<&Segment>,
        store: Option<&Version>,
        sample: (u64, u64),
    ) -> Result<Recomputed> {
        let Some(batch) = self.is_there(batch, store) else { return Ok(Recomputed::default()) };
        let dated = store.map_or(Ok(Vec::new()), Version::dated)?;
        let by = ByDistance {
            batch,
            distance: self.distance()?,
            confirm: self.confirm()?,
            keep: KeepOrder::recorded(self.parameter("keep")?)?,
        };
        by.recompute(&self.recompute_of(&dated, sample, &env::temp_dir())?)
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
            self.output.display()
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
    fn documents(&self, batch: &Segment) -> Result<SortedRecords<Document>> {
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
            sorter.push(Document { id: ids.get(row)?.to_owned(), empty: false })?;
        }
        for id in batch.empty_ids() {
            sorter.push(Document { id: id?, empty: true })?;
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
