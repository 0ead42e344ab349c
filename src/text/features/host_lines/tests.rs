//! The boilerplate of hosts against its definition over sets of lines, and against hostile pages.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::runs::Sorter;

/// The rows of a table, as `name, count`.
type Rows = Vec<(String, u64)>;

/// The rows for pages given as host and text, sorted in little memory.
fn rows<'p>(pages: impl IntoIterator<Item = (&'p str, &'p str)>, least_pages: u64) -> Rows {
    let mut sorter = Sorter::new(&std::env::temp_dir(), 1 << 20);
    for (host, text) in pages {
        let mut lines = Vec::new();
        let page = PageLines::of(text, Normalise::NOTHING, |line| {
            lines.push(HostPart::Line(line.to_owned()))
        });
        let parts = lines.into_iter().chain([HostPart::Page(page)]);
        sorter.extend(parts.map(|part| HostRecord::Of(host.to_owned(), part))).unwrap();
    }
    let mut rows = Vec::new();
    let mut put = |name: &str, count| {
        rows.push((name.to_owned(), count));
        Ok(())
    };
    assert_eq!(each_row(sorter.sorted().unwrap(), least_pages, &mut put), Ok(0));
    rows
}

/// The same by definition, for few pages of few lines.
fn by_definition(pages: &[(String, String)], least_pages: u64) -> Rows {
    let mut hosts: BTreeMap<&str, BTreeSet<BTreeSet<&str>>> = BTreeMap::new();
    for (host, text) in pages {
        let lines = text.lines().filter(|line| !line.is_empty()).collect();
        hosts.entry(host).or_default().insert(lines);
    }
    let mut rows = Rows::new();
    for (host, pages) in hosts {
        let all = pages.len() as u64;
        let many = |count: u64| count >= least_pages && 100 * count / all >= 33;
        let on = |line: &str, has: &dyn Fn(&BTreeSet<&str>) -> bool| {
            pages.iter().filter(|page| page.contains(line) && has(page)).count() as u64
        };
        let lines: BTreeSet<&str> = pages.iter().flatten().copied().collect();
        let is_usual = |line: &str| {
            let count = on(line, &|_| true);
            many(count) && 2 * count >= all
        };
        let bytes =
            |lines: &mut dyn Iterator<Item = &&str>| lines.map(|it| it.len()).sum::<usize>();
        let has_content = |page: &BTreeSet<&str>| {
            let own = bytes(&mut page.iter().filter(|line| !many(on(line, &|_| true))));
            let lacks = bytes(&mut lines.difference(page).filter(|line| is_usual(line)));
            10 * own >= bytes(&mut page.iter()) + 10 * lacks
        };
        let counted = lines.iter().map(|line| (*line, on(line, &has_content)));
        let found: Vec<(&str, u64)> = counted.filter(|&(_, count)| many(count)).collect();
        if !found.is_empty() {
            rows.push((format!("{host}\t"), pages.len() as u64));
        }
        rows.extend(found.into_iter().map(|(line, count)| (format!("{host}\t{line}"), count)));
    }
    rows
}

proptest! {
    #[test]
    fn rows_are_those_of_the_definition(
        pages in prop::collection::vec(("[ab]", prop::collection::vec("[a-e]?|[f-z]{1,9}", 0..8)), 0..60),
        least_pages in 1_u64..7,
    ) {
        let pages: Vec<(String, String)> =
            pages.into_iter().map(|(host, lines)| (host, lines.join("\n"))).collect();
        let found = rows(pages.iter().map(|(host, text)| (&**host, &**text)), least_pages);
        prop_assert_eq!(found, by_definition(&pages, least_pages));
    }
}

#[test]
fn a_page_and_a_host_hold_no_more_than_their_share_of_memory() {
    let long: String = (0..1_000_000).map(|line| format!("{line}\n")).collect();
    let mut taken = 0;
    let page = PageLines::of(&long, Normalise::NOTHING, |_| taken += 1);
    assert_eq!((taken, page.lines.len()), (2 * LINES_AT_END, 2 * LINES_AT_END));

    let pages: Vec<String> =
        (0..3 * MOST_PAGES).map(|page| format!("Home\nthe page {page}")).collect();
    let found = rows(pages.iter().map(|page| ("host", &**page)), LEAST_PAGES);
    let most = MOST_PAGES as u64;
    assert_eq!(found, [("host\t".to_owned(), most), ("host\tHome".to_owned(), most)]);
}
