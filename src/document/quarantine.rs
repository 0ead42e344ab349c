//! What could not be read: where, why, and how much of it is borne.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Inputs, Position};
use crate::error::{Error, Kind, Result};
use crate::runs::Record;

/// Why a record cannot be read: a short phrase, the same for the same record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reason(Cow<'static, str>);

/// How many characters of a value a reason shows.
const SHOWN: usize = 48;

impl Reason {
    /// What is wrong, and the beginning of the value of which it is said.
    pub(super) fn quoting(what: &str, value: &str) -> Reason {
        let mut rest = value.escape_debug();
        let shown: String = rest.by_ref().take(SHOWN).collect();
        let more = if rest.next().is_some() { "..." } else { "" };
        Reason(Cow::Owned(format!("{what}: \"{shown}{more}\"")))
    }
}

impl From<&'static str> for Reason {
    fn from(phrase: &'static str) -> Reason {
        Reason(Cow::Borrowed(phrase))
    }
}

impl From<String> for Reason {
    fn from(phrase: String) -> Reason {
        Reason(Cow::Owned(phrase))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Quarantined {
    /// Where it stands.
    pub position: Position,
    /// What is wrong with it.
    pub reason: Reason,
}

impl Record for Quarantined {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.reason.0.len()
    }
}

/// The first line of `OUTPUT.quarantine.tsv`.
pub const QUARANTINE_HEADER: &str = "file\tline\treason\n";

impl Quarantined {
    /// Writes the record as a line of `OUTPUT.quarantine.tsv`, where line 0 stands for the file as a
    /// whole. A backslash, a control character and what is not UTF-8 are escaped in file names.
    pub fn write(&self, inputs: &Inputs, out: &mut dyn Write) -> io::Result<()> {
        let Quarantined { position, reason } = self;
        let file = escape(inputs.files()[position.file as usize].path());
        writeln!(out, "{file}\t{}\t{reason}", position.line)
    }
}

/// A path that fits into one field of a TSV file, readable as far as it can be.
fn escape(path: &Path) -> String {
    let mut escaped = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            match character.is_control() || character == '\\' {
                true => escaped.extend(character.escape_default()),
                false => escaped.push(character),
            }
        }
        escaped.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    escaped
}

/// How many bad records a job bears before it gives up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxBad {
    /// So many.
    Count(u64),
    /// So many in a hundred records read.
    Percent(f64),
}

impl MaxBad {
    /// Whether `bad` records among `read`, good and bad together, are too many.
    pub fn exceeded(self, bad: u64, read: u64) -> bool {
        match self {
            MaxBad::Count(most) => bad > most,
            MaxBad::Percent(most) => bad as f64 * 100.0 > most * read as f64,
        }
    }
}

impl Default for MaxBad {
    /// One in a hundred.
    fn default() -> MaxBad {
        MaxBad::Percent(1.0)
    }
}

impl FromStr for MaxBad {
    type Err = Error;

    /// Reads `100`, `1e6` or `0.5%`.
    fn from_str(text: &str) -> Result<MaxBad> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number >= 0.0);
        let max_bad = match text.strip_suffix('%') {
            Some(percent) => number(percent).filter(|p| *p <= 100.0).map(MaxBad::Percent),
            None => number(text)
                .filter(|count| count.fract() == 0.0 && *count < 2f64.powi(53))
                .map(|count| MaxBad::Count(count as u64)),
        };
        max_bad.ok_or_else(|| {
            Error::new(Kind::Usage, "how many bad records to bear cannot be read")
                .expected("a count such as 100, or a share such as 1%")
                .found(format_args!("{text:?}"))
        })
    }
}

impl fmt::Display for MaxBad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxBad::Count(count) => write!(f, "{count}"),
            MaxBad::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_reason_shows_a_little_of_the_value() {
        let reason = Reason::quoting("not a time", "a\tb").to_string();
        assert_eq!(reason, r#"not a time: "a\tb""#);
        let long = Reason::quoting("not a time", &"\u{7}".repeat(1000)).to_string();
        assert!(long.chars().count() <= 12 + SHOWN + 5 && long.ends_with("...\""), "{long}");
    }

    #[test]
    fn no_file_name_breaks_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let name = OsStr::from_bytes(b"\xe9\xa1\xb5 a\tb\nc\\d\xff");
        std::fs::write(folder.path().join(name), "").unwrap();
        let inputs = Inputs::find(&[folder.path().into()], Format::Text).unwrap();
        let position = Position { file: 0, line: 7 };
        let bad = Quarantined { position, reason: "the id is empty".into() };
        let mut table = Vec::new();
        bad.write(&inputs, &mut table).unwrap();
        let line =
            format!("{}/页 a\\tb\\nc\\\\d\\xff\t7\tthe id is empty\n", folder.path().display());
        assert_eq!(String::from_utf8(table).unwrap(), line);
    }

    #[test]
    fn a_quarantined_record_travels() {
        let position = Position { file: 3, line: 1 << 40 };
        let bad = Quarantined { position, reason: Reason::quoting("odd", "页") };
        let bytes = bincode::serialize(&bad).unwrap();
        assert_eq!(bincode::deserialize::<Quarantined>(&bytes).unwrap(), bad);
    }

    #[test]
    fn the_threshold_is_a_count_or_a_share() {
        for text in ["0", "100", "1%", "0.5%", "7%", "100%"] {
            assert_eq!(text.parse::<MaxBad>().unwrap().to_string(), text);
        }
        assert_eq!("1e6".parse::<MaxBad>().unwrap(), MaxBad::Count(1_000_000));
        assert_eq!("1%".parse::<MaxBad>().unwrap(), MaxBad::default());
        for text in ["", "%", "-1", "1.5", "101%", "nan", "inf", "NaN%", "many", "1e300"] {
            assert_eq!(text.parse::<MaxBad>().unwrap_err().kind(), Kind::Usage, "{text}");
        }
    }

    #[test]
    fn only_more_than_the_threshold_is_too_many() {
        let share = MaxBad::Percent(1.0);
        assert!(!share.exceeded(0, 0) && !share.exceeded(1, 100) && share.exceeded(2, 199));
        assert!(MaxBad::Percent(0.0).exceeded(1, u64::MAX));
        assert!(!MaxBad::Percent(100.0).exceeded(5, 5));
        assert!(!MaxBad::Count(5).exceeded(5, 5) && MaxBad::Count(5).exceeded(6, 6));
    }
}
