//! The lines that pages of one host have around their content: navigation, banners, notices.
//!
//! Three questions decide whether a line is boilerplate of its host:
//!
//! 1. Is it common? Common lines are on at least ten pages of the host, and on a third of its pages.
//! 2. Do its pages have content of their own? That is the lines of a page that are not common, in bytes, less
//!    the lines that it lacks of those on half of all pages. It must be a tenth of the page.
//! 3. Is it on so many pages that have content of their own? Then it is boilerplate.
//!
//! The second question tells a frame from copies. Twenty copies of one article share nearly all their lines,
//! just as twenty articles in one frame share the frame. But what a copy has of its own stands in place of
//! common lines, while an article stands beside the frame. So the copies are left whole, and are still found.
//!
//! For example, twelve pages have the frame `Home | About`, and an article of 300 bytes each. Each has 300 bytes of
//! its own and lacks nothing: `Home | About` is boilerplate. Twelve other pages are copies of one article of
//! twelve lines of 30 bytes, and in each copy another line was edited. The lines are common, for eleven copies
//! have each. A copy has 30 bytes of its own, and lacks 30 bytes: none of its lines is boilerplate.
//!
//! Pages with the same lines count once, since a page that was fetched a hundred times is one page. Of a host
//! with many pages a thousand are taken, and of a page with many lines those at both ends, so that memory and
//! time are bounded. `bench-data/runs/2026-11-22-boilerplate.md` has the measurements behind the numbers.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use crate::error::Result;
use crate::features::by_hash::{ByHash, key};
use crate::features::normalise::Normalise;
use crate::runs::Record;

/// The fewest pages that a line of boilerplate is on, if no other number is asked for.
pub const LEAST_PAGES: u64 = 10;
/// The least share of the pages of a host that a line of boilerplate is on, in percent.
const LEAST_SHARE: u64 = 33;
/// The share of the pages of a host that has a line which a page is said to lack, in percent.
const MOST_SHARE: u64 = 50;
/// The least share of a page that is content of its own, in percent.
const OWN_SHARE: u64 = 10;
/// How many pages of a host are taken: those whose lines have the lowest hashes.
const MOST_PAGES: usize = 1000;
const LINES_AT_END: usize = 500;

/// The lines of a page, each once, as their hashes and lengths in bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageLines {
    /// The hash of the lines, which decides whether the page is taken. Equal for equal lines.
    hash: u64,
    /// The lines in the order of their hashes.
    lines: Vec<(u64, u32)>,
}

/// What is gathered of hosts: their pages, then the texts of their lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HostRecord {
    /// So many pages whose ids are no URLs.
    WithoutHost(u64),
    Of(String, HostPart),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HostPart {
    Page(PageLines),
    Line(String),
}

impl Record for HostRecord {
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                HostRecord::WithoutHost(_) => 0,
                HostRecord::Of(host, HostPart::Line(line)) => host.len() + line.len(),
                HostRecord::Of(host, HostPart::Page(page)) => {
                    host.len() + size_of_val(page.lines.as_slice())
                }
            }
    }
}

/// The name by which a table knows a line of a host; with an empty line, the host itself.
pub fn name_of(host: &str, line: &str) -> String {
    [host, "\t", line].concat()
}

impl PageLines {
    /// The lines of `text`. Calls `each` with every line that is taken, normalised.
    pub fn of(text: &str, normalise: Normalise, mut each: impl FnMut(&str)) -> PageLines {
        let mut line = String::new();
        let mut lines = Vec::new();
        let count = text.lines().count();
        for (at, raw) in text.lines().enumerate() {
            if at >= LINES_AT_END && at + LINES_AT_END < count {
                continue;
            }
            normalise.apply(raw, &mut line);
            if !line.is_empty() {
                each(&line);
                lines.push((key(&line), u32::try_from(line.len()).unwrap_or(u32::MAX)));
            }
        }
        lines.sort_unstable();
        lines.dedup_by_key(|(line, _)| *line);
        let mut hasher = Xxh3Default::new();
        lines.iter().for_each(|(line, _)| hasher.update(&line.to_le_bytes()));
        PageLines { hash: hasher.digest(), lines }
    }
}

