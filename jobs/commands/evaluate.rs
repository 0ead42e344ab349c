//! `dupsieve evaluate`: how well pairs agree with labels; with `--sweep`, which recipe agrees best.

mod candidates;
mod checks;
mod configuration;
mod sweep;

use std::path::PathBuf;

use clap::Args;
use dupsieve::evaluate::{Labels, Pairs, Scores, Similarity, bootstrap};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;
use sweep::SweepFlags;

/// Compare pairs with labels, or with --sweep find the best recipe
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Pairs to judge: a matches.tsv, or two columns of ids
    #[arg(long, value_name = "FILE", required_unless_present = "sweep", conflicts_with = "sweep")]
    pairs: Option<PathBuf>,
    /// Labels: `id<TAB>cluster`, where the documents of a cluster belong together
    #[arg(long, value_name = "FILE")]
    labels: PathBuf,
    /// Similarity of pairs (columns id1, id2, J3), to show the recall by similarity
    #[arg(long, value_name = "FILE", conflicts_with = "sweep")]
    similarity: Option<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Instead, judge many recipes by their pairs within k bits, for every k
    #[arg(long, requires = "input")]
    sweep: bool,
    #[command(flatten)]
    of_sweep: SweepFlags,
}

/// Runs `evaluate`.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let labels = Labels::read(&arguments.labels)?;
    if labels.is_empty() {
        return Err(Error::new(Kind::BadData, "the file has no labels").at(&arguments.labels));
    }
    match &arguments.pairs {
        Some(path) => judge(&Pairs::read(path, &labels)?, &labels, arguments),
        None => {
            let title = arguments.labels.display().to_string();
            sweep::run(&arguments.of_sweep, &labels, title, arguments.seed, global)
        }
    }
}

/// Prints the scores of `pairs` as one JSON object.
fn judge(pairs: &Pairs, labels: &Labels, arguments: &Arguments) -> Result<Summary> {
    let mut object = json!(Scores::of(pairs, labels));
    object["documents"] = labels.clusters().len().into();
    object["clusters"] = labels.len().into();
    object["unlabelled"] = pairs.unlabelled.into();
    object["intervals"] = json!(bootstrap(pairs, labels, arguments.seed));
    object["bands"] = match &arguments.similarity {
        Some(path) => json!(Similarity::read(path, labels)?.bands(pairs, labels)),
        None => Value::Null,
    };
    println!("{object}");
    Ok(Summary::answered())
}
