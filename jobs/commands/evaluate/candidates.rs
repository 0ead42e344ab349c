//! The recipes that a sweep judges.

use dupsieve::evaluate::Labels;
use dupsieve::evaluate::sweep::{HalfScores, score_halves};
use dupsieve::fingerprint::Recipe;
use dupsieve::{Error, Kind, Result};

use crate::flags::settings::RecipeChoice;

/// The named recipes that are judged if none is asked for.
const NAMED: [&str; 4] = ["default", "wide", "short-text", "shingles"];

/// The other usual recipes: `words-1` with these features, this length of shingles, and each of these
/// weights.
const USUAL: [(&str, Option<i64>, &[&str]); 4] = [
    ("words", None, &["tf", "sqrt-tf", "log-tf", "uniform", "tf-idf"]),
    ("word-shingles", Some(2), &["tf", "uniform"]),
    ("word-shingles", Some(3), &["tf", "uniform"]),
    ("character-shingles", Some(4), &["tf", "uniform"]),
];

/// A recipe and how it scores.
pub(super) struct Candidate {
    /// The name it is shown by.
    pub(super) name: String,
    /// What a configuration file says to choose it.
    pub(super) choice: RecipeChoice,
    recipe: Recipe,
    /// The fingerprints of the labelled documents.
    pub(super) fingerprints: Vec<Option<u128>>,
    /// The scores for k = 0, 1, 2, ...
    pub(super) scores: Vec<HalfScores>,
}

/// The recipes that were asked for; if none was, the one of the configuration file and all usual ones.
pub(super) fn candidates(
    asked: &[RecipeChoice],
    own: Option<&RecipeChoice>,
) -> Result<Vec<Candidate>> {
    let named = |choice: RecipeChoice| {
        let name = choice.name().unwrap_or("the file's own").to_owned();
        Candidate::new(name, choice)
    };
    if !asked.is_empty() {
        return asked.iter().cloned().map(named).collect();
    }
    let known = NAMED.map(|name| RecipeChoice::Named(name.to_owned()));
    let is_new = |choice: &&RecipeChoice| !choice.name().is_some_and(|name| NAMED.contains(&name));
    let own = own.filter(is_new).cloned();
    let usual = USUAL.iter().flat_map(|&(features, length, weights)| {
        weights.iter().map(move |&weights| variant(features, length, weights))
    });
    own.into_iter().chain(known).map(named).chain(usual).collect()
}

/// The recipe `words-1` with other features and weights.
fn variant(features: &str, length: Option<i64>, weights: &str) -> Result<Candidate> {
    let name = match length {
        Some(length) => format!("{features} {length} {weights}"),
        None => format!("{features} {weights}"),
    };
    let words = Recipe::named("words-1", None)?;
    let mut parts = toml::Table::try_from(&words).expect("a recipe is a table");
    parts.insert("features".into(), features.into());
    parts.insert("weights".into(), weights.into());
    if let Some(length) = length {
        parts.insert("length".into(), length.into());
    }
    if features == "character-shingles" {
        parts.remove("hmm");
    }
    Candidate::new(name, RecipeChoice::Parts(parts))
}

impl Candidate {
    fn new(name: String, choice: RecipeChoice) -> Result<Candidate> {
        let recipe = choice.recipe(None)?;
        if recipe.boilerplate().is_some_and(|boilerplate| boilerplate.is_by_host()) {
            return Err(Error::new(Kind::Usage, "a sweep knows no hosts")
                .found("a recipe with boilerplate by host")
                .help("judge it by `evaluate --pairs`, with the pairs that `dedup` finds"));
        }
        Ok(Candidate { name, choice, recipe, fingerprints: Vec::new(), scores: Vec::new() })
    }

    /// Makes the fingerprints of the labelled documents. A document without a text has none.
    pub(super) fn fingerprint(&mut self, texts: &[Option<String>]) -> Result<()> {
        let mut sketcher = self.recipe.sketcher()?;
        let mut boilerplate = self.recipe.boilerplate();
        let mut fingerprint = |text: &Option<String>| match (text, &mut boilerplate) {
            (Some(text), Some(boilerplate)) => sketcher.text(boilerplate.drop_from("", text).text),
            (Some(text), None) => sketcher.text(text),
            (None, _) => Ok(None),
        };
        self.fingerprints = texts.iter().map(&mut fingerprint).collect::<Result<_>>()?;
        Ok(())
    }

    /// Scores the fingerprints at every k up to `largest`; none if there are more near pairs than
    /// `most_pairs`.
    pub(super) fn score(
        &mut self,
        labels: &Labels,
        seed: u64,
        largest: u32,
        most_pairs: u64,
    ) -> Option<()> {
        self.scores = score_halves(&self.fingerprints, labels, seed, largest, most_pairs)?;
        Some(())
    }

    /// F1 at distance `k` on the half that chooses.
    pub(super) fn f1(&self, k: usize) -> f64 {
        self.scores[k].choosing.f1.unwrap_or(0.0)
    }
}
