//! `evaluate --sweep`: draws a sample of the pages, plants edited copies, and judges the
//! methods by them.

use std::path::PathBuf;

use dupsieve::rooms::document::Content;
use dupsieve::rooms::evaluate::planted::PlantedEvaluation;
use dupsieve::rooms::evaluate::{LONGEST_PAGE, MemoryMeter, PageSample, SampledPage};
use dupsieve::rooms::synthetic::Edit;
use dupsieve::{Error, Kind, Result};

use super::flags::SweepFlags;
use super::methods::methods;
use super::planted::Report;
use crate::commands::pages::{self, no_text};
use crate::flags::global::GlobalFlags;
use crate::flags::settings::PageSettings;
use crate::outcome::answer;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

/// How many pages are drawn unless --sample says so. Each edit of each strength then has 250 copies, and a
/// share of them is known to a few hundredths.
const SAMPLE: u32 = 1000;

/// How many bytes a page of the sample may have on average: web pages are shorter.
const BYTES_EACH: usize = 16 << 10;

/// So many pages of the sample may each be as long as any: an average says little of a few pages.
const LONG_PAGES: usize = 16;

pub(super) fn run(
    inputs: &[PathBuf],
    flags: &SweepFlags,
    seed: u64,
    global: &GlobalFlags,
) -> Result<Summary> {
    let config = global.config()?;
    let methods = methods(&config)?;
    let settings = flags.pages.over(config.fingerprint.pages);
    let most = flags.sample.unwrap_or(SAMPLE) as usize;
    tracing::info!(
        "reads all pages and draws {most} at most, plants an edited copy of each in {} ways, and looks \
         for the copies by {} methods",
        Edit::ALL.len(),
        methods.len()
    );
    let mut memory = MemoryMeter::new(global.budget().whole());
    let (pages, seen) = draw(inputs, &settings, (seed, most), &mut memory)?;
    let (done, progress) =
        Progress::count("planting", Unit::Pages, pages.len() as u64, global.quiet);
    let workers = global.workers(1);
    let evaluation =
        PlantedEvaluation { pages: &pages, methods: &methods, seed, workers, done: &done };
    let scores = evaluation.scores(memory)?;
    drop(progress);
    let report = Report { seen, seed, methods: &methods, scores: &scores };
    answer::print(&report.object(), include_str!("sweep.txt"), global.json)
}

/// Draws the pages of the sample. Also gives how many pages there are.
fn draw(
    inputs: &[PathBuf],
    settings: &PageSettings,
    (seed, most): (u64, usize),
    memory: &mut MemoryMeter,
) -> Result<(Vec<SampledPage>, u64)> {
    let bytes = (most * BYTES_EACH).max(most.min(LONG_PAGES) * LONGEST_PAGE);
    memory.take(bytes as u64, "the pages of the sample")?;
    let mut sample = PageSample::new(seed, most, bytes);
    pages::each(inputs, settings, |document| match document.content {
        Content::Text(text) => {
            sample.offer(&document.id, &text);
            Ok(())
        }
        _ => Err(no_text(&document.id)),
    })?;
    let seen = sample.seen;
    if sample.too_long > 0 {
        tracing::warn!("{} of {seen} pages are too long for the sample", sample.too_long);
    }
    let ended_by_bytes = sample.ended_by_bytes();
    let pages = sample.pages();
    if ended_by_bytes {
        tracing::warn!(
            "the sample has {} pages: they are long, and it takes {bytes} bytes at most",
            pages.len()
        );
    }
    if pages.len() < 2 {
        return Err(Error::new(Kind::BadData, "the inputs have too few pages for a sample")
            .expected("two pages or more")
            .found(pages.len())
            .help("check that --id-field and --text-field name the right fields; --place-ids takes documents without ids"));
    }
    Ok((pages, seen))
}
