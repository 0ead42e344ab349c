//! `evaluate --sweep` with labels: the presets, and many recipes at every k, chosen by one half of the
//! clusters and judged by the other.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

use dupsieve::error::At;
use dupsieve::evaluate::checks::{CheckEvaluation, CheckScores, RecipeFingerprints};
use dupsieve::evaluate::curve::{Axes, Curve, Line};
use dupsieve::evaluate::sweep::{HalfScores, MOST_DOCUMENTS};
use dupsieve::evaluate::{Labels, Measure, MemoryMeter, Method, MethodScores, NEAR_PAIR_BYTES};
use dupsieve::output::PackedFile;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::candidates::{Candidate, candidates};
use super::checks;
use super::configuration::configuration;
use super::flags::SweepFlags;
use super::presets::{PresetRows, columns_of, score_text};
use super::texts::read_texts;
use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;

/// The largest distance at which a recipe can be recommended.
const MOST_DISTANCE: u32 = 32;

/// How far past the distance asked for the table goes.
const BEYOND: u32 = 7;

/// What is judged, and with what.
struct Sweep<'a> {
    labels: &'a Labels,
    texts: Vec<Option<String>>,
    checks: &'a [Measure],
    presets: PresetRows,
    /// The distance at which a recipe is recommended.
    distance: u32,
    /// Whether only the recipes at this distance are asked for, so that no preset is recommended.
    is_asked: bool,
    seed: u64,
    workers: usize,
    memory: MemoryMeter,
}

/// Runs the sweep. The drawing gets `title`.
pub(super) fn run(
    flags: &SweepFlags,
    inputs: &[PathBuf],
    labels: &Labels,
    title: String,
    seed: u64,
    global: &GlobalFlags,
) -> Result<Summary> {
    let config = global.config()?;
    let asked = flags.distance.or(config.dedup.distance);
    let distance = asked.unwrap_or(3);
    check_limits(distance, labels)?;
    let checks: Vec<Measure> =
        flags.check.iter().map(|name| name.parse()).collect::<Result<_>>()?;
    let settings = flags.pages.over(config.fingerprint);
    let mut memory = MemoryMeter::new(global.budget().whole());
    let count = labels.clusters().len();
    let texts = read_texts(inputs, &settings, count, |id| labels.document(id), &mut memory)?;
    let mut candidates = candidates(&flags.recipe, settings.recipe.as_ref())?;
    start(candidates.len(), count, distance, &mut memory)?;
    let workers = global.workers(1);
    let presets = PresetRows::judge(flags, &texts, labels, (seed, workers), memory)?;
    let is_asked = asked.is_some() || !flags.recipe.is_empty();
    let sweep = Sweep {
        labels,
        texts,
        checks: &checks,
        presets,
        distance,
        is_asked,
        seed,
        workers,
        memory,
    };
    sweep.judge(&mut candidates)?;
    sweep.print(&candidates, global.json)?;
    if let Some(path) = flags.svg.as_ref().filter(|_| !global.dry_run) {
        draw(path, &curve(&candidates, title, distance), global)?;
    }
    Ok(Summary::answered())
}

/// Says what is judged, and counts the memory of it.
fn start(recipes: usize, documents: usize, distance: u32, memory: &mut MemoryMeter) -> Result<()> {
    let fingerprints = (documents * recipes * size_of::<Option<u128>>()) as u64;
    memory.take(fingerprints, "the fingerprints of the documents")?;
    tracing::info!(
        "judges the presets and {recipes} recipes on {documents} labelled documents, at every distance up to {}",
        distance + BEYOND
    );
    Ok(())
}

