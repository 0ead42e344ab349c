//! `dupsieve verify`: proves that an output is complete and unchanged, and that it agrees with itself and
//! with its inputs.

mod buckets;
mod clustered;
mod held;

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::matches::{
    Audit, ByDistance, Confirm, Detail, Document, Near, Recompute, Recomputed,
};
use dupsieve::output::{QUARANTINE, REPEATED, SUCCESS, Sum, beside};
use dupsieve::report::{Made, Report, records};
use dupsieve::runs::{SortedRecords, Sorter};
use dupsieve::step::{self, Step};
use dupsieve::store::{Dated, Segment, Store, Version};
use dupsieve::{Error, Kind, Result};

use crate::commands::cluster;
use crate::commands::places;
use crate::commands::store;
use crate::flags::global::GlobalFlags;
use crate::flags::settings::parse_count;
use crate::outcome::summary::Summary;

/// Prove that an output is complete, undamaged and right
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Output folder of dedup, of lsh, of a day of run or of cluster, a segment, or a store
    output: PathBuf,
    /// Recompute the matches of all pages of the batch instead of a sample
    #[arg(long)]
    all: bool,
    /// Recompute the matches of this many pages of the batch, against the store and each other; of all
    /// pages, if the batch has no more
    #[arg(long, value_name = "N", default_value = "1000", value_parser = parse_count)]
    sample: u64,
    /// Random seed of the sample
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl Arguments {
    /// How many pages to recompute, and the seed.
    fn sample(&self) -> (u64, u64) {
        (if self.all { u64::MAX } else { self.sample }, self.seed)
    }
}

/// Runs `verify`.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    step::begin(Step::Verifying);
    let path = arguments.output.as_path();
    let holds = |name: &str| path.join(name).exists();
    if path.is_file() {
        return verify_segment(path).map(|segment| segment_summary(&segment));
    }
    if holds("CURRENT") || holds("manifests") {
        return store::verify(&Store::open(path)?, None, global);
    }
    if holds("batch.seg") && holds("dedup") {
        let batch = verify_segment(&path.join("batch.seg"))?;
        let found = path.join("dedup");
        let joined = verify_join(&found, Some(batch.clone()), arguments, global)?;
        held::check(&found, &batch)?;
        let mut verified = segment_summary(&batch).then(joined);
        let overlaps = path.join("lsh");
        if overlaps.exists() {
            let found = verify_join(&overlaps, None, arguments, global)?;
            for name in ["bytes", "recomputed", "rows_recomputed"] {
                let sum = verified.counted(name) + found.counted(name);
                verified = verified.count(name, sum);
            }
            verified = verified.path("lsh", &overlaps);
        }
        let clusters = path.join("clusters");
        if !clusters.exists() {
            return Ok(verified);
        }
        let bytes = clustered::check(&clusters, &found)? + verified.counted("bytes");
        return Ok(verified.count("bytes", bytes).path("clusters", &clusters));
    }
    if !path.exists() {
        return Err(Error::new(Kind::Missing, "this path does not exist").at(path));
    }
    if let Some(verified) = cluster::verify(path)? {
        return Ok(verified);
    }
    verify_join(path, None, arguments, global)
}

fn segment_summary(segment: &Segment) -> Summary {
    let counts = segment.counts();
    Summary::new()
        .count("read", counts.read)
        .count("fingerprinted", counts.fingerprinted)
        .count("empty", counts.empty)
        .count("repeated", counts.repeated)
        .count("quarantined", counts.quarantined)
        .path("segment", segment.path())
}

/// Checks every byte of the segment, and that its counts account for every record.
fn verify_segment(path: &Path) -> Result<Segment> {
    let segment = Segment::open(path)?;
    segment.verify()?;
    let counts = segment.counts();
    let held = (segment.rows(), segment.empties());
    if !counts.add_up() || held != (counts.fingerprinted, counts.empty) {
        return Err(Error::new(Kind::BadData, "the counts of the segment do not add up")
            .at(path)
            .expected(format_args!("{counts:?}"))
            .found(format_args!("{} fingerprints and {} empty pages", held.0, held.1)));
    }
    verify_list(&segment, segment.quarantine(), QUARANTINE)?;
    verify_list(&segment, segment.repeated(), REPEATED)?;
    Ok(segment)
}

/// Checks a list beside the segment. If it has been removed, this is logged.
fn verify_list(segment: &Segment, written: Option<&Sum>, suffix: &str) -> Result<()> {
    let path = beside(segment.path(), suffix);
    let Some(written) = written else { return Ok(()) };
    if !path.exists() {
        tracing::warn!("{} is missing and was not checked", path.display());
        return Ok(());
    }
    let found = Sum::of(&path)?;
    if found == *written {
        return Ok(());
    }
    Err(Error::new(Kind::BadData, "the list has been changed since it was written")
        .at(&path)
        .expected(written)
        .found(found))
}

