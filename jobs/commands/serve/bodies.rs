//! The JSON of requests and answers.

use dupsieve::document::{Content, Document, Position, Time, check_id};
use dupsieve::fingerprint::Width;
use dupsieve::online::{Committed, Found, Told};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::problem::{Fault, Problem};
use crate::commands::query::parse_fingerprint;

/// What is near to these fingerprints or pages? Give one of the two lists.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryRequest {
    /// Near pages differ in at most this many bits [default: the distance of the service].
    pub(super) distance: Option<u32>,
    /// Fingerprints in hex, with or without 0x.
    #[schema(example = json!(["0x9ae16a3b2f90404f"]))]
    pub(super) fingerprints: Option<Vec<String>>,
    /// Pages.
    pub(super) pages: Option<Vec<Page>>,
}

/// Remember these pages.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RememberRequest {
    /// Which pages are remembered [default: kept].
    #[serde(default)]
    pub(super) remember: Which,
    /// The pages, in keep order: of two near pages the first is kept.
    pub(super) pages: Vec<Page>,
}

/// Which pages are remembered.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Which {
    /// Those whose verdict is keep.
    #[default]
    Kept,
    /// All but those of a repeated id.
    All,
}

/// Make a day of what is remembered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommitRequest {
    /// The day, YYYY-MM-DD.
    #[schema(example = "2026-11-22")]
    pub(super) day: String,
}

/// A page: its text, or its fingerprint where the store holds fingerprints made elsewhere.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// The id; a number stands for its decimal text.
    pub(super) id: Name,
    /// The text.
    text: Option<String>,
    /// The fingerprint in hex.
    fingerprint: Option<String>,
    /// The time at which it was fetched: RFC 3339, an HTTP date, or seconds or milliseconds since 1970.
    time: Option<Name>,
}

/// A text, or a number that stands for its decimal text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Name {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl Name {
    pub(super) fn into_text(self) -> String {
        match self {
            Name::Text(text) => text,
            Name::Number(number) => number.to_string(),
        }
    }
}

impl Page {
    /// Takes the page apart: its id, and the document without it.
    ///
    /// # Errors
    /// A problem that names the page by its number in the request.
    pub(super) fn into_document(
        self,
        number: usize,
        width: Width,
        most_text_bytes: usize,
    ) -> Result<(Position, Document<'static>), Problem> {
        let wrong = |what: &str| Problem::new(Fault::BadPage, format!("page {number}: {what}"));
        let id = self.id.into_text();
        check_id(&id).map_err(|reason| wrong(&reason.to_string()))?;
        let time = match self.time {
            None => Time::NoField,
            Some(time) => {
                let time = time.into_text();
                time.parse()
                    .map_err(|reason: dupsieve::document::Reason| wrong(&reason.to_string()))?
            }
        };
        let content = match (self.text, self.fingerprint) {
            (Some(text), None) if text.len() > most_text_bytes => {
                let told = format!(
                    "page {number}: the text has {} bytes; at most {most_text_bytes} are taken",
                    text.len()
                );
                return Err(Problem::new(Fault::TooLarge, told));
            }
            (Some(text), None) => Content::Text(text.into()),
            (None, Some(fingerprint)) => {
                let made = parse_fingerprint(&fingerprint, width);
                Content::Fingerprint(made.map_err(|error| wrong(&error.to_string()))?)
            }
            _ => return Err(wrong("give either its text or its fingerprint")),
        };
        let position = Position { file: 0, line: number as u64 };
        Ok((position, Document { id: id.into(), time, content, is_fallback: false, record: b"" }))
    }
}

/// Answers, one for each fingerprint or page, in their order.
#[derive(Serialize, ToSchema)]
pub(super) struct Answers<'a> {
    /// The version of the store that answers.
    store_version: u64,
    answers: Vec<Answer<'a>>,
}

/// What is near to one.
#[derive(Serialize, ToSchema)]
pub(super) struct Answer<'a> {
    /// The id of the page, or the fingerprint as it was given.
    id: &'a str,
    /// The near pages, the nearest first.
    near: Vec<Near<'a>>,
    /// How many more near pages there are.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    more: u64,
    /// keep, drop, empty for a text without words, or repeated for an id that was remembered since the last commit.
    verdict: &'static str,
}

/// A near page.
#[derive(Serialize, ToSchema)]
pub(super) struct Near<'a> {
    id: &'a str,
    /// Its day; null if it was remembered and is in no day of the store yet.
    day: Option<String>,
    /// In how many bits it differs.
    distance: u8,
    /// How alike the texts are, from 0 to 1, where a check confirms that.
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
}

impl<'a> Answers<'a> {
    /// The answers to these ids.
    pub(super) fn of(told: &'a Told, ids: &'a [String]) -> Answers<'a> {
        let answers = ids.iter().zip(&told.answers).map(|(id, found)| Answer::of(id, found));
        Answers { store_version: told.store_version, answers: answers.collect() }
    }
}

impl<'a> Answer<'a> {
    fn of(id: &'a str, found: &'a Found) -> Answer<'a> {
        let near = found.near.iter().map(|near| Near {
            id: &near.id,
            day: near.day.map(|day| day.to_string()),
            distance: near.distance,
            similarity: near.similarity.map(|similarity| similarity.number()),
        });
        Answer { id, near: near.collect(), more: found.more, verdict: found.verdict.name() }
    }
}

/// What became of a commit.
#[derive(Serialize, ToSchema)]
pub(super) struct CommitAnswer {
    /// The version of the store that has the day.
    store_version: u64,
    /// The day.
    day: String,
    /// Its fingerprints.
    rows: u64,
    /// Its pages without a fingerprint.
    empties: u64,
    /// The pages that stay remembered until a later day is committed: they came after a removal of their ids that
    /// holds up to this day or a later one.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    waiting: u64,
    /// Whether the store had the day before, and nothing was done.
    already: bool,
}

impl CommitAnswer {
    pub(super) fn of(day: String, committed: Committed) -> CommitAnswer {
        let Committed { store_version, rows, empties, waiting, already } = committed;
        CommitAnswer { store_version, day, rows, empties, waiting, already }
    }
}

/// What is served.
#[derive(Serialize, ToSchema)]
pub(super) struct Status {
    /// The version of the store that answers.
    pub(super) store_version: u64,
    /// Its fingerprints.
    pub(super) rows: u64,
    /// Its days.
    pub(super) days: u64,
    /// The pages that are remembered and in no day of the store.
    pub(super) journal_pages: u64,
    /// The bytes of the file that takes new pages.
    pub(super) journal_bytes: u64,
    /// The bits of a fingerprint.
    pub(super) width: u32,
    /// Near pages differ in at most this many bits.
    pub(super) distance: u32,
    /// The check that confirms near pages, and its least similarity.
    pub(super) check: Option<String>,
}

fn is_zero(more: &u64) -> bool {
    *more == 0
}
