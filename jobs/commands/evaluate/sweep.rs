//! `evaluate --sweep`: draws a sample of the pages, plants edited copies, and judges the
//! methods by them.

use std::path::PathBuf;

use dupsieve::evaluate::planted::summary::Band;
use dupsieve::evaluate::planted::{PlantedEvaluation, PlantedScores};
use dupsieve::evaluate::{
    LONGEST_PAGE, MemoryMeter, NearMethod, PageSample, SampledPage, cheapest,
};
use dupsieve::join::Preset;
use dupsieve::synthetic::Edit;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::commands::pages;
use crate::flags::{Config, FingerprintSettings, GlobalFlags, PageSettings};
use crate::outcome::{Progress, Summary, Unit, answer};

/// How many pages are drawn unless --sample says so. Each edit of each strength then has 250 copies, and a
/// share of them is known to a few hundredths.
const SAMPLE: u32 = 1000;

/// How many bytes a page of the sample may have on average: web pages are shorter.
const BYTES_EACH: usize = 16 << 10;

/// So many pages of the sample may each be as long as any: an average says little of a few pages.
const LONG_PAGES: usize = 16;

pub(super) fn run(
    inputs: &[PathBuf],
    pages: &PageSettings,
    (seed, sample): (u64, Option<u32>),
    global: &GlobalFlags,
) -> Result<Summary> {
    let config = global.config()?;
    let methods = methods(&config)?;
    let settings = pages.over(config.fingerprint.pages);
    let most = sample.unwrap_or(SAMPLE) as usize;
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
    let object = object(seen, seed, &methods, &scores);
    answer::print(&object, include_str!("sweep.txt"), global.json)
}

fn draw(
    inputs: &[PathBuf],
    settings: &PageSettings,
    (seed, most): (u64, usize),
    memory: &mut MemoryMeter,
) -> Result<(Vec<SampledPage>, u64)> {
    let bytes = (most * BYTES_EACH).max(most.min(LONG_PAGES) * LONGEST_PAGE);
    memory.take(bytes as u64, "the pages of the sample")?;
    let mut sample = PageSample::new(seed, most, bytes);
    pages::each_text(inputs, settings, |id, text| {
        sample.offer(id, text);
        Ok(())
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

/// What each method drops, what is lost with it, and which to use. `seen` is how many pages the inputs have.
fn object(seen: u64, seed: u64, methods: &[NearMethod], scores: &PlantedScores) -> Value {
    let each =
        Edit::ALL.into_iter().flat_map(|edit| (0..Edit::STRENGTHS).map(move |at| (edit, at)));
    let of_strength = |method, edit: Edit, strength: usize| {
        let (copies, found) = scores.of_strength(method, edit, strength);
        let share = edit.shares()[strength];
        json!({ "edit": edit.to_string(), "share": share, "copies": copies, "found": found })
    };
    let band = |band: Band| {
        let Band { from, to, positives, found } = band;
        json!({ "from": from, "to": to, "positives": positives, "found": found })
    };
    let judged = methods.iter().enumerate().map(|(at, method)| {
        let mut object = parts(method);
        object["summary"] = json!(scores.summary(at));
        object["f1"] = scores.summary(at).f1().into();
        object["bands"] = scores.bands(at).into_iter().map(band).collect();
        object["edits"] = each.clone().map(|(edit, it)| of_strength(at, edit, it)).collect();
        object
    });
    let f1: Vec<f64> = (0..methods.len()).map(|at| scores.summary(at).f1()).collect();
    let best = cheapest(&f1);
    // What is no preset is in the file already.
    let line = Preset::ALL.get(best).map(|preset| format!("preset = \"{preset}\"\n"));
    json!({
        "pages": seen, "sample": scores.pages, "seed": seed,
        "copies": scores.planted.len(),
        "left_out": scores.left_out(),
        "without_fingerprint": scores.without_fingerprint,
        "methods": judged.collect::<Vec<_>>(),
        "recommended": { "method": methods[best].name, "configuration": line },
    })
}

/// The presets first, then what the configuration file says if it differs.
fn methods(config: &Config) -> Result<Vec<NearMethod>> {
    let mut methods = presets()?;
    let Config { fingerprint, dedup, .. } = config;
    let FingerprintSettings { made, pages } = fingerprint;
    let says = made.recipe.is_some() || made.check.is_some() || made.width.is_some();
    if says || dedup.distance.is_some() || dedup.check.is_some() {
        let recipe = made.recipe(&PageSettings { format: None, ..pages.clone() })?;
        let (distance, confirm) = dedup.distance_and_check(recipe.stamp().as_str());
        confirm.map_or(Ok(()), |it| it.check.of_texts().map(drop))?;
        methods.push(NearMethod { name: "your file".to_owned(), recipe, distance, confirm });
    }
    Ok(methods)
}

pub(crate) fn presets() -> Result<Vec<NearMethod>> {
    let preset = |preset: Preset| {
        let name = preset.to_string();
        let (distance, confirm) = (preset.distance(), preset.check());
        Ok(NearMethod { name, recipe: preset.recipe(None)?, distance, confirm })
    };
    Preset::ALL.into_iter().map(preset).collect()
}

fn parts(method: &NearMethod) -> Value {
    json!({
        "method": method.name,
        "recipe": method.recipe.name(),
        "distance": method.distance,
        "check": method.confirm.map(|confirm| confirm.to_string()),
    })
}
