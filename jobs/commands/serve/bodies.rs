//! The JSON of answers, which `openapi.json` describes. That of requests is read by [`dupsieve::online::requests`].

use dupsieve::online::{Committed, Found, GonePage, Told};
use dupsieve::report::Copies;
use serde::Serialize;

use crate::commands::near::{Answer, Near, is_false, is_zero};

#[derive(Serialize)]
pub(super) struct Answers<'a> {
    store_version: u64,
    answers: Vec<Answer<'a>>,
}

impl<'a> Answers<'a> {
    pub(super) fn of(told: &'a Told, ids: &'a [String], copies: Option<&Copies>) -> Answers<'a> {
        let answers = ids.iter().zip(&told.answers).map(|(id, found)| {
            let near = Near::all(&found.near, copies);
            let Found { more, is_cut: cut, verdict, .. } = *found;
            Answer { id, store_version: None, near, more, cut, verdict: verdict.name() }
        });
        Answers { store_version: told.store_version, answers: answers.collect() }
    }
}

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
    gone: &'a [GonePage],
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
}

impl<'a> CommitAnswer<'a> {
    pub(super) fn of(day: String, committed: &'a Committed) -> CommitAnswer<'a> {
        let Committed { store_version, rows, empties, waiting, already, is_held, ref gone } =
            *committed;
        CommitAnswer {
            store_version,
            day,
            rows,
            empties,
            waiting,
            already,
            skipped: !is_held,
            gone: &gone.pages,
            more: gone.more,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dupsieve::report::CopyCount;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_description_has_every_field_that_an_answer_can_have() {
        let id = "a";
        let count = Some(CopyCount { copies: 1, hosts: 1 });
        let near = Near { id, day: None, distance: 1, similarity: Some(0.5), count };
        let (store_version, near_none) = (None, Vec::new());
        let answer =
            Answer { id, store_version, near: near_none, more: 1, cut: true, verdict: "keep" };
        let gone = [GonePage { id: id.into(), day: None, by: "b".into(), containment: 1.0 }];
        let commit = CommitAnswer {
            store_version: 1,
            day: String::new(),
            rows: 1,
            empties: 1,
            waiting: 1,
            already: true,
            skipped: true,
            gone: &gone,
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
            ("GoneAnswer", json!(gone[0])),
            ("CommitAnswer", json!(commit)),
            ("Status", json!(status)),
        ] {
            let told = &api["components"]["schemas"][name]["properties"];
            assert_eq!(fields(&value), fields(told), "{name}");
        }
    }
}
