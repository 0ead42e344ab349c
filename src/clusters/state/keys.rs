//! The keys and values of the three tables of a layer. The bytes of a key sort as the id or the
//! number that the key is made of.
//!
//! An id holds no NUL. Each id in a key ends with a NUL, so an id sorts before the longer ids that
//! begin with it.

use std::str;

use super::bytes::word;
use crate::clusters::link::Link;
use crate::clusters::page::PageDay;

/// The bytes after an id: NUL, and four more.
const AFTER_ID: usize = 5;
/// No row has this number: it marks the size of a cluster, which comes after its rows.
const SIZE: u32 = u32::MAX;
/// No cluster has more members.
const MOST_MEMBERS: u64 = 1 << 40;
/// The bit of a link's value that says that it is a verdict.
const VERDICT: u32 = 1 << 31;
/// The first byte of a page's value: which cluster it is in, and whether older layers count.
const IN_NONE: u8 = 0;
const IN_OWN: u8 = 1;
const IN_OTHER: u8 = 2;
const IS_FRESH: u8 = 4;

/// What a layer says of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rooms::clusters) struct PageRow<'a> {
    pub(in crate::rooms::clusters) id: &'a str,
    pub(in crate::rooms::clusters) day: PageDay,
    /// Its cluster; none if it has left.
    pub(in crate::rooms::clusters) cluster: Option<&'a str>,
    /// Whether the links of older layers with this page no longer count: the page has left, or the
    /// page was not there.
    pub(in crate::rooms::clusters) is_fresh: bool,
}

/// What a layer says of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupRow {
    /// This row of the layer's pages is in it.
    Member(u32),
    /// The number of members of the cluster, with the members of older layers.
    Size(u64),
}

/// The key of a page, in place of what `key` held.
pub(super) fn page_key(key: &mut Vec<u8>, id: &str, day: PageDay) {
    id_key(key, id, day.number());
}

fn id_key(key: &mut Vec<u8>, id: &str, number: u32) {
    key.clear();
    key.extend_from_slice(id.as_bytes());
    key.push(0);
    key.extend_from_slice(&number.to_be_bytes());
}

/// The id of a key and the number after it.
fn split(key: &[u8]) -> Option<(&str, u32)> {
    let (id, after) = key.split_at_checked(key.len().checked_sub(AFTER_ID)?)?;
    let [0, number @ ..] = after else { return None };
    Some((str::from_utf8(id).ok()?, u32::from_be_bytes(word(number, 0))))
}

/// The value of a page.
pub(super) fn page_value(value: &mut Vec<u8>, row: &PageRow<'_>) {
    let fresh = if row.is_fresh { IS_FRESH } else { 0 };
    value.clear();
    match row.cluster {
        None => value.push(IN_NONE | fresh),
        Some(cluster) if cluster == row.id => value.push(IN_OWN | fresh),
        Some(cluster) => {
            value.push(IN_OTHER | fresh);
            value.extend_from_slice(cluster.as_bytes());
        }
    }
}

pub(super) fn read_page<'a>(key: &'a [u8], value: &'a [u8]) -> Option<PageRow<'a>> {
    let (id, day) = split(key)?;
    let (&first, rest) = value.split_first()?;
    let cluster = match (first & !IS_FRESH, rest) {
        (IN_NONE, []) => None,
        (IN_OWN, []) => Some(id),
        (IN_OTHER, cluster) => Some(str::from_utf8(cluster).ok()?),
        _ => return None,
    };
    Some(PageRow { id, day: PageDay::of(day), cluster, is_fresh: first & IS_FRESH != 0 })
}

/// The key of a row of a cluster, and the value.
pub(super) fn group_row(key: &mut Vec<u8>, value: &mut Vec<u8>, cluster: &str, row: GroupRow) {
    value.clear();
    match row {
        GroupRow::Member(row) => id_key(key, cluster, row),
        GroupRow::Size(size) => {
            id_key(key, cluster, SIZE);
            value.extend_from_slice(&size.to_le_bytes());
        }
    }
}

pub(super) fn read_group<'a>(key: &'a [u8], value: &[u8]) -> Option<(&'a str, GroupRow)> {
    let (cluster, number) = split(key)?;
    let row = match (number, value.len()) {
        (SIZE, 8) => match u64::from_le_bytes(word(value, 0)) {
            size @ ..=MOST_MEMBERS => GroupRow::Size(size),
            _ => return None,
        },
        (row, 0) if row != SIZE => GroupRow::Member(row),
        _ => return None,
    };
    Some((cluster, row))
}

pub(super) fn link_key(new: u32, existing: u32) -> [u8; 8] {
    (u64::from(new) << 32 | u64::from(existing)).to_be_bytes()
}

pub(super) fn link_value(link: &Link) -> [u8; 4] {
    (link.apart | if link.is_verdict { VERDICT } else { 0 }).to_le_bytes()
}

pub(super) fn read_link(key: &[u8], value: &[u8]) -> Option<Link> {
    let pages = u64::from_be_bytes(key.try_into().ok()?);
    let last = u32::from_le_bytes(value.try_into().ok()?);
    let (new, existing) = ((pages >> 32) as u32, pages as u32);
    Some(Link { new, existing, apart: last & !VERDICT, is_verdict: last & VERDICT != 0 })
}
