//! How far apart the pages of a match are: a distance in bits, or a similarity.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::named;

/// What the matches of a clustering are measured in. Either is counted as a whole number that grows as pages
/// lie farther apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Bits in which two fingerprints differ.
    Distance,
    /// A share from 0 to 1 with four decimals; counted as ten-thousandths that are missing to 1.
    Similarity,
}

named!(pub(super) Measure { Distance = "distance", Similarity = "similarity" });

/// A similarity of 1, in ten-thousandths.
const WHOLE: u32 = 10_000;

impl Measure {
    /// Reads a value of the column.
    pub(super) fn read(self, text: &str) -> Option<u32> {
        match self {
            Measure::Distance => text.parse().ok().filter(|&bits| bits <= 1 << 16),
            Measure::Similarity => {
                let (whole, decimals) = text.split_once('.')?;
                let share = whole.parse::<u32>().ok()?.checked_mul(WHOLE)?;
                let digits = decimals.len() == 4 && decimals.bytes().all(|it| it.is_ascii_digit());
                let decimals: u32 = decimals.parse().ok().filter(|_| digits)?;
                WHOLE.checked_sub(share.checked_add(decimals)?)
            }
        }
    }

    /// The value of the column, for a report.
    pub(super) fn value(self, apart: u32) -> Value {
        match self {
            Measure::Distance => apart.into(),
            Measure::Similarity => {
                (f64::from(WHOLE.saturating_sub(apart)) / f64::from(WHOLE)).into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        assert_eq!(Measure::Distance.read("7"), Some(7));
        assert_eq!(Measure::Similarity.read("0.8125"), Some(1875));
        assert_eq!(Measure::Similarity.value(1875), 0.8125);
        assert_eq!(Measure::Similarity.read("1.0000"), Some(0));
        for wrong in ["1.0001", "0.5", ".5000", "0.+500", "-0.5000", "NaN", "2.0000", ""] {
            assert_eq!(Measure::Similarity.read(wrong), None, "{wrong}");
        }
        assert_eq!(Measure::Distance.read("-1"), None);
    }
}
