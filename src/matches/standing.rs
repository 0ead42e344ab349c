//! How well one page can stand for another: which share of the text of the other page it holds.
//!
//! The share has a direction. Of a page and the same page with three more chapters, the longer one can stand for
//! the shorter one, and the shorter one cannot stand for the longer one. Where nothing but fingerprints is known, any page
//! within k bits can stand for the other one.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::nearness::Nearness;
use super::similarity::{Confirm, Similarity};
use crate::fingerprint::HeldShare;
use crate::results::ResultColumn;

/// The share of which `doubt` is told, whatever the least share is: more than a tenth of the text is lost.
const TENTH: f64 = 0.9;

/// How well a page stands for another one. Ordered by the share of the text that is missing, where a check tells that
/// share, then by distance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The ten-thousandths of the other page's text that are missing, as far as they count in comparisons.
    missing: u16,
    /// The Hamming distance.
    pub(crate) distance: u8,
    /// How likely it is that more than a tenth is missing, in 255ths. It does not count in comparisons.
    pub(super) doubt: u8,
    /// What the check gives: the share that is held, or how alike the pages are. It does not count in comparisons.
    share: Similarity,
}

impl Standing {
    /// A page at this `distance` that holds a share of the other one.
    pub(super) fn holding(share: Similarity, distance: u8, doubt: f64) -> Standing {
        let doubt = (doubt * f64::from(u8::MAX)).round() as u8;
        Standing { missing: share.missing(), distance, doubt, share }
    }

    /// A page at this `distance` that is alike by a check without a direction.
    pub(super) fn alike(share: Similarity, distance: u8) -> Standing {
        Standing { share, ..Standing::near(distance) }
    }

    /// A page at this distance of which nothing else is known.
    pub(crate) fn near(distance: u8) -> Standing {
        Standing { distance, ..Standing::SAME }
    }

    /// What the check gives: the share of the text that is held, or how alike the pages are.
    pub(crate) fn share(self) -> Similarity {
        self.share
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

impl Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.distance, f)
    }
}

/// Its column is the distance.
impl Nearness for Standing {
    const COLUMN: ResultColumn = u8::COLUMN;
    const SAME: Standing = Standing { missing: 0, distance: 0, doubt: 0, share: Similarity::SAME };
    const KEPT: Standing = Standing { missing: u16::MAX, ..Standing::SAME };
    const ALONE: Standing = Standing { missing: u16::MAX - 1, ..Standing::SAME };

    fn read(text: &str) -> Option<Standing> {
        u8::read(text).map(Standing::near)
    }

    fn distance(self) -> Option<u32> {
        self.distance.distance()
    }
}

/// How likely it is that a page has less than nine tenths of a text.
fn doubt(HeldShare { held, error }: HeldShare) -> f64 {
    if error == 0.0 {
        return f64::from(u8::from(held < TENTH));
    }
    0.5 * libm::erfc((held - TENTH) / (error * std::f64::consts::SQRT_2))
}

/// A page that can stand for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StandIn {
    /// The share of the other page that it holds, where a check says that.
    pub(crate) held: Option<Similarity>,
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
        Standings::of_shares(confirm, confirm.check.shares(one, another), distance)
    }

    /// What these shares say of two pages at this distance: those of the first and of the second page that the other one holds.
    pub(super) fn of_shares(confirm: &Confirm, shares: [HeldShare; 2], distance: u8) -> Standings {
        let [of_first, of_second] = shares.map(|share| {
            let held = Similarity::nearest(share.held);
            confirm.is_enough(share).then(|| match confirm.has_direction() {
                true => Standing::holding(held, distance, doubt(share)),
                false => Standing::alike(held, distance),
            })
        });
        Standings { of_first, of_second }
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
