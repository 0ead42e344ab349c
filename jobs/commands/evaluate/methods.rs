//! The methods that a sweep judges: the presets, and what the configuration file says.

use dupsieve::Result;
use dupsieve::rooms::evaluate::NearMethod;
use dupsieve::rooms::evaluate::choice::cheapest;
use dupsieve::rooms::join::Preset;
use serde_json::{Value, json};

use crate::flags::config::Config;
use crate::flags::settings::{FingerprintSettings, PageSettings};

/// The presets first, then what the configuration file says if it differs.
pub(super) fn methods(config: &Config) -> Result<Vec<NearMethod>> {
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

/// The number of the method to use: of the first, so of the cheapest preset, that scores nearly as well as the best.
pub(super) fn recommended(scores: impl Iterator<Item = f64>) -> usize {
    cheapest(&scores.collect::<Vec<f64>>())
}

/// The line for a configuration file that chooses a method; none if it is in the file already.
pub(super) fn line(method: usize) -> Option<String> {
    Preset::ALL.get(method).map(|preset| format!("preset = \"{preset}\"\n"))
}

/// What to write into a configuration file, in words.
pub(super) fn told(method: usize) -> String {
    match line(method) {
        Some(line) => format!("\nin a configuration file this is:\n\n{line}"),
        None => "\nYour configuration file says so already.\n".to_owned(),
    }
}

pub(super) fn recommendation(methods: &[NearMethod], best: usize) -> Value {
    json!({ "method": methods[best].name, "configuration": line(best) })
}

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

pub(super) fn parts(method: &NearMethod) -> Value {
    json!({
        "method": method.name,
        "recipe": method.recipe.name(),
        "distance": method.distance,
        "check": method.confirm.map(|confirm| confirm.to_string()),
    })
}
