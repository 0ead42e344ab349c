//! The longest passages of an output in place: their pages are read from the inputs again, and a passage is shown with a few words around it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use dupsieve::Result;
use dupsieve::fingerprint::Width;
use dupsieve::passages::{PassageRow, PassageRows};
use serde::Serialize;

use crate::commands::difference::shown;
use crate::commands::excerpts::MOST_INPUT_BYTES;
use crate::commands::{PageSource, pages};
use crate::flags::PageSettings;

/// How many bytes are shown on each side of a passage, at most.
const AROUND: usize = 80;
const LONGEST: usize = 600;

const IN_REPORT: usize = 10;

#[derive(Debug, Serialize)]
pub(crate) struct PassageInPlace {
    #[serde(flatten)]
    pub(crate) row: PassageRow,
    /// What stands before it, the passage, and what stands behind it; none if the page was not read.
    pub(crate) text: Option<[String; 3]>,
}

/// The longest passages of the output in this folder. Of those that stood first at one place and are equally long, the first one is named.
pub(crate) fn longest(output: &Path, most: usize) -> Result<Vec<PassageInPlace>> {
    let mut longest = BTreeMap::new();
    for row in PassageRows::of(output)? {
        let row = row?;
        let PassageRow { words, of, of_begin, against, .. } = row.clone();
        longest.entry((Reverse(words), against, of, of_begin)).or_insert(row);
        if longest.len() > most {
            longest.pop_last();
        }
    }
    Ok(longest.into_values().map(|row| PassageInPlace { row, text: None }).collect())
}

/// The longest passages of an output for its report, with their texts unless the inputs are large or cannot be read any more.
pub(crate) fn for_report(
    output: &Path,
    source: Option<&PageSource>,
) -> Result<Vec<PassageInPlace>> {
    let mut passages = longest(output, IN_REPORT)?;
    let read = source.map(|source| {
        let (inputs, settings) = (source.inputs_of(None)?, &source.settings);
        let (files, _) = settings.inputs(&inputs, Width::W128)?;
        let is_small = files.are_files() && files.bytes() <= MOST_INPUT_BYTES;
        if is_small { read(&mut passages, &inputs, settings) } else { Ok(()) }
    });
    if let Some(Err(error)) = read {
        tracing::warn!("report.html does not show the texts of passages: {error}");
    }
    Ok(passages)
}

pub(crate) fn read(
    passages: &mut [PassageInPlace],
    inputs: &[PathBuf],
    settings: &PageSettings,
) -> Result<()> {
    let mut of_pages: HashMap<String, Vec<&mut PassageInPlace>> = HashMap::new();
    for passage in passages {
        of_pages.entry(passage.row.id.clone()).or_default().push(passage);
    }
    let wanted = of_pages.keys().cloned().collect();
    let read = pages::find_texts(inputs, settings, wanted, |id, text| {
        for passage in of_pages.remove(id).into_iter().flatten() {
            passage.text = in_place(&passage.row, text);
        }
        Ok(())
    });
    pages::warn_if_missing(read)
}

fn in_place(row: &PassageRow, text: &str) -> Option<[String; 3]> {
    let (begin, end) = (row.begin as usize, row.end as usize);
    let (passage, before, behind) = (text.get(begin..end)?, &text[..begin], &text[end..]);
    let before = match before.floor_char_boundary(begin.saturating_sub(AROUND)) {
        0 => before,
        start => before[start..].split_once(char::is_whitespace).map_or("", |(_, words)| words),
    };
    let behind = match behind.floor_char_boundary(AROUND) {
        end if end == behind.len() => behind,
        end => behind[..end].rsplit_once(char::is_whitespace).map_or("", |(words, _)| words),
    };
    Some([before, passage, behind].map(|text| shown(&[text], LONGEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(begin: usize, end: usize) -> PassageRow {
        let [id, of, against] = ["a", "b", "batch"].map(str::to_owned);
        let (begin, end) = (begin as u32, end as u32);
        PassageRow { id, begin, end, words: 3, of, of_begin: 0, against }
    }

    #[test]
    fn a_passage_stands_between_whole_words() {
        let shown = |text: &str, passage: &str| {
            let begin = text.find(passage).unwrap();
            in_place(&row(begin, begin + passage.len()), text).unwrap()
        };
        assert_eq!(shown("one two", "one two"), ["", "one two", ""]);
        assert_eq!(shown("so: one\ntwo. End", "one\ntwo"), ["so: ", "one two", ". End"]);
        let long = format!("{}one two{}", "before ".repeat(30), " behind".repeat(30));
        let [before, _, behind] = shown(&long, "one two");
        assert_eq!([before, behind], ["before ".repeat(11), " behind".repeat(11)]);
        let unbroken = format!("{0} one {0}", "é".repeat(99));
        assert_eq!(shown(&unbroken, "one"), ["", "one", ""]);
        assert_eq!(in_place(&row(1, 9), "éclair"), None);
    }
}
