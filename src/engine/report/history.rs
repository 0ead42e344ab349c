//! The reports of many days, and which days are odd.
//!
//! A day is compared with the median of up to 28 days before it. Fewer than three days tell nothing. Crawls
//! differ from day to day, so only what an operator would look at is an alarm: half or twice as many pages,
//! a share of duplicates or of unreadable records that is 10 points away, 2 points more of lost text, or a join that takes
//! three times as long and longer than a minute.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::join_report::Report;
use super::made::Made;
use super::verdicts::{each_contained, folder};
use crate::error::{At, Error, Kind, Named, Result};
use crate::matches::{Lost, each_replaced};

const BEFORE: usize = 28;
const LEAST: usize = 3;
const POINTS: f64 = 0.1;
const CHANCE: f64 = 3.0;
const LOST_POINTS: f64 = 0.02;
/// The longest join, in seconds, that is never too long.
const SHORT: f64 = 60.0;

#[derive(Debug)]
pub struct History {
    pub days: Vec<DayFigures>,
    /// What the kept pages contain of all text that was read, if every day tells what it lost.
    pub contained_text: Option<ContainedText>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DayFigures {
    /// The day, or the name of the output if its report names no day.
    pub name: String,
    pub read: u64,
    pub kept: u64,
    pub dropped: u64,
    pub quarantined: u64,
    /// Pages that the store held before.
    pub store: u64,
    /// Pages of the store that pages of the day contain, where the join tells.
    pub replaced: Option<u64>,
    /// How much text goes with the dropped pages, where the join tells.
    pub lost: Option<Lost>,
    pub seconds: f64,
    /// What is odd, each in one sentence.
    pub alarms: Vec<String>,
}

impl History {
    /// Reads the reports of `outputs`: outputs of `dedup`, days of `run`, and folders that contain
    /// such.
    pub fn read(outputs: &[PathBuf]) -> Result<History> {
        let mut days: Vec<(PathBuf, DayFigures)> = Vec::new();
        for output in outputs {
            let mut found = reports(output)?;
            if found.is_empty() {
                return Err(no_output(output));
            }
            days.append(&mut found);
        }
        let contained_text = ContainedText::of(&days)?;
        let days = days.into_iter().map(|(_, day)| day).collect();
        Ok(History { contained_text, ..History::of(days) })
    }

    /// The history of these days, which are sorted, and compared with each other.
    pub fn of(mut days: Vec<DayFigures>) -> History {
        days.sort_by(|one, other| one.name.cmp(&other.name));
        for at in 0..days.len() {
            days[at].alarms = alarms(&days[at], &days[at.saturating_sub(BEFORE)..at]);
        }
        History { days, contained_text: None }
    }
}

impl DayFigures {
    fn of(report: &Report, output: &Path) -> DayFigures {
        let seconds = report.run["seconds"].as_object().into_iter().flatten();
        DayFigures {
            name: report.day.map_or_else(|| output.named(), |day| day.to_string()),
            read: report.batch.read,
            kept: report.outcome.kept,
            dropped: report.outcome.dropped,
            quarantined: report.batch.quarantined,
            store: report.probe.map_or(0, |probe| probe.store_fingerprints),
            replaced: report.outcome.replaced,
            lost: report.lost,
            // A sum of no numbers would be -0.
            seconds: seconds.filter_map(|(_, it)| it.as_f64()).fold(0.0, |all, it| all + it),
            alarms: Vec::new(),
        }
    }

    fn duplicates(&self) -> f64 {
        share(self.dropped, self.kept + self.dropped)
    }

    fn unreadable(&self) -> f64 {
        share(self.quarantined, self.read)
    }
}

/// What the kept pages contain of the text of all pages that were read, estimated from what each day says that it lost.
///
/// The text of a page is its 3-word shingles, and each page counts by itself. A kept page contains its own text. Of a dropped
/// page the day's [`Lost`] says what the kept page lacks. A page of the store that was replaced counts as a page of the
/// mean length, of which its successor lacks what `replaced` tells; so does a page that was dropped as its duplicate before, which the successor contains
/// at worst to the product of two shares. It is another share than that
/// of the distinct shingles of all pages, in which a page that comes again each day counts once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContainedText {
    /// The 3-word shingles of all pages, each page by itself.
    pub runs: u64,
    /// The share of them that the kept pages contain, by estimate.
    pub containment: f64,
    pub replaced: u64,
    /// How many dropped pages are contained only through a page that was replaced after them.
    pub through_replaced: u64,
}

