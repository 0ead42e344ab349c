//! The recipe by which a store was made.

use std::borrow::Cow;

use dupsieve::Result;
use dupsieve::features::counts::Counts;
use dupsieve::fingerprint::{Check, Recipe, Stamp};
use dupsieve::join;

use crate::flags::{PageSettings, RecipeSettings};

/// As [`of`], with the bands, digests, keys and words that are kept beside the fingerprints.
#[cfg(feature = "serve")]
pub(crate) fn whole(
    stamp: &str,
    settings: &RecipeSettings,
    pages: &PageSettings,
) -> Result<Recipe> {
    of(stamp, settings, pages)?.keeping(&Stamp::parse(&in_full(stamp))?)
}

/// The recipe with this stamp: the one that the settings name, or one of those with names. Bands,
/// digests, keys and words, which no answer needs, are left out.
pub(super) fn of(stamp: &str, settings: &RecipeSettings, pages: &PageSettings) -> Result<Recipe> {
    let stamp = &*in_full(stamp);
    let held = Stamp::parse(stamp)?;
    let width = Some(held.width());
    let check = held.check()?;
    let signed = |recipe: Recipe| match check {
        Some(check) if recipe.check().is_none() => recipe.with_check(check),
        _ => Ok(recipe),
    };
    let recipe = match &settings.recipe {
        Some(choice) => signed(choice.recipe(width)?)?,
        None => match join::recipe_of(&held) {
            Some(recipe) => recipe,
            None => settings.recipe(pages)?,
        },
    };
    let recipe = match &settings.boilerplate {
        Some(table) => recipe.with_boilerplate(Counts::read(&table.here()?)?)?,
        None => recipe,
    };
    let whole = recipe.clone().keeping(&held)?;
    join::check_stamps(stamp, whole.stamp().as_str())?;
    // Points are made with the bands.
    Ok(if check.is_some_and(Check::is_of_points) { whole } else { recipe })
}

/// The whole stamp: what `generate segment` writes is stamped with the name of its recipe only.
fn in_full(stamp: &str) -> Cow<'_, str> {
    match Recipe::named(stamp, None) {
        Ok(recipe) if recipe.is_external() => recipe.stamp().as_str().to_owned().into(),
        _ => stamp.into(),
    }
}
