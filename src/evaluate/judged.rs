//! Pairs that a person judged, one by one, and how a method agrees with them.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::scores::Counts;
use super::{Pairs, columns};
use crate::error::{Error, Kind, Result};

/// The header of a file of judged pairs.
pub const HEADER: [&str; 3] = ["id1", "id2", "judged"];

/// What a person said of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The two are the same page.
    Same,
    /// They are different pages.
    Different,
}

/// Pairs of ids with what a person said. Documents are numbered from 0 in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct JudgedPairs {
    documents: HashMap<Box<str>, u32>,
    /// Each pair once, the smaller number first.
    pairs: HashMap<(u32, u32), Judgement>,
}

/// How what a method finds agrees with judged pairs. Pairs that nobody judged do not count, so these are
/// shares of the judged pairs, not of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgedScores {
    /// Pairs judged.
    pub judged: u64,
    /// Those judged to be the same page.
    pub same: u64,
    /// Those of them that were found.
    pub same_found: u64,
    /// Those judged to be different pages.
    pub different: u64,
    /// Those of them that were found, wrongly.
    pub different_found: u64,
    /// The pairs of which the method says what the person said.
    pub agreed: u64,
    /// Judged pairs of which it is not known whether they are found. They count nowhere else.
    pub left_out: u64,
    /// Of the judged pairs that were found, the share that is the same page.
    pub precision: Option<f64>,
    /// Of the pairs judged to be the same page, the share that was found.
    pub recall: Option<f64>,
    /// The harmonic mean of both.
    pub f1: Option<f64>,
}

impl Judgement {
    /// As it is written in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Same => "same",
            Judgement::Different => "different",
        }
    }
}

impl JudgedPairs {
    /// Whether the first line of a file is the header of judged pairs.
    ///
    /// # Errors
    /// [`Kind::Missing`] if there is no such file.
    pub fn are_in(path: &Path) -> Result<bool> {
        columns::has_header(path, &HEADER)
    }

    /// Reads the columns `id1`, `id2` and `judged`, which is `same` or `different`.
    ///
    /// # Errors
    /// [`Kind::BadData`] on another judgement, and on a pair judged twice in two ways.
    pub fn read(path: &Path) -> Result<JudgedPairs> {
        let mut judged = JudgedPairs::default();
        columns::each(path, &[HEADER], false, |[one, another, said]| {
            let judgement = [Judgement::Same, Judgement::Different]
                .into_iter()
                .find(|judgement| judgement.name() == said)
                .ok_or_else(|| {
                    Error::new(Kind::BadData, "not a judgement")
                        .expected("same or different")
                        .found(said)
                })?;
            judged.add(one, another, judgement)
        })?;
        Ok(judged)
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// [`Kind::BadData`] if it has another judgement already, or if both ids are one.
    pub fn add(&mut self, one: &str, another: &str, judgement: Judgement) -> Result<()> {
        let [one_number, other_number] = [one, another].map(|id| {
            let next = self.documents.len() as u32;
            *self.documents.entry(id.into()).or_insert(next)
        });
        if one_number == other_number {
            return Err(Error::new(Kind::BadData, "a page is judged against itself").found(one));
        }
        let pair = (one_number.min(other_number), one_number.max(other_number));
        if *self.pairs.entry(pair).or_insert(judgement) != judgement {
            return Err(Error::new(Kind::BadData, "the pair has another judgement already")
                .found(format!("{one} {another}")));
        }
        Ok(())
    }

    /// The number of the document with that id, if a pair has it.
    pub fn document(&self, id: &str) -> Option<u32> {
        self.documents.get(id).copied()
    }

    /// How many documents the pairs have.
    pub fn documents(&self) -> usize {
        self.documents.len()
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether the pair of these ids, in any order, is judged.
    pub fn contains(&self, one: &str, another: &str) -> bool {
        let numbers = self.document(one).zip(self.document(another));
        numbers.is_some_and(|(a, b)| self.pairs.contains_key(&(a.min(b), a.max(b))))
    }

    /// Reads found pairs, by the numbers of their documents.
    ///
    /// # Errors
    /// As [`Pairs::read`].
    pub fn found(&self, path: &Path) -> Result<Pairs> {
        Pairs::read_numbered(path, |id| self.document(id))
    }

    /// The scores of a method that finds those pairs of documents of which `is_found` says so. Pairs of
    /// which it knows nothing, because a text is absent, are left out.
    pub fn scores(&self, is_found: impl Fn(u32, u32) -> Option<bool>) -> JudgedScores {
        let mut left_out = 0;
        let mut same = (0, 0);
        let mut different = (0, 0);
        for (&(one, another), judgement) in &self.pairs {
            let Some(is_found) = is_found(one, another) else {
                left_out += 1;
                continue;
            };
            let counts = match judgement {
                Judgement::Same => &mut same,
                Judgement::Different => &mut different,
            };
            *counts = (counts.0 + 1, counts.1 + u64::from(is_found));
        }
        let counts =
            Counts { pairs: same.1 + different.1, positives: same.0, true_positives: same.1 };
        JudgedScores {
            judged: same.0 + different.0,
            same: same.0,
            same_found: same.1,
            different: different.0,
            different_found: different.1,
            agreed: same.1 + different.0 - different.1,
            left_out,
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::tests::file;
    use super::*;

    #[test]
    fn scores_count_judged_pairs_alone() {
        let text = "id1\tid2\tjudged\na\tb\tsame\nc\ta\tdifferent\nd\tc\tsame\nb\ta\tsame\n";
        let listed = file(text);
        assert!(JudgedPairs::are_in(listed.path()).unwrap());
        assert!(!JudgedPairs::are_in(file("id\tcluster\n").path()).unwrap());
        let judged = JudgedPairs::read(listed.path()).unwrap();
        assert_eq!((judged.len(), judged.documents(), judged.document("d")), (3, 4, Some(3)));
        assert!(
            judged.contains("b", "a") && judged.contains("a", "c") && !judged.contains("b", "c")
        );
        // Found are a-b, a-c and b-c, which nobody judged.
        let found = [(0, 1), (0, 2), (1, 2)];
        let scores = judged.scores(|one, another| Some(found.contains(&(one, another))));
        assert_eq!((scores.judged, scores.same, scores.same_found), (3, 2, 1));
        assert_eq!((scores.different, scores.different_found), (1, 1));
        assert_eq!((scores.precision, scores.recall, scores.f1), (Some(0.5), Some(0.5), Some(0.5)));
        assert_eq!((scores.agreed, scores.left_out), (1, 0));
        assert_eq!(JudgedPairs::default().scores(|_, _| Some(true)).f1, None);
        // The text of d is absent.
        let scores = judged.scores(|_, another| (another != 3).then_some(true));
        assert_eq!((scores.judged, scores.same, scores.left_out), (2, 1, 1));
        assert_eq!((scores.same_found, scores.different_found, scores.agreed), (1, 1, 1));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (lines, said) in [
            ("a\tb\tsame\nb\ta\tdifferent\n", ":3: the pair has another judgement already"),
            ("a\ta\tsame\n", ":2: a page is judged against itself"),
            ("a\tb\tyes\n", ":2: not a judgement"),
            ("a\tb\n", ":2: the line lacks a column"),
        ] {
            let listed = file(&format!("id1\tid2\tjudged\n{lines}"));
            let error = JudgedPairs::read(listed.path()).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
