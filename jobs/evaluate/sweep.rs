//! `evaluate --sweep`: many recipes at every k, chosen by one half of the clusters and judged by the
//! other.

use std::io::{self, Write};
use std::thread;

use dupsieve::document::Content;
use dupsieve::error::At;
use dupsieve::evaluate::curve::{Curve, Line};
use dupsieve::evaluate::sweep::{MOST_DOCUMENTS, by_distance, sweep};
use dupsieve::evaluate::{Intervals, Labels, Scores, bootstrap};
use dupsieve::fingerprint::Recipe;
use dupsieve::{Error, Kind, Result};

use super::Arguments;
use super::checks::{Sketched, Table};
use super::room::{NEAR_BYTES, Room};
use crate::arguments::Common;
use crate::packed_file::PackedFile;
use crate::pages::no_text;
use crate::summary::Summary;

/// How far past the distance asked for the table goes.
const BEYOND: u32 = 7;

/// The usual recipes, by the features and the weights they differ in from `words-1`.
const USUAL: [(&str, Option<i64>, &[&str]); 4] = [
    ("words", None, &["tf", "sqrt-tf", "log-tf", "uniform", "tf-idf"]),
    ("word-shingles", Some(2), &["tf", "uniform"]),
    ("word-shingles", Some(3), &["tf", "uniform"]),
    ("character-shingles", Some(4), &["tf", "uniform"]),
];

/// A recipe with the name it is shown by, and what it made of the labelled documents.
struct Candidate {
    name: String,
    recipe: Recipe,
    fingerprints: Vec<Option<u128>>,
    /// The outcome for k = 0, 1, 2, ...
    rows: Vec<Row>,
}

/// The scores by the half of the clusters that chooses, and by the other, which judges.
struct Row {
    choosing: Scores,
    choosing_intervals: Intervals,
    judging: Scores,
    judging_intervals: Intervals,
}

/// Runs the sweep.
pub(super) fn run(arguments: &Arguments, labels: &Labels, common: &Common) -> Result<Summary> {
    if labels.clusters().len() > MOST_DOCUMENTS {
        return Err(Error::new(Kind::Usage, "too many labelled documents to compare all pairs")
            .expected(format!("at most {MOST_DOCUMENTS}"))
            .found(labels.clusters().len()));
    }
    let mut room = Room::of(common.memory_bytes());
    let texts = texts(arguments, labels, &mut room)?;
    let found = texts.iter().flatten().count();
    if found == 0 {
        return Err(Error::new(
            Kind::BadData,
            "none of the labelled documents is among the inputs",
        )
        .expected("the ids of the labels")
        .found("no text with such an id")
        .help("see whether --id-field and --text-field name the right fields"));
    }
    let (all, absent) = (labels.clusters().len(), labels.clusters().len() - found);
    if absent > 0 {
        tracing::warn!("{absent} of the {all} labelled documents are not among the inputs");
    }
    let mut candidates = candidates(arguments)?;
    let fingerprints = (texts.len() * candidates.len() * size_of::<Option<u128>>()) as u64;
    room.take(fingerprints, "the fingerprints of the documents")?;
    let workers = common.workers.or(thread::available_parallelism().ok().map(usize::from));
    let workers = workers.unwrap_or(1);
    for part in candidates.chunks_mut(workers) {
        let most_pairs = room.holds(NEAR_BYTES * part.len() as u64);
        thread::scope(|scope| {
            let running: Vec<_> = part
                .iter_mut()
                .map(|candidate| {
                    scope.spawn(|| {
                        candidate.take(&texts)?;
                        match arguments.check.is_empty() {
                            true => {
                                candidate.judge(labels, arguments, most_pairs).ok_or_else(|| {
                                    room.exceeded("the near pairs of the recipes judged at once")
                                })
                            }
                            false => Ok(()),
                        }
                    })
                })
                .collect();
            running.into_iter().try_for_each(|job| job.join().expect("panics end the process"))
        })?;
    }
    match arguments.check.is_empty() {
        true => table(&candidates, arguments.distance as usize).at("stdout")?,
        false => {
            let sketched = candidates
                .iter()
                .map(|it| Sketched { name: &it.name, fingerprints: &it.fingerprints });
            let table = Table {
                checks: &arguments.check,
                sketched: sketched.collect(),
                texts: &texts,
                labels,
                seed: arguments.seed,
                most: arguments.distance + BEYOND,
                workers,
            };
            table.print(room)?;
        }
    }
    if let Some(path) = arguments.svg.as_ref().filter(|_| !common.dry_run) {
        let mut file = PackedFile::create(path)?;
        file.line(curve(&candidates, arguments).to_string().trim_end().as_bytes())?;
        file.finish(common.overwrite)?;
    }
    Ok(Summary::answered())
}

/// The text of each labelled document that the inputs hold, the first of its id.
fn texts(arguments: &Arguments, labels: &Labels, room: &mut Room) -> Result<Vec<Option<String>>> {
    let mut texts = vec![None; labels.clusters().len()];
    arguments.pages.each(&arguments.input, |document| {
        let Some(number) = labels.document(&document.id) else { return Ok(()) };
        match document.content {
            Content::Text(text) if texts[number as usize].is_none() => {
                room.take(text.len() as u64, "the labelled documents")?;
                texts[number as usize] = Some(text.into_owned());
                Ok(())
            }
            Content::Text(_) => Ok(()),
            _ => Err(no_text(&document.id)),
        }
    })?;
    Ok(texts)
}