impl ContainedText {
    /// The same of the days with these outputs; none if one of them does not tell how much it lost.
    fn of(days: &[(PathBuf, DayFigures)]) -> Result<Option<ContainedText>> {
        let (mut runs, mut lost, mut pages) = (0, 0.0, 0);
        for (_, day) in days {
            let judged = day.kept + day.dropped;
            let Some(of_day) = day.lost.filter(|it| it.shingles > 0 || judged == 0) else {
                return Ok(None);
            };
            runs += of_day.shingles;
            lost += of_day.share * of_day.dropped_shingles as f64;
            pages += judged;
        }
        if runs == 0 {
            return Ok(None);
        }
        let mean = runs as f64 / pages.max(1) as f64;
        // Of each replaced page what its successor lacks.
        let mut lacking: HashMap<(u128, String), f64> = HashMap::new();
        for (folder, _) in days.iter().filter(|(_, day)| day.replaced.is_some_and(|it| it > 0)) {
            each_replaced(folder, |id, day, _, containment| {
                lacking.insert((xxh3_128(id.as_bytes()), day.to_string()), 1.0 - containment);
                Ok(())
            })?;
        }
        lost += mean * lacking.values().sum::<f64>();
        let mut through_replaced = 0;
        for (folder, day) in days.iter().filter(|_| !lacking.is_empty()) {
            each_contained(folder, |_, of, _| {
                let held = if of.against == "batch" { day.name.clone() } else { of.against };
                if let Some(share) = lacking.get(&(xxh3_128(of.id.as_bytes()), held)) {
                    through_replaced += 1;
                    lost += mean * share;
                }
            })?;
        }
        let replaced = lacking.len() as u64;
        let containment = ((1.0 - lost / runs as f64).max(0.0) * 1e4).round() / 1e4;
        Ok(Some(ContainedText { runs, containment, replaced, through_replaced }))
    }
}

/// The outputs at `path`, in the order of their names: those in this folder, or `path` itself, if it is an output or a day of `run`, or
/// has none in it. Warns of days that are not whole.
pub fn outputs(path: &Path) -> Result<Vec<PathBuf>> {
    let (outputs, begun) = found_in(path)?;
    for day in begun {
        tracing::warn!("left out, because it is not whole: {}", day.named());
    }
    Ok(outputs)
}

/// The outputs at `path`, as [`outputs`] finds them, where each day has to be whole.
pub fn whole_outputs(path: &Path) -> Result<Vec<PathBuf>> {
    match found_in(path)? {
        (outputs, begun) if begun.is_empty() => Ok(outputs),
        (_, begun) => Err(Error::new(Kind::Missing, "this day is not whole")
            .at(&begun[0])
            .help("run its day to the end, or move it away")),
    }
}

/// The outputs at a path, and the days that were begun there.
fn found_in(path: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let is_output = |path: &Path| Report::read(&folder(path)).map(|report| report.is_some());
    if !path.is_dir() || is_output(path)? {
        return Ok((vec![path.to_path_buf()], Vec::new()));
    }
    let (mut found, mut begun) = (Vec::new(), Vec::new());
    for entry in path.read_dir().at(path)? {
        let output = entry.at(path)?.path();
        if is_output(&output)? {
            found.push(output);
        } else if ["batch.seg", "dedup"].iter().any(|part| output.join(part).exists()) {
            begun.push(output);
        }
    }
    found.sort();
    begun.sort();
    Ok((if found.is_empty() { vec![path.to_path_buf()] } else { found }, begun))
}

pub fn no_output(path: &Path) -> Error {
    Error::new(Kind::Missing, "there is no whole output here")
        .at(path)
        .expected("an output of dedup, a day of run, or a folder of days")
        .help("give the folder of an output, such as found or out/2026-11-20")
}

fn reports(path: &Path) -> Result<Vec<(PathBuf, DayFigures)>> {
    let mut found = Vec::new();
    for output in outputs(path)? {
        let folder = folder(&output);
        if let Some(report) = Report::read(&folder)? {
            let name = if output == path { path } else { &folder };
            let figures = DayFigures::of(&report, name);
            found.push((folder, figures));
        }
    }
    Ok(found)
}

