//! How well one page can cover another: which share of the text of the other page it contains.
//!
//! The share has a direction. Of a page and the same page with three more chapters, the longer one can cover
//! the shorter one, and the shorter one cannot cover the longer one. Where nothing but fingerprints is known, any page
//! within k bits can cover the other one.

use serde::{Deserialize, Serialize};

use super::similarity::{Confirm, Similarity};
use crate::fingerprint::{Check, Contained};

/// How well a page covers another one. Ordered by the share that is missing, if a check tells it, then by distance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Coverage {
    /// The ten-thousandths of the other page's text that are missing, as far as they count in comparisons.
    missing: u16,
    pub distance: u8,
    /// How many shingles of the other page it lacks. It does not count in comparisons.
    pub(super) lacking: u32,
    /// How many more it could lack. It does not count in comparisons.
    pub(super) slack: u32,
    /// What the check gives: the containment, or how alike the pages are. It does not count in comparisons.
    share: Similarity,
    /// How alike both pages are: the greater of both shares. It does not count in comparisons.
    similarity: Similarity,
}

impl Coverage {
    /// That of a page and its copy.
    pub(super) const SAME: Coverage = Coverage {
        missing: 0,
        distance: 0,
        lacking: 0,
        slack: u32::MAX,
        share: Similarity::SAME,
        similarity: Similarity::SAME,
    };
    /// Stands for a kept group; no page covers another one as badly.
    pub(super) const KEPT: Coverage = Coverage { missing: u16::MAX, ..Coverage::SAME };
    /// Stands for a dropped group that no kept group of the batch covers, likewise.
    pub(super) const ALONE: Coverage = Coverage { missing: u16::MAX - 1, ..Coverage::SAME };

    /// A page at this `distance` that contains so much of the other one, of which at least the share `least` is asked for.
    fn containing(contained: Contained, least: f64, distance: u8) -> Coverage {
        let share = Similarity::of_share(contained.shared.into(), contained.all.into());
        let [lacking, slack] = [contained.lacking(), contained.slack(least)]
            .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        Coverage { missing: share.missing(), distance, lacking, slack, share, similarity: share }
    }

    /// A page that is alike by a check without a direction. Where pages meet by shared keys, the most alike are the nearest.
    fn alike(share: Similarity, distance: u8, check: Check) -> Coverage {
        let missing = if check.is_whole() { share.missing() } else { 0 };
        Coverage { missing, share, similarity: share, ..Coverage::near(distance) }
    }

    /// A page at this distance of which nothing else is known.
    pub fn near(distance: u8) -> Coverage {
        Coverage { distance, ..Coverage::SAME }
    }

    pub fn share(self) -> Similarity {
        self.share
    }

    pub(super) fn similarity(self) -> Similarity {
        self.similarity
    }

    fn key(self) -> (u16, u8) {
        (self.missing, self.distance)
    }
}

impl PartialEq for Coverage {
    fn eq(&self, other: &Coverage) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Coverage {}

impl PartialOrd for Coverage {
    fn partial_cmp(&self, other: &Coverage) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Coverage {
    fn cmp(&self, other: &Coverage) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// A page that can cover another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Covering {
    /// The share of the other page that it holds, where a check says that.
    pub containment: Option<Similarity>,
}

/// How well each of two pages covers the other one; none in a direction in which a page cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Coverages {
    /// How well the second page covers the first one.
    pub of_first: Option<Coverage>,
    /// How well the first page covers the second one.
    pub of_second: Option<Coverage>,
}

impl Coverages {
    /// What a check says of two pages with these signatures, at this distance.
    pub fn by(confirm: &Confirm, one: &[u8], another: &[u8], distance: u8) -> Coverages {
        match confirm.check.containment(one, another) {
            Some(contained) => Coverages::containing(contained, confirm.least, distance),
            None => {
                let similarity = confirm.check.similarity(one, another);
                let coverage =
                    Coverage::alike(Similarity::nearest(similarity), distance, confirm.check);
                let is_enough = similarity >= confirm.least;
                if is_enough { Coverages::mutual(coverage) } else { Coverages::default() }
            }
        }
    }

    /// What is said of two pages at this distance of which so much is `contained` in the other one, and at least this share must be.
    pub(super) fn containing(contained: [Contained; 2], least: f64, distance: u8) -> Coverages {
        let [of_first, of_second] = contained
            .map(|it| it.is_at_least(least).then(|| Coverage::containing(it, least, distance)));
        let similarity = Coverages { of_first, of_second }.share();
        let both = [of_first, of_second].map(|it| Some(Coverage { similarity, ..it? }));
        Coverages { of_first: both[0], of_second: both[1] }
    }

    /// Each page covers the other one as well.
    pub fn mutual(coverage: Coverage) -> Coverages {
        Coverages { of_first: Some(coverage), of_second: Some(coverage) }
    }

    pub(super) fn turned(self) -> Coverages {
        Coverages { of_first: self.of_second, of_second: self.of_first }
    }

    pub fn any(self) -> bool {
        self.of_first.is_some() || self.of_second.is_some()
    }

    /// The greater of both shares.
    pub fn share(self) -> Similarity {
        let shares = self.of_first.into_iter().chain(self.of_second).map(Coverage::share);
        shares.max().unwrap_or(Similarity::missing_of(Similarity::WHOLE))
    }
}