fn draw(path: &Path, curve: &Curve, global: &GlobalFlags) -> Result<()> {
    let mut file = PackedFile::create(path)?;
    file.line(curve.to_string().trim_end().as_bytes())?;
    file.finish(global.overwrite)?;
    Ok(())
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
        let mut out = io::stdout().lock();
        let scores = match self.checks {
            [] => None,
            _ => Some(self.check_scores(candidates)?),
        };
        if as_json {
            let mut object = match &scores {
                Some(scores) => checks::object(candidates, scores),
                None => object(candidates, self.distance as usize),
            };
            object["presets"] = self.presets.object();
            if let Some((preset, _)) = self.preferred(candidates, scores.as_deref()) {
                object["recommended"] =
                    json!({ "preset": preset.name, "configuration": preset_line(preset) });
            }
            println!("{object}");
            return Ok(());
        }
        self.print_tables(candidates, scores.as_deref(), &mut out).at("stdout")
    }

    fn print_tables(
        &self,
        candidates: &[Candidate],
        scores: Option<&[CheckScores]>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.presets.print(out)?;
        writeln!(out)?;
        let preferred = self.preferred(candidates, scores);
        match scores {
            Some(scores) => checks::print(candidates, scores, preferred.is_none(), out)?,
            None => table(candidates, self.distance as usize, preferred.is_none(), out)?,
        }
        let Some((preset, scores)) = preferred else { return Ok(()) };
        writeln!(out, "\nrecommended for this corpus: the preset {}", preset.name)?;
        let [chosen, judged] = scores.halves.each_ref().map(|half| score_text(half.f1));
        writeln!(out, "    f1 {chosen} on the half that chose among presets and recipes")?;
        writeln!(out, "    f1 {judged} on the other")?;
        write!(out, "\nin a configuration file this is:\n\n{}", preset_line(preset))
    }

    /// The cheapest preset that is close to the best one, if no recipe is asked for and none is better than
    /// the best preset on the half that chooses.
    fn preferred(
        &self,
        candidates: &[Candidate],
        scores: Option<&[CheckScores]>,
    ) -> Option<(&Method, &MethodScores)> {
        if self.is_asked {
            return None;
        }
        let rival = match scores {
            Some(scores) => checks::best_f1(candidates, scores),
            None => best(candidates, self.distance as usize)
                .map_or(0.0, |best| best.f1(self.distance as usize)),
        };
        self.presets.preferred(rival)
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

/// What a configuration file says to choose a preset.
fn preset_line(preset: &Method) -> String {
    format!("preset = \"{}\"\n", preset.name)
}

/// Prints a line for each recipe at this distance, and one at its best distance if that is another; then
/// which recipe to use, if that is wanted.
fn table(
    candidates: &[Candidate],
    distance: usize,
    recommends: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{:<35}  choosing half                   judging half", "")?;
    writeln!(
        out,
        "{:<30}{:>5}  prec.  recall f1     ari     prec.  recall f1     ari",
        "recipe, without a check", "k"
    )?;
    for candidate in candidates {
        let best = (0..candidate.scores.len()).rev();
        let best = best.max_by(|&a, &b| candidate.f1(a).total_cmp(&candidate.f1(b)));
        let mut shown = vec![distance];
        shown.extend(best.filter(|&best| best != distance));
        shown.sort_unstable();
        for k in shown {
            let halves = [&candidate.scores[k].choosing, &candidate.scores[k].judging];
            writeln!(out, "{:<30}{k:>5}{}", candidate.name, halves.map(columns_of).concat())?;
        }
    }
    writeln!(out, "--json has every k.")?;
    match best(candidates, distance) {
        Some(best) if recommends => recommend(best, candidates, distance, out),
        _ => Ok(()),
    }
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

/// The curve of precision over recall on the half that judges.
fn curve(candidates: &[Candidate], title: String, marked: u32) -> Curve {
    let point = |row: &HalfScores| row.judging.recall.zip(row.judging.precision);
    let lines = candidates.iter().map(|candidate| Line {
        name: candidate.name.clone(),
        points: candidate.scores.iter().map(point).collect(),
    });
    let axes = Axes { across: "recall", up: "precision" };
    Curve { title, axes, lines: lines.collect(), marked: Some(marked) }
}
