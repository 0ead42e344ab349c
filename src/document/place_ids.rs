//! Which records get their places as ids.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Kind, Result};

/// Which records get their places as ids: the path of the file below the input folder, a colon, and the line or the number of
/// the record, such as `news/part-3.jsonl:17`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaceIds {
    /// None: a record without an id cannot be read.
    #[default]
    Never,
    /// Each record without an id.
    Missing,
    /// All records, whatever ids they have.
    All,
}

impl PlaceIds {
    /// All three, in the order of the help.
    pub const CHOICES: [PlaceIds; 3] = [PlaceIds::Missing, PlaceIds::Never, PlaceIds::All];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PlaceIds::Never => "false",
            PlaceIds::Missing => "true",
            PlaceIds::All => "all",
        }
    }

    /// Whether a record may lack an id.
    pub(super) fn fill(self) -> bool {
        self != PlaceIds::Never
    }
}

impl FromStr for PlaceIds {
    type Err = Error;

    fn from_str(name: &str) -> Result<PlaceIds> {
        PlaceIds::CHOICES.into_iter().find(|it| it.name() == name).ok_or_else(|| {
            Error::new(Kind::Usage, "no such choice of records")
                .expected("true (records without an id), all (all records) or false")
                .found(name)
        })
    }
}

impl fmt::Display for PlaceIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
