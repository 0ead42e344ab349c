//! `evaluate --sweep`: many recipes at every k, chosen by one half of the clusters and judged by the
//! other.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;

use clap::Args;
use dupsieve::document::Content;
use dupsieve::error::At;
use dupsieve::evaluate::checks::{CheckEvaluation, CheckScores, RecipeFingerprints};
use dupsieve::evaluate::curve::{Curve, Line};
use dupsieve::evaluate::sweep::{HalfScores, MOST_DOCUMENTS};
use dupsieve::evaluate::{Labels, Measure, MemoryMeter, NEAR_PAIR_BYTES};
use dupsieve::output::PackedFile;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::candidates::{Candidate, candidates};
use super::checks;
use super::configuration::configuration;
use crate::commands::pages::{self, PageFlags, no_text};
use crate::flags::global::GlobalFlags;
use crate::flags::settings::{FingerprintSettings, RecipeChoice};
use crate::outcome::summary::Summary;

/// The largest distance at which a recipe can be recommended.
const MOST_DISTANCE: u32 = 32;

/// How far past the distance asked for the table goes.
const BEYOND: u32 = 7;

/// The flags of a sweep.
#[derive(Args, Debug)]
pub(super) struct SweepFlags {
    /// With --sweep: files, folders or globs with the labelled documents
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "sweep")]
    input: Vec<PathBuf>,
    /// With --sweep: file for a drawing of the scores
    #[arg(long, value_name = "FILE", requires = "sweep")]
    svg: Option<PathBuf>,
    /// With --sweep: judge these recipes, each a name or a .toml file, instead of the usual ones
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "sweep")]
    recipe: Vec<RecipeChoice>,
    /// With --sweep: confirm pairs by these checks, and choose the least similarity of each: checks
    /// of `fingerprint --check`, or jaccard, the exact similarity that checks estimate
    #[arg(long, value_name = "C", num_args = 1.., requires = "sweep", conflicts_with = "svg")]
    check: Vec<Measure>,
    /// With --sweep: recommend a recipe for this distance [default: 3]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=32))]
    distance: Option<u32>,
    #[command(flatten)]
    pages: PageFlags,
}

/// What is judged, and with what.
struct Sweep<'a> {
    labels: &'a Labels,
    texts: Vec<Option<String>>,
    checks: &'a [Measure],
    /// The distance at which a recipe is recommended.
    distance: u32,
    seed: u64,
    workers: usize,
    memory: MemoryMeter,
}

/// Runs the sweep. The drawing gets `title`.
pub(super) fn run(
    flags: &SweepFlags,
    labels: &Labels,
    title: String,
    seed: u64,
    global: &GlobalFlags,
) -> Result<Summary> {
    let config = global.config()?;
    let distance = flags.distance.or(config.dedup.distance).unwrap_or(3);
    check_limits(distance, labels)?;
    let settings = flags.pages.over(config.fingerprint);
    let mut memory = MemoryMeter::new(global.budget().whole());
    let texts = read_texts(&flags.input, &settings, labels, &mut memory)?;
    let mut candidates = candidates(&flags.recipe, settings.recipe.as_ref())?;
    let fingerprints = (texts.len() * candidates.len() * size_of::<Option<u128>>()) as u64;
    memory.take(fingerprints, "the fingerprints of the documents")?;
    let workers = global.workers(1);
    let sweep = Sweep { labels, texts, checks: &flags.check, distance, seed, workers, memory };
    sweep.judge(&mut candidates)?;
    sweep.print(&candidates, global.json)?;
    if let Some(path) = flags.svg.as_ref().filter(|_| !global.dry_run) {
        let mut file = PackedFile::create(path)?;
        file.line(curve(&candidates, title, distance).to_string().trim_end().as_bytes())?;
        file.finish(global.overwrite)?;
    }
    Ok(Summary::answered())
}

