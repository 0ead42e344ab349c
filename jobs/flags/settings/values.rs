//! Values of flags: sizes, counts and widths, written alike on the command line and in files.

use std::fmt::{self, Display};
use std::str::FromStr;

use dupsieve::fingerprint::Width;
use dupsieve::{Error, Kind, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// A number of bytes, such as `4096`, `64MiB` or `2GB`. (The crate `bytesize` reads other texts: it takes `2G`,
/// `64mib` and `0`, and refuses `2e3`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) u64);

/// A count, such as `100` or `8e9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

/// A share from 0 to 1, such as `0.9` or `90%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

/// A value of a file, read as the flag of the same name is read. In the file it may be a number or text.
pub(crate) mod typed {
    use super::*;

    pub(crate) fn deserialize<'de, D, T>(file: D) -> Result<Option<T>, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        let text = match Option::deserialize(file)? {
            None => return Ok(None),
            Some(toml::Value::String(text)) => text,
            Some(toml::Value::Float(number)) if number.fract() == 0.0 => format!("{number:.0}"),
            Some(value) => value.to_string(),
        };
        text.parse().map(Some).map_err(D::Error::custom)
    }

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<impl Display>,
        file: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => file.collect_str(value),
            None => file.serialize_none(),
        }
    }
}

impl Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ByteSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<ByteSize> {
        const UNITS: [(&str, u64); 9] = [
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("TiB", 1 << 40),
            ("kB", 1000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("TB", 1_000_000_000_000),
            ("", 1),
        ];
        let (number, unit) = UNITS
            .into_iter()
            .find_map(|(name, bytes)| Some((text.strip_suffix(name)?.trim_end(), bytes)))
            .unwrap_or((text, 1));
        let bytes = number.parse().ok().map(|number: f64| number * unit as f64);
        let whole =
            bytes.filter(|bytes| bytes.fract() == 0.0 && (1.0..2_f64.powi(63)).contains(bytes));
        whole.map(|bytes| ByteSize(bytes as u64)).ok_or_else(|| {
            Error::new(Kind::Usage, "invalid size")
                .expected("more than 0, such as 64MiB or 2GB")
                .found(text)
        })
    }
}

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Share, &'static str> {
        let share = match text.strip_suffix('%') {
            Some(percent) => format!("{percent}e-2").parse().ok(),
            None => text.parse().ok(),
        };
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        share.map(Share).ok_or("expected a share from 0 to 1, such as 0.9 or 90%")
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Count, String> {
        parse_count(text).map(Count)
    }
}

/// Reads a count, which may be written as 8e9 or 1.5e6.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || {
        let zeros = exponent.parse::<u32>().ok()?.checked_sub(fraction.len() as u32)?;
        let plain = |digit: char| digit.is_ascii_digit();
        let number = (whole.starts_with(plain) && fraction.chars().all(plain))
            .then(|| [whole, fraction].concat())?;
        number.parse::<u64>().ok()?.checked_mul(10u64.checked_pow(zeros)?)
    };
    digits().ok_or_else(|| "expected a whole number such as 1000, 8e9 or 1.5e6".into())
}

pub(crate) fn parse_width(text: &str) -> Result<Width, String> {
    let width = text.parse().ok().and_then(Width::of_bits);
    width.ok_or_else(|| "expected 64 or 128".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_exactly_or_not_at_all() {
        for (text, bytes) in [("64MiB", 64 << 20), ("1.5GB", 1_500_000_000), ("2e3", 2000)] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "0", "0MiB", "-1", "1.5", "many", "1e30", "NaN", "9XB"] {
            assert!(ByteSize::from_str(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_is_a_number_or_a_percentage() {
        for (text, share) in [("0.9", 0.9), ("1", 1.0), ("95%", 0.95), ("66.6%", 0.666)] {
            assert_eq!(text.parse(), Ok(Share(share)), "{text}");
        }
        for text in ["", "%", "1.1", "101%", "-1%", "9e1%", "NaN", "nine"] {
            assert!(Share::from_str(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_may_be_written_short() {
        for (text, count) in [("0", 0), ("8e9", 8_000_000_000), ("1.5E6", 1_500_000), ("07", 7)] {
            assert_eq!(parse_count(text), Ok(count));
        }
        for text in ["", "e9", "-1", "+1", "1.5", "1.55e1", "1e20", "1e-1", "1 000", ".5e1", "1e"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
