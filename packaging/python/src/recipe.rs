//! The recipe by which fingerprints are made.

use dupsieve::document::PageKey;
use dupsieve::fingerprint::Stamp;
use dupsieve::join::{self, Preset};
use dupsieve::store::Version;
use dupsieve::{Error, Kind, Recipe, Result};

/// The recipe of a preset, with the keys of pages that are asked for; by default that of the store, if it holds a page, else that of the preset `balanced`.
pub(crate) fn chosen(
    preset: Option<&str>,
    key: Option<PageKey>,
    store: Option<&Version>,
) -> Result<Recipe> {
    let preset = preset.map(str::parse::<Preset>).transpose()?;
    let held = store.and_then(Version::stamp);
    let recipe = match (preset, held) {
        (None, Some(stamp)) => of_stamp(stamp)?,
        (preset, _) => preset.unwrap_or_default().recipe(None)?,
    };
    let recipe = match key {
        Some(key) => recipe.with_key(key)?,
        None => recipe,
    };
    let same = |held| join::check_stamps(held, recipe.stamp().as_str());
    held.map_or(Ok(()), same).map(|()| recipe)
}

/// What the keys of pages are made of, without these parameters of queries.
pub(crate) fn key(key: Option<&str>, dropped: Option<Vec<String>>) -> Result<Option<PageKey>> {
    let key = key.map(str::parse::<PageKey>).transpose()?;
    match (key, dropped) {
        (Some(key), Some(dropped)) => key.dropping(&dropped).map(Some),
        (None, Some(_)) => Err(Error::new(Kind::Usage, "drop_parameters needs a key")
            .help("say what keys are made of: key=\"surt\"")),
        (key, None) => Ok(key),
    }
}

/// The recipe with this stamp, which is that of a preset or has a name.
fn of_stamp(stamp: &str) -> Result<Recipe> {
    let held = Stamp::parse(stamp)?;
    let whole = join::recipe_of(&held).and_then(|recipe| recipe.keeping(&held).ok());
    whole.filter(|recipe| recipe.stamp().as_str() == stamp).ok_or_else(|| {
        Error::new(Kind::Usage, "the store was made by a recipe without a name")
            .help("use the program, which takes the recipe with --recipe and --boilerplate")
    })
}
