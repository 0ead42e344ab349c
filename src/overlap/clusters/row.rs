//! The tables of clusters, sizes and changes: their names and columns.

use crate::results::{ResultColumn, Values};

pub(super) const CLUSTERS: &str = "clusters";
pub(super) const SIZES: &str = "sizes";
pub(super) const CHANGES: &str = "changes";

pub(super) fn row_columns() -> [ResultColumn; 3] {
    [
        ResultColumn::new("member", Values::Text).ascending(),
        ResultColumn::new("cluster", Values::Names),
        ResultColumn::new("day", Values::Day).or_null(),
    ]
}

pub(super) fn size_columns() -> [ResultColumn; 2] {
    [
        ResultColumn::new("cluster", Values::Text),
        ResultColumn::new("size", Values::Count).descending(),
    ]
}

pub(super) fn change_columns() -> [ResultColumn; 4] {
    [
        ResultColumn::new("cluster", Values::Names).ascending(),
        ResultColumn::new("member", Values::Text),
        ResultColumn::new("diff", Values::Change),
        ResultColumn::new("day", Values::Day).or_null(),
    ]
}
