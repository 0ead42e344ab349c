//! The methods that a sweep judges: the presets, what the configuration file says, and what flags ask for.

use dupsieve::rooms::evaluate::NearMethod;
use dupsieve::rooms::join::Preset;
use dupsieve::rooms::matches::Confirm;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::configuration::configuration;
use super::flags::SweepFlags;
use crate::flags::config::Config;
use crate::flags::settings::{FingerprintSettings, PageSettings, RecipeChoice};

/// The recipes that are judged beside the presets if no recipe is asked for.
const OTHERS: [&str; 2] = ["short-text", "shingles"];

/// The distance of a recipe without a preset, as in `dedup`.
const DISTANCE: u32 = 3;

/// What makes a method in a configuration file.
pub(super) enum Source {
    Preset(Preset),
    /// The file that was named with --config.
    File,
    Recipe(RecipeChoice),
}

/// The presets.
pub(super) fn presets() -> Result<Vec<NearMethod>> {
    let preset = |preset: Preset| {
        let name = preset.to_string();
        let (distance, confirm) = (preset.distance(), preset.check());
        Ok(NearMethod { name, recipe: preset.recipe(None)?, distance, confirm })
    };
    Preset::ALL.into_iter().map(preset).collect()
}

/// The presets first, then what the configuration file says if it differs, then what was asked for: each
/// recipe with each check. The others are named by letters.
pub(super) fn methods(
    flags: &SweepFlags,
    config: &Config,
) -> Result<(Vec<NearMethod>, Vec<Source>)> {
    let mut methods = presets()?;
    let mut sources: Vec<Source> = Preset::ALL.map(Source::Preset).into();
    let Config { fingerprint, dedup, .. } = config;
    let FingerprintSettings { made, pages } = fingerprint;
    let says = made.recipe.is_some() || made.check.is_some() || made.width.is_some();
    if says || dedup.distance.is_some() || dedup.check.is_some() {
        let recipe = made.recipe(&PageSettings { format: None, ..pages.clone() })?;
        let (distance, confirm) = dedup.distance_and_check(recipe.stamp().as_str());
        methods.push(NearMethod { name: "your file".to_owned(), recipe, distance, confirm });
        sources.push(Source::File);
    }
    let mut letters = 'A'..='Z';
    for choice in recipes(flags) {
        for confirm in confirms(flags)? {
            let distance = flags.distance.unwrap_or(DISTANCE);
            let recipe = choice.recipe(None)?;
            let name = letters.next().ok_or_else(too_many)?.to_string();
            methods.push(NearMethod { name, recipe, distance, confirm });
            sources.push(Source::Recipe(choice.clone()));
        }
    }
    Ok((methods, sources))
}

fn too_many() -> Error {
    Error::new(Kind::Usage, "too many recipes and checks to judge at once")
        .expected("at most 26, where each recipe is judged with each check")
        .help("judge some of them, then the others")
}

fn recipes(flags: &SweepFlags) -> Vec<RecipeChoice> {
    let named = |name: &str| RecipeChoice::Named(name.to_owned());
    match (&flags.recipe[..], &flags.check[..]) {
        ([], []) => OTHERS.map(named).into(),
        ([], _) => vec![named("wide")],
        (recipes, _) => recipes.to_vec(),
    }
}

fn confirms(flags: &SweepFlags) -> Result<Vec<Option<Confirm>>> {
    match &flags.check[..] {
        [] => Ok(vec![None]),
        checks => checks.iter().map(|check| check.parse().map(Some)).collect(),
    }
}

impl Source {
    /// The lines for a configuration file that chooses the method; none if they are there already.
    pub(super) fn lines(&self, method: &NearMethod) -> Option<String> {
        match self {
            Source::Preset(preset) => Some(format!("preset = \"{preset}\"\n")),
            Source::File => None,
            Source::Recipe(choice) => {
                let check = method.confirm.map(|confirm| (confirm.check, confirm.least));
                Some(configuration(choice, method.distance, check))
            }
        }
    }
}

/// One line for each method: its recipe, distance and check.
pub(super) fn legend(methods: &[NearMethod]) -> String {
    let mut text = format!("{:<11}{:<16}{:<11}{}\n", "method", "recipe", "distance", "check");
    for NearMethod { name, recipe, distance, confirm } in methods {
        let check = confirm.map_or_else(
            || "none".to_owned(),
            |confirm| format!("{} of at least {}", confirm.check, confirm.least),
        );
        let bits = format!("{distance} bits");
        text += &format!("{name:<11}{:<16}{bits:<11}{check}\n", recipe.name());
    }
    text
}

/// The recipe, distance and check of a method, as JSON.
pub(super) fn parts(method: &NearMethod) -> Value {
    json!({
        "method": method.name,
        "recipe": method.recipe.name(),
        "distance": method.distance,
        "check": method.confirm.map(|confirm| confirm.to_string()),
    })
}

/// What a part of the texts is called, with its lengths.
pub(super) fn name(part: &str, characters: Option<(u64, u64)>) -> String {
    match characters {
        Some((least, most)) => format!("{part}, {least} to {most} characters"),
        None if part == "han" => "Chinese: half of the letters or more".to_owned(),
        None => "other languages".to_owned(),
    }
}
