//! Reads the verdicts and the matches of an output back, row by row.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Kind, Result};
use crate::matches::{MATCHES, VERDICTS};
use crate::results::ResultReader;

#[derive(Debug, Serialize)]
pub struct PageVerdict {
    /// keep, drop, superseded or empty.
    pub word: String,
    /// The kept page that it is a near-duplicate of, if it was dropped, or the newest page of its key, if it was superseded.
    pub nearest: Option<Nearest>,
}

/// The page that a verdict or a match names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Nearest {
    pub id: String,
    pub distance: u32,
    /// `batch`, or the day under which the store holds the page.
    pub against: String,
}

/// The folder that `dedup` wrote: `path` itself, or the folder `dedup` in the output of a day.
pub fn folder(path: &Path) -> PathBuf {
    let below = path.join("dedup");
    if below.is_dir() { below } else { path.to_path_buf() }
}

pub fn verdict(output: &Path, id: &str) -> Result<PageVerdict> {
    let rows = ResultReader::of(&folder(output), VERDICTS)?;
    let path = rows.path().to_path_buf();
    let mut found = None;
    let mut example = None;
    each_row(rows, |columns| {
        if example.is_none() {
            example = columns.first().map(|id| (*id).to_owned());
        }
        if columns.first() == Some(&id) {
            found = Some(page_verdict(columns)?);
        }
        Some(found.is_none())
    })?;
    found.ok_or_else(|| {
        let error =
            Error::new(Kind::Missing, "this output has no page with this id").at(&path).found(id);
        match example {
            Some(example) => error.help(format_args!(
                "give a whole id from the first column of that table, such as `{example}`"
            )),
            None => error.help("the output has no pages at all"),
        }
    })
}

/// Calls `each` with every page on which two outputs of one batch say different things: its id, and what they say. What they count of a
/// kept page does not matter.
pub fn each_differing(
    outputs: [&Path; 2],
    mut each: impl FnMut(&str, [PageVerdict; 2]) -> Result<()>,
) -> Result<()> {
    let [one, other] = outputs.map(|output| ResultReader::of(&folder(output), VERDICTS));
    let (mut one, mut other) = (one?, other?);
    while let (Some(first), Some(second)) = (one.next_row()?, other.next_row()?) {
        // The verdict, the page that it names, and the share that this one contains; behind that are counts.
        let [first, second] =
            [first, second].map(|row| row.split('\t').take(6).collect::<Vec<_>>());
        if first == second {
            continue;
        }
        let verdicts = [&first, &second].map(|columns| page_verdict(columns));
        match verdicts {
            [Some(first_verdict), Some(second_verdict)] if first[0] == second[0] => {
                each(first[0], [first_verdict, second_verdict])?;
            }
            _ => return Err(one.wrong("not a verdict on the same page")),
        }
    }
    Ok(())
}

fn page_verdict(columns: &[&str]) -> Option<PageVerdict> {
    let word = columns.get(1)?.to_string();
    let nearest = match word.as_str() {
        "drop" | "superseded" => Some(nearest(columns.get(2..5)?)?),
        _ => None,
    };
    Some(PageVerdict { word, nearest })
}

/// Calls `each` with the id of every dropped page, the page in whose favour it was dropped, and the share of it that this page contains, in
/// ten-thousandths. Only an output that tells what is lost has these.
pub fn each_contained(output: &Path, mut each: impl FnMut(&str, Nearest, u32)) -> Result<()> {
    each_row(ResultReader::of(&folder(output), VERDICTS)?, |columns| {
        if columns.get(1) == Some(&"drop") {
            let containment = columns.get(5)?.parse::<f64>().ok()?;
            each(
                columns.first()?,
                nearest(columns.get(2..5)?)?,
                (containment * 1e4).round() as u32,
            );
        }
        Some(true)
    })
}

pub fn each_match(output: &Path, mut each: impl FnMut(&str, Nearest)) -> Result<()> {
    each_row(ResultReader::of(&folder(output), MATCHES)?, |columns| {
        each(columns.first()?, nearest(columns.get(1..4)?)?);
        Some(true)
    })
}

fn nearest(columns: &[&str]) -> Option<Nearest> {
    let [id, distance, against] = columns else { return None };
    let distance = distance.parse().ok()?;
    Some(Nearest { id: id.to_string(), distance, against: against.to_string() })
}

/// Calls `each` with the columns of every row, until it returns `Some(false)`. A row for which it returns none is
/// [`Kind::BadData`].
fn each_row(mut rows: ResultReader, mut each: impl FnMut(&[&str]) -> Option<bool>) -> Result<()> {
    while let Some(row) = rows.next_row()? {
        match each(&row.split('\t').collect::<Vec<_>>()) {
            Some(true) => {}
            Some(false) => return Ok(()),
            None => {
                let what = "dupsieve does not write such a line; the file was changed";
                return Err(Error::new(Kind::BadData, what).at(rows.path()).line(rows.number()));
            }
        }
    }
    Ok(())
}
