//! The tables of counts that a recipe uses: they must have been counted as the recipe takes its texts.

use super::Recipe;
use super::parts::{Text, bad};
use crate::error::Result;
use crate::features::counts::Counts;
use crate::features::segmenter::Segmenter;

impl Recipe {
    /// How features are taken from a text, as tables of their counts say it: one line of JSON. None where texts are not taken.
    pub fn taking(&self) -> Option<String> {
        let parts = [
            "features",
            "length",
            "hmm",
            "user_dictionary",
            "unspaced_run",
            "segmenter",
            "normalise",
        ];
        self.taken_by(&parts, &[])
    }

    pub fn taking_lines(&self) -> Option<String> {
        self.taken_by(&["normalise"], &[("features", "lines")])
    }

    /// How lines are taken that are counted for the host of their page.
    pub fn taking_lines_by_host(&self) -> Option<String> {
        self.taken_by(&["normalise"], &[("features", "lines"), ("by", "host")])
    }

    fn taken_by(&self, parts: &[&str], others: &[(&str, &str)]) -> Option<String> {
        let mut recipe = serde_json::to_value(self).ok()?;
        let taken = recipe.as_object_mut().filter(|recipe| recipe.contains_key("normalise"))?;
        taken.retain(|part, _| parts.contains(&part.as_str()));
        if let Some(name) = taken.get_mut("segmenter") {
            // Another release cuts other words.
            let segmenter: Segmenter = serde_json::from_value(name.take()).ok()?;
            *name = segmenter.version().into();
        }
        taken.extend(others.iter().map(|&(part, value)| (part.to_owned(), value.into())));
        recipe.sort_all_objects();
        Some(recipe.to_string())
    }

    /// Its tables must have been counted as it takes the features of texts.
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
        .help("count again by this recipe")
        .job("weights"))
}
