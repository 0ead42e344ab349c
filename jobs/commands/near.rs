//! What is near to a page, and the verdict, as `query` prints it and `serve` answers.

use dupsieve::rooms::matches::NearPage;
use dupsieve::rooms::report::{Copies, CopyCount};
use dupsieve::rooms::store::Day;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    pub(crate) id: &'a str,
    /// That of a line; answers to one request have one for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) store_version: Option<u64>,
    pub(crate) near: Vec<Near<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) more: u64,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) cut: bool,
    pub(crate) verdict: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Near<'a> {
    pub(crate) id: &'a str,
    pub(crate) day: Option<Day>,
    pub(crate) distance: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) similarity: Option<f64>,
    #[serde(flatten)]
    pub(crate) count: Option<CopyCount>,
}

impl<'a> Near<'a> {
    pub(crate) fn all(near: &'a [NearPage], copies: Option<&Copies>) -> Vec<Near<'a>> {
        let near = near.iter().map(|NearPage { distance, id, day, similarity }| Near {
            id,
            day: *day,
            distance: *distance,
            similarity: similarity.map(|similarity| similarity.number()),
            count: copies.map(|copies| copies.of(id, *day)),
        });
        near.collect()
    }
}

pub(crate) fn is_zero(more: &u64) -> bool {
    *more == 0
}

pub(crate) fn is_false(said: &bool) -> bool {
    !said
}
