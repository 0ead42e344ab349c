//! `dupsieve lsh plan`: what a banding finds and misses, and what it costs.

use clap::Args;
use dupsieve::Result;
use dupsieve::lsh::Areas;
use serde_json::json;

use super::scheme::SchemeFlags;
use crate::commands::examples;
use crate::flags::GlobalFlags;
use crate::outcome::{Summary, answer};

const EXAMPLES: &str = "
# See what is found at a similarity of 0.8, and what is missed
dupsieve lsh plan --similarity 0.8
# See what 14 bands of 8 rows find
dupsieve lsh plan --bands 14 --rows 8";

/// Show which share of the pairs of each similarity a banding finds, and what it costs
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(super) struct Arguments {
    #[command(flatten)]
    scheme: SchemeFlags,
}

pub(super) fn run(Arguments { scheme }: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let (bands, least) = (scheme.bands(None)?, scheme.least());
    let banding = &bands.banding;
    let Areas { false_positives, false_negatives } =
        banding.areas(least, |similarity| bands.collision(similarity));
    let curve = (0..=20).map(|step| f64::from(step) / 20.0).map(|similarity| {
        json!({
            "similarity": similarity,
            "agrees": bands.collision(similarity),
            "found": bands.probability(similarity),
        })
    });
    let object = json!({
        "family": bands.space.to_string(),
        "similarity": least,
        "bands": banding.bands,
        "rows": banding.rows,
        "keep_bands": bands.to_string(),
        "curve": curve.collect::<Vec<_>>(),
        "false_positives": false_positives,
        "false_negatives": false_negatives,
        "key_bytes": bands.bytes(),
    });
    answer::print(&object, include_str!("plan.txt"), global.json)
}
