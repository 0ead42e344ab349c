//! What is near to a page, and the verdict, as `query` prints it and `serve` answers.

use clap::Args;
use dupsieve::Result;
use dupsieve::index::{Lookup, LookupOptions};
use dupsieve::join::{self, Preset};
use dupsieve::matches::{self, Confirm, NearPage};
use dupsieve::report::{Copies, CopyCount};
use dupsieve::store::{Access, Day};
use serde::Serialize;

use crate::flags::{DedupSettings, Place};

/// How a store is asked.
#[derive(Args, Clone, Debug)]
pub(crate) struct LookupFlags {
    /// Near pages differ in at most this many bits, 15 at most [default: that of the preset that the store was made
    /// with, else 3]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    distance: Option<u32>,
    /// Confirm near texts by the sketches of this check, and after a colon the least containment or similarity, such as
    /// containment:0.95 [default: that of the preset]
    #[arg(id = "confirm", long = "check", value_name = "C[:LEAST]", env = "DUPSIEVE_CHECK")]
    check: Option<Confirm>,
    /// Read all fingerprints of the store and its index into memory first. For very many pages: without it the system
    /// reads what is needed, and keeps it as long as memory allows
    #[arg(long)]
    resident: bool,
    /// Table of lines that do not count as text, if the store was made with one
    #[arg(long, value_name = "FILE", env = "DUPSIEVE_BOILERPLATE")]
    pub(crate) boilerplate: Option<Place>,
}

impl LookupFlags {
    /// How a store is asked whose pages have this stamp; none if it has no page yet.
    pub(crate) fn options(
        &self,
        preset: Option<Preset>,
        stamp: Option<&str>,
    ) -> Result<LookupOptions> {
        let (distance, check) = (self.distance, self.check);
        let settings = DedupSettings { preset, distance, check, ..DedupSettings::default() };
        let (distance, check) = settings.distance_and_check(stamp.unwrap_or_default());
        stamp.map_or(Ok(()), |stamp| join::check_signatures(check, stamp))?;
        let mut options = LookupOptions::within(distance);
        options.check = check;
        options.access = if self.resident { Access::Resident } else { Access::OnDisk };
        Ok(options)
    }
}

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

impl<'a> Answer<'a> {
    /// That of a page; without an answer it has no fingerprint.
    pub(crate) fn of(
        id: &'a str,
        (lookup, copies): (&Lookup, Option<&Copies>),
        answer: Option<&'a matches::Answer>,
    ) -> Answer<'a> {
        let verdict = match answer {
            None => "empty",
            Some(answer) if answer.drops() => "drop",
            Some(answer) if answer.is_cut => "unknown",
            Some(_) => "keep",
        };
        Answer {
            id,
            store_version: Some(lookup.version().number()),
            near: Near::all(answer.map_or(&[], |answer| &answer.near), copies),
            more: answer.map_or(0, |answer| answer.more),
            cut: answer.is_some_and(|answer| answer.is_cut),
            verdict,
        }
    }

    pub(crate) fn to_line(&self) -> String {
        serde_json::to_string(self).expect("an answer is plain data") + "\n"
    }
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
