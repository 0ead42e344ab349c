//! `dupsieve lsh plan`: what a banding finds and misses, and what it costs.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::rooms::document::{self, Reason, Share, Tolerance};
use dupsieve::rooms::error::At;
use dupsieve::rooms::fingerprint::PageTime;
use dupsieve::rooms::lsh::{Areas, Confirmation, Sample, Scheme, Sketch};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::scheme::SchemeFlags;
use crate::commands::help::examples;
use crate::flags::global::GlobalFlags;
use crate::flags::settings::{FingerprintSettings, PageSettings};
use crate::outcome::summary::Summary;
use crate::outcome::terminal;

/// How many documents are compared with each other: all pairs of them are.
const SAMPLE: usize = 2000;

const EXAMPLES: &[(&str, &str)] = &[
    (
        "See what is found at a similarity of 0.8, and what is missed",
        "dupsieve lsh plan --similarity 0.8",
    ),
    (
        "See what 14 bands of 8 rows find, and how many pairs of your pages would be compared",
        "dupsieve lsh plan --bands 14 --rows 8 --input crawl/",
    ),
];

/// Show which share of the pairs of each similarity a banding finds, and what it costs
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(super) struct Arguments {
    #[command(flatten)]
    scheme: SchemeFlags,
    /// Count how many pairs of the first 2,000 documents of these files share a bucket
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
    #[command(flatten)]
    pages: PageSettings,
}

/// Runs `lsh plan`.
pub(super) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let Arguments { input, .. } = arguments;
    let file = global.config()?;
    let flags = arguments.scheme.clone().or(&file.lsh.unwrap_or_default());
    let FingerprintSettings { made, pages } = file.fingerprint;
    let pages = flags.fitting(arguments.pages.clone().or(pages))?;
    let made = flags.over(made);
    let scheme = flags.scheme(&pages, made.width)?;
    let sample = match &input[..] {
        [] => None,
        input => Some(sample(&scheme, input, &pages, made.page_time())?),
    };
    if global.json {
        println!("{}", object(&scheme, sample));
    } else {
        print(&scheme, sample, &mut terminal::stdout()).at("stdout")?;
    }
    Ok(Summary::answered())
}

/// What is found among the first documents.
fn sample(
    scheme: &Scheme,
    paths: &[PathBuf],
    settings: &PageSettings,
    page_time: PageTime,
) -> Result<Sample> {
    let (inputs, options) = settings.inputs(paths, scheme.width)?;
    let max_bad = settings.max_bad.unwrap_or(Tolerance::BAD);
    let mut read = 0;
    let mut bad: Vec<Reason> = Vec::new();
    let mut sketches = scheme.sketches(page_time);
    let mut taken: Vec<Sketch> = Vec::new();
    let mut failure = None;
    document::read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| {
            if taken.len() == SAMPLE {
                return;
            }
            read += 1;
            let sketch = document.map(|document| sketches.of(&document.content));
            match sketch {
                Ok(Ok(sketch)) => taken.extend(sketch),
                Ok(Err(error)) if error.kind() == Kind::BadData => bad.push((&error).into()),
                Ok(Err(error)) => failure = failure.take().or(Some(error)),
                Err(reason) => bad.push(reason),
            }
        });
        failure.is_none() && taken.len() < SAMPLE
    })?;
    let count = bad.len() as u64;
    if max_bad.exceeded(count, read) {
        failure = failure.or(Some(too_many_bad(max_bad, &bad, read)));
    } else if count > 0 {
        tracing::warn!("{count} of {read} records could not be read; `dupsieve lsh` lists them");
    }
    let first = taken.first().map_or(0, |sketch| sketch.components);
    if taken.iter().any(|sketch| sketch.components != first) {
        failure = failure.or(Some(Error::new(Kind::BadData, "the vectors have different lengths")));
    }
    failure.map_or_else(|| Ok(Sample::of(scheme, &taken)), Err)
}

