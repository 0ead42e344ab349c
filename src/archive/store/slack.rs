//! The slack of kept pages: how many of its shingles a page may lack in a page that replaces it.
//!
//! What a dropped page lacks in a page that replaces its kept page is not known any more, but it is at most what it lacks in the kept page and
//! what that one lacks in the other. So one number a kept page is enough: of all pages that it is kept for, and of itself, the least number of shingles
//! that such a page may still lack. For example, where a tenth of each page may be lacking:
//!
//! ```text
//! x has 400 shingles, of which y lacks 15, and is dropped as a duplicate of y      slack of y: 40 - 15 = 25
//! y lacks 20 of its shingles in z, not more than 25: z replaces y                  slack of z: 25 - 20 = 5
//! z lacks 10 of its shingles in w, more than 5: both stay
//! ```
//!
//! A day has a file with the pages whose slack it lowers, its own and those of other days, by a hash of id and day. In a version the least number
//! of all its days holds. So files never change, a merge of segments has nothing to do with them, and what goes with a day is gone after a
//! rollback. Two pages of one hash count as one: the least number of both is safe for each.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::damage::damaged;
use super::digest::Digest;
use super::digest_files::Listed;
use crate::day::Day;
use crate::error::Result;

const MAGIC: [u8; 12] = *b"DUPSLACK\x01\0\0\0";
/// The bytes of a row: a hash of id and day, and a number.
const ROW: usize = 12;

/// The slack of pages of a store. Of a page that is not listed, none was dropped that can lack less.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slack {
    pages: Vec<u64>,
    slack: Vec<u32>,
}

/// The slack of a page, as a join says it. Without a day, the page is of the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageSlack {
    id: u64,
    day: Option<Day>,
    slack: u32,
}

impl PageSlack {
    pub(super) fn new(id: &str, day: Option<Day>, slack: u32) -> PageSlack {
        PageSlack { id: xxh3_64(id.as_bytes()), day, slack }
    }
}

impl Slack {
    pub(super) fn of_pages(pages: &[PageSlack], day: Day) -> Slack {
        let row = |page: &PageSlack| (hash(page.id, page.day.unwrap_or(day)), page.slack);
        Slack::of_rows(pages.iter().map(row).collect())
    }

    fn of_rows(mut rows: Vec<(u64, u32)>) -> Slack {
        rows.sort();
        rows.dedup_by_key(|row| row.0);
        let (pages, slack) = rows.into_iter().unzip();
        Slack { pages, slack }
    }

    /// The least of what the files with these digests have, of the store at `store`.
    pub(super) fn read(store: &Path, digests: impl Iterator<Item = Digest>) -> Result<Slack> {
        let mut rows = Vec::new();
        for digest in digests {
            let bytes = Listed::Slack.read(store, digest)?;
            let path = Listed::Slack.path(store, digest);
            let read = Slack::parse(&bytes).map_err(|error| error.at(path))?;
            rows.extend(read.rows());
        }
        Ok(Slack::of_rows(rows))
    }

    /// The number of the page `id` of `day`; none if no day has lowered it.
    pub fn get(&self, id: &str, day: Day) -> Option<u32> {
        let place = self.pages.binary_search(&hash(xxh3_64(id.as_bytes()), day)).ok()?;
        Some(self.slack[place])
    }

    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        let rows = self.rows().flat_map(|(page, slack)| {
            let (page, slack) = (page.to_le_bytes(), slack.to_le_bytes());
            page.into_iter().chain(slack)
        });
        (!self.pages.is_empty()).then(|| MAGIC.into_iter().chain(rows).collect())
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Slack> {
        let rows = bytes.strip_prefix(&MAGIC).unwrap_or_default();
        let (rows, rest) = rows.as_chunks::<ROW>();
        let row = |row: &[u8; ROW]| {
            let [page @ .., a, b, c, d] = *row;
            (u64::from_le_bytes(page), u32::from_le_bytes([a, b, c, d]))
        };
        let (pages, slack): (Vec<u64>, Vec<u32>) = rows.iter().map(row).unzip();
        if pages.is_empty() || !rest.is_empty() || !pages.is_sorted_by(|a, b| a < b) {
            return Err(damaged("this is not a list of the slack of pages"));
        }
        Ok(Slack { pages, slack })
    }

    fn rows(&self) -> impl Iterator<Item = (u64, u32)> {
        self.pages.iter().copied().zip(self.slack.iter().copied())
    }
}

fn hash(id: u64, day: Day) -> u64 {
    xxh3_64(&[&id.to_le_bytes()[..], &(day.number() as u32).to_le_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: u8) -> Day {
        format!("2026-11-{number:02}").parse().unwrap()
    }

    #[test]
    fn the_least_number_of_a_page_holds_and_days_are_told_apart() {
        let pages = [("a", None, 7), ("a", Some(2), 5), ("a", None, 9), ("b", Some(3), 0)];
        let pages = pages.map(|(id, on, slack)| PageSlack::new(id, on.map(day), slack));
        let slack = Slack::of_pages(&pages, day(3));
        let found = [("a", 3), ("a", 2), ("a", 1), ("b", 3)].map(|(id, on)| slack.get(id, day(on)));
        assert_eq!(found, [Some(7), Some(5), None, Some(0)]);
        let bytes = slack.bytes().unwrap();
        assert_eq!(Slack::parse(&bytes).unwrap(), slack);
        for at in 0..bytes.len() {
            assert!(Slack::parse(&bytes[..at]).map_or(true, |read| read != slack));
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Slack::parse(&damaged).map_or(true, |read| read != slack));
        }
        assert_eq!(Slack::of_pages(&[], day(1)).bytes(), None);
    }
}
