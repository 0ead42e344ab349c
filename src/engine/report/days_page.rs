//! Many days on one page, drawn for people.

use minijinja::context;
use minijinja::value::Serde;

use super::history::{DayFigures, History};
use super::html::{self, percent};

/// How many days have their names below the diagram.
const NAMED: usize = 6;

impl History {
    pub fn to_html(&self) -> String {
        let days = &self.days[..];
        let most = days.iter().map(|day| day.read).max().unwrap_or(0);
        let step = days.len().div_ceil(NAMED);
        let columns = days.iter().enumerate().map(|(at, day)| {
            let other = day.read - day.kept - day.dropped;
            let height = |count: u64| percent(count.into(), most.into());
            let lost = day.lost.map(|lost| percent((lost.share * 1e4) as u128, 10_000));
            context! {
                // There is room for few names below the columns.
                is_named => at % step == 0,
                other,
                lost,
                seconds => format!("{:.2}", day.seconds),
                dropped_share => percent(day.dropped.into(), (day.kept + day.dropped).into()),
                // In percent of the greatest day.
                kept_height => height(day.kept),
                dropped_height => height(day.dropped),
                other_height => height(other),
                ..Serde(day)
            }
        });
        let sum = |count: fn(&DayFigures) -> u64| days.iter().map(count).sum::<u64>();
        let page = context! {
            version => env!("CARGO_PKG_VERSION"),
            title => match days {
                [] => "no days".to_owned(),
                [day] => day.name.clone(),
                [first, .., last] => format!("{} to {}", first.name, last.name),
            },
            read => sum(|day| day.read),
            kept => sum(|day| day.kept),
            dropped => sum(|day| day.dropped),
            // In percent, and how many dropped pages are contained through replaced ones.
            contained_text => self.contained_text.map(|it| {
                let containment = percent((it.containment * 1e4).round() as u128, 10_000);
                Serde((containment, it.through_replaced))
            }),
            tells_lost => days.iter().any(|day| day.lost.is_some()),
            most,
            days => columns.collect::<Vec<_>>(),
        };
        html::page("days.html", page)
    }
}
