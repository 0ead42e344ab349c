//! Many days on one page, drawn for people.

use serde::Serialize;

use super::history::History;
use super::html::{self, percent};

/// How many days have their names below the diagram.
const NAMED: usize = 6;

#[derive(Serialize)]
struct DaysPage<'a> {
    version: &'a str,
    title: String,
    read: u64,
    kept: u64,
    dropped: u64,
    /// What the kept pages contain of all text, in percent, and how many dropped pages are contained through replaced ones.
    contained_text: Option<(String, u64)>,
    tells_lost: bool,
    most: u64,
    days: Vec<DayColumn>,
}

/// A day: its row of the table, and its column of the diagram. Heights are in percent of the greatest day.
#[derive(Serialize)]
struct DayColumn {
    name: String,
    /// Whether the name stands below the column: there is room for few names.
    is_named: bool,
    read: u64,
    kept: u64,
    dropped: u64,
    other: u64,
    quarantined: u64,
    store: u64,
    replaced: Option<u64>,
    lost: Option<String>,
    seconds: String,
    dropped_share: String,
    kept_height: String,
    dropped_height: String,
    other_height: String,
    alarms: Vec<String>,
}

impl History {
    pub fn to_html(&self) -> String {
        let days = &self.days[..];
        let most = days.iter().map(|day| day.read).max().unwrap_or(0);
        let step = days.len().div_ceil(NAMED);
        let columns = days.iter().enumerate().map(|(at, day)| {
            let other = day.read - day.kept - day.dropped;
            let height = |count: u64| percent(count.into(), most.into());
            DayColumn {
                name: day.name.clone(),
                is_named: at % step == 0,
                read: day.read,
                kept: day.kept,
                dropped: day.dropped,
                other,
                quarantined: day.quarantined,
                store: day.store,
                replaced: day.replaced,
                lost: day.lost.map(|lost| percent((lost.share * 1e4) as u128, 10_000)),
                seconds: format!("{:.2}", day.seconds),
                dropped_share: percent(day.dropped.into(), (day.kept + day.dropped).into()),
                kept_height: height(day.kept),
                dropped_height: height(day.dropped),
                other_height: height(other),
                alarms: day.alarms.clone(),
            }
        });
        let page = DaysPage {
            version: env!("CARGO_PKG_VERSION"),
            title: match days {
                [] => "no days".to_owned(),
                [day] => day.name.clone(),
                [first, .., last] => format!("{} to {}", first.name, last.name),
            },
            read: days.iter().map(|day| day.read).sum(),
            kept: days.iter().map(|day| day.kept).sum(),
            dropped: days.iter().map(|day| day.dropped).sum(),
            contained_text: self.contained_text.map(|it| {
                (percent((it.containment * 1e4).round() as u128, 10_000), it.through_replaced)
            }),
            tells_lost: days.iter().any(|day| day.lost.is_some()),
            most,
            days: columns.collect(),
        };
        html::page("days.html", page)
    }
}

#[cfg(test)]
mod tests {
    use crate::report::{DayFigures, History};

    #[test]
    fn days_are_drawn_with_their_names_as_text() {
        let day = DayFigures {
            name: "<b>".to_owned(),
            read: 10,
            kept: 6,
            dropped: 4,
            ..DayFigures::default()
        };
        let empty = DayFigures { name: "2026-11-02".to_owned(), ..DayFigures::default() };
        let page = History::of(vec![day, empty]).to_html();
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "{page}");
        assert!(page.contains("height: 60.0%") && page.contains("height: 40.0%"), "{page}");
        assert!(History::of(Vec::new()).to_html().contains("no days"));
    }
}
