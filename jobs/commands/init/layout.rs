//! Where the days of a crawl lie: the patterns of paths that a configuration needs, made from the paths of files.
//!
//! ```text
//! crawl/2026-11-20/part-0001.jsonl.zst       ->  crawl/{date}/*.jsonl.zst
//! crawl/2026/11/20/a.warc.gz                 ->  crawl/{year}/{month}/{day}/*.warc.gz
//! crawl/year=2026/month=11/day=20/a.parquet  ->  crawl/year={year}/month={month}/day={day}/*.parquet
//! pages-20261120.tsv                         ->  pages-{year}{month}{day}.tsv
//! ```
//!
//! `run` refuses a day in which a pattern finds no file, so a pattern is proposed only if it finds files of every day. Where
//! days differ in their files, the patterns are made wider.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dupsieve::store::Day;

/// The most patterns of one crawl. If there were more, wider ones are taken.
const MOST_PATTERNS: usize = 3;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// With `{date}`, or with `{year}`, `{month}` and `{day}`. Each finds files of every day.
    pub(super) patterns: BTreeSet<String>,
    pub(super) days: BTreeSet<Day>,
    /// Patterns of files that other days do not have, and files of no day.
    pub(super) left_out: BTreeSet<String>,
}

impl Layout {
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a Path>) -> Option<Layout> {
        let (mut dated, mut undated) = (Vec::new(), BTreeSet::new());
        for path in files {
            match DatedFile::of(path) {
                Some(file) => dated.push(file),
                None => _ = undated.insert(path.to_string_lossy().into_owned()),
            }
        }
        // A few files beside the days are no corpus.
        let files = Some(dated).filter(|dated| dated.len() > undated.len())?;
        let openings = [DatedFile::as_named, DatedFile::by_ending];
        let layouts = openings.into_iter().map(|open| Layout::with(&files, open));
        let fitting = layouts
            .flatten()
            .find(|layout| layout.left_out.is_empty() && layout.patterns.len() <= MOST_PATTERNS);
        let mut layout = fitting.or_else(|| Layout::with(&files, DatedFile::by_place))?;
        layout.left_out.append(&mut undated);
        Some(layout)
    }

    /// The layout with the patterns that `open` makes of the files; none if there are no files.
    fn with(files: &[DatedFile], open: impl Fn(&DatedFile) -> String) -> Option<Layout> {
        let mut days_of: BTreeMap<String, BTreeSet<Day>> = BTreeMap::new();
        for file in files {
            days_of.entry(open(file)).or_default().insert(file.day);
        }
        let days_of = however_packed(days_of);
        // Of the patterns that find the most days, the last.
        let days = days_of.values().max_by_key(|days| days.len())?.clone();
        let (kept, left_out): (Vec<_>, Vec<_>) =
            days_of.into_iter().partition(|(_, found)| *found == days);
        let names = |of: Vec<(String, _)>| of.into_iter().map(|(pattern, _)| pattern).collect();
        Some(Layout { patterns: names(kept), days, left_out: names(left_out) })
    }

    /// The patterns with a star in the place of the day, as a shell takes them.
    pub(super) fn globs(&self) -> Vec<String> {
        let open = |pattern: &String| {
            let placeholders = ["{date}", "{year}", "{month}", "{day}"];
            let opened = placeholders.iter().fold(pattern.clone(), |it, day| it.replace(day, "*"));
            let is_first = |(at, it): &(usize, char)| *it != '*' || !opened[..*at].ends_with('*');
            opened.char_indices().filter(is_first).map(|(_, it)| it).collect()
        };
        self.patterns.iter().map(open).collect()
    }
}

/// Patterns that differ only in how files are packed become one: a day may have some of them only.
fn however_packed(days_of: BTreeMap<String, BTreeSet<Day>>) -> BTreeMap<String, BTreeSet<Day>> {
    let plain = |pattern: &str| {
        let packed = [".gz", ".zst"].into_iter().find_map(|ending| pattern.strip_suffix(ending));
        packed.unwrap_or(pattern).to_owned()
    };
    let mut merged: BTreeMap<String, BTreeSet<Day>> = BTreeMap::new();
    for (pattern, days) in &days_of {
        let plain_one = plain(pattern);
        let alike = days_of.keys().filter(|other| plain(other) == plain_one).count();
        let one = if alike > 1 { plain_one + "*" } else { pattern.clone() };
        merged.entry(one).or_default().extend(days);
    }
    merged
}

struct DatedFile {
    day: Day,
    /// The folder, with a slash at its end if there is one, and the name. Placeholders stand in both wherever the day stood.
    folder: String,
    name: String,
}

impl DatedFile {
    fn of(path: &Path) -> Option<DatedFile> {
        let (day, dated) = dated(path.to_str()?)?;
        let name_at = dated.rfind('/').map_or(0, |at| at + 1);
        let (folder, name) = dated.split_at(name_at);
        Some(DatedFile { day, folder: folder.to_owned(), name: name.to_owned() })
    }

