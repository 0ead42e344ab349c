//! The tables of counts that a recipe uses: they must have been counted as the recipe takes its texts.

use serde::Serialize;

use super::parts::bad;
use crate::error::Result;
use crate::features::counts::Counts;
use crate::features::segmenter::Segmenter;

/// These parts of a recipe, and others, as one line of JSON; none where texts are not taken.
pub(super) fn taken_by(
    recipe: &impl Serialize,
    parts: &[&str],
    others: &[(&str, &str)],
) -> Option<String> {
    let mut recipe = serde_json::to_value(recipe).ok()?;
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

/// Checks that a table was counted in one of two ways.
pub(super) fn fits(
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
