//! Presets: a recipe, a distance and a check that go together.

use serde::{Deserialize, Serialize};

use crate::error::{Result, named};
use crate::fingerprint::{Recipe, Stamp, Width};
use crate::matches::Confirm;

/// A recipe, a distance and a check that go together, under one name.
///
/// | preset | recipe | distance | check | bytes a page |
/// |---|---|---|---|---|
/// | `paper` | `words-1` | 3 | none | 4 |
/// | `balanced` | `wide-1` | 3 | `containment:0.9` | 45 that are streamed, and some 2.1 a word that are read for candidates |
///
/// By itself, a fingerprint must tell different pages apart. Where a sketch does that, fingerprints and anchors only find candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Preset {
    /// The setting of Manku, Jain and Das Sarma: a fingerprint and three bits, nothing else.
    Paper,
    /// Candidates by fingerprints and anchors, and a page is dropped only if a kept page contains nine tenths of it.
    #[default]
    Balanced,
}

named!(
    pub Preset { Paper = "paper", Balanced = "balanced" } or "there is no such preset"
);

impl Preset {
    /// The recipe, with the signatures of the check, for fingerprints of this width.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::Kind::Usage) if the recipe does not allow the width.
    pub fn recipe(self, width: Option<Width>) -> Result<Recipe> {
        let name = if self == Preset::Paper { "words-1" } else { "wide-1" };
        let recipe = Recipe::named(name, width)?;
        match self.check() {
            Some(Confirm { check, .. }) => recipe.with_check(check),
            None => Ok(recipe),
        }
    }

    /// The largest number of bits in which near-duplicates differ.
    #[must_use]
    pub fn distance(self) -> u32 {
        match self {
            Preset::Paper | Preset::Balanced => 3,
        }
    }

    /// The check, and the least similarity that it asks for.
    #[must_use]
    pub fn check(self) -> Option<Confirm> {
        match self {
            Preset::Paper => None,
            Preset::Balanced => {
                Some("containment".parse().expect("the check of a preset has a name"))
            }
        }
    }

    /// The next cheaper preset, and what it leaves of the pages that this one drops, as measured on versions of real pages.
    #[must_use]
    pub fn cheaper(self) -> Option<(Preset, &'static str)> {
        match self {
            Preset::Paper => None,
            Preset::Balanced => Some((Preset::Paper, "one page in twenty")),
        }
    }

    /// The preset that a batch with this stamp was made with, if it was made with one. Boilerplate and bands
    /// make no difference.
    #[must_use]
    pub fn of(stamp: &str) -> Option<Preset> {
        let stamp = Stamp::parse(stamp).ok()?;
        let made = |preset: &Preset| {
            let recipe = preset.recipe(Some(stamp.width()));
            recipe.is_ok_and(|recipe| recipe.stamp() == stamp.plain())
        };
        Preset::ALL.into_iter().find(made)
    }
}

/// The recipe of a preset, or one with a name, by which a segment with this stamp was made, but for boilerplate and what is kept beside
/// fingerprints and sketches.
#[must_use]
pub fn recipe_of(held: &Stamp) -> Option<Recipe> {
    let (width, check) = (Some(held.width()), held.check().ok()?);
    let presets = Preset::ALL.into_iter().map(|preset| preset.recipe(width));
    let recipes = presets.chain(Recipe::names().map(|name| Recipe::named(name, width)));
    let mut checked = recipes.flatten().filter_map(|recipe| match check {
        Some(check) if recipe.check().is_none() => recipe.with_check(check).ok(),
        _ => Some(recipe),
    });
    checked.find(|recipe| recipe.stamp().plain() == held.plain())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_known_by_the_stamp_of_its_recipe() {
        for preset in Preset::ALL {
            for width in [None, Some(Width::W64), Some(Width::W128)] {
                let recipe = preset.recipe(width).unwrap();
                assert_eq!(Preset::of(recipe.stamp().as_str()), Some(preset));
                assert_eq!(recipe.check(), preset.check().map(|it| it.check));
            }
            assert_eq!(preset.to_string().parse(), Ok(preset));
        }
        for other in ["wide", "shingles"] {
            assert_eq!(Preset::of(Recipe::named(other, None).unwrap().stamp().as_str()), None);
        }
        assert!("Balanced".parse::<Preset>().is_err());
    }
}
