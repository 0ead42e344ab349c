//! How well one page can stand for another: which share of the text of the other page it contains.
//!
//! The share has a direction. Of a page and the same page with three more chapters, the longer one can stand for
//! the shorter one, and the shorter one cannot stand for the longer one. Where nothing but fingerprints is known, any page
//! within k bits can stand for the other one.

use serde::{Deserialize, Serialize};

use super::nearness::Nearness;
use super::similarity::{Confirm, Similarity};
use crate::fingerprint::{Check, Contained};

/// How well a page stands for another one. Ordered by the share of the text that is missing, where a check tells that
/// share, then by distance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The ten-thousandths of the other page's text that are missing, as far as they count in comparisons.
    missing: u16,
    /// The Hamming distance.
    pub(crate) distance: u8,
    /// How many shingles of the other page it lacks. It does not count in comparisons.
    pub(super) lacking: u32,
    /// How many more it could lack. It does not count in comparisons.
    pub(super) slack: u32,
    /// What the check gives: the containment, or how alike the pages are. It does not count in comparisons.
    share: Similarity,
    /// How alike both pages are: the greater of both shares. It does not count in comparisons.
    similarity: Similarity,
}

impl Standing {
    /// A page at this `distance` that contains so much of the other one, of which at least the share `least` is asked for.
    fn containing(contained: Contained, least: f64, distance: u8) -> Standing {
        let share = Similarity::of_share(contained.shared.into(), contained.all.into());
        let [lacking, slack] = [contained.lacking(), contained.slack(least)]
            .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        Standing { missing: share.missing(), distance, lacking, slack, share, similarity: share }
    }

    /// A page at this `distance` that is alike by a check without a direction. Where pages meet by shared keys, the most alike are the
    /// nearest.
    fn alike(share: Similarity, distance: u8, check: Check) -> Standing {
        let missing = if check.is_whole() { share.missing() } else { 0 };
        Standing { missing, share, similarity: share, ..Standing::near(distance) }
    }

    /// A page at this distance of which nothing else is known.
    pub(crate) fn near(distance: u8) -> Standing {
        Standing { distance, ..Standing::SAME }
    }

    /// What the check gives: the containment, or how alike the pages are.
    pub(crate) fn share(self) -> Similarity {
        self.share
    }

    /// How alike both pages are: the greater of both shares.
    pub(super) fn similarity(self) -> Similarity {
        self.similarity
    }

    /// What decides comparisons.
    fn key(self) -> (u16, u8) {
        (self.missing, self.distance)
    }
}

impl PartialEq for Standing {
    fn eq(&self, other: &Standing) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Standing {}

impl PartialOrd for Standing {
    fn partial_cmp(&self, other: &Standing) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Standing {
    fn cmp(&self, other: &Standing) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Nearness for Standing {
    const SAME: Standing = Standing {
        missing: 0,
        distance: 0,
        lacking: 0,
        slack: u32::MAX,
        share: Similarity::SAME,
        similarity: Similarity::SAME,
    };
    const KEPT: Standing = Standing { missing: u16::MAX, ..Standing::SAME };
    const ALONE: Standing = Standing { missing: u16::MAX - 1, ..Standing::SAME };
}

/// A page that can stand for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StandIn {
    /// The share of the other page that it holds, where a check says that.
    pub(crate) containment: Option<Similarity>,
}

/// How well each of two pages stands for the other one; none in a direction in which a page cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Standings {
    /// How well the second page stands for the first one.
    pub(crate) of_first: Option<Standing>,
    /// How well the first page stands for the second one.
    pub(crate) of_second: Option<Standing>,
}

impl Standings {
    /// What a check says of two pages with these signatures, at this distance.
    pub(crate) fn by(confirm: &Confirm, one: &[u8], another: &[u8], distance: u8) -> Standings {
        match confirm.check.containment(one, another) {
            Some(contained) => Standings::containing(contained, confirm.least, distance),
            None => {
                let similarity = confirm.check.similarity(one, another);
                let standing =
                    Standing::alike(Similarity::nearest(similarity), distance, confirm.check);
                let is_enough = similarity >= confirm.least;
                if is_enough { Standings::mutual(standing) } else { Standings::default() }
            }
        }
    }

    /// What is said of two pages at this distance of which so much is `contained` in the other one, and at least this share must be.
    pub(super) fn containing(contained: [Contained; 2], least: f64, distance: u8) -> Standings {
        let [of_first, of_second] = contained
            .map(|it| it.is_at_least(least).then(|| Standing::containing(it, least, distance)));
        let similarity = Standings { of_first, of_second }.share();
        let both = [of_first, of_second].map(|it| Some(Standing { similarity, ..it? }));
        Standings { of_first: both[0], of_second: both[1] }
    }

    /// Each page stands for the other one as well.
    pub(crate) fn mutual(standing: Standing) -> Standings {
        Standings { of_first: Some(standing), of_second: Some(standing) }
    }

    /// The same of the two pages in the other order.
    pub(super) fn turned(self) -> Standings {
        Standings { of_first: self.of_second, of_second: self.of_first }
    }

    /// Whether one page can stand for the other one.
    pub(crate) fn any(self) -> bool {
        self.of_first.is_some() || self.of_second.is_some()
    }

    /// The greater of both shares.
    pub(crate) fn share(self) -> Similarity {
        let shares = self.of_first.into_iter().chain(self.of_second).map(Standing::share);
        shares.max().unwrap_or(Similarity::missing_of(Similarity::WHOLE))
    }
}
