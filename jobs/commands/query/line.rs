//! The line of JSON that answers for one page.

use std::io::{self, Write};

use dupsieve::rooms::index::Lookup;
use dupsieve::rooms::matches;
use dupsieve::rooms::report::Copies;

use crate::commands::near::{Answer, Near};

/// Writes that of the page with this id; without an answer the page has no fingerprint.
pub(super) fn write(
    id: &str,
    (lookup, copies): (&Lookup, Option<&Copies>),
    answer: Option<&matches::Answer>,
    out: &mut impl Write,
) -> io::Result<()> {
    let verdict = match answer {
        None => "empty",
        Some(answer) if answer.drops() => "drop",
        Some(answer) if answer.is_cut => "unknown",
        Some(_) => "keep",
    };
    let line = Answer {
        id,
        store_version: Some(lookup.version().number()),
        near: Near::all(answer.map_or(&[], |answer| &answer.near), copies),
        more: answer.map_or(0, |answer| answer.more),
        cut: answer.is_some_and(|answer| answer.is_cut),
        verdict,
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}
