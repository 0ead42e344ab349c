//! The line of JSON that answers for one page.

use std::io::{self, Write};

use dupsieve::rooms::index::Lookup;
use dupsieve::rooms::matches::{Answer, NearPage};
use dupsieve::rooms::report::{Copies, CopyCount};
use dupsieve::rooms::store::Day;
use serde::Serialize;

/// What is near to a page, and the verdict.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    id: &'a str,
    store_version: u64,
    near: Vec<NearLine<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    #[serde(skip_serializing_if = "is_false")]
    cut: bool,
    verdict: &'static str,
}

#[derive(Serialize)]
struct NearLine<'a> {
    id: &'a str,
    day: Option<Day>,
    distance: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(flatten)]
    count: Option<CopyCount>,
}

impl<'a> Line<'a> {
    /// That of the page with this id; without an answer the page has no fingerprint.
    pub(super) fn of(
        id: &'a str,
        (lookup, copies): (&Lookup, Option<&Copies>),
        answer: Option<&'a Answer>,
    ) -> Line<'a> {
        let verdict = match answer {
            None => "empty",
            Some(answer) if answer.drops() => "drop",
            Some(answer) if answer.is_cut => "unknown",
            Some(_) => "keep",
        };
        let near = answer.map_or(&[][..], |answer| &answer.near);
        let near = near.iter().map(|NearPage { distance, id, day, similarity }| {
            let similarity = similarity.map(|similarity| similarity.number());
            let count = copies.map(|copies| copies.of(id, *day));
            NearLine { id, day: *day, distance: *distance, similarity, count }
        });
        let store_version = lookup.version().number();
        let more = answer.map_or(0, |answer| answer.more);
        let cut = answer.is_some_and(|answer| answer.is_cut);
        Line { id, store_version, near: near.collect(), more, cut, verdict }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

fn is_zero(more: &u64) -> bool {
    *more == 0
}

fn is_false(said: &bool) -> bool {
    !said
}
