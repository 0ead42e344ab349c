//! The methods that a sweep judges: the presets, and what the configuration file says.

use dupsieve::Result;
use dupsieve::rooms::evaluate::NearMethod;
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

/// The method to use, and the line for a configuration file that chooses it; none if it is in the file already.
pub(super) fn recommendation(methods: &[NearMethod], best: usize) -> Value {
    let line = Preset::ALL.get(best).map(|preset| format!("preset = \"{preset}\"\n"));
    json!({ "method": methods[best].name, "configuration": line })
}

pub(super) fn parts(method: &NearMethod) -> Value {
    json!({
        "method": method.name,
        "recipe": method.recipe.name(),
        "distance": method.distance,
        "check": method.confirm.map(|confirm| confirm.to_string()),
    })
}