fn too_many_bad(most: Tolerance, bad: &[Reason], read: u64) -> Error {
    Error::new(Kind::BadData, format!("too many bad records, the first one: {}", bad[0]))
        .expected(format!("at most {most} bad records"))
        .found(format!("{} of {read}", bad.len()))
        .help("correct the records or the flags, or raise --max-bad")
}

/// The similarities of the table.
fn similarities(steps: u32) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |step| f64::from(step) / f64::from(steps))
}

fn areas(scheme: &Scheme) -> Areas {
    scheme.banding.areas(scheme.least.number(), |similarity| scheme.collision(similarity))
}

/// The bytes that are kept of each document to confirm matches; unknown if that depends on its length.
fn evidence_bytes(scheme: &Scheme, sample: Option<Sample>) -> Option<u64> {
    match scheme.confirmation {
        Confirmation::Signature => Some(4 * scheme.banding.hashes() as u64),
        Confirmation::SimHash(_) => Some(16),
        Confirmation::Exact => {
            let sample = sample.filter(|sample| sample.documents > 0)?;
            Some(sample.evidence_bytes.div_ceil(sample.documents))
        }
    }
}

fn object(scheme: &Scheme, sample: Option<Sample>) -> Value {
    let Areas { false_positives, false_negatives } = areas(scheme);
    let row = |similarity: f64| {
        json!({
            "similarity": similarity,
            "agrees": scheme.collision(similarity),
            "found": scheme.probability(similarity),
        })
    };
    json!({
        "family": scheme.space.to_string(),
        "similarity": scheme.least.number(),
        "bands": scheme.banding.bands,
        "rows": scheme.banding.rows,
        "curve": similarities(20).map(row).collect::<Vec<Value>>(),
        "false_positives": false_positives,
        "false_negatives": false_negatives,
        "key_bytes": 8 * scheme.banding.bands,
        "evidence_bytes": evidence_bytes(scheme, sample),
        "sample": sample,
    })
}

fn print(scheme: &Scheme, sample: Option<Sample>, out: &mut impl Write) -> io::Result<()> {
    let least = scheme.least.number();
    let Areas { false_positives, false_negatives } = areas(scheme);
    writeln!(out, "{}: {}", scheme.space, scheme.banding)?;
    writeln!(out, "{:>10}  {:>12}  {:>14}", "similarity", "a hash agrees", "share a bucket")?;
    for similarity in similarities(20) {
        let [agrees, found] =
            [scheme.collision(similarity), scheme.probability(similarity)].map(|it| 100.0 * it);
        let mark = if (similarity - least).abs() < 1e-9 { "  <- the least similarity" } else { "" };
        writeln!(out, "{similarity:>10.2}  {agrees:>11.2} %  {found:>12.2} %{mark}")?;
    }
    let missed = 100.0 * false_negatives / (1.0 - least).max(f64::MIN_POSITIVE);
    let extra = 100.0 * false_positives / least.max(f64::MIN_POSITIVE);
    writeln!(out, "missed from {least} to 1, on average: {missed:.2} %")?;
    writeln!(out, "compared for nothing from 0 to {least}, on average: {extra:.2} %")?;
    let keys = 8 * scheme.banding.bands;
    match evidence_bytes(scheme, sample) {
        Some(bytes) => writeln!(out, "bytes a page: {keys} for keys, {bytes} to confirm")?,
        None => writeln!(
            out,
            "bytes a page: {keys} for keys, and 8 or more for each element to confirm"
        )?,
    }
    sample.map_or(Ok(()), |sample| print_sample(sample, out))
}

fn print_sample(sample: Sample, out: &mut impl Write) -> io::Result<()> {
    let Sample { documents, pairs, candidates, matches, .. } = sample;
    writeln!(
        out,
        "sample: of {pairs} pairs of {documents} pages, {candidates} share a bucket, and {matches} of these match"
    )?;
    let of_a_million = candidates as f64 / pairs.max(1) as f64 * 1e6 * 1e6 / 2.0;
    writeln!(out, "at this rate a million pages have {of_a_million:.0} pairs that share a bucket")
}
