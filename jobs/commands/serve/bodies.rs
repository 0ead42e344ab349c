//! The JSON of answers, which `openapi.json` describes. That of requests is read by [`dupsieve::rooms::online::requests`].

use dupsieve::rooms::online::{Committed, Found, Gone, GonePage, Told};
use dupsieve::rooms::report::Copies;
use dupsieve::rooms::store::Day;
use serde::Serialize;

/// Answers, one for each fingerprint or page, in their order.
#[derive(Serialize)]
pub(super) struct Answers<'a> {
    store_version: u64,
    answers: Vec<Answer<'a>>,
}

/// What is near to one.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    id: &'a str,
    near: Vec<Near<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    #[serde(skip_serializing_if = "is_false")]
    cut: bool,
    verdict: &'static str,
}

/// A near page.
#[derive(Serialize)]
pub(super) struct Near<'a> {
    id: &'a str,
    day: Option<Day>,
    distance: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hosts: Option<u64>,
}

impl<'a> Answers<'a> {
    pub(super) fn of(told: &'a Told, ids: &'a [String], copies: Option<&Copies>) -> Answers<'a> {
        let answers = ids.iter().zip(&told.answers);
        let answers = answers.map(|(id, found)| Answer::of(id, found, copies));
        Answers { store_version: told.store_version, answers: answers.collect() }
    }
}

impl<'a> Answer<'a> {
    fn of(id: &'a str, found: &'a Found, copies: Option<&Copies>) -> Answer<'a> {
        let near = found.near.iter().map(|near| {
            let count = copies.map(|copies| copies.of(&near.id, near.day));
            Near {
                id: &near.id,
                day: near.day,
                distance: near.distance,
                similarity: near.similarity.map(|similarity| similarity.number()),
                copies: count.map(|count| count.copies),
                hosts: count.map(|count| count.hosts),
            }
        });
        let Found { more, is_cut: cut, verdict, .. } = *found;
        Answer { id, near: near.collect(), more, cut, verdict: verdict.name() }
    }
}

/// What became of a commit.
#[derive(Serialize)]
pub(super) struct CommitAnswer<'a> {
    store_version: u64,
    day: String,
    rows: u64,
    empties: u64,
    #[serde(skip_serializing_if = "is_zero")]
    waiting: u64,
    already: bool,
    #[serde(skip_serializing_if = "is_false")]
    skipped: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    gone: Vec<GoneAnswer<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
}

/// A page that goes with a commit.
#[derive(Serialize)]
pub(super) struct GoneAnswer<'a> {
    id: &'a str,
    day: Option<Day>,
    by: &'a str,
    containment: f64,
}

impl<'a> CommitAnswer<'a> {
    pub(super) fn of(day: String, committed: &'a Committed) -> CommitAnswer<'a> {
        let Committed { store_version, rows, empties, waiting, already, is_held, ref gone } =
            *committed;
        let Gone { pages, more, .. } = gone;
        let gone = pages.iter().map(|page| {
            let GonePage { id, day, by, containment } = page;
            GoneAnswer { id, day: *day, by, containment: *containment }
        });
        CommitAnswer {
            store_version,
            day,
            rows,
            empties,
            waiting,
            already,
            skipped: !is_held,
            gone: gone.collect(),
            more: *more,
        }
    }
}

/// What is served.
#[derive(Serialize)]
pub(super) struct Status {
    pub(super) store_version: u64,
    pub(super) rows: u64,
    pub(super) days: u64,
    pub(super) journal_pages: u64,
    pub(super) journal_bytes: u64,
    pub(super) width: u32,
    pub(super) distance: u32,
    pub(super) check: Option<String>,
}

fn is_zero(more: &u64) -> bool {
    *more == 0
}

fn is_false(said: &bool) -> bool {
    !said
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_description_has_every_field_that_an_answer_can_have() {
        let (id, by) = ("a", "b");
        let (similarity, copies, hosts) = (Some(0.5), Some(1), Some(1));
        let near = Near { id, day: None, distance: 1, similarity, copies, hosts };
        let answer = Answer { id, near: Vec::new(), more: 1, cut: true, verdict: "keep" };
        let gone = || GoneAnswer { id, day: None, by, containment: 1.0 };
        let commit = CommitAnswer {
            store_version: 1,
            day: String::new(),
            rows: 1,
            empties: 1,
            waiting: 1,
            already: true,
            skipped: true,
            gone: vec![gone()],
            more: 1,
        };
        let status = Status {
            store_version: 1,
            rows: 1,
            days: 1,
            journal_pages: 1,
            journal_bytes: 1,
            width: 64,
            distance: 3,
            check: None,
        };
        let api: Value = serde_json::from_str(include_str!("openapi.json")).unwrap();
        let fields =
            |of: &Value| -> BTreeSet<String> { of.as_object().unwrap().keys().cloned().collect() };
        for (name, value) in [
            ("Answers", json!(Answers { store_version: 1, answers: Vec::new() })),
            ("Answer", json!(answer)),
            ("Near", json!(near)),
            ("GoneAnswer", json!(gone())),
            ("CommitAnswer", json!(commit)),
            ("Status", json!(status)),
        ] {
            let told = &api["components"]["schemas"][name]["properties"];
            assert_eq!(fields(&value), fields(told), "{name}");
        }
    }
}
