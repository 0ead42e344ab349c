//! `report.html` of a join: its report, drawn for people.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::bar::{Bar, bars};
use super::html::{self, percent};
use crate::matches::{Lost, Outcome};
use crate::store::RecordCounts;

/// What `join.html` draws, beside the report itself.
#[derive(Serialize)]
struct JoinPage<R> {
    report: R,
    /// The name of the output.
    name: String,
    /// Where it is.
    place: String,
    dropped_share: String,
    lost: Option<LostShares>,
    funnel: Vec<Bar>,
    distances: Vec<Bar>,
    seconds: Vec<Phase>,
}

/// How much text goes with the dropped pages, in percent.
#[derive(Serialize)]
struct LostShares {
    share: String,
    over_tenth: String,
}

/// The time that a part of a job took.
#[derive(Serialize)]
struct Phase {
    name: String,
    seconds: String,
}

/// Draws the `report` of the output at `place`, with its counts and what is lost, and with what it says of how it was `run`.
pub(super) fn drawn(
    report: impl Serialize,
    (batch, outcome, lost): (&RecordCounts, &Outcome, Option<&Lost>),
    run: &Value,
    place: &Path,
) -> String {
    let name = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy();
    let distances = outcome.distances.iter();
    let distances = distances.map(|(bits, &count)| (format!("distance {bits}"), "", count));
    let page = JoinPage {
        report,
        name: name.into_owned(),
        place: place.to_string_lossy().into_owned(),
        dropped_share: percent(outcome.dropped.into(), batch.fingerprinted.into()),
        lost: lost.map(shares_of),
        funnel: bars(funnel(batch, outcome, run), batch.read.into()),
        distances: bars(distances.collect(), outcome.distances.values().sum()),
        seconds: phases(&run["seconds"]),
    };
    html::page("join.html", page)
}

/// The shares in percent.
fn shares_of(lost: &Lost) -> LostShares {
    let [share, over_tenth] =
        [lost.share, lost.over_tenth].map(|it| percent((it * 1e4) as u128, 10_000));
    LostShares { share, over_tenth }
}

/// What became of the records.
fn funnel(
    batch: &RecordCounts,
    outcome: &Outcome,
    run: &Value,
) -> Vec<(String, &'static str, u128)> {
    let unchanged = run["unchanged"].as_u64();
    let unchanged = unchanged.map(|count| ("with a text that the store held", "", count));
    let counts = [
        ("records read", "", batch.read),
        ("unreadable", "", batch.quarantined),
        ("the id came before", "", batch.repeated),
        ("without any word", "", batch.empty),
        ("pages with a fingerprint", "", batch.fingerprinted),
    ];
    let verdicts = [
        ("dropped as near-duplicates", "dropped", outcome.dropped),
        ("kept", "kept", outcome.kept),
    ];
    let all = counts.into_iter().chain(unchanged).chain(verdicts);
    all.map(|(name, class, count)| (name.to_owned(), class, u128::from(count))).collect()
}

/// The phases of a job with their times, as its report has them.
fn phases(seconds: &Value) -> Vec<Phase> {
    let seconds = seconds.as_object().into_iter().flatten();
    let phase = |(name, seconds): (&String, &Value)| {
        let seconds = format!("{:.3}", seconds.as_f64()?);
        Some(Phase { name: name.clone(), seconds })
    };
    seconds.filter_map(phase).collect()
}