fn alarms(day: &DayFigures, before: &[DayFigures]) -> Vec<String> {
    if before.len() < LEAST {
        return Vec::new();
    }
    let usual = |figure: fn(&DayFigures) -> f64| median(before.iter().map(figure).collect());
    let mut alarms = Vec::new();
    let (read, usually) = (day.read as f64, usual(|day| day.read as f64));
    if read < usually / 2.0 || read > 2.0 * usually {
        alarms.push(format!("{} records were read; usually it is {usually:.0}", day.read));
    }
    alarms.extend(far("duplicates", day.duplicates(), usual(DayFigures::duplicates), day.read));
    alarms.extend(far(
        "unreadable records",
        day.unreadable(),
        usual(DayFigures::unreadable),
        day.read,
    ));
    alarms.extend(lost(day, before));
    let usually = usual(|day| day.seconds);
    if day.seconds > SHORT && day.seconds > 3.0 * usually {
        alarms.push(format!("the join took {:.0} s; usually it is {usually:.0} s", day.seconds));
    }
    alarms
}

/// What is said of a share of the `read` records that is far from the usual one: by more than [`POINTS`], and by more than a few records
/// differ by chance.
fn far(what: &str, found: f64, usually: f64, read: u64) -> Option<String> {
    let by_chance = CHANCE * (usually * (1.0 - usually) / read.max(1) as f64).sqrt();
    let is_far = (found - usually).abs() > POINTS.max(by_chance);
    let [found, usually] = [found, usually].map(|share| 100.0 * share);
    is_far.then(|| format!("{found:.1} % {what}; usually it is {usually:.1} %"))
}

fn lost(day: &DayFigures, before: &[DayFigures]) -> Option<String> {
    let before: Vec<f64> = before.iter().filter_map(|day| Some(day.lost?.share)).collect();
    let found = day.lost.filter(|_| before.len() >= LEAST)?.share;
    let usually = median(before);
    let told = [found, usually].map(|share| 100.0 * share);
    (found > usually + LOST_POINTS).then(|| {
        format!(
            "{:.1} % of the text of dropped pages is lost; usually it is {:.1} %",
            told[0], told[1]
        )
    })
}

/// The middle one of some numbers; of an even count the higher of the two middle ones.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn share(count: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { count as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: usize, read: u64, dropped: u64) -> DayFigures {
        DayFigures {
            name: format!("2026-11-{number:02}"),
            read,
            kept: read - dropped,
            dropped,
            ..DayFigures::default()
        }
    }

    #[test]
    fn a_day_of_few_records_may_differ_more() {
        let mut days: Vec<DayFigures> = (1..=9).map(|it| day(it, 9, 8)).collect();
        days.push(day(10, 5, 5));
        days.push(day(11, 9, 1));
        let odd: Vec<bool> =
            History::of(days).days.iter().map(|day| !day.alarms.is_empty()).collect();
        assert_eq!(odd, [[false; 10].as_slice(), &[true]].concat());
    }

    #[test]
    fn a_day_is_odd_if_it_differs_much_from_those_before_it() {
        let mut days: Vec<DayFigures> = (1..=10).map(|it| day(it, 1000 + it as u64, 300)).collect();
        days.push(day(11, 400, 120));
        days.push(day(12, 1000, 600));
        days.push(DayFigures { seconds: 61.0, quarantined: 200, ..day(13, 1000, 300) });
        let losing = |number, share| {
            let lost = Some(Lost { share, ..Lost::default() });
            DayFigures { lost, ..day(number, 1000, 300) }
        };
        days.extend(
            [(14, 0.01), (15, 0.012), (16, 0.02), (17, 0.03), (18, 0.05)]
                .map(|it| losing(it.0, it.1)),
        );
        let history = History::of(days);
        let alarms: Vec<&[String]> = history.days.iter().map(|day| &day.alarms[..]).collect();
        assert!(alarms[..10].iter().all(|alarms| alarms.is_empty()), "{alarms:?}");
        assert_eq!(alarms[10], ["400 records were read; usually it is 1006"]);
        assert_eq!(alarms[11], ["60.0 % duplicates; usually it is 29.9 %"]);
        assert_eq!(
            alarms[12],
            [
                "20.0 % unreadable records; usually it is 0.0 %",
                "the join took 61 s; usually it is 0 s"
            ]
        );
        assert!(alarms[13..17].iter().all(|alarms| alarms.is_empty()), "{alarms:?}");
        assert_eq!(alarms[17], ["5.0 % of the text of dropped pages is lost; usually it is 2.0 %"]);
    }
}
