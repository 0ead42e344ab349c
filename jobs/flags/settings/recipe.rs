//! A recipe as it is chosen by a flag or in a configuration file, and the text of such files.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

use dupsieve::fingerprint::{Recipe, Width};
use dupsieve::object_storage;
use dupsieve::parallel::lock;
use dupsieve::{Kind, Result};
use serde::Deserialize;

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

const MAX_BYTES: u64 = 1 << 20;

/// Reads a configuration file or a recipe's file. A command asks for its configuration more than once,
/// but a pipe can be read only once, so the last text is kept.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    static LAST: Mutex<Option<(PathBuf, String)>> = Mutex::new(None);
    let mut last = lock(&LAST);
    if let Some((_, text)) = last.as_ref().filter(|(from, _)| from == path) {
        return Ok(text.clone());
    }
    let text = object_storage::read_text(path, MAX_BYTES, Kind::Config)?;
    *last = Some((path.to_path_buf(), text.clone()));
    Ok(text)
}
