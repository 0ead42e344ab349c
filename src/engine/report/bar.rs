//! The bars of a diagram.

use serde::Serialize;

use super::html::percent;

#[derive(Serialize)]
pub(super) struct Bar {
    name: String,
    /// `kept` or `dropped`, which gives it a colour, or nothing.
    class: &'static str,
    count: u128,
    share: String,
    /// Its length, in percent of the longest one.
    width: String,
}

pub(super) fn bars(counts: Vec<(String, &'static str, u128)>, whole: u128) -> Vec<Bar> {
    let most = counts.iter().map(|(_, _, count)| *count).max().unwrap_or(0);
    let bar = |(name, class, count)| Bar {
        name,
        class,
        count,
        share: percent(count, whole),
        width: percent(count, most),
    };
    counts.into_iter().map(bar).collect()
}
