//! `evaluate --sweep`: many recipes at every k, chosen by one half of the clusters and judged by the
//! other.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;

use clap::Args;
use dupsieve::document::Content;
use dupsieve::error::At;
use dupsieve::evaluate::curve::{Curve, Line};
use dupsieve::evaluate::sweep::{MOST_DOCUMENTS, by_distance, sweep};
use dupsieve::evaluate::{Intervals, Labels, Scores, bootstrap};
use dupsieve::fingerprint::Recipe;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::checks::{Sketched, Table};
use super::configuration::configuration;
use super::room::{NEAR_BYTES, Room};
use crate::commands::pages::{self, Pages, no_text};
use crate::flags::common::Common;
use crate::flags::settings::{CheckChoice, FingerprintSettings, RecipeChoice};
use crate::outcome::summary::Summary;
use dupsieve::output::PackedFile;

/// The largest distance at which a recipe can be recommended.
const MOST_DISTANCE: u32 = 32;

/// How far past the distance asked for the table goes.
const BEYOND: u32 = 7;

/// The named recipes that are judged.
const NAMED: [&str; 4] = ["default", "wide", "short-text", "shingles"];

/// The other usual recipes, by the features and the weights they differ in from `words-1`.
const USUAL: [(&str, Option<i64>, &[&str]); 4] = [
    ("words", None, &["tf", "sqrt-tf", "log-tf", "uniform", "tf-idf"]),
    ("word-shingles", Some(2), &["tf", "uniform"]),
    ("word-shingles", Some(3), &["tf", "uniform"]),
    ("character-shingles", Some(4), &["tf", "uniform"]),
];

/// The flags of a sweep.
#[derive(Args, Debug)]
pub(super) struct SweepFlags {
    /// With --sweep: files, folders or globs that hold the labelled documents
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "sweep")]
    input: Vec<PathBuf>,
    /// With --sweep: a drawing of the outcome
    #[arg(long, value_name = "FILE", requires = "sweep")]
    svg: Option<PathBuf>,
    /// With --sweep: these recipes, each a name or a .toml file, instead of the usual ones
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "sweep")]
    recipe: Vec<RecipeChoice>,
    /// With --sweep: confirm pairs by these checks, each at its best least similarity: as for
    /// `fingerprint --check`, or jaccard, the exact similarity of which they are estimates
    #[arg(long, value_name = "C", num_args = 1.., requires = "sweep", conflicts_with = "svg")]
    check: Vec<CheckChoice>,
    /// With --sweep: the largest distance that is to count as near [default: 3]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=32))]
    distance: Option<u32>,
    #[command(flatten)]
    pages: Pages,
}

/// A recipe with the name it is shown by, and what it made of the labelled documents.
struct Candidate {
    name: String,
    choice: RecipeChoice,
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

/// What is judged: how the documents are read, and at which distances.
struct Sweep<'a> {
    labels: &'a Labels,
    settings: FingerprintSettings,
    /// The distance at which a recipe is recommended.
    distance: u32,
    seed: u64,
}

impl Sweep<'_> {
    /// The largest distance that is judged.
    fn most(&self) -> u32 {
        self.distance + BEYOND
    }
}

/// Runs the sweep.
pub(super) fn run(
    flags: &SweepFlags,
    labels: &Labels,
    title: String,
    seed: u64,
    common: &Common,
) -> Result<Summary> {
    let config = common.config()?;
    let distance = flags.distance.or(config.dedup.distance).unwrap_or(3);
    if distance > MOST_DISTANCE {
        return Err(Error::new(Kind::Usage, "the distance is too large")
            .expected(format!("at most {MOST_DISTANCE}"))
            .found(distance));
    }
    let settings = flags.pages.over(config.fingerprint);
    let sweep = Sweep { labels, settings, distance, seed };
    if labels.clusters().len() > MOST_DOCUMENTS {
        return Err(Error::new(Kind::Usage, "too many labelled documents to compare all pairs")
            .expected(format!("at most {MOST_DOCUMENTS}"))
            .found(labels.clusters().len()));
    }
    let mut room = Room::of(common.memory_bytes());
    let texts = texts(flags, &sweep, &mut room)?;
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
    let mut candidates = candidates(flags, &sweep.settings)?;
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
                        match flags.check.is_empty() {
                            true => candidate.judge(&sweep, most_pairs).ok_or_else(|| {
                                room.exceeded("the near pairs of the recipes judged at once")
                            }),
                            false => Ok(()),
                        }
                    })
                })
                .collect();
            running.into_iter().try_for_each(|job| job.join().expect("panics end the process"))
        })?;
    }
    match (flags.check.is_empty(), common.json) {
        (true, true) => println!("{}", object(&candidates, distance as usize)),
        (true, false) => table(&candidates, distance as usize).at("stdout")?,
        (false, as_json) => {
            let sketched = candidates.iter().map(|candidate| Sketched {
                name: &candidate.name,
                choice: &candidate.choice,
                fingerprints: &candidate.fingerprints,
            });
            let table = Table {
                checks: &flags.check,
                sketched: sketched.collect(),
                texts: &texts,
                labels,
                seed,
                most: sweep.most(),
                workers,
            };
            let lines = table.lines(room)?;
            match as_json {
                true => println!("{}", table.object(&lines)),
                false => table.print(&lines).at("stdout")?,
            }
        }
    }
    if let Some(path) = flags.svg.as_ref().filter(|_| !common.dry_run) {
        let mut file = PackedFile::create(path)?;
        file.line(curve(&candidates, title, distance).to_string().trim_end().as_bytes())?;
        file.finish(common.overwrite)?;
    }
    Ok(Summary::answered())
}

