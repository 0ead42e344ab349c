//! The hosts of pages that are dropped: of how many a page is a copy, and which most dropped pages are of.
//!
//! Only ids that are URLs have a [`host`]. Ids are looked up in the order of the disk, and what they give is sorted there, so a
//! batch of any size needs no more memory than the sorts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::numbers::{IdRank, SegmentRow};
use crate::document::host;
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortSpace, SortedRecords, Sorter};
use crate::store::Segment;

const LISTED: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedHost {
    pub host: String,
    pub pages: u64,
}

/// A dropped page, by its row, and the kept page, if that is one of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct DroppedRow {
    row: SegmentRow,
    of: Option<IdRank>,
}

impl Record for DroppedRow {}

/// The host of a duplicate of another page, by its XXH3-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct HostOf {
    pub(super) of: IdRank,
    host: u64,
}

impl Record for HostOf {}

pub(super) struct DroppedRows<'a>(Sorter<DroppedRow>, SortSpace<'a>);

impl<'a> DroppedRows<'a> {
    pub(super) fn new(space: SortSpace<'a>) -> DroppedRows<'a> {
        DroppedRows(space.sorter(), space)
    }

    /// Takes the row of a page, and the kept page, if that is one of the batch.
    pub(super) fn push(&mut self, row: SegmentRow, of: Option<IdRank>) -> Result<()> {
        self.0.push(DroppedRow { row, of })
    }

    /// Their hosts, by the kept page, and the hosts of most of them.
    pub(super) fn hosts(
        self,
        segment: &Segment,
    ) -> Result<(SortedRecords<HostOf>, Vec<DroppedHost>)> {
        let DroppedRows(rows, space) = self;
        let (mut found, mut names) = (space.sorter(), space.sorter());
        let mut ids = segment.ids();
        for row in rows.sorted()? {
            let DroppedRow { row, of } = row?;
            let Some(host) = host(ids.get(u32::from(row).into())?) else { continue };
            if let Some(of) = of {
                found.push(HostOf { of, host: xxh3_64(host.as_bytes()) })?;
            }
            names.push(host.into_owned())?;
        }
        Ok((found.sorted()?, most(names)?))
    }
}

/// Of how many hosts the duplicates of the page `of` are, and this page itself, whose id is `id`. Takes these
/// pages from the front of `hosts`, which are in order.
pub(super) fn count(
    id: &str,
    of: IdRank,
    hosts: &mut std::iter::Peekable<impl Iterator<Item = HostOf>>,
) -> u64 {
    let own = host(id).map(|host| xxh3_64(host.as_bytes()));
    let mut count = u64::from(own.is_some());
    let mut last = None;
    while let Some(HostOf { host, .. }) = hosts.next_if(|next| next.of == of) {
        count += u64::from(Some(host) != own && Some(host) != last);
        last = Some(host);
    }
    count
}

/// The hosts of most pages, the first ten; of equal ones the first by their bytes.
fn most(names: Sorter<String>) -> Result<Vec<DroppedHost>> {
    let mut most = BTreeSet::new();
    let mut names = names.sorted()?.peekable();
    while let Some(name) = names.next() {
        progress::tick(Activity::Working);
        let name = name?;
        let mut pages = 1_u64;
        while names.next_if(|next| next.as_ref().is_ok_and(|next| *next == name)).is_some() {
            pages += 1;
        }
        most.insert((Reverse(pages), name));
        if most.len() > LISTED {
            most.pop_last();
        }
    }
    let listed = most.into_iter();
    Ok(listed.map(|(Reverse(pages), host)| DroppedHost { host, pages }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_most_pages_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let mut names = SortSpace { folder: folder.path(), memory_bytes: 1 << 10 }.sorter();
        for number in 0..30 {
            for page in 0..=(number % 12) {
                let url = format!("https://H{number}.example/{page}");
                names.push(host(&url).unwrap().into_owned()).unwrap();
            }
        }
        let most = most(names).unwrap();
        let listed: Vec<(&str, u64)> = most.iter().map(|it| (&*it.host, it.pages)).collect();
        assert_eq!(listed[..3], [("h11.example", 12), ("h23.example", 12), ("h10.example", 11)]);
        assert_eq!((listed.len(), listed[9]), (10, ("h7.example", 8)));
    }
}
