//! The tables of counts that a recipe uses: they must have been counted as the recipe takes its texts.

use super::{Features, Recipe, Text, bad};
use crate::error::{Error, Kind, Result};
use crate::features::counts::Counts;

impl Recipe {
    /// The same recipe without the lines of this table, which `dupsieve weights --lines` made.
    ///
    /// # Errors
    /// [`Kind::Usage`] if it does not take the words or shingles of texts. [`Kind::Config`] if the lines were
    /// counted otherwise than it takes them.
    pub fn with_boilerplate(mut self, lines: Counts) -> Result<Recipe> {
        let (Features::Words { text, .. }
        | Features::WordShingles { text, .. }
        | Features::CharacterShingles { text, .. }) = &mut self.features
        else {
            return Err(Error::new(Kind::Usage, "boilerplate is dropped from texts")
                .expected("a recipe of words or of shingles")
                .found(self.name));
        };
        text.boilerplate = Some(lines);
        self.validate().map(|()| self)
    }

    /// How features are taken from a text, as tables of their counts say it: one line of JSON. None
    /// where texts are not taken.
    pub fn taking(&self) -> Option<String> {
        self.taken_by(&["features", "length", "hmm", "user_dictionary", "normalise"], &[])
    }

    /// How lines are taken from a text.
    pub fn taking_lines(&self) -> Option<String> {
        self.taken_by(&["normalise"], &[("features", "lines")])
    }

    /// How lines are taken that are counted for the host of their page.
    pub fn taking_lines_by_host(&self) -> Option<String> {
        self.taken_by(&["normalise"], &[("features", "lines"), ("by", "host")])
    }

    /// These parts of the recipe, and others.
    fn taken_by(&self, parts: &[&str], others: &[(&str, &str)]) -> Option<String> {
        let mut recipe = serde_json::to_value(self).ok()?;
        let taken = recipe.as_object_mut().filter(|recipe| recipe.contains_key("normalise"))?;
        taken.retain(|part, _| parts.contains(&part.as_str()));
        taken.extend(others.iter().map(|&(part, value)| (part.to_owned(), value.into())));
        recipe.sort_all_objects();
        Some(recipe.to_string())
    }

    /// Tables must have been counted as this recipe takes its features.
    pub(super) fn check_tables(&self, text: &Text) -> Result<()> {
        let takes_idf = text.weights.take_idf() || text.short_text.is_some();
        if text.idf.is_some() && !takes_idf {
            return Err(bad("a part of no use").expected("weights by idf").found("idf"));
        }
        fits(text.idf.as_ref(), self.taking(), None, "idf")?;
        let [lines, by_host] = [self.taking_lines(), self.taking_lines_by_host()];
        fits(text.boilerplate.as_ref(), lines, by_host, "boilerplate")
    }
}

/// Checks that a table was counted in one of two ways.
fn fits(
    table: Option<&Counts>,
    one: Option<String>,
    other: Option<String>,
    name: &str,
) -> Result<()> {
    let Some(table) = table else { return Ok(()) };
    let of = Some(&table.head().of);
    if of == one.as_ref() || of == other.as_ref() {
        return Ok(());
    }
    Err(bad(&format!("its {name} was counted otherwise"))
        .expected(one.unwrap_or_default())
        .found(&table.head().of)
        .help("count again by this recipe with `dupsieve weights`"))
}
