//! The JSON of answers, which `openapi.json` describes. That of requests is read by [`dupsieve::rooms::online::requests`].

use dupsieve::rooms::online::{Committed, Found, Gone, GonePage, Told};
use dupsieve::rooms::report::Copies;
use dupsieve::rooms::store::Day;
use serde::Serialize;

/// Answers, one for each fingerprint or page, in their order.
#[derive(Serialize)]
pub(super) struct Answers<'a> {
    /// The version of the store that answers.
    store_version: u64,
    answers: Vec<Answer<'a>>,
}

/// What is near to one.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    /// The id of the page, or the fingerprint as it was given.
    id: &'a str,
    /// The near pages, the nearest first.
    near: Vec<Near<'a>>,
    /// How many more near pages there are.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    /// Whether the work for this answer was over before all was looked at: there may be nearer pages, and more of them.
    #[serde(skip_serializing_if = "is_false")]
    cut: bool,
    /// keep, drop, empty for a text without words, repeated for an id that was remembered since the last commit, or
    /// unknown if the work was over before a near page was found.
    verdict: &'static str,
}

/// A near page.
#[derive(Serialize)]
pub(super) struct Near<'a> {
    id: &'a str,
    /// Its day; null if it was remembered and is in no day of the store yet.
    day: Option<Day>,
    /// In how many bits it differs.
    distance: u8,
    /// How alike the texts are, from 0 to 1, where a check confirms that.
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    /// How many pages the days of `run` have dropped as its duplicates, if the service counts copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<u64>,
    /// Of how many hosts these pages and the page itself are, where their ids are URLs.
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
    /// The version of the store that has the day, or the newest one.
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
    waiting: u64,
    /// Whether the store had the day before, and nothing was done.
    already: bool,
    /// Whether no day was made, because nothing was remembered.
    #[serde(skip_serializing_if = "is_false")]
    skipped: bool,
    /// The pages that go because a kept page contains them: those that were remembered and are left out of the day, and those of
    /// earlier days that a page of this day contains, which the store hides.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    gone: Vec<GoneAnswer<'a>>,
    /// How many more such pages there are.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
}

/// A page that goes with a commit.
#[derive(Serialize)]
pub(super) struct GoneAnswer<'a> {
    id: &'a str,
    /// Its day; null if it was remembered and is in no day of the store.
    day: Option<Day>,
    /// The id of the page that contains it.
    by: &'a str,
    /// The share of it that this page contains.
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

fn is_false(said: &bool) -> bool {
    !said
}