    /// A name with the day stays, any other is left open.
    fn as_named(&self) -> String {
        if self.name.contains('{') {
            format!("{}{}", self.folder, self.name)
        } else {
            self.by_ending()
        }
    }

    /// Of the name only the day and the ending stay; the day only if the folder has none.
    fn by_ending(&self) -> String {
        format!("{}{}{}", self.folder, self.opened_name(), ending(&self.name))
    }

    /// The folder of the day; or in a folder of all days what has the day in its name.
    fn by_place(&self) -> String {
        match self.folder.rfind('}') {
            Some(last) => {
                let end =
                    self.folder[last..].find('/').map_or(self.folder.len(), |at| last + at + 1);
                self.folder[..end].to_owned()
            }
            None => format!("{}{}", self.folder, self.opened_name()),
        }
    }

    /// `*`, or `*{date}*` if the folder has no day.
    fn opened_name(&self) -> String {
        let placeholders = self.name.find('{').zip(self.name.rfind('}'));
        match placeholders.filter(|_| !self.folder.contains('{')) {
            Some((first, last)) => format!("*{}*", &self.name[first..=last]),
            None => "*".to_owned(),
        }
    }
}

/// What a name ends with, such as `.jsonl.zst`.
pub(super) fn ending(name: &str) -> &str {
    let is_ending =
        |rest: &str| rest.len() <= 16 && rest.chars().all(|it| it.is_alphanumeric() || it == '.');
    let mut starts = name.match_indices('.').map(|(at, _)| &name[at..]);
    starts.find(|rest| is_ending(rest)).unwrap_or("")
}

/// These days as ranges, such as `2026-11-18..2026-11-20`.
pub(crate) fn ranges(days: &BTreeSet<Day>) -> Vec<String> {
    let mut ranges: Vec<(Day, Day)> = Vec::new();
    for &day in days {
        match ranges.last_mut() {
            Some((_, last)) if last.next() == Some(day) => *last = day,
            _ => ranges.push((day, day)),
        }
    }
    let shown = |(first, last): (Day, Day)| match first == last {
        true => first.to_string(),
        false => format!("{first}..{last}"),
    };
    ranges.into_iter().map(shown).collect()
}

pub(crate) fn day_in(path: &Path) -> Option<Day> {
    dated(path.to_str()?).map(|(day, _)| day)
}

/// The last day that a path names, and the path with placeholders wherever that day stands.
fn dated(path: &str) -> Option<(Day, String)> {
    let written = BETWEEN.into_iter().filter_map(|between| last_day(path, between));
    let (_, day) = written.chain(last_partition(path)).max_by_key(|(at, _)| *at)?;
    let mut dated = path.to_owned();
    for form in BETWEEN.map(placeholders).into_iter().chain(partition_placeholders(path)) {
        let placed = if form == "{year}-{month}-{day}" { "{date}" } else { &form };
        dated = dated.replace(&day.expand(&form), placed);
    }
    Some((day, dated))
}

/// What stands between year, month and day.
const BETWEEN: [&str; 4] = ["-", "/", "_", ""];

fn placeholders(between: &str) -> String {
    format!("{{year}}{between}{{month}}{between}{{day}}")
}

/// The last day whose parts have `between` between them, and where it stands.
fn last_day(path: &str, between: &str) -> Option<(usize, Day)> {
    let length = 8 + 2 * between.len();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut starts = (0..=path.len().checked_sub(length)?).rev();
    starts.find_map(|at| {
        let text = path.get(at..at + length)?;
        let follows = digits(&path[at + length..]);
        // Without separators the time of the day may follow, as in names of web archives.
        let is_whole = follows == 0 || (between.is_empty() && follows == 6);
        let is_first = !path[..at].ends_with(|it: char| it.is_ascii_digit());
        let day = day_of(text, between).filter(|_| is_whole && is_first)?;
        Some((at, day))
    })
}

fn day_of(text: &str, between: &str) -> Option<Day> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, rest) = rest.strip_prefix(between)?.split_at_checked(2)?;
    let day = rest.strip_prefix(between)?;
    likely_day(year, month, day)
}

/// The day of these parts. Numbers of eight digits are seldom days.
fn likely_day(year: &str, month: &str, day: &str) -> Option<Day> {
    let is_likely = year.starts_with("19") || year.starts_with("20");
    format!("{year}-{month}-{day}").parse().ok().filter(|_| is_likely)
}

/// The last day that is written as partitions are, such as `year=2026/month=11/day=20`, and where it stands.
fn last_partition(path: &str) -> Option<(usize, Day)> {
    let [year, month, day] = partitions(path)?;
    Some((day.at, likely_day(year.value, month.value, day.value)?))
}

/// `year={year}/month={month}/day={day}`, with the names that the path has.
fn partition_placeholders(path: &str) -> Option<String> {
    let [year, month, day] = partitions(path)?.map(|it| it.name);
    Some(format!("{year}={{year}}/{month}={{month}}/{day}={{day}}"))
}