/// The text of each labelled document that the inputs hold, the first of its id.
fn texts(flags: &SweepFlags, sweep: &Sweep<'_>, room: &mut Room) -> Result<Vec<Option<String>>> {
    let mut texts = vec![None; sweep.labels.clusters().len()];
    pages::each(&flags.input, &sweep.settings, |document| {
        let Some(number) = sweep.labels.document(&document.id) else { return Ok(()) };
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

/// The recipes that were asked for, or the one of the configuration file and all the usual ones.
fn candidates(flags: &SweepFlags, settings: &FingerprintSettings) -> Result<Vec<Candidate>> {
    let candidate = |name: String, choice: RecipeChoice| {
        let recipe = choice.recipe(None)?;
        let (fingerprints, rows) = (Vec::new(), Vec::new());
        Ok(Candidate { name, choice, recipe, fingerprints, rows })
    };
    let named = |choice: RecipeChoice| {
        let name = choice.name().unwrap_or("the file's own").to_owned();
        candidate(name, choice)
    };
    if !flags.recipe.is_empty() {
        return flags.recipe.iter().cloned().map(named).collect();
    }
    let known = NAMED.map(|name| RecipeChoice::Named(name.to_owned()));
    let is_new = |choice: &RecipeChoice| !choice.name().is_some_and(|name| NAMED.contains(&name));
    let own = settings.recipe.clone().filter(is_new);
    let usual = USUAL.iter().flat_map(|&(features, length, weights)| {
        weights.iter().map(move |&weights| (features, length, weights))
    });
    let usual = usual.map(|(features, length, weights)| {
        let name = match length {
            Some(length) => format!("{features} {length} {weights}"),
            None => format!("{features} {weights}"),
        };
        candidate(name, RecipeChoice::Parts(variant(features, length, weights)?))
    });
    own.into_iter().chain(known).map(named).chain(usual).collect()
}

/// The recipe `words-1` with other features and weights.
fn variant(features: &str, length: Option<i64>, weights: &str) -> Result<toml::Table> {
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
    Ok(table)
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
    fn judge(&mut self, asked: &Sweep<'_>, most_pairs: u64) -> Option<()> {
        let &Sweep { labels, seed, .. } = asked;
        let near = by_distance(&self.fingerprints, asked.most(), most_pairs)?;
        let choosing = labels.halves(seed);
        let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
        let halves = [choosing, judging].map(|half| {
            let (labels, numbers) = labels.restrict(&half);
            let mut rows = Vec::new();
            sweep(&near, &numbers, |_, pairs| {
                let scores = Scores::of(pairs, &labels);
                rows.push((scores, bootstrap(pairs, &labels, seed)));
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

/// The recipe to take: the best at this distance by the half that chooses.
fn best(candidates: &[Candidate], distance: usize) -> Option<&Candidate> {
    candidates.iter().rev().max_by(|a, b| a.f1(distance).total_cmp(&b.f1(distance)))
}

/// All scores, and which recipe to take, as one JSON object.
fn object(candidates: &[Candidate], distance: usize) -> Value {
    let recipes = candidates.iter().map(|candidate| {
        let rows = candidate.rows.iter().enumerate();
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
    let Some(best) = best(candidates, distance) else { return Ok(()) };
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
        true => writeln!(out, "    no other recipe comes within its interval")?,
        false => writeln!(out, "    within its interval too: {}", rivals.join(", "))?,
    }
    let configuration = configuration(&best.choice, distance as u32, None);
    write!(out, "\nin a configuration file this is:\n\n{configuration}")
}

/// Precision over recall on the half that judges.
fn curve(candidates: &[Candidate], title: String, marked: u32) -> Curve {
    let point = |row: &Row| row.judging.recall.zip(row.judging.precision);
    let lines = candidates.iter().map(|candidate| Line {
        name: candidate.name.clone(),
        points: candidate.rows.iter().map(point).collect(),
    });
    Curve { title, lines: lines.collect(), marked }
}
