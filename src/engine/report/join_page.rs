//! `report.html` of a join: its report, drawn for people.

use std::cmp::Reverse;
use std::path::Path;

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::Value;

use super::html::{self, bars, percent};
use crate::matches::{DroppedExample, DroppedPages, Lost, Outcome, is_cut};
use crate::store::RecordCounts;

const DAYS: usize = 10;

pub(super) fn drawn(
    report: impl Serialize,
    (batch, outcome, lost): (&RecordCounts, &Outcome, Option<&Lost>),
    run: &Value,
    place: &Path,
) -> String {
    let name = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy();
    let dropped = outcome.dropped_pages.clone().unwrap_or_default();
    let (against, more_days) = days_of(&dropped);
    let distances = outcome.distances.iter();
    let distances = distances.map(|(bits, &count)| (format!("distance {bits}"), "", count));
    let hosts = outcome.dropped_hosts.iter().flatten();
    let hosts = hosts.map(|of| (of.host.clone(), "dropped", of.pages.into()));
    let examples = outcome.dropped_examples.iter().flatten().enumerate();
    let examples = examples.map(|(at, dropped)| example(dropped, &run["differences"][at]));
    let page = context! {
        report => Serde(report),
        name,
        place => place.to_string_lossy(),
        dropped_share => percent(outcome.duplicates().into(), batch.fingerprinted.into()),
        // The least containment of all dropped pages, in percent.
        least => outcome.dropped_examples.iter().flatten().next().and_then(least),
        lost => lost.map(|it| context! { share => percent((it.share * 1e4) as u128, 10_000) }),
        funnel => bars(funnel(batch, outcome, run), batch.read.into()),
        distances => bars(distances.collect(), outcome.distances.values().sum()),
        against => bars(against, outcome.duplicates().into()),
        more_days,
        containment => bars(containments(&dropped), outcome.duplicates().into()),
        hosts => bars(hosts.collect(), outcome.duplicates().into()),
        examples => examples.collect::<Vec<_>>(),
        has_differences => run["differences"].is_array(),
        seconds => phases(&run["seconds"]),
    };
    html::page("join.html", page)
}

/// The containment of the first example, which loses most of all dropped pages, in percent: rounded down, since it is a bound.
fn least(first: &DroppedExample) -> Option<String> {
    let tenths = (first.containment? * 1e4).round() as u64 / 10;
    Some(format!("{}.{}", tenths / 10, tenths % 10).trim_end_matches(".0").to_owned())
}

/// The days of the store with the kept pages of most dropped ones, in order, and the batch; and how many days are left out. Nothing if no day
/// of a store is among them.
fn days_of(dropped: &DroppedPages) -> (Vec<(String, &'static str, u128)>, usize) {
    let (mut days, batch): (Vec<_>, Vec<_>) =
        dropped.against.iter().partition(|(from, _)| *from != "batch");
    if days.is_empty() {
        return (Vec::new(), 0);
    }
    let more = days.len().saturating_sub(DAYS);
    days.sort_by_key(|&(_, count)| Reverse(count));
    days.truncate(DAYS);
    days.sort_unstable();
    let days = days.into_iter().map(|(day, &count)| (day.clone(), "dropped", count.into()));
    let batch = batch.into_iter().map(|(_, &count)| ("this batch".into(), "dropped", count.into()));
    (days.chain(batch).collect(), more)
}

/// The shares of dropped pages that the kept pages contain, the greatest first.
fn containments(dropped: &DroppedPages) -> Vec<(String, &'static str, u128)> {
    let mut above = None;
    let containment = dropped.containment.iter().rev().map(|(from, &count)| {
        let from = from.trim_end_matches('0').trim_end_matches('.');
        let name = match above.replace(from) {
            None if from == "1" => "1".to_owned(),
            None => format!("{from} and more"),
            Some(above) => format!("{from} to less than {above}"),
        };
        (name, "dropped", count.into())
    });
    containment.collect()
}

fn example(dropped: &DroppedExample, difference: &Value) -> minijinja::Value {
    let DroppedExample { id, of, distance, against, containment } = dropped;
    let page = |id: &String| {
        let is_url = ["http://", "https://"].iter().any(|scheme| id.starts_with(scheme));
        context! { id, is_link => is_url && !is_cut(id) }
    };
    context! {
        pages => [id, of].map(page).to_vec(),
        against,
        distance,
        containment => containment.map(|it| format!("{it:.4}")).unwrap_or_default(),
        difference => Serde(difference),
    }
}

fn funnel(
    batch: &RecordCounts,
    outcome: &Outcome,
    run: &Value,
) -> Vec<(String, &'static str, u128)> {
    let unchanged = run["unchanged"].as_u64();
    let unchanged = unchanged.map(|count| ("text in the store already", "", count));
    let removed = (batch.removed > 0).then_some(("removed from the store", "", batch.removed));
    let counts = [
        ("unreadable", "", batch.quarantined),
        ("repeated id", "", batch.repeated),
        ("empty", "", batch.empty),
    ];
    let counts = counts.into_iter().filter(|(_, _, count)| *count > 0);
    let read = [("records read", "", batch.read)];
    let verdicts =
        [("duplicates", "dropped", outcome.duplicates()), ("kept", "kept", outcome.kept)];
    let superseded = outcome.superseded.filter(|&count| count > 0);
    let superseded = superseded.map(|count| ("superseded by newer pages", "dropped", count));
    let verdicts = superseded.into_iter().chain(verdicts);
    let replaced = outcome.replaced.filter(|&count| count > 0);
    let replaced = replaced.map(|count| ("pages of the store replaced", "other", count));
    let all = read.into_iter().chain(counts).chain(removed).chain(unchanged).chain(verdicts);
    let all = all.chain(replaced);
    all.map(|(name, class, count)| (name.to_owned(), class, u128::from(count))).collect()
}

fn phases(seconds: &Value) -> Vec<minijinja::Value> {
    let phase = |(name, seconds): (&String, &Value)| {
        let seconds = format!("{:.3}", seconds.as_f64()?);
        Some(context! { name, seconds })
    };
    seconds.as_object().into_iter().flatten().filter_map(phase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_with_the_most_pages_and_shares_are_named() {
        let days = (10..25).map(|day| (format!("2026-11-{day}"), day));
        let containment = ["1.0000", "0.9900", "0.0000"].map(|from| (from.to_owned(), 1));
        let batch = ("batch".to_owned(), 1);
        let against = days.chain([batch.clone()]).collect();
        let dropped = DroppedPages { against, containment: containment.into() };
        let (days, more) = days_of(&dropped);
        let days: Vec<&str> = days.iter().map(|day| &*day.0).collect();
        assert_eq!((days.len(), days[0], days[DAYS]), (DAYS + 1, "2026-11-15", "this batch"));
        assert_eq!(more, 5);
        let shares: Vec<String> = containments(&dropped).into_iter().map(|it| it.0).collect();
        assert_eq!(shares, ["1", "0.99 to less than 1", "0 to less than 0.99"]);
        let alone = DroppedPages { against: [batch].into(), ..dropped };
        assert_eq!(days_of(&alone), (Vec::new(), 0));
    }
}
