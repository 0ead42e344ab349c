//! `dupsieve lsh plan`: what a banding finds and misses, and what it costs.

use std::io::{self, Write};

use clap::Args;
use dupsieve::Result;
use dupsieve::rooms::error::At;
use dupsieve::rooms::lsh::{Areas, Bands};
use serde_json::{Value, json};

use super::scheme::SchemeFlags;
use crate::commands::help::examples;
use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;
use crate::outcome::terminal;

const EXAMPLES: &[(&str, &str)] = &[
    (
        "See what is found at a similarity of 0.8, and what is missed",
        "dupsieve lsh plan --similarity 0.8",
    ),
    ("See what 14 bands of 8 rows find", "dupsieve lsh plan --bands 14 --rows 8"),
];

/// Show which share of the pairs of each similarity a banding finds, and what it costs
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(super) struct Arguments {
    #[command(flatten)]
    scheme: SchemeFlags,
}

pub(super) fn run(Arguments { scheme }: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let (bands, least) = (scheme.bands(None)?, scheme.least());
    if global.json {
        println!("{}", object(&bands, least));
    } else {
        print(&bands, least, &mut terminal::stdout()).at("stdout")?;
    }
    Ok(Summary::answered())
}

fn similarities() -> impl Iterator<Item = f64> {
    (0..=20).map(|step| f64::from(step) / 20.0)
}

fn areas(bands: &Bands, least: f64) -> Areas {
    bands.banding.areas(least, |similarity| bands.collision(similarity))
}

fn object(bands: &Bands, least: f64) -> Value {
    let Areas { false_positives, false_negatives } = areas(bands, least);
    let row = |similarity: f64| {
        json!({
            "similarity": similarity,
            "agrees": bands.collision(similarity),
            "found": bands.probability(similarity),
        })
    };
    json!({
        "family": bands.space.to_string(),
        "similarity": least,
        "bands": bands.banding.bands,
        "rows": bands.banding.rows,
        "keep_bands": bands.to_string(),
        "curve": similarities().map(row).collect::<Vec<Value>>(),
        "false_positives": false_positives,
        "false_negatives": false_negatives,
        "key_bytes": bands.bytes(),
    })
}

fn print(bands: &Bands, least: f64, out: &mut impl Write) -> io::Result<()> {
    let Areas { false_positives, false_negatives } = areas(bands, least);
    writeln!(out, "{}: {}", bands.space, bands.banding)?;
    writeln!(out, "{:>10}  {:>12}  {:>14}", "similarity", "a hash agrees", "share a bucket")?;
    for similarity in similarities() {
        let [agrees, found] =
            [bands.collision(similarity), bands.probability(similarity)].map(|it| 100.0 * it);
        let mark = if (similarity - least).abs() < 1e-9 { "  <- the least similarity" } else { "" };
        writeln!(out, "{similarity:>10.2}  {agrees:>11.2} %  {found:>12.2} %{mark}")?;
    }
    let missed = 100.0 * false_negatives / (1.0 - least).max(f64::MIN_POSITIVE);
    let extra = 100.0 * false_positives / least.max(f64::MIN_POSITIVE);
    writeln!(out, "missed from {least} to 1, on average: {missed:.2} %")?;
    writeln!(out, "compared for nothing from 0 to {least}, on average: {extra:.2} %")?;
    writeln!(out, "bytes a page: {}, by --keep-bands {bands}", bands.bytes())
}
