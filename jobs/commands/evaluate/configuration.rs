//! What to write in a configuration file to use what an evaluation recommends.

use dupsieve::rooms::fingerprint::Check;
use dupsieve::rooms::join::Preset;

use crate::flags::settings::RecipeChoice;

/// The text of a configuration file that chooses a recipe, a distance, and a check with its least similarity.
pub(super) fn configuration(
    choice: &RecipeChoice,
    distance: u32,
    check: Option<(Check, f64)>,
) -> String {
    let mut fingerprint = toml::Table::new();
    let mut dedup = toml::Table::new();
    let recipe = match choice {
        RecipeChoice::Named(name) => name.clone().into(),
        RecipeChoice::Parts(parts) => parts.clone().into(),
    };
    fingerprint.insert("recipe".into(), recipe);
    dedup.insert("distance".into(), i64::from(distance).into());
    if check.is_none() {
        // Otherwise a preset of the whole file would add its check, which nobody judged.
        fingerprint.insert("preset".into(), Preset::Paper.to_string().into());
        dedup.insert("preset".into(), Preset::Paper.to_string().into());
    }
    if let Some((check, least)) = check {
        fingerprint.insert("check".into(), check.to_string().into());
        dedup.insert("check".into(), format!("{check}:{}", (least * 1e3).floor() / 1e3).into());
    }
    let sections = [("fingerprint", fingerprint), ("dedup", dedup)];
    let sections = sections.map(|(name, section)| (name.to_owned(), section.into()));
    toml::to_string(&toml::Table::from_iter(sections)).expect("a table is TOML")
}