/// Verifies an output of `dedup`: its report and files, their contents, and the batch and the store if they
/// still exist.
fn verify_join(
    output: &Path,
    batch: Option<Segment>,
    arguments: &Arguments,
    global: &GlobalFlags,
) -> Result<Summary> {
    let Some(report) = Report::read(output)? else {
        let what = "this is not a complete output of dupsieve";
        return Err(Error::new(Kind::BadData, what).at(output).expected(format_args!(
            "an output of dedup or lsh (report.json and {SUCCESS}), a day of run (batch.seg and dedup/), \
                 a segment, or a store"
        )));
    };
    report.check_files(output)?;
    report.check_page(output)?;
    let bytes = report.files().values().map(|sum| sum.bytes).sum();
    let (memory_bytes, workers) = (global.budget().verification(), global.workers(1));
    let found = JoinOutput { output, report: &report, memory_bytes, workers };
    if report.buckets.is_some() {
        let verified = found.verify_buckets(arguments.sample(), global)?;
        return Ok(Summary::of_join(&report, output).count("bytes", bytes).then(verified));
    }
    let batch = match (batch, found.input("batch")?) {
        (Some(batch), _) => Some(batch),
        (None, Some(path)) => Some(verify_segment(&path)?),
        (None, None) => None,
    };
    found.check_counts()?;
    let store = found.input("store")?.map(|path| found.verify_store(&path)).transpose()?.flatten();
    found.audit(batch.as_ref())?;
    let recomputed = found.recompute(batch.as_ref(), store.as_ref(), arguments.sample())?;
    let inputs = u64::from(batch.is_some()) + u64::from(store.is_some());
    Ok(Summary::of_join(&report, output)
        .count("bytes", bytes)
        .count("inputs_verified", inputs)
        .count("rows_recomputed", recomputed.rows)
        .count("recomputed", recomputed.pages))
}

/// An output of `dedup` and its report.
struct JoinOutput<'a> {
    output: &'a Path,
    report: &'a Report,
    memory_bytes: usize,
    workers: usize,
}

impl JoinOutput<'_> {
    /// Checks that every document of the batch was judged and every chunk of the store was probed.
    fn check_counts(&self) -> Result<()> {
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
    fn input(&self, name: &str) -> Result<Option<PathBuf>> {
        let named = self.report.run["inputs"][name].as_str();
        let path = named.map(|path| places::mounted(Path::new(path))).transpose()?;
        Ok(path.filter(|path| path.exists()))
    }

    /// The value of a parameter.
    fn parameter(&self, name: &str) -> Result<&str> {
        self.report.parameters.get(name).map(String::as_str).ok_or_else(|| {
            Error::new(Kind::BadData, format!("the report has no parameter {name}")).at(self.output)
        })
    }

    /// Opens the version of the store that was read, and checks that its contents are the same. None if it
    /// was pruned, or if pages have been removed from it since.
    fn verify_store(&self, path: &Path) -> Result<Option<Version>> {
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
    fn audit(&self, batch: Option<&Segment>) -> Result<()> {
        let documents = batch.map(|batch| self.documents(batch)).transpose()?;
        let counts_rows = self.detail()? == Detail::All || !self.report.is_old();
        let spill = env::temp_dir();
        let near = Near::Distance(self.distance()?);
        let checked = self.confirm()?.is_some();
        let audit = Audit { checked, counts_rows, ..self.audit_of(near, &spill)? };
        audit.run(documents)
    }

    /// The audit of files that say how near two pages are.
    fn audit_of<'a>(&'a self, near: Near, spill: &'a Path) -> Result<Audit<'a>> {
        Ok(Audit {
            output: self.output,
            outcome: &self.report.outcome,
            empty: self.report.batch.empty,
            near,
            detail: self.detail()?,
            checked: false,
            counts_rows: false,
            spill,
            memory_bytes: self.memory_bytes,
        })
    }

    /// What is recomputed, with this store and sample.
    fn recompute_of<'a>(
        &'a self,
        store: &'a [Dated],
        (sample, seed): (u64, u64),
        spill: &'a Path,
    ) -> Result<Recompute<'a>> {
        Ok(Recompute {
            output: self.output,
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
    fn recompute(
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
            keep: self.parameter("keep")?.parse()?,
        };
        by.recompute(&self.recompute_of(&dated, sample, &env::temp_dir())?)
    }

    /// The batch, if it and the store are where they were; else a warning says that nothing is recomputed.
    fn is_there<'a>(
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
    fn say_gone(&self, which: &str) {
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
    fn expect(&self, name: &str, found: String, path: &Path) -> Result<()> {
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