fn candidates(arguments: &Arguments) -> Result<Vec<Candidate>> {
    let candidate = |name: String, recipe| Candidate {
        name,
        recipe,
        fingerprints: Vec::new(),
        rows: Vec::new(),
    };
    if !arguments.recipe.is_empty() {
        let asked = arguments.recipe.iter().map(|choice| {
            let recipe = choice.recipe(None)?;
            let name = choice.name().unwrap_or(recipe.name()).to_owned();
            Ok(candidate(name, recipe))
        });
        return asked.collect();
    }
    let usual = USUAL.iter().flat_map(|&(features, length, weights)| {
        weights.iter().map(move |&weights| (features, length, weights))
    });
    usual
        .map(|(features, length, weights)| {
            let name = match length {
                Some(length) => format!("{features} {length} {weights}"),
                None => format!("{features} {weights}"),
            };
            Ok(candidate(name, variant(features, length, weights)?))
        })
        .collect()
}

/// The recipe `words-1` with other features and weights.
fn variant(features: &str, length: Option<i64>, weights: &str) -> Result<Recipe> {
    let words = Recipe::named("words-1", None)?;
    let mut table = toml::Table::try_from(&words).expect("a recipe is a table");
    table.insert("features".into(), features.into());
    table.insert("weights".into(), weights.into());
    if let Some(length) = length {
        table.insert("length".into(), length.into());
    }
    if features == "character-shingles" {
        table.remove("hmm");
    }
    Recipe::from_table(&table)
}

impl Candidate {
    /// Makes the fingerprints.
    fn take(&mut self, texts: &[Option<String>]) -> Result<()> {
        let mut sketcher = self.recipe.sketcher()?;
        let mut sketch = |text: &Option<String>| match text {
            Some(text) => sketcher.text(text),
            None => Ok(None),
        };
        self.fingerprints = texts.iter().map(&mut sketch).collect::<Result<_>>()?;
        Ok(())
    }

    /// Scores the fingerprints at every k; none if there are more near pairs than `most_pairs`.
    fn judge(&mut self, labels: &Labels, arguments: &Arguments, most_pairs: u64) -> Option<()> {
        let near = by_distance(&self.fingerprints, arguments.distance + BEYOND, most_pairs)?;
        let choosing = labels.halves(arguments.seed);
        let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
        let halves = [choosing, judging].map(|half| {
            let (labels, numbers) = labels.restrict(&half);
            let mut rows = Vec::new();
            sweep(&near, &numbers, |_, pairs| {
                let scores = Scores::of(pairs, &labels);
                rows.push((scores, bootstrap(pairs, &labels, arguments.seed)));
            });
            rows
        });
        let [choosing, judging] = halves;
        let row = |((choosing, choosing_intervals), (judging, judging_intervals))| Row {
            choosing,
            choosing_intervals,
            judging,
            judging_intervals,
        };
        self.rows = choosing.into_iter().zip(judging).map(row).collect();
        Some(())
    }

    /// F1 at distance `k` on the half that chooses.
    fn f1(&self, k: usize) -> f64 {
        self.rows[k].choosing.f1.unwrap_or(0.0)
    }
}

/// Prints a line for each recipe and k, and which recipe to take.
fn table(candidates: &[Candidate], distance: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let score = |score: Option<f64>| score.map_or("-".into(), |score| format!("{score:.3}"));
    writeln!(out, "{:<35}  choosing half                   judging half", "")?;
    writeln!(
        out,
        "{:<30}{:>5}  prec.  recall f1     ari     prec.  recall f1     ari",
        "recipe", "k"
    )?;
    for candidate in candidates {
        for (k, row) in candidate.rows.iter().enumerate() {
            write!(out, "{:<30}{k:>5}", candidate.name)?;
            for half in [&row.choosing, &row.judging] {
                let scores = [half.precision, half.recall, half.f1, Some(half.ari)].map(score);
                write!(
                    out,
                    "  {:<6} {:<6} {:<6} {:<6}",
                    scores[0], scores[1], scores[2], scores[3]
                )?;
            }
            writeln!(out)?;
        }
    }
    let Some(best) =
        candidates.iter().rev().max_by(|a, b| a.f1(distance).total_cmp(&b.f1(distance)))
    else {
        return Ok(());
    };
    let range = |interval: Option<(f64, f64)>| match interval {
        Some((low, high)) => format!("{low:.3} to {high:.3}"),
        None => "unknown".into(),
    };
    let row = &best.rows[distance];
    writeln!(out, "\nrecommended for this corpus at k = {distance}: {}", best.name)?;
    writeln!(
        out,
        "    f1 {} ({}) on the half it was chosen by",
        score(row.choosing.f1),
        range(row.choosing_intervals.f1)
    )?;
    writeln!(
        out,
        "    f1 {} ({}) on the other",
        score(row.judging.f1),
        range(row.judging_intervals.f1)
    )?;
    let low = row.choosing_intervals.f1.map_or(0.0, |(low, _)| low);
    let rivals =
        candidates.iter().filter(|rival| rival.name != best.name && rival.f1(distance) >= low);
    let rivals: Vec<&str> = rivals.map(|rival| &*rival.name).collect();
    match rivals.is_empty() {
        true => writeln!(out, "    no other recipe comes within its interval"),
        false => writeln!(out, "    within its interval too: {}", rivals.join(", ")),
    }
}

/// Precision over recall on the half that judges.
fn curve(candidates: &[Candidate], arguments: &Arguments) -> Curve {
    let point = |row: &Row| row.judging.recall.zip(row.judging.precision);
    let lines = candidates.iter().map(|candidate| Line {
        name: candidate.name.clone(),
        points: candidate.rows.iter().map(point).collect(),
    });
    let title = arguments.labels.display().to_string();
    Curve { title, lines: lines.collect(), marked: arguments.distance }
}
