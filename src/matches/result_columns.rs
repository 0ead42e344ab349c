//! The columns of the tables `matches` and `verdicts`.

use crate::results::{Column, Values};

/// The table of the rows that match.
pub(crate) const MATCHES: &str = "matches";
/// The table of the verdict on each page.
pub(crate) const VERDICTS: &str = "verdicts";

/// The columns of the matches. `near` says how near two pages are.
pub(super) fn match_columns(near: Column, checked: bool) -> Vec<Column> {
    let columns = [
        Column::new("new", Values::Text).ascending(),
        Column::new("existing", Values::Names),
        near,
        Column::new("against", Values::Names),
    ];
    let check = checked.then_some(Column::new("check", Values::Share));
    columns.into_iter().chain(check).collect()
}

/// The columns of the verdicts.
pub(super) fn verdict_columns(near: Column) -> [Column; 5] {
    [
        Column::new("id", Values::Text).ascending(),
        Column::new("verdict", Values::Names),
        Column::new("of", Values::Names).or_null(),
        near.or_null(),
        Column::new("against", Values::Names).or_null(),
    ]
}
