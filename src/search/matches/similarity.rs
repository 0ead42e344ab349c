//! How alike two documents are by their sketches, and how alike they must be to match.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Stamp};
use crate::store::{Column, RowBytes, Segment};

/// The least similarity of a match, unless another one is given.
const LEAST: f64 = 0.75;

/// The least share of a page that a kept page must contain for it to be dropped, unless another one is given.
const LEAST_CONTAINED: f64 = 0.9;

/// The check that confirms candidates, and the least similarity. Written as the name of the check,
/// optionally followed by the least similarity: `minhash:0.75`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirm {
    pub check: Check,
    /// The least similarity, from 0 to 1.
    pub least: f64,
    /// Whether the check was named without its size, such as `minhash`.
    has_any_size: bool,
}

/// How alike two documents are by their sketches: from 0 to 1, in ten-thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Similarity(u16);

impl Similarity {
    /// The least similarity of pages that overlap, unless another one is asked for.
    pub const USUAL: Similarity = Similarity(8_000);

    /// That of a page and its copy.
    pub(crate) const SAME: Similarity = Similarity(Similarity::WHOLE);

    /// The ten-thousandths of 1.
    pub(super) const WHOLE: u16 = 10_000;

    /// `shared` of `all`, rounded half up from the exact ratio; 1 of nothing.
    pub(crate) fn of_share(shared: u64, all: u64) -> Similarity {
        let whole = u128::from(Similarity::WHOLE);
        let [shared, all] = [shared, all].map(u128::from);
        Similarity((2 * whole * shared + all).checked_div(2 * all).unwrap_or(whole) as u16)
    }

    /// The nearest one to a number, which is taken as 0 if it is below 0 or not a number, and as 1 if it is above 1.
    pub fn nearest(number: f64) -> Similarity {
        let whole = f64::from(Similarity::WHOLE);
        Similarity((number.clamp(0.0, 1.0) * whole + 0.5).floor() as u16)
    }

    pub fn number(self) -> f64 {
        f64::from(self.0) / f64::from(Similarity::WHOLE)
    }

    /// The ten-thousandths that are missing to 1.
    pub(super) fn missing(self) -> u16 {
        Similarity::WHOLE - self.0
    }

    /// The similarity to which so many ten-thousandths are missing.
    pub(super) const fn missing_of(missing: u16) -> Similarity {
        Similarity(Similarity::WHOLE - missing)
    }
}

impl FromStr for Similarity {
    type Err = Error;

    fn from_str(text: &str) -> Result<Similarity> {
        let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
        let nearest = number.map(|number| (Similarity::nearest(number), number));
        let exact = nearest.filter(|(nearest, number)| (nearest.number() - number).abs() < 1e-9);
        exact.map(|(similarity, _)| similarity).ok_or_else(|| {
            Error::new(Kind::Usage, "not a similarity")
                .expected("a number from 0 to 1 with at most four decimals")
                .found(text)
        })
    }
}

impl Confirm {
    pub fn new(check: Check, least: f64) -> Confirm {
        Confirm { check, least, has_any_size: false }
    }

    /// For a batch with this stamp: a check that was named without its size takes the signatures that the batch has.
    #[must_use]
    pub fn fitting(self, stamp: &str) -> Confirm {
        let kept = Stamp::parse(stamp).and_then(|stamp| stamp.check()).ok().flatten();
        match kept.filter(|kept| self.has_any_size && kept.is_like(self.check)) {
            Some(kept) => Confirm::new(kept, self.least),
            None => self,
        }
    }

    /// Whether the check tells which of two pages contains the other one. Then the longest pages come first.
    pub fn has_direction(&self) -> bool {
        self.check.has_direction()
    }

    /// Whether only pages of one class can match: unless the check compares whole texts of any length, as those of whole pages do.
    pub fn needs_one_class(&self) -> bool {
        !self.check.is_whole()
    }

    pub(super) fn signatures(&self, segment: &Segment) -> Result<RowBytes> {
        let lacking = || {
            Error::new(Kind::BadData, "the segment lacks the sketches of its recipe")
                .at(segment.path())
                .expected(format!("{} bytes for each document", self.check.bytes()))
                .found(segment.row_bytes(Column::Checks))
        };
        let is_own = segment.row_bytes(Column::Checks) == self.check.bytes();
        segment.checks().filter(|_| is_own).ok_or_else(lacking)
    }
}

