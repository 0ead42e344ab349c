//! `dupsieve verify`: proves that an output is complete and unchanged, and that its verdicts come out of its fingerprints and the store.

mod again;
mod day;
mod join_output;
mod left;
mod left_passages;

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::error::Named;
use dupsieve::items::ItemsFound;
use dupsieve::output::SUCCESS;
use dupsieve::passages::PassagesFound;
use dupsieve::report::{self, ClusterReport, Made, Report};
use dupsieve::step::{self, Step};
use dupsieve::store::{Segment, Store};
use dupsieve::{Error, Kind, Result};

use crate::commands::{cluster, examples, places, searching, store};
use crate::flags::{GlobalFlags, Memory, Place, Telemetry, Workers, shared};
use crate::outcome::{Summary, counted};
use day::{check_clusters, check_held, verify_segment};
use join_output::JoinOutput;
use left::Judged;

/// The count of outputs of which nothing was made again, although there was something to make.
const UNPROVED: &str = "unproved";
/// The count of pages that were judged again, with the same verdict.
const MADE_AGAIN: &str = "made_again";
/// The count of pages that were not judged again, because pages of the store are gone that they may go by.
const NOT_AGAIN: &str = "not_made_again";

const EXAMPLES: &str = "
# Check the output of a day
dupsieve verify out/2026-11-21
# Check all days
dupsieve verify out
# Check a segment
dupsieve verify day.seg";

/// Prove that an output is complete, undamaged and right
#[derive(Args, Debug)]
#[command(args = shared(&[Workers, Memory, Telemetry]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Output folder of dedup or lsh, of a day of run or of cluster, a folder of days, a segment, or a store
    output: Place,
    /// Check the files alone, where what the output was made from is gone
    #[arg(long)]
    files_only: bool,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    step::begin(Step::Verifying);
    let path = &arguments.output.here()?;
    let outputs = outputs_at(path)?;
    let is_one = outputs.len() == 1;
    let mut verified = Summary::new();
    for output in &outputs {
        let one = verify(output, arguments, global)?;
        check_drawings(output)?;
        if is_one {
            verified = one;
        } else {
            tracing::info!("{} is complete and undamaged", output.named());
            verified = verified.plus(one);
        }
    }
    if verified.counted(UNPROVED) > 0 {
        let what = "nothing proves that the output is right, because it was not made again";
        return Err(Error::new(Kind::Missing, what).at(path).help(
            "restore what the output was made from, or check its files alone with --files-only",
        ));
    }
    let made_again = match verified.counted(MADE_AGAIN) {
        0 => String::new(),
        1 => ", and the verdict of 1 page came out the same when it was made again".to_owned(),
        pages => format!(
            ", and the verdicts of {pages} pages came out the same when they were made again"
        ),
    };
    let left = match verified.counted(NOT_AGAIN) {
        0 => String::new(),
        pages => format!(
            "; {} could not be checked, because pages that they go by have left the store",
            counted(pages, "verdict(s)")
        ),
    };
    Ok(verified.say(format!("{} is complete and undamaged{made_again}{left}.", path.named())))
}

/// What is to be verified at a path: what is there, or the days in a folder of them.
fn outputs_at(path: &Path) -> Result<Vec<PathBuf>> {
    let parts = [SUCCESS, "batch.seg", "dedup", "CURRENT", "manifests"];
    match parts.iter().any(|part| path.join(part).exists()) {
        true => Ok(vec![path.to_path_buf()]),
        false => report::whole_outputs(path),
    }
}

/// Checks that the pages for people show what the reports say, after all that the reports say was checked.
fn check_drawings(path: &Path) -> Result<()> {
    let day = ["dedup", "clusters"].map(|part| path.join(part));
    for output in [path.to_path_buf()].iter().chain(&day).filter(|output| output.is_dir()) {
        Report::read(output)?.map_or(Ok(()), |report| report.check_drawing(output))?;
        ClusterReport::read(output)?.map_or(Ok(()), |report| report.check_drawing(output))?;
    }
    Ok(())
}

fn verify(path: &Path, arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
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
        check_held(&found, &batch)?;
        let verified = segment_summary(&batch).then(joined);
        let clusters = path.join("clusters");
        if !clusters.exists() {
            return Ok(verified);
        }
        let bytes = check_clusters(&clusters, &found, global)? + verified.counted("bytes");
        return Ok(verified.count("bytes", bytes).path("clusters", &clusters));
    }
    if !path.exists() {
        return Err(Error::new(Kind::Missing, "this path does not exist").at(path));
    }
    if let Some(verified) = cluster::verify(path, global)? {
        return Ok(verified);
    }
    for searched in [searching::verify::<ItemsFound>, searching::verify::<PassagesFound>] {
        if let Some(verified) = searched(path)? {
            if arguments.files_only {
                return Ok(verified);
            }
            let what = "only the files of this output can be verified: nothing is searched again";
            let help = format!("dupsieve verify {} --files-only", path.named());
            return Err(Error::new(Kind::Missing, what).at(path).help(help));
        }
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

/// Verifies an output of `dedup`: its report and files, and, if the batch and the store still exist, that they give these files.
fn verify_join(
    output: &Path,
    batch: Option<Segment>,
    arguments: &Arguments,
    global: &GlobalFlags,
) -> Result<Summary> {
    let Some(report) = Report::read(output)? else {
        let what = "this is not a complete output of dupsieve";
        return Err(Error::new(Kind::BadData, what).at(output).expected(format_args!(
            "an output of dedup (report.json and {SUCCESS}), a day of run (batch.seg and dedup/), \
                 a segment, or a store"
        )));
    };
    report.check_files(output)?;
    report.check_page(output)?;
    report.check_later_days(output)?;
    let bytes = report.files().values().map(|sum| sum.bytes).sum();
    let found = JoinOutput { output, report: &report, global };
    let batch = match (batch, places::input_of(&report.run, "batch")?) {
        (Some(batch), _) => Some(batch),
        (None, Some(path)) => Some(verify_segment(&path)?),
        (None, None) => None,
    };
    found.check_counts()?;
    let store = places::input_of(&report.run, "store")?;
    let store = store.map(|path| found.verify_store(&path)).transpose()?.flatten();
    batch.as_ref().map_or(Ok(()), |batch| found.check_batch(batch))?;
    let Judged { again: made_again, not_again } = match &store {
        _ if arguments.files_only => Judged::default(),
        Some(read) if !read.is_whole => found.left_again(batch.as_ref(), read)?,
        _ => {
            let version = store.as_ref().map(|read| &read.version);
            Judged { again: found.again(batch.as_ref(), version)?, not_again: 0 }
        }
    };
    let is_unproved =
        !arguments.files_only && report.batch.fingerprinted > 0 && made_again + not_again == 0;
    let inputs = u64::from(batch.is_some()) + u64::from(store.is_some());
    Ok(Summary::of_join(&report, output)
        .count("bytes", bytes)
        .count("inputs_verified", inputs)
        .count(MADE_AGAIN, made_again)
        .count_some(NOT_AGAIN, Some(not_again).filter(|count| *count > 0))
        .count_some(UNPROVED, is_unproved.then_some(1)))
}