/// A folder such as `month=11`.
#[derive(Clone, Copy)]
struct Partition<'a> {
    name: &'a str,
    value: &'a str,
    at: usize,
}

/// The last three folders, one in the other, whose values can be a year, a month and a day.
fn partitions(path: &str) -> Option<[Partition<'_>; 3]> {
    let mut next = 0;
    let parts = path.split('/').map(|folder| {
        let at = next;
        next += folder.len() + 1;
        folder.split_once('=').map(|(name, value)| Partition { name, value, at })
    });
    let parts: Vec<Option<Partition<'_>>> = parts.collect();
    parts.windows(3).rev().find_map(|three| {
        let &[Some(year), Some(month), Some(day)] = three else { return None };
        likely_day(year.value, month.value, day.value).map(|_| [year, month, day])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(files: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
        let layout = Layout::of(files.iter().map(Path::new))?;
        let days = layout.days.iter().map(Day::to_string).collect();
        Some((layout.patterns.into_iter().collect(), days))
    }

    /// Files, and below them the patterns that find them and their days. A day that lacks the files of a pattern could not be run.
    const LAYOUTS: &str = "
        c/2026-11-20/a.jsonl c/2026-11-21/b.jsonl.zst c/2026-11-21/b.tsv.gz c/2026-11-20/c.tsv.gz
            c/{date}/*.jsonl* c/{date}/*.tsv.gz on 2026-11-20 2026-11-21
        crawl/2026-11-20/a.jsonl.zst crawl/2026-11-21/b.jsonl.zst
            crawl/{date}/*.jsonl.zst on 2026-11-20 2026-11-21
        c/2026-11-20/a.jsonl c/2026-11-21/b.parquet
            c/{date}/ on 2026-11-20 2026-11-21
        c/2026-11-20.jsonl c/2026-11-21.tsv.gz
            c/*{date}* on 2026-11-20 2026-11-21
        c/a-20261120101112-1.warc.gz c/b-20261121000000-2.warc.gz
            c/*{year}{month}{day}*.warc.gz on 2026-11-20 2026-11-21
        c/year=2026/month=11/day=20/a.csv c/year=2026/month=12/day=01/a.csv
            c/year={year}/month={month}/day={day}/*.csv on 2026-11-20 2026-12-01
        y=2026/m=11/d=20/hour=03/a.parquet y=2026/m=11/d=21/hour=04/b.parquet
            y={year}/m={month}/d={day}/ on 2026-11-20 2026-11-21
        c/year=2026/month=11/day=20/2026-11-20-a.csv c/year=2026/month=11/day=21/2026-11-21-a.csv
            c/year={year}/month={month}/day={day}/{date}-a.csv on 2026-11-20 2026-11-21
        c/dt=2026-11-20/part-20261120.csv c/dt=2026-11-21/part-9.csv
            c/dt={date}/*.csv on 2026-11-20 2026-11-21
        2026-11-20/en/a.csv 2026-11-20/zh/a.csv
            {date}/en/*.csv {date}/zh/*.csv on 2026-11-20
        c/2026/11/20/x.warc.gz
            c/{year}/{month}/{day}/*.warc.gz on 2026-11-20
        pages-20261120.tsv
            pages-{year}{month}{day}.tsv on 2026-11-20
        2026-11-20/2026-11-20-page
            {date}/{date}-page on 2026-11-20
        2025-01-01/d_2026_11_20
            2025-01-01/d_{year}_{month}_{day} on 2026-11-20
        2026-11-20/a.x1 2026-11-20/a.x2 2026-11-20/a.x3 2026-11-20/a.x4
            {date}/ on 2026-11-20
    ";

    #[test]
    fn patterns_hold_the_day_and_leave_the_rest_open() {
        let lines: Vec<&str> = LAYOUTS.trim().lines().map(str::trim).collect();
        for case in lines.chunks(2) {
            let (patterns, days) = layout(&case[0].split(' ').collect::<Vec<_>>()).expect(case[0]);
            assert_eq!(format!("{} on {}", patterns.join(" "), days.join(" ")), case[1]);
        }
    }

    #[test]
    fn what_only_some_days_have_is_left_out() {
        let files = ["a/2026-11-20/x.csv", "a/2026-11-21/x.csv", "b/2026-11-20/x.csv"];
        let layout = Layout::of(files.iter().map(Path::new)).unwrap();
        assert_eq!(layout.patterns, ["a/{date}/".to_owned()].into());
        assert_eq!(layout.left_out, ["b/{date}/".to_owned()].into());
        assert_eq!(layout.days.len(), 2);
    }

    #[test]
    fn what_names_no_day_has_no_layout() {
        for files in [
            &["a.jsonl"] as &[&str],
            &["2026-11-20/a", "b"],
            &["2026-13-20"],
            &["120261120"],
            &["a/20"],
            &["year=2026/day=20/month=13/a"],
            &["2026112010111"],
            &[],
        ] {
            assert_eq!(layout(files), None, "{files:?}");
        }
    }
}