impl fmt::Display for Similarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:04}", self.0 / 10_000, self.0 % 10_000)
    }
}

impl fmt::Display for Confirm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.check, self.least)
    }
}

impl FromStr for Confirm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Confirm> {
        let (name, least) =
            text.split_once(':').map_or((text, None), |(name, least)| (name, Some(least)));
        let check: Check = name.parse()?;
        let usual = if check.has_direction() { LEAST_CONTAINED } else { LEAST };
        let share = |least: &str| match least.strip_suffix('%') {
            Some(percent) => format!("{percent}e-2").parse().ok(),
            None => least.parse().ok(),
        };
        let least = least.map_or(Some(usual), share);
        let least = least.filter(|least| (0.0..=1.0).contains(least)).ok_or_else(|| {
            Error::new(Kind::Usage, "not a least similarity")
                .expected("a number from 0 to 1 after the name of the check, such as minhash:0.75")
                .found(text)
        })?;
        let has_any_size = Check::is_without_size(name);
        Ok(Confirm { has_any_size, ..Confirm::new(check, least) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Recipe;

    #[test]
    fn a_check_reads_back_and_what_is_none_is_refused() {
        for text in ["minhash-64x8:0.5", "containment:1", "sentences-5:0"] {
            assert_eq!(text.parse::<Confirm>().unwrap().to_string(), text);
        }
        let least = |name: &str| name.parse::<Confirm>().unwrap().least;
        assert_eq!([least("minhash"), least("containment")], [LEAST, LEAST_CONTAINED]);
        for wrong in
            ["", "minhash:", "minhash:1.1", "minhash:-1", "minhash:NaN", "minhash:0.5:1", "x:0.5"]
        {
            assert_eq!(wrong.parse::<Confirm>().unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
        let shown = [Similarity(10_000), Similarity(53)].map(|it| it.to_string());
        assert_eq!(shown, ["1.0000", "0.0053"]);
    }

    #[test]
    fn a_check_without_its_size_takes_the_size_that_is_kept() {
        let kept = |check: &str| {
            let recipe = Recipe::named("wide", None).unwrap();
            recipe.with_check(check.parse().unwrap()).unwrap().stamp()
        };
        for (asked, kept_check, fitting) in [
            // Signatures of another size cannot be made from these.
            ("minhash-128x2:0.8", "minhash-64x2", "minhash-128x2:0.8"),
            ("minhash:0.8", "containment", "minhash-512x2:0.8"),
            ("containment:0.8", "containment", "containment:0.8"),
            ("minhash:0.8", "minhash-64x2", "minhash-64x2:0.8"),
        ] {
            let asked: Confirm = asked.parse().unwrap();
            assert_eq!(asked.fitting(kept(kept_check).as_str()).to_string(), fitting);
        }
        let paper = Recipe::named("words", None).unwrap().stamp();
        let asked: Confirm = "minhash:0.8".parse().unwrap();
        assert_eq!(asked.fitting(paper.as_str()), asked);
    }

    #[test]
    fn shares_are_rounded_half_up() {
        let of = |shared, all| Similarity::of_share(shared, all).to_string();
        assert_eq!(
            [of(1, 3), of(2, 3), of(0, 7), of(0, 0)],
            ["0.3333", "0.6667", "0.0000", "1.0000"]
        );
        assert_eq!(
            [of(1, 20_000), of(1, 20_001), of(u64::MAX, u64::MAX)],
            ["0.0001", "0.0000", "1.0000"]
        );
        let nearest = [0.00005, -0.5, 2.0, f64::NAN].map(|it| Similarity::nearest(it).0);
        assert_eq!(nearest, [1, 0, 10_000, 0]);
    }

    #[test]
    fn a_similarity_reads_back_and_what_is_none_is_refused() {
        for text in ["0.8000", "1.0000", "0.0001", "0.0000"] {
            assert_eq!(text.parse::<Similarity>().unwrap().to_string(), text);
        }
        for wrong in ["", "1.1", "-0.1", "NaN", "0.80001", "80%"] {
            assert_eq!(wrong.parse::<Similarity>().unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
    }
}
