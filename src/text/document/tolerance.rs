//! How many bad or repeated records a job accepts before it fails.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Kind, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    Count(u64),
    Percent(f64),
}

impl Tolerance {
    pub const BAD: Tolerance = Tolerance::Percent(1.0);
    /// The default for repeated ids. With a wrong id field nearly all ids are repeated.
    pub const REPEATED: Tolerance = Tolerance::Percent(50.0);

    pub fn exceeded(self, some: u64, read: u64) -> bool {
        match self {
            Tolerance::Count(most) => some > most,
            Tolerance::Percent(most) => some as f64 * 100.0 > most * read as f64,
        }
    }
}

impl FromStr for Tolerance {
    type Err = Error;

    fn from_str(text: &str) -> Result<Tolerance> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number >= 0.0);
        let tolerance = match text.strip_suffix('%') {
            Some(percent) => number(percent).filter(|p| *p <= 100.0).map(Tolerance::Percent),
            None => number(text)
                .filter(|count| count.fract() == 0.0 && *count < 2f64.powi(53))
                .map(|count| Tolerance::Count(count as u64)),
        };
        tolerance.ok_or_else(|| {
            Error::new(Kind::Usage, "not a number or share of records")
                .expected("a count such as 100, or a share such as 1%")
                .found(format_args!("{text:?}"))
        })
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tolerance::Count(count) => write!(f, "{count}"),
            Tolerance::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_a_count_or_a_share() {
        for text in ["0", "100", "1%", "0.5%", "7%", "100%"] {
            assert_eq!(text.parse::<Tolerance>().unwrap().to_string(), text);
        }
        assert_eq!("1e6".parse::<Tolerance>().unwrap(), Tolerance::Count(1_000_000));
        assert_eq!("1%".parse::<Tolerance>().unwrap(), Tolerance::BAD);
        for text in ["", "%", "-1", "1.5", "101%", "nan", "inf", "NaN%", "many", "1e300"] {
            assert_eq!(text.parse::<Tolerance>().unwrap_err().kind(), Kind::Usage, "{text}");
        }
    }
}
