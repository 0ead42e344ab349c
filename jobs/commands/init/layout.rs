//! Where the days of a crawl lie: the patterns of paths that a configuration needs, made from the paths of files.
//!
//! ```text
//! crawl/2026-11-20/part-0001.jsonl.zst  ->  crawl/{date}/*.jsonl.zst
//! crawl/2026/11/20/a.warc.gz            ->  crawl/{year}/{month}/{day}/*.warc.gz
//! pages-20261120.tsv                    ->  pages-{year}{month}{day}.tsv
//! ```

use std::collections::BTreeSet;
use std::path::Path;

use dupsieve::store::Day;

/// The most patterns of one crawl. If there were more, names of files are left open.
const MOST_PATTERNS: usize = 3;

/// The paths of a crawl by day.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// With `{date}`, or with `{year}`, `{month}` and `{day}`.
    pub(super) patterns: BTreeSet<String>,
    /// The days that were found.
    pub(super) days: BTreeSet<Day>,
}

impl Layout {
    /// The layout of these files; none if the path of some names no day.
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a Path> + Clone) -> Option<Layout> {
        let mut layout = Layout::with(files.clone(), open_if_undated)?;
        if layout.patterns.len() > MOST_PATTERNS {
            layout = Layout::with(files, |name| format!("*{}", ending(name)))?;
        }
        Some(layout).filter(|layout| !layout.days.is_empty())
    }

    fn with<'a>(
        files: impl Iterator<Item = &'a Path>,
        open: impl Fn(&str) -> String,
    ) -> Option<Layout> {
        let mut layout = Layout { patterns: BTreeSet::new(), days: BTreeSet::new() };
        for file in files {
            let path = file.to_str()?;
            let (day, dated) = dated(path)?;
            let (folder, name) = dated.rsplit_once('/').unwrap_or(("", &dated));
            let open = open(name);
            let pattern = if folder.is_empty() { open } else { format!("{folder}/{open}") };
            // Without its day, a pattern would take every day's files each day.
            let pattern = if pattern.contains('{') { pattern } else { dated };
            layout.patterns.insert(pattern);
            layout.days.insert(day);
        }
        layout.patterns = however_packed(&layout.patterns);
        Some(layout)
    }
}

/// Patterns that differ only in how files are packed become one: a day may have some of them only.
fn however_packed(patterns: &BTreeSet<String>) -> BTreeSet<String> {
    let plain = |pattern: &str| {
        let packed = [".gz", ".zst"].into_iter().find_map(|ending| pattern.strip_suffix(ending));
        packed.unwrap_or(pattern).to_owned()
    };
    let one = |pattern: &String| {
        let plain_one = plain(pattern);
        let alike = patterns.iter().filter(|other| plain(other) == plain_one).count();
        if alike > 1 { plain_one + "*" } else { pattern.clone() }
    };
    patterns.iter().map(one).collect()
}

/// A name with the day stays, any other is left open.
fn open_if_undated(name: &str) -> String {
    if name.contains('{') { name.to_owned() } else { format!("*{}", ending(name)) }
}

/// What a name ends with, such as `.jsonl.zst`.
fn ending(name: &str) -> &str {
    let is_ending =
        |rest: &str| rest.len() <= 16 && rest.chars().all(|it| it.is_alphanumeric() || it == '.');
    let mut starts = name.match_indices('.').map(|(at, _)| &name[at..]);
    starts.find(|rest| is_ending(rest)).unwrap_or("")
}

/// The last day that a path names, and the path with a placeholder wherever that day stands.
fn dated(path: &str) -> Option<(Day, String)> {
    let all = ["-", "/", "_", ""].into_iter().filter_map(|between| last_day(path, between));
    let (_, day, text, between) = all.max_by_key(|(at, ..)| *at)?;
    let placeholder = match between {
        "-" => "{date}".to_owned(),
        _ => format!("{{year}}{between}{{month}}{between}{{day}}"),
    };
    Some((day, path.replace(text, &placeholder)))
}

/// The last day whose parts have `between` between them: where it stands, the day, and its text.
fn last_day<'a>(path: &'a str, between: &'a str) -> Option<(usize, Day, &'a str, &'a str)> {
    let length = 8 + 2 * between.len();
    let is_digit = |at: Option<usize>| {
        at.and_then(|at| path.as_bytes().get(at)).is_some_and(u8::is_ascii_digit)
    };
    let mut starts = (0..=path.len().checked_sub(length)?).rev();
    starts.find_map(|at| {
        let text = path.get(at..at + length)?;
        let stands_alone = !is_digit(at.checked_sub(1)) && !is_digit(Some(at + length));
        let day = day_of(text, between).filter(|_| stands_alone)?;
        Some((at, day, text, between))
    })
}

/// The day that a text of year, month and day is.
fn day_of(text: &str, between: &str) -> Option<Day> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, rest) = rest.strip_prefix(between)?.split_at_checked(2)?;
    let day = rest.strip_prefix(between)?;
    // Numbers of eight digits are seldom days.
    let is_likely = year.starts_with("19") || year.starts_with("20");
    format!("{year}-{month}-{day}").parse().ok().filter(|_| is_likely)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(files: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
        let layout = Layout::of(files.iter().map(Path::new))?;
        let days = layout.days.iter().map(Day::to_string).collect();
        Some((layout.patterns.into_iter().collect(), days))
    }

    #[test]
    fn patterns_hold_the_day_and_leave_the_rest_open() {
        let cases: [(&[&str], &[&str], &[&str]); 7] = [
            (
                &["c/2026-11-20/a.jsonl", "c/2026-11-21/b.jsonl.zst", "c/2026-11-21/b.tsv.gz"],
                &["c/{date}/*.jsonl*", "c/{date}/*.tsv.gz"],
                &["2026-11-20", "2026-11-21"],
            ),
            (
                &["crawl/2026-11-20/a.jsonl.zst", "crawl/2026-11-21/b.jsonl.zst"],
                &["crawl/{date}/*.jsonl.zst"],
                &["2026-11-20", "2026-11-21"],
            ),
            (&["c/2026/11/20/x.warc.gz"], &["c/{year}/{month}/{day}/*.warc.gz"], &["2026-11-20"]),
            (&["pages-20261120.tsv"], &["pages-{year}{month}{day}.tsv"], &["2026-11-20"]),
            (&["2026-11-20/2026-11-20-page"], &["{date}/{date}-page"], &["2026-11-20"]),
            (&["2025-01-01/d_2026_11_20"], &["2025-01-01/d_{year}_{month}_{day}"], &["2026-11-20"]),
            (
                &["2026-11-20/a.x1", "2026-11-20/a.x2", "2026-11-20/a.x3", "2026-11-20/a.x4"],
                &["{date}/*.x1", "{date}/*.x2", "{date}/*.x3", "{date}/*.x4"],
                &["2026-11-20"],
            ),
        ];
        for (files, patterns, days) in cases {
            let (found, found_days) = layout(files).unwrap_or_else(|| panic!("{files:?}"));
            assert_eq!(
                (found, found_days),
                (
                    patterns.iter().map(|&it| it.into()).collect(),
                    days.iter().map(|&it| it.into()).collect()
                )
            );
        }
    }

    #[test]
    fn what_names_no_day_has_no_layout() {
        for files in [
            &["a.jsonl"] as &[&str],
            &["2026-11-20/a", "b"],
            &["2026-13-20"],
            &["120261120"],
            &["a/20"],
        ] {
            assert_eq!(layout(files), None, "{files:?}");
        }
    }
}