fn check_limits(distance: u32, labels: &Labels) -> Result<()> {
    if distance > MOST_DISTANCE {
        return Err(Error::new(Kind::Usage, "the distance is too large")
            .expected(format!("at most {MOST_DISTANCE}"))
            .found(distance));
    }
    if labels.clusters().len() > MOST_DOCUMENTS {
        return Err(Error::new(Kind::Usage, "too many labelled documents to compare all pairs")
            .expected(format!("at most {MOST_DOCUMENTS}"))
            .found(labels.clusters().len()));
    }
    Ok(())
}

/// The text of each labelled document that the inputs hold, the first of its id.
fn read_texts(
    inputs: &[PathBuf],
    settings: &FingerprintSettings,
    labels: &Labels,
    memory: &mut MemoryMeter,
) -> Result<Vec<Option<String>>> {
    let mut texts = vec![None; labels.clusters().len()];
    pages::each(inputs, settings, |document| {
        let Some(number) = labels.document(&document.id) else { return Ok(()) };
        match document.content {
            Content::Text(text) if texts[number as usize].is_none() => {
                memory.take(text.len() as u64, "the labelled documents")?;
                texts[number as usize] = Some(text.into_owned());
                Ok(())
            }
            Content::Text(_) => Ok(()),
            _ => Err(no_text(&document.id)),
        }
    })?;
    let found = texts.iter().flatten().count();
    if found == 0 {
        return Err(Error::new(Kind::BadData, "the inputs have no document that has a label")
            .expected("the ids of the labels")
            .found("no text with such an id")
            .help("check that --id-field and --text-field name the right fields"));
    }
    let absent = texts.len() - found;
    if absent > 0 {
        tracing::warn!("{absent} of {} labelled documents are not in the inputs", texts.len());
    }
    Ok(texts)
}

impl Sweep<'_> {
    /// The largest distance that is judged.
    fn most(&self) -> u32 {
        self.distance + BEYOND
    }

    /// Makes the fingerprints of each candidate, as many candidates at a time as there are workers, and
    /// scores them unless checks do that.
    fn judge(&self, candidates: &mut [Candidate]) -> Result<()> {
        for part in candidates.chunks_mut(self.workers) {
            let most_pairs = self.memory.fits(NEAR_PAIR_BYTES * part.len() as u64);
            thread::scope(|scope| {
                let judge = |candidate| scope.spawn(|| self.judge_one(candidate, most_pairs));
                let running: Vec<_> = part.iter_mut().map(judge).collect();
                running.into_iter().try_for_each(|job| job.join().expect("panics end the process"))
            })?;
        }
        Ok(())
    }

    fn judge_one(&self, candidate: &mut Candidate, most_pairs: u64) -> Result<()> {
        candidate.fingerprint(&self.texts)?;
        if !self.checks.is_empty() {
            return Ok(());
        }
        candidate
            .score(self.labels, self.seed, self.most(), most_pairs)
            .ok_or_else(|| self.memory.exceeded("the near pairs of the recipes judged at once"))
    }

    fn print(&self, candidates: &[Candidate], as_json: bool) -> Result<()> {
        let distance = self.distance as usize;
        if self.checks.is_empty() {
            if as_json {
                println!("{}", object(candidates, distance));
                return Ok(());
            }
            return table(candidates, distance).at("stdout");
        }
        let scores = self.check_scores(candidates)?;
        if as_json {
            println!("{}", checks::object(candidates, &scores));
            return Ok(());
        }
        checks::print(candidates, &scores).at("stdout")
    }

    fn check_scores(&self, candidates: &[Candidate]) -> Result<Vec<CheckScores>> {
        let recipes = candidates.iter().map(|candidate| RecipeFingerprints {
            name: &candidate.name,
            fingerprints: &candidate.fingerprints,
        });
        let evaluation = CheckEvaluation {
            checks: self.checks,
            recipes: recipes.collect(),
            texts: &self.texts,
            labels: self.labels,
            seed: self.seed,
            max_distance: self.most(),
            workers: self.workers,
        };
        evaluation.scores(self.memory)
    }
}

