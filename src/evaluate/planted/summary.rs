//! What the methods made of a sample, counted.

use serde::Serialize;

use super::{ALIKE, PlantedPair, PlantedScores};
use crate::evaluate::bands::{BANDS, Band, band_of, bands};
use crate::evaluate::scores::share;
use crate::synthetic::Edit;

/// What a method makes of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Edited copies that are the same page.
    pub copies: u64,
    /// Those of them that were found.
    pub copies_found: u64,
    /// Copies that are another page in the frame of the same template.
    pub templates: u64,
    /// Those of them that were found, wrongly.
    pub templates_found: u64,
    /// Pairs of pages of the sample that are joined.
    pub joined: u64,
    /// Those of them with a similarity by words below .3, which are probably wrong.
    pub joined_unlike: u64,
}

impl Summary {
    /// The harmonic mean of the share of the copies that was found and the share of what was found that is
    /// right, where pairs of unlike pages count as wrong. Their number grows with the square of the number of
    /// pages, that of copies with the number: only samples of one size can be compared.
    #[must_use]
    pub fn f1(self) -> f64 {
        let wrong = self.templates_found + self.joined_unlike;
        share(2 * self.copies_found, self.copies_found + wrong + self.copies).unwrap_or(0.0)
    }
}

impl PlantedScores {
    /// How many copies of this edit there are, and how many of them a method found.
    #[must_use]
    pub fn of_edit(&self, method: usize, edit: Edit) -> (u64, u64) {
        self.count(method, |pair| pair.edit == edit)
    }

    /// The same of the copies of one strength.
    #[must_use]
    pub fn of_strength(&self, method: usize, edit: Edit, strength: usize) -> (u64, u64) {
        self.count(method, |pair| (pair.edit, pair.strength) == (edit, strength))
    }

    fn count(&self, method: usize, counts: impl Fn(&PlantedPair) -> bool) -> (u64, u64) {
        self.planted.iter().filter(|pair| counts(pair)).fold((0, 0), |(planted, found), pair| {
            (planted + 1, found + u64::from(pair.found_by.contains(method)))
        })
    }

    /// The edits that keep the page and of which a method misses more than half of the copies, each with its
    /// least strength of which that is so.
    #[must_use]
    pub fn missed(&self, method: usize) -> Vec<(Edit, usize)> {
        let is_missed = |edit, strength| {
            let (planted, found) = self.of_strength(method, edit, strength);
            2 * found < planted
        };
        let first = |edit: Edit| {
            let strength = (0..Edit::STRENGTHS).find(|&strength| is_missed(edit, strength))?;
            Some((edit, strength))
        };
        Edit::ALL.into_iter().filter(|edit| edit.keeps_page()).filter_map(first).collect()
    }

    /// How many copies were not planted, because a page was too short for an edit, has no words, or none
    /// could lend text.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.pages * Edit::ALL.len() - self.planted.len()
    }

    /// What a method found of the copies that are the same page, by their similarity. Bands without a copy
    /// are left out.
    #[must_use]
    pub fn bands(&self, method: usize) -> Vec<Band> {
        let same = self.planted.iter().filter(|pair| pair.edit.keeps_page());
        bands(same.map(|pair| (pair.similarity, pair.found_by.contains(method))))
    }

    /// What the method makes of the sample as a whole.
    #[must_use]
    pub fn summary(&self, method: usize) -> Summary {
        let mut sum = Summary::default();
        for pair in &self.planted {
            let found = u64::from(pair.found_by.contains(method));
            let (planted, counted) = match pair.edit.keeps_page() {
                true => (&mut sum.copies, &mut sum.copies_found),
                false => (&mut sum.templates, &mut sum.templates_found),
            };
            *planted += 1;
            *counted += found;
        }
        let by_method = self.joined.iter().filter(|pair| pair.found_by.contains(method));
        for pair in by_method {
            sum.joined += 1;
            sum.joined_unlike += u64::from(pair.similarity < ALIKE);
        }
        sum
    }

    /// How many pairs of pages a method joins, in each [band](BANDS) of similarity.
    #[must_use]
    pub fn joined(&self, method: usize) -> Vec<u64> {
        let mut counts = vec![0; BANDS.len() - 1];
        let by_method = self.joined.iter().filter(|pair| pair.found_by.contains(method));
        by_method.for_each(|pair| counts[band_of(pair.similarity)] += 1);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::FoundBy;
    use super::*;

    #[test]
    fn what_is_missed_is_counted_by_edit_and_strength() {
        let pair = |edit, strength, found| PlantedPair {
            page: 0,
            edit,
            strength,
            similarity: 0.5,
            found_by: FoundBy(found),
        };
        let planted = vec![
            pair(Edit::Typo, 1, 0b01),
            pair(Edit::Typo, 1, 0b00),
            pair(Edit::Typo, 2, 0b00),
            pair(Edit::Typo, 3, 0b00),
            pair(Edit::Date, 0, 0b01),
            pair(Edit::Template, 0, 0b00),
        ];
        let scores = PlantedScores { planted, joined: vec![], pages: 2, without_fingerprint: 0 };
        assert_eq!(scores.missed(0), [(Edit::Typo, 2)], "one of two is half");
        assert_eq!(scores.missed(1), [(Edit::Typo, 1), (Edit::Date, 0)]);
        assert_eq!(scores.of_strength(0, Edit::Typo, 1), (2, 1));
        assert_eq!(scores.of_edit(0, Edit::Typo), (4, 1));
        assert_eq!(scores.left_out(), 2 * 8 - 6);
        let summary = scores.summary(0);
        assert_eq!((summary.copies, summary.copies_found, summary.templates), (5, 2, 1));
        assert_eq!(summary.f1(), 4.0 / 7.0);
    }
}
