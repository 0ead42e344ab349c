//! A recipe as it is chosen by a flag or in a configuration file.

use std::convert::Infallible;
use std::str::FromStr;

use dupsieve::Result;
use dupsieve::rooms::fingerprint::{Recipe, Width};
use serde::Deserialize;

use super::text::read_text;

/// A recipe: its name, the path of a `.toml` file, or, in a configuration file, a table of all its parts.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum RecipeChoice {
    Named(String),
    Parts(toml::Table),
}

impl FromStr for RecipeChoice {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<RecipeChoice, Infallible> {
        Ok(RecipeChoice::Named(name.to_owned()))
    }
}

impl RecipeChoice {
    pub(crate) fn recipe(&self, width: Option<Width>) -> Result<Recipe> {
        let recipe = match self {
            RecipeChoice::Named(name) if name.ends_with(".toml") => {
                let text = read_text(name.as_ref())?;
                Recipe::from_toml(&text).map_err(|error| error.at(name))?
            }
            RecipeChoice::Named(name) => return Recipe::named(name, width),
            RecipeChoice::Parts(parts) => Recipe::from_table(parts)?,
        };
        match width {
            Some(width) => recipe.with_width(width),
            None => Ok(recipe),
        }
    }

    /// The name or the path; none for a table.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            RecipeChoice::Named(name) => Some(name),
            RecipeChoice::Parts(_) => None,
        }
    }
}