/// The recipe to use: the best at this distance on the half that chooses.
fn best(candidates: &[Candidate], distance: usize) -> Option<&Candidate> {
    candidates.iter().rev().max_by(|a, b| a.f1(distance).total_cmp(&b.f1(distance)))
}

/// All scores, and which recipe to use, as one JSON object.
fn object(candidates: &[Candidate], distance: usize) -> Value {
    let recipes = candidates.iter().map(|candidate| {
        let rows = candidate.scores.iter().enumerate();
        let rows = rows
            .map(|(k, row)| json!({ "k": k, "choosing": row.choosing, "judging": row.judging }));
        json!({ "recipe": candidate.name, "rows": rows.collect::<Vec<_>>() })
    });
    let recommended = best(candidates, distance).map(|best| {
        let configuration = configuration(&best.choice, distance as u32, None);
        json!({ "recipe": best.name, "distance": distance, "configuration": configuration })
    });
    json!({ "recipes": recipes.collect::<Vec<_>>(), "recommended": recommended })
}

/// Prints a line for each recipe and k, and which recipe to use.
fn table(candidates: &[Candidate], distance: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:<35}  choosing half                   judging half", "")?;
    writeln!(
        out,
        "{:<30}{:>5}  prec.  recall f1     ari     prec.  recall f1     ari",
        "recipe", "k"
    )?;
    for candidate in candidates {
        for (k, row) in candidate.scores.iter().enumerate() {
            write!(out, "{:<30}{k:>5}", candidate.name)?;
            for half in [&row.choosing, &row.judging] {
                let scores = [half.precision, half.recall, half.f1, Some(half.ari)].map(score_text);
                write!(
                    out,
                    "  {:<6} {:<6} {:<6} {:<6}",
                    scores[0], scores[1], scores[2], scores[3]
                )?;
            }
            writeln!(out)?;
        }
    }
    best(candidates, distance)
        .map_or(Ok(()), |best| recommend(best, candidates, distance, &mut out))
}

/// Prints which recipe to use, how sure that is, and its configuration.
fn recommend(
    best: &Candidate,
    candidates: &[Candidate],
    distance: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let range = |interval: Option<(f64, f64)>| match interval {
        Some((low, high)) => format!("{low:.3} to {high:.3}"),
        None => "unknown".into(),
    };
    let row = &best.scores[distance];
    writeln!(out, "\nrecommended for this corpus at k = {distance}: {}", best.name)?;
    writeln!(
        out,
        "    f1 {} ({}) on the half it was chosen by",
        score_text(row.choosing.f1),
        range(row.choosing_intervals.f1)
    )?;
    writeln!(
        out,
        "    f1 {} ({}) on the other",
        score_text(row.judging.f1),
        range(row.judging_intervals.f1)
    )?;
    let low = row.choosing_intervals.f1.map_or(0.0, |(low, _)| low);
    let rivals =
        candidates.iter().filter(|rival| rival.name != best.name && rival.f1(distance) >= low);
    let rivals: Vec<&str> = rivals.map(|rival| &*rival.name).collect();
    if rivals.is_empty() {
        writeln!(out, "    no other recipe is within its interval")?;
    } else {
        writeln!(out, "    also within its interval: {}", rivals.join(", "))?;
    }
    let configuration = configuration(&best.choice, distance as u32, None);
    write!(out, "\nin a configuration file this is:\n\n{configuration}")
}

fn score_text(score: Option<f64>) -> String {
    score.map_or("-".to_owned(), |score| format!("{score:.3}"))
}

/// The curve of precision over recall on the half that judges.
fn curve(candidates: &[Candidate], title: String, marked: u32) -> Curve {
    let point = |row: &HalfScores| row.judging.recall.zip(row.judging.precision);
    let lines = candidates.iter().map(|candidate| Line {
        name: candidate.name.clone(),
        points: candidate.scores.iter().map(point).collect(),
    });
    Curve { title, lines: lines.collect(), marked }
}
