//! Reads the verdicts and the matches of an output back, row by row.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Kind, Result};
use crate::matches::{MATCHES, Nearness, Unlikeness, VERDICTS};
use crate::results::ResultReader;

#[derive(Debug, Serialize)]
pub struct PageVerdict {
    /// keep, drop or empty.
    pub word: String,
    /// The kept page that it is a near-duplicate of, if it was dropped.
    pub nearest: Option<Nearest>,
}

/// The page that a verdict or a match names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Nearest {
    pub id: String,
    /// In how many bits both fingerprints differ.
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
    each_row(rows, |columns| {
        if columns.first() == Some(&id) {
            let word = columns.get(1)?.to_string();
            let nearest = match word.as_str() {
                "drop" => Some(nearest(columns.get(2..5)?)?),
                _ => None,
            };
            found = Some(PageVerdict { word, nearest });
        }
        Some(found.is_none())
    })?;
    found.ok_or_else(|| {
        Error::new(Kind::Missing, "this output has no page with this id").at(&path).found(id)
    })
}

/// Calls `each` with the id of every dropped page, and the page in whose favour it was dropped.
pub(super) fn each_drop(output: &Path, mut each: impl FnMut(&str, Nearest)) -> Result<()> {
    each_row(ResultReader::of(&folder(output), VERDICTS)?, |columns| {
        if columns.get(1) == Some(&"drop") {
            each(columns.first()?, nearest(columns.get(2..5)?)?);
        }
        Some(true)
    })
}

/// Calls `each` with the id of every dropped page, the page in whose favour it was dropped, and the share of it that this page contains, in
/// ten-thousandths. Only an output that tells what is lost has these.
pub fn each_held(output: &Path, mut each: impl FnMut(&str, Nearest, u32)) -> Result<()> {
    each_row(ResultReader::of(&folder(output), VERDICTS)?, |columns| {
        if columns.get(1) == Some(&"drop") {
            let held = columns.get(5)?.parse::<f64>().ok()?;
            each(columns.first()?, nearest(columns.get(2..5)?)?, (held * 1e4).round() as u32);
        }
        Some(true)
    })
}

/// Calls `each` with every match: the new page, and the one that it is near.
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
    if rows.columns().is_some_and(|names| names.iter().any(|it| it == Unlikeness::COLUMN.name)) {
        let what = "this is an output of locality-sensitive hashing, which has no distances";
        let error = Error::new(Kind::Usage, what).at(rows.path());
        return Err(error.help("name the output of a join"));
    }
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
