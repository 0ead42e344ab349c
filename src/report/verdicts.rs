//! Reads the verdicts and the matches of an output back, line by line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{At, Error, Kind, Result};
use crate::matches::{Nearness, Unlikeness};

/// The verdict on a page.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// keep, drop or empty.
    pub word: String,
    /// The kept page that it is a near-duplicate of, if it was dropped.
    pub nearest: Option<Nearest>,
}

/// The page that a verdict or a match names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Nearest {
    /// Its id.
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

/// The verdict on the page with that id.
pub fn verdict(output: &Path, id: &str) -> Result<Verdict> {
    let path = folder(output).join("verdicts.tsv");
    let mut found = None;
    each_line(&path, |columns| {
        if columns.first() == Some(&id) {
            let word = columns.get(1)?.to_string();
            let nearest = match word.as_str() {
                "drop" => Some(nearest(columns.get(2..5)?)?),
                _ => None,
            };
            found = Some(Verdict { word, nearest });
        }
        Some(found.is_none())
    })?;
    found.ok_or_else(|| {
        Error::new(Kind::Missing, "this output has no page with this id").at(&path).found(id)
    })
}

/// Calls `each` with every match: the new page, and the one that it is near.
pub fn each_match(output: &Path, mut each: impl FnMut(&str, Nearest)) -> Result<()> {
    each_line(&folder(output).join("matches.tsv"), |columns| {
        each(columns.first()?, nearest(columns.get(1..4)?)?);
        Some(true)
    })
}

fn nearest(columns: &[&str]) -> Option<Nearest> {
    let [id, distance, against] = columns else { return None };
    let distance = distance.parse().ok()?;
    Some(Nearest { id: id.to_string(), distance, against: against.to_string() })
}

/// Calls `each` with the columns of every line below the header, until it returns `Some(false)`. A line for
/// which it returns none is [`Kind::BadData`].
fn each_line(path: &Path, mut each: impl FnMut(&[&str]) -> Option<bool>) -> Result<()> {
    let file = BufReader::new(File::open(path).at(path)?);
    for (line, number) in file.lines().zip(1..) {
        let line = line.at(path)?;
        let columns: Vec<&str> = line.split('\t').collect();
        if number == 1 && columns.contains(&Unlikeness::COLUMN) {
            let what = "this is an output of `lsh`, which has no distances";
            return Err(Error::new(Kind::Usage, what).at(path).help("name an output of dedup"));
        }
        if number == 1 {
            continue;
        }
        match each(&columns) {
            Some(true) => {}
            Some(false) => return Ok(()),
            None => {
                let what = "dupsieve does not write such a line; the file was changed";
                return Err(Error::new(Kind::BadData, what).at(path).line(number));
            }
        }
    }
    Ok(())
}
