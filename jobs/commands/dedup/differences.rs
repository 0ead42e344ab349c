//! What differs between the dropped pages that a report shows and the pages that are kept for them: their inputs are read once more, unless they
//! are large.

use dupsieve::Result;
use dupsieve::rooms::matches::{DroppedExample, is_cut};
use dupsieve::rooms::report::Nearest;
use serde_json::{Value, json};

use crate::commands::difference::IN_SHORT;
use crate::commands::excerpts::{self, Excerpts, Pair};
use crate::commands::pages::PageSource;

/// For each example the passages that differ; none if the inputs are large, or cannot be read any more.
pub(super) fn of(examples: &[DroppedExample], source: &PageSource) -> Option<Value> {
    read(examples, source).unwrap_or_else(|error| {
        tracing::warn!("report.html does not show the words that differ: {error}");
        None
    })
}

fn read(examples: &[DroppedExample], source: &PageSource) -> Result<Option<Value>> {
    let kept: Vec<Nearest> = examples.iter().map(nearest).collect();
    let pairs: Vec<Pair<'_>> = examples.iter().map(|it| &*it.id).zip(&kept).collect();
    let bytes = excerpts::input_bytes(pairs.iter().copied(), source, &source.settings)?;
    if pairs.is_empty() || bytes > excerpts::MOST_INPUT_BYTES {
        return Ok(None);
    }
    let texts = Excerpts::read(pairs.iter().copied(), source, &source.settings)?;
    let difference = |pair: &Pair<'_>| {
        let (passages, note) = match texts.compare(*pair)? {
            Ok(compared) => compared.passages(&IN_SHORT),
            Err(missing) if is_cut(missing) => (Vec::new(), None),
            Err(missing) => (Vec::new(), Some(excerpts::lacking(missing))),
        };
        Ok(json!({ "passages": passages, "note": note }))
    };
    pairs.iter().map(difference).collect::<Result<Vec<Value>>>().map(|all| Some(all.into()))
}

fn nearest(example: &DroppedExample) -> Nearest {
    let DroppedExample { of, distance, against, .. } = example.clone();
    Nearest { id: of, distance, against }
}
