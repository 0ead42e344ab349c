//! `dupsieve evaluate`: how well pairs agree with labels; with `--sweep`, which preset or recipe suits a
//! corpus, with labels or without.

mod configuration;
mod flags;
mod labelled;
mod methods;
mod planted;
mod texts;
mod unlabelled;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgGroup, ArgMatches, Args};
use dupsieve::rooms::document::Content;
use dupsieve::rooms::evaluate::{
    Labels, PairSimilarities, Pairs, Scores, Traits, bootstrap, by_part,
};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::commands::help::examples;
use crate::commands::pages::{self, PageFlags, no_text};
use crate::flags::global::GlobalFlags;
use crate::flags::place::Place;
use crate::flags::shared::Shared::{Memory, Workers};
use crate::flags::shared::{flags_of, shared, typed_flag};
use crate::outcome::summary::Summary;
use flags::SweepFlags;

const EXAMPLES: &[(&str, &str)] = &[
    (
        "Judge the matches of an output by labels",
        "dupsieve evaluate --pairs found/matches.tsv --labels labels.tsv",
    ),
    (
        "Find the preset that suits your pages, without labels",
        "dupsieve evaluate --sweep --input crawl/",
    ),
    (
        "Find the best preset or recipe by labels",
        "dupsieve evaluate --sweep --input crawl/ --labels labels.tsv",
    ),
];

/// Measure which preset or recipe suits your pages, with labels or without
///
/// With --sweep and without --labels, edited copies are planted beside a sample of your pages, and the
/// presets look for them.
#[derive(Args, Debug)]
#[command(args = shared(&[Workers, Memory]), after_help = examples(EXAMPLES))]
#[command(group = ArgGroup::new("judged").args(["pairs", "sweep"]).required(true))]
pub(crate) struct Arguments {
    /// Pairs to judge: a matches.tsv, or two columns of ids
    #[arg(long, value_name = "FILE", requires = "labels")]
    pairs: Option<Place>,
    /// Labels: `id<TAB>cluster`, where the documents of a cluster belong together
    #[arg(long, value_name = "FILE")]
    labels: Option<Place>,
    /// Similarities of pairs (columns id1, id2, J3), to show the recall by similarity
    #[arg(
        long = "similarities",
        alias = "similarity",
        value_name = "FILE",
        conflicts_with = "sweep"
    )]
    similarity: Option<PathBuf>,
    /// Files, folders, globs or addresses (s3://BUCKET/...) with the pages. Without --sweep, they show the scores by length and by
    /// language
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Instead, judge the presets and other recipes on your pages
    #[arg(long, requires = "input")]
    sweep: bool,
    #[command(flatten)]
    of_sweep: SweepFlags,
}

/// What says that a typed flag has no effect.
pub(crate) fn typed_in_vain(typed: &ArgMatches) -> Option<String> {
    let in_vain = |flags: Vec<Arg>, lacks: &str| {
        typed_flag(typed, flags).map(|flag| format!("{flag} has no effect without {lacks}"))
    };
    let mut of_sweep = flags_of::<SweepFlags>();
    of_sweep.retain(|flag| flag.get_id() == "distance");
    match (typed.get_flag("sweep"), typed.contains_id("input")) {
        (true, _) => None,
        (false, true) => in_vain(of_sweep, "--sweep"),
        (false, false) => {
            in_vain(of_sweep, "--sweep").or_else(|| in_vain(flags_of::<PageFlags>(), "--input"))
        }
    }
}

/// Runs `evaluate`.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let Arguments { pairs, labels, input, seed, of_sweep, .. } = arguments;
    let Some(path) = labels else { return unlabelled::run(of_sweep, input, *seed, global) };
    let path = path.here()?;
    let labels = Labels::read(&path)?;
    if labels.is_empty() {
        return Err(Error::new(Kind::BadData, "the file has no labels").at(path));
    }
    match pairs {
        Some(pairs) => judge(&pairs.here()?, &labels, arguments, global),
        None => labelled::run(of_sweep, input, &labels, *seed, global),
    }
}

/// Prints the scores of `pairs` as one JSON object.
fn judge(
    pairs: &Path,
    labels: &Labels,
    arguments: &Arguments,
    global: &GlobalFlags,
) -> Result<Summary> {
    let pairs = &Pairs::read(pairs, labels)?;
    let mut object = json!(Scores::of(pairs, labels));
    object["documents"] = labels.clusters().len().into();
    object["clusters"] = labels.len().into();
    object["unlabelled"] = pairs.unlabelled.into();
    object["intervals"] = json!(bootstrap(pairs, labels, arguments.seed));
    object["bands"] = match &arguments.similarity {
        Some(path) => json!(PairSimilarities::read(path, labels)?.bands(pairs, labels)),
        None => Value::Null,
    };
    if !arguments.input.is_empty() {
        let parts = by_part(pairs, labels, &traits(arguments, labels, global)?);
        for part in parts.iter().filter(|part| part.falls_short) {
            let f1 = part.f1.unwrap_or(0.0);
            tracing::warn!("{}: F1 {f1:.3} is more than 0.1 below that of all pairs", part.part);
        }
        object["parts"] = json!(parts);
    }
    println!("{object}");
    Ok(Summary::answered())
}

/// What decides the parts, for each labelled document that the inputs hold.
fn traits(
    arguments: &Arguments,
    labels: &Labels,
    global: &GlobalFlags,
) -> Result<Vec<Option<Traits>>> {
    let settings = arguments.of_sweep.pages.over(global.config()?.fingerprint.pages);
    let mut traits = vec![None; labels.clusters().len()];
    pages::each(&arguments.input, &settings, |document| {
        let Some(number) = labels.document(&document.id) else { return Ok(()) };
        let Content::Text(text) = &document.content else { return Err(no_text(&document.id)) };
        traits[number as usize].get_or_insert_with(|| Traits::of(text));
        Ok(())
    })?;
    let absent = traits.iter().filter(|traits| traits.is_none()).count();
    if absent > 0 {
        tracing::warn!("{absent} of {} labelled documents are not in the inputs", traits.len());
    }
    Ok(traits)
}
