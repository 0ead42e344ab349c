//! The columns of the tables `matches` and `verdicts`.

use crate::results::{ResultColumn, Values};

pub const MATCHES: &str = "matches";
pub const VERDICTS: &str = "verdicts";

/// What became of a page since the latest earlier page of its key, which page that is, the day under which the store holds it or `batch`, and the share
/// of a changed page that it contains; and the address that the page names as canonical, if it is another one.
pub const RECRAWL: [ResultColumn; 5] = [
    ResultColumn::new("recrawl", Values::Names).or_null(),
    ResultColumn::new("former", Values::Names).or_null(),
    ResultColumn::new("former_against", Values::Names).or_null(),
    ResultColumn::new("former_contains", Values::Share).or_null(),
    ResultColumn::new("canonical", Values::Names).or_null(),
];

pub(super) fn match_columns(checked: bool) -> Vec<ResultColumn> {
    let columns = [
        ResultColumn::new("new", Values::Text).ascending(),
        ResultColumn::new("existing", Values::Names),
        ResultColumn::new("distance", Values::Bits),
        ResultColumn::new("against", Values::Names),
    ];
    let check = checked.then_some(ResultColumn::new("check", Values::Share));
    let verdict = ResultColumn::new("verdict", Values::Names);
    columns.into_iter().chain(check).chain([verdict]).collect()
}

/// The columns of the verdicts. Shares and numbers of copies are there if it is known which share of a page another page holds, and [`RECRAWL`] if
/// the pages have keys.
pub(super) fn verdict_columns(holds: bool, keyed: bool) -> Vec<ResultColumn> {
    let columns = [
        ResultColumn::new("id", Values::Text).ascending(),
        ResultColumn::new("verdict", Values::Names),
        ResultColumn::new("of", Values::Names).or_null(),
        ResultColumn::new("distance", Values::Bits).or_null(),
        ResultColumn::new("against", Values::Names).or_null(),
    ];
    let shares = [
        ResultColumn::new("containment", Values::Share).or_null(),
        ResultColumn::new("copies", Values::Count).or_null(),
        ResultColumn::new("hosts", Values::Count).or_null(),
    ];
    let shares = shares.into_iter().filter(|_| holds);
    columns.into_iter().chain(shares).chain(RECRAWL.into_iter().filter(|_| keyed)).collect()
}
