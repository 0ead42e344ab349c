//! `generate documents`: random texts, some of them copies of earlier ones with a few words replaced.

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::output::PackedFile;
use dupsieve::synthetic::DocumentGenerator;
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::examples;
use crate::flags::{DryRun, GlobalFlags, Output, Overwrite, parse_count, shared};
use crate::outcome::Summary;

const EXAMPLES: &str = "
# Make 3,000 pages, four in ten of them near-duplicates
dupsieve generate documents --count 3000 --near-share 0.4 --output pages.jsonl";

/// Write random documents as JSON lines of id and text
#[derive(Args, Debug)]
#[command(args = shared(&[DryRun, Overwrite]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// How many documents
    #[arg(long, value_name = "N", value_parser = parse_count)]
    count: u64,
    /// Random seed: the same seed gives the same documents
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The share of documents that are copies of earlier ones with words replaced, below 1
    #[arg(long, value_name = "P", default_value_t = 0.2)]
    near_share: f64,
    /// Output file, or - for standard output; a name that ends in .gz or .zst is compressed
    #[arg(long, value_name = "FILE.jsonl")]
    output: Output,
    /// File for the list of copies: `new existing edit`
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let Arguments { count, seed, near_share, output, truth } = arguments;
    let output = &output.here()?;
    if !(0.0..1.0).contains(near_share) {
        return Err(Error::new(Kind::Usage, "--near-share is out of range")
            .expected("at least 0 and below 1")
            .found(near_share));
    }
    let generator = DocumentGenerator::new(*seed, *near_share);
    let (copies, is_old) = if global.dry_run {
        ((0..*count).filter(|&number| generator.is_copy(number)).count() as u64, false)
    } else {
        write(&generator, *count, output, truth.as_deref(), global.overwrite)?
    };
    let summary =
        Summary::new().count("documents", *count).count("planted", copies).path("output", output);
    let summary = truth.iter().fold(summary, |summary, truth| summary.path("truth", truth));
    Ok(if is_old { summary.already_done() } else { summary })
}

/// Writes `count` documents and the list of copies. Returns the number of copies, and whether both files
/// existed already with the same contents.
fn write(
    generator: &DocumentGenerator,
    count: u64,
    output: &Path,
    truth: Option<&Path>,
    overwrite: bool,
) -> Result<(u64, bool)> {
    let mut documents = PackedFile::create(output)?;
    let mut pairs = truth.map(PackedFile::create).transpose()?;
    if let Some(pairs) = &mut pairs {
        pairs.line(b"new\texisting\tedit")?;
    }
    let mut copies = 0;
    for number in 0..count {
        let document = generator.document(number);
        let id = id(number);
        let line = json!({ "id": id, "text": document.text() }).to_string();
        documents.line(line.as_bytes())?;
        if let Some((original, replaced)) = document.copied {
            copies += 1;
            let words = document.words.len();
            let original = self::id(original);
            let pair = format!("{id}\t{original}\t{replaced} of {words} words");
            pairs.iter_mut().try_for_each(|pairs| pairs.line(pair.as_bytes()))?;
        }
    }
    let is_old = pairs.map_or(Ok(true), |pairs| pairs.finish(overwrite))?;
    Ok((copies, documents.finish(overwrite)? && is_old))
}

/// The id of a document, padded so that ids sort as they were written.
fn id(number: u64) -> String {
    format!("document-{number:012}")
}