/// The lines of these pages of one host that are boilerplate, by their hashes, each with the number of pages
/// with content of their own that it is on.
fn frame(pages: &[PageLines], least_pages: u64) -> ByHash<u64, u64> {
    let share = |count: u64| 100 * count / pages.len() as u64;
    let is_many = |count: u64| count >= least_pages && share(count) >= LEAST_SHARE;
    let mut common: ByHash<u64, (u64, u64)> = ByHash::default();
    for (line, bytes) in pages.iter().flat_map(|page| &page.lines) {
        let (count, _) = common.entry(*line).or_insert((0, u64::from(*bytes)));
        *count += 1;
    }
    common.retain(|_, (count, _)| is_many(*count));
    let is_usual = |count: u64| share(count) >= MOST_SHARE;
    let usual = common.values().filter(|(count, _)| is_usual(*count));
    let usual_bytes: u64 = usual.map(|(_, bytes)| bytes).sum();

    let mut counts: ByHash<u64, u64> = ByHash::default();
    for page in pages {
        let [mut all, mut own, mut lacks] = [0, 0, usual_bytes];
        for (line, bytes) in &page.lines {
            let bytes = u64::from(*bytes);
            all += bytes;
            match common.get(line) {
                None => own += bytes,
                Some((count, bytes)) if is_usual(*count) => lacks -= bytes,
                Some(_) => {}
            }
        }
        if 100 * own >= OWN_SHARE * all + 100 * lacks {
            let held = page.lines.iter().filter(|(line, _)| common.contains_key(line));
            held.for_each(|(line, _)| *counts.entry(*line).or_default() += 1);
        }
    }
    counts.retain(|_, count| is_many(*count));
    counts
}

#[derive(Default)]
struct Host {
    name: String,
    pages: Vec<PageLines>,
    /// Its boilerplate that is not yet written; none until all its pages have come.
    boilerplate: Option<ByHash<u64, u64>>,
}

impl Host {
    /// Takes a page, if it is not the same as the last one. The pages come in order.
    fn add(&mut self, page: PageLines) {
        if self.pages.len() < MOST_PAGES && self.pages.last() != Some(&page) {
            self.pages.push(page);
        }
    }

    /// Calls `row` with a line and its count if it is boilerplate, before the first with the host itself.
    fn line(
        &mut self,
        line: &str,
        least_pages: u64,
        row: &mut impl FnMut(&str, u64) -> Result<()>,
    ) -> Result<()> {
        let Host { name, pages, boilerplate } = self;
        let mut row_of = |line: &str, count| row(&name_of(name, line), count);
        if boilerplate.is_none() {
            let found = frame(pages, least_pages);
            if !found.is_empty() {
                row_of("", pages.len() as u64)?;
            }
            *boilerplate = Some(found);
        }
        let count = boilerplate.as_mut().and_then(|left| left.remove(&key(line)));
        count.map_or(Ok(()), |count| row_of(line, count))
    }
}

/// Calls `row` with each row of the table of boilerplate, in order: the name of a line and its count, and for
/// each host that has such lines the name of the host and the number of its pages. `records` are sorted.
/// Returns how many pages have no host.
pub fn each_row(
    records: impl Iterator<Item = Result<HostRecord>>,
    least_pages: u64,
    mut row: impl FnMut(&str, u64) -> Result<()>,
) -> Result<u64> {
    let mut without_host = 0;
    let mut host = Host::default();
    for record in records {
        let (name, part) = match record? {
            HostRecord::WithoutHost(pages) => {
                without_host += pages;
                continue;
            }
            HostRecord::Of(name, part) => (name, part),
        };
        if host.name != name {
            host = Host { name, ..Host::default() };
        }
        match part {
            HostPart::Page(page) => host.add(page),
            HostPart::Line(line) => host.line(&line, least_pages, &mut row)?,
        }
    }
    Ok(without_host)
}

#[cfg(test)]
mod tests;
