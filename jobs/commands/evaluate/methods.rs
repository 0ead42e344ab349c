//! The methods that a sweep judges: the presets, what the configuration file says, and what flags ask for.

use std::ops::RangeInclusive;

use dupsieve::document::Format;
use dupsieve::evaluate::{Method, MethodCost, Near};
use dupsieve::join::Preset;
use dupsieve::matches::Confirm;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::buckets::{BucketChoice, describe};
use super::configuration::configuration;
use super::flags::SweepFlags;
use crate::flags::config::Config;
use crate::flags::settings::RecipeChoice;

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
    /// Buckets, alone or beside a preset.
    Buckets(BucketChoice),
}

/// The presets.
pub(super) fn presets() -> Result<Vec<Method>> {
    let preset = |preset: Preset| {
        let name = preset.to_string();
        Ok(Method::near(&name, preset.recipe(None)?, preset.distance(), preset.check()))
    };
    Preset::ALL.into_iter().map(preset).collect()
}

/// The presets first, then what the configuration file says if it differs, then what was asked for: each
/// recipe with each check. The others are named by letters.
pub(super) fn methods(flags: &SweepFlags, config: &Config) -> Result<(Vec<Method>, Vec<Source>)> {
    let mut methods = presets()?;
    let mut sources: Vec<Source> = Preset::ALL.map(Source::Preset).into();
    let Config { fingerprint, dedup, .. } = config;
    let says =
        fingerprint.recipe.is_some() || fingerprint.check.is_some() || fingerprint.width.is_some();
    if says || dedup.distance.is_some() || dedup.check.is_some() {
        let recipe = fingerprint.recipe(Format::Auto)?;
        let (distance, confirm) = dedup.distance_and_check(recipe.stamp().as_str());
        methods.push(Method::near("your file", recipe, distance, confirm));
        sources.push(Source::File);
    }
    let mut letters = 'A'..='Z';
    for choice in recipes(flags) {
        for confirm in confirms(flags)? {
            let distance = flags.distance.unwrap_or(DISTANCE);
            let recipe = choice.recipe(None)?;
            let name = letters.next().ok_or_else(too_many)?.to_string();
            methods.push(Method::near(&name, recipe, distance, confirm));
            sources.push(Source::Recipe(choice.clone()));
        }
    }
    for (method, choice) in bucket_methods(flags, &mut letters)? {
        methods.push(method);
        sources.push(Source::Buckets(choice));
    }
    Ok((methods, sources))
}

/// The buckets that were asked for, named by letters; then the first of them together with `balanced`.
pub(super) fn bucket_methods(
    flags: &SweepFlags,
    letters: &mut RangeInclusive<char>,
) -> Result<Vec<(Method, BucketChoice)>> {
    let mut methods = Vec::new();
    for choice in &flags.buckets {
        let name = letters.next().ok_or_else(too_many)?.to_string();
        methods.push((choice.method(name), choice.clone()));
    }
    let balanced = presets()?.into_iter().find(|it| it.name == Preset::Balanced.to_string());
    if let (Some((first, choice)), Some(balanced)) = (methods.first(), balanced) {
        let both = (choice.beside(&balanced, &first.name), choice.clone());
        methods.push(both);
    }
    Ok(methods)
}

fn too_many() -> Error {
    Error::new(Kind::Usage, "too many recipes and checks to judge at once")
        .expected("at most 26, where each recipe is judged with each check")
        .help("judge some of them, then the others")
}

fn recipes(flags: &SweepFlags) -> Vec<RecipeChoice> {
    let named = |name: &str| RecipeChoice::Named(name.to_owned());
    match (&flags.recipe[..], &flags.check[..]) {
        ([], []) if !flags.buckets.is_empty() => Vec::new(),
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
    pub(super) fn lines(&self, method: &Method) -> Option<String> {
        let near = method.near.as_ref();
        match self {
            Source::Preset(preset) => Some(format!("preset = \"{preset}\"\n")),
            Source::File => None,
            Source::Recipe(choice) => near.map(|near| {
                let check = near.confirm.map(|confirm| (confirm.check, confirm.least));
                configuration(choice, near.distance, check)
            }),
            Source::Buckets(_) => None,
        }
    }
}

/// One line for each method: its recipe, distance and check.
pub(super) fn legend(methods: &[Method]) -> String {
    let mut text = format!("{:<11}{:<16}{:<11}{}\n", "method", "recipe", "distance", "check");
    for Method { name, near, buckets } in methods {
        match (near, buckets) {
            (Some(_), Some(_)) => {
                text += &format!("{name:<11}what either of both finds\n");
                continue;
            }
            (None, Some(scheme)) => text += &format!("{name:<11}{}\n", describe(scheme)),
            _ => {}
        }
        let Some(Near { recipe, distance, confirm }) = near else { continue };
        let check = confirm.map_or_else(
            || "none".to_owned(),
            |confirm| format!("{} of at least {}", confirm.check, confirm.least),
        );
        let bits = format!("{distance} bits");
        text += &format!("{name:<11}{:<16}{bits:<11}{check}\n", recipe.name());
    }
    text
}

/// The recipe, distance, check and buckets of a method, as JSON.
pub(super) fn parts(method: &Method) -> Value {
    let near = method.near.as_ref();
    json!({
        "method": method.name,
        "recipe": near.map(|near| near.recipe.name()),
        "distance": near.map(|near| near.distance),
        "check": near.and_then(|near| near.confirm).map(|confirm| confirm.to_string()),
        "buckets": method.buckets.as_ref().map(describe),
    })
}

/// Whether costs are shown: they are asked for with buckets.
pub(super) fn shows_costs(methods: &[Method]) -> bool {
    methods.iter().any(|method| method.buckets.is_some())
}

/// What a method costs a page: the bytes that it keeps, uncompressed, and the microseconds in which one thread
/// makes them.
pub(super) fn cost_of_one(cost: MethodCost, pages: u64) -> [f64; 2] {
    let MethodCost { bytes, time } = cost;
    [bytes as f64, 1e6 * time.as_secs_f64()].map(|sum| (sum / pages.max(1) as f64).round())
}

/// A line for each method: what it costs a page.
pub(super) fn costs(methods: &[Method], costs: &[MethodCost], pages: u64) -> String {
    let mut text = format!("{:<11}{:>13}{:>25}\n", "method", "bytes a page", "microseconds a page");
    for (Method { name, .. }, &cost) in methods.iter().zip(costs) {
        let [bytes, micros] = cost_of_one(cost, pages);
        text += &format!("{name:<11}{bytes:>13}{micros:>25}\n");
    }
    text
}
