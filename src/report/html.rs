//! `report.html`: what reports say, drawn for people. Each is one file, which needs no network.
//!
//! The templates are in the folder `html`. What they draw is computed here, so that they hold no rules.

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

use super::history::History;
use super::join_report::Report;
use crate::join::Proof;
use crate::lsh::HotBucket;
use crate::matches::Frequent;
use crate::output::Sum;

/// The name of the drawn report of an output.
pub(super) const NAME: &str = "report.html";

/// The files in the folder `html`.
const TEMPLATES: [(&str, &str); 4] = [
    ("style.css", include_str!("html/style.css")),
    ("page.html", include_str!("html/page.html")),
    ("join.html", include_str!("html/join.html")),
    ("days.html", include_str!("html/days.html")),
];

/// What `join.html` draws.
#[derive(Serialize)]
struct JoinPage<'a> {
    version: &'a str,
    title: String,
    place: String,
    read: u64,
    kept: u64,
    dropped: u64,
    dropped_share: String,
    quarantined: u64,
    truncated: u64,
    funnel: Vec<Bar>,
    distances: Vec<Bar>,
    width: Option<u64>,
    hot_copies: &'a [Frequent],
    hot_matches: &'a [Frequent],
    hot_buckets: &'a [HotBucket],
    probe: Option<Proof>,
    store_version: Option<u64>,
    seconds: Vec<Phase>,
    parameters: &'a BTreeMap<String, String>,
    files: &'a BTreeMap<String, Sum>,
}

/// A bar of a diagram.
#[derive(Serialize)]
struct Bar {
    name: String,
    /// `kept` or `dropped`, which gives it a colour, or nothing.
    class: &'static str,
    count: u128,
    /// Its share of the whole, in percent.
    share: String,
    /// Its length, in percent of the longest one.
    width: String,
}

/// The time that a part of a job took.
#[derive(Serialize)]
struct Phase {
    name: String,
    seconds: String,
}

/// What `days.html` draws.
#[derive(Serialize)]
struct DaysPage<'a> {
    version: &'a str,
    title: String,
    read: u64,
    kept: u64,
    dropped: u64,
    days: Vec<DayColumn>,
}

/// A day: its row of the table, and its column of the diagram. Heights are in percent of the greatest day.
#[derive(Serialize)]
struct DayColumn {
    name: String,
    read: u64,
    kept: u64,
    dropped: u64,
    other: u64,
    quarantined: u64,
    store: u64,
    seconds: String,
    dropped_share: String,
    kept_height: String,
    dropped_height: String,
    other_height: String,
    alarms: Vec<String>,
}

/// Draws the report of the output at `place`.
pub(super) fn of_join(report: &Report, place: &Path) -> String {
    let Report { batch, outcome, .. } = report;
    let counts = [
        ("records read", "", batch.read),
        ("unreadable", "", batch.quarantined),
        ("the id came before", "", batch.repeated),
        ("without any word", "", batch.empty),
        ("pages with a fingerprint", "", batch.fingerprinted),
        ("dropped as near-duplicates", "dropped", outcome.dropped),
        ("kept", "kept", outcome.kept),
    ];
    let counts = counts.map(|(name, class, count)| (name.to_owned(), class, u128::from(count)));
    let name = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy();
    let distances = outcome.distances.iter();
    let page = JoinPage {
        version: &report.dupsieve,
        title: report.day.map_or_else(|| name.into_owned(), |day| day.to_string()),
        place: place.display().to_string(),
        read: batch.read,
        kept: outcome.kept,
        dropped: outcome.dropped,
        dropped_share: share(outcome.dropped.into(), batch.fingerprinted.into()),
        quarantined: batch.quarantined,
        truncated: batch.truncated,
        funnel: bars(counts.into(), batch.read.into()),
        distances: bars(
            distances.map(|(bits, &count)| (format!("distance {bits}"), "", count)).collect(),
            outcome.distances.values().sum(),
        ),
        width: report.recipe["width"].as_u64(),
        hot_copies: &outcome.hot_copies,
        hot_matches: &outcome.hot_matches,
        hot_buckets: report.buckets.as_ref().map_or(&[], |found| &found.hottest),
        probe: report.probe,
        store_version: report.store_version,
        seconds: phases(&report.run["seconds"]),
        parameters: &report.parameters,
        files: &outcome.files,
    };
    render("join.html", Value::from(Serde(page)))
}

/// Draws many days.
pub(super) fn of_days(history: &History) -> String {
    let days = history.days();
    let most = days.iter().map(|day| day.read).max().unwrap_or(0);
    let columns = days.iter().map(|day| {
        let other = day.read - day.kept - day.dropped;
        let height = |count: u64| share(count.into(), most.into());
        DayColumn {
            name: day.name.clone(),
            read: day.read,
            kept: day.kept,
            dropped: day.dropped,
            other,
            quarantined: day.quarantined,
            store: day.store,
            seconds: format!("{:.2}", day.seconds),
            dropped_share: share(day.dropped.into(), (day.kept + day.dropped).into()),
            kept_height: height(day.kept),
            dropped_height: height(day.dropped),
            other_height: height(other),
            alarms: day.alarms.clone(),
        }
    });
    let page = DaysPage {
        version: env!("CARGO_PKG_VERSION"),
        title: match &days[..] {
            [] => "no days".to_owned(),
            [day] => day.name.clone(),
            [first, .., last] => format!("{} to {}", first.name, last.name),
        },
        read: days.iter().map(|day| day.read).sum(),
        kept: days.iter().map(|day| day.kept).sum(),
        dropped: days.iter().map(|day| day.dropped).sum(),
        days: columns.collect(),
    };
    render("days.html", Value::from(Serde(page)))
}

fn bars(counts: Vec<(String, &'static str, u128)>, whole: u128) -> Vec<Bar> {
    let most = counts.iter().map(|(_, _, count)| *count).max().unwrap_or(0);
    let bar = |(name, class, count)| Bar {
        name,
        class,
        count,
        share: share(count, whole),
        width: share(count, most),
    };
    counts.into_iter().map(bar).collect()
}

/// The phases of a job with their times, as its report has them.
fn phases(seconds: &serde_json::Value) -> Vec<Phase> {
    let seconds = seconds.as_object().into_iter().flatten();
    let phase = |(name, seconds): (&String, &serde_json::Value)| {
        let seconds = format!("{:.3}", seconds.as_f64()?);
        Some(Phase { name: name.clone(), seconds })
    };
    seconds.filter_map(phase).collect()
}

/// `count` of `whole` in percent, with one digit after the point; 0 of nothing.
fn share(count: u128, whole: u128) -> String {
    let thousandths = (2000 * count + whole).checked_div(2 * whole).unwrap_or(0);
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

/// A whole number with a comma after each three digits from the right.
fn thousands(number: Value) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn render(template: &str, context: Value) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    environment.add_filter("thousands", thousands);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the templates can be parsed");
    }
    let template = environment.get_template(template).expect("the template is there");
    template.render(context).expect("the template asks for what the page has")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_shares_are_rounded() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(Value::from(number)), text);
        }
        assert_eq!(share(1, 3), "33.3");
        assert_eq!(share(2, 3), "66.7");
        assert_eq!(share(5, 5), "100.0");
        assert_eq!(share(0, 0), "0.0");
    }
}
