//! What the methods made of a sample, counted.

use serde::Serialize;

use super::{PlantedPair, PlantedScores};
use crate::evaluate::scores::share;
use crate::synthetic::Edit;

/// Where one band of similarity ends and the next one begins; the last one holds 1.
const BANDS: [f64; 8] = [0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0];

/// Pairs of a similarity from one number to below another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    pub from: f64,
    pub to: f64,
    pub positives: u64,
    pub found: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Planted pairs of which one page can go without loss.
    pub copies: u64,
    /// Those of them of which one page goes, without loss.
    pub copies_dropped: u64,
    /// Planted pairs of which a page goes with a loss of more than a tenth.
    pub copies_lost: u64,
    pub dropped: u64,
    /// Those of them that lose more than a tenth of their text.
    pub over_tenth: u64,
    /// The share of the text of the pages of the sample that go, in runs of three words, that the pages in their places lack.
    pub lost: f64,
    pub could_go: u64,
    /// Pages of the sample that stay though another page that stays has .95 of them.
    pub missed: u64,
}

impl Summary {
    /// The harmonic mean of two shares: of what could go without loss, how much goes; and of what goes, how much goes without
    /// loss. Planted pairs and pages of the sample count alike.
    pub fn f1(self) -> f64 {
        let safe = self.copies_dropped + (self.dropped - self.over_tenth);
        let goes = safe + self.copies_lost + self.over_tenth;
        share(2 * safe, goes + self.copies + self.could_go).unwrap_or(0.0)
    }
}

impl PlantedScores {
    /// How many copies of this edit and strength there are, and of how many of them and their pages a method drops one.
    pub fn of_strength(&self, method: usize, edit: Edit, strength: usize) -> (u64, u64) {
        let is_of = |pair: &&PlantedPair| (pair.edit, pair.strength) == (edit, strength);
        self.planted.iter().filter(is_of).fold((0, 0), |(planted, found), pair| {
            (planted + 1, found + u64::from(pair.is_found_by(method)))
        })
    }

    /// How many copies were not planted, because a page was too short for an edit, has no words, or none
    /// could lend text.
    pub fn left_out(&self) -> usize {
        self.pages * Edit::ALL.len() - self.planted.len()
    }

    /// Of how many planted pairs one page goes, by how much of the one the other one has. Bands without a pair are left out.
    pub fn bands(&self, method: usize) -> Vec<Band> {
        let mut counts = [(0, 0); BANDS.len() - 1];
        for pair in &self.planted {
            let starts = &BANDS[1..BANDS.len() - 1];
            let at = starts.partition_point(|&start| start <= pair.containment);
            counts[at].0 += 1;
            counts[at].1 += u64::from(pair.is_found_by(method));
        }
        let edges = BANDS.windows(2).zip(counts).filter(|(_, (positives, _))| *positives > 0);
        let band = |(edge, (positives, found)): (&[f64], (u64, u64))| Band {
            from: edge[0],
            to: edge[1],
            positives,
            found,
        };
        edges.map(band).collect()
    }

    pub fn summary(&self, method: usize) -> Summary {
        let loss = &self.losses[method];
        let count = |counts: &dyn Fn(&PlantedPair) -> bool| {
            self.planted.iter().filter(|pair| counts(pair)).count() as u64
        };
        let goes_safely = |pair: &PlantedPair| pair.is_found_by(method) && !pair.is_lost_by(method);
        Summary {
            copies: count(&|pair| pair.can_go()),
            copies_dropped: count(&|pair| pair.can_go() && goes_safely(pair)),
            copies_lost: count(&|pair| pair.is_lost_by(method)),
            dropped: loss.dropped.len() as u64,
            over_tenth: loss.over_tenth(),
            lost: loss.lost(),
            could_go: loss.could_go.len() as u64,
            missed: loss.missed.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::loss::{DroppedPage, Loss};

    #[test]
    fn what_is_found_and_what_is_lost_is_counted() {
        let pair = |edit, strength, containment, goes| PlantedPair {
            page: 0,
            edit,
            strength,
            containment,
            goes: vec![goes, None],
        };
        let planted = vec![
            pair(Edit::Typo, 1, 0.95, Some(0.95)),
            pair(Edit::Typo, 1, 0.95, None),
            pair(Edit::Typo, 2, 0.9, None),
            pair(Edit::Typo, 3, 0.5, None),
            pair(Edit::Date, 0, 1.0, Some(0.9)),
            pair(Edit::Template, 0, 0.4, Some(0.4)),
        ];
        let goes = |containment| DroppedPage { page: 0, of: 1, containment, runs: 10 };
        let could_go = vec![0, 1, 2];
        let dropped = vec![goes(1.0), goes(0.8)];
        let first = Loss { dropped, could_go: could_go.clone(), missed: vec![1] };
        let losses = vec![first, Loss { could_go, ..Loss::default() }];
        let scores = PlantedScores { planted, losses, pages: 2, without_fingerprint: 0 };
        assert_eq!(scores.of_strength(0, Edit::Typo, 1), (2, 1));
        assert_eq!(scores.left_out(), 2 * 8 - 6);
        let found: Vec<_> =
            scores.bands(0).iter().map(|it| (it.from, it.positives, it.found)).collect();
        assert_eq!(found, [(0.3, 1, 1), (0.5, 1, 0), (0.9, 1, 0), (0.95, 3, 2)]);
        let summary = scores.summary(0);
        assert_eq!((summary.copies, summary.copies_dropped, summary.copies_lost), (4, 2, 1));
        assert_eq!((summary.dropped, summary.over_tenth, summary.could_go), (2, 1, 3));
        assert!((summary.lost - 0.1).abs() < 1e-9);
        // Three of five go rightly, of seven that could.
        assert_eq!(summary.f1(), 6.0 / 12.0);
        assert_eq!(scores.summary(1).f1(), 0.0);
    }
}
