//! `dupsieve evaluate`: how well pairs agree with labels; with `--sweep`, which preset suits a corpus.

mod sweep;

pub(crate) use sweep::presets;

use std::path::{Path, PathBuf};

use clap::{ArgGroup, ArgMatches, Args};
use dupsieve::error::Named;
use dupsieve::evaluate::{Labels, Pairs, Scores};
use dupsieve::output::parent_of;
use dupsieve::report::{Made, Report};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::examples;
use crate::flags::{
    GlobalFlags, Memory, PageSettings, Place, Workers, flags_of, shared, typed_flag,
};
use crate::outcome::Summary;

const EXAMPLES: &str = "
# Judge the matches of an output by labels
dupsieve evaluate --pairs found/dedup/matches.tsv --labels labels.tsv
# Find the preset that suits your pages
dupsieve evaluate --sweep --input crawl/";

/// Measure which preset suits your pages, or how well found pairs agree with labels
///
/// With --sweep, edited copies are planted beside a sample of your pages, and the presets look for them.
#[derive(Args, Debug)]
#[command(args = shared(&[Workers, Memory]), after_help = examples(EXAMPLES))]
#[command(group = ArgGroup::new("judged").args(["pairs", "sweep"]).required(true))]
pub(crate) struct Arguments {
    /// Pairs to judge, a matches.tsv or two columns of ids
    #[arg(long, value_name = "FILE", requires = "labels")]
    pairs: Option<Place>,
    /// Which documents belong together: `id<TAB>cluster`
    #[arg(long, value_name = "FILE", requires = "pairs", conflicts_with = "sweep")]
    labels: Option<Place>,
    /// Files, folders, globs or addresses (s3://BUCKET/...) with the pages
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "sweep")]
    input: Vec<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Judge the presets, and the settings of --config, on your pages
    #[arg(long, requires = "input")]
    sweep: bool,
    /// How many pages --sweep draws [default: 1000]
    #[arg(long, value_name = "N", requires = "sweep")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=4000))]
    sample: Option<u32>,
    #[command(flatten)]
    pages: PageSettings,
}

pub(crate) fn typed_in_vain(typed: &ArgMatches) -> Option<String> {
    let flag =
        typed_flag(typed, flags_of::<PageSettings>()).filter(|_| !typed.get_flag("sweep"))?;
    Some(format!("{flag} has no effect without --sweep"))
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let Arguments { pairs, labels, input, seed, sample, pages, .. } = arguments;
    let (Some(pairs), Some(path)) = (pairs, labels) else {
        return sweep::run(input, pages, (*seed, *sample), global);
    };
    let path = path.here()?;
    let labels = Labels::read(&path)?;
    if labels.is_empty() {
        return Err(Error::new(Kind::BadData, "the file has no labels").at(path));
    }
    let pairs = &*pairs.here()?;
    let listed = Report::read(parent_of(pairs)).ok().flatten();
    let listed = listed.and_then(|report| report.parameters.get("matches").cloned());
    if pairs.file_stem().is_some_and(|name| name == "matches") && listed.as_deref() == Some("best")
    {
        tracing::warn!(
            "{} lists one match of each dropped page, so the recall may come out too low; --matches all of `dedup` lists all",
            pairs.named()
        );
    }
    judge(pairs, &labels)
}

fn judge(pairs: &Path, labels: &Labels) -> Result<Summary> {
    let pairs = &Pairs::read(pairs, labels)?;
    let mut object = json!(Scores::of(pairs, labels));
    object["documents"] = labels.clusters().len().into();
    object["clusters"] = labels.len().into();
    object["unlabelled"] = pairs.unlabelled.into();
    println!("{object}");
    Ok(Summary::new())
}
