//! The elements of a text, of which its set is made: runs of words or of characters.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Kind, Result};
use crate::features::shingles;
use crate::fingerprint::check::{NORMALISE, NORMALISE_WORDS};

/// What an element of a text is. Case and white space do not count, and for words neither do digits and
/// markup. A text that is shorter than a run is one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shingle {
    /// So many words; a character of Han is a word.
    Words(usize),
    /// So many characters, of which one at least is a letter or a digit.
    Characters(usize),
}

impl Shingle {
    /// The elements unless others are asked for.
    pub const USUAL: Shingle = Shingle::Words(5);

    const LONGEST: usize = 64;

    /// Calls `element` with a hash of each element of `text`, in order. `prepared` is a buffer.
    pub(super) fn each(self, text: &str, prepared: &mut String, mut element: impl FnMut(u64)) {
        match self {
            Shingle::Words(length) => {
                NORMALISE_WORDS.apply(text, prepared);
                shingles::plain_word_runs(prepared, length, element);
            }
            Shingle::Characters(length) => {
                NORMALISE.apply(text, prepared);
                shingles::characters(prepared, length, |run| element(xxh3_64(run.as_bytes())));
            }
        }
    }
}

impl fmt::Display for Shingle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shingle::Words(length) => write!(f, "words:{length}"),
            Shingle::Characters(length) => write!(f, "characters:{length}"),
        }
    }
}

impl FromStr for Shingle {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shingle> {
        let (name, length) = text.split_once(':').unwrap_or((text, ""));
        let length = length.parse().ok().filter(|length| (1..=Shingle::LONGEST).contains(length));
        match (name, length) {
            ("words", Some(length)) => Ok(Shingle::Words(length)),
            ("characters", Some(length)) => Ok(Shingle::Characters(length)),
            _ => Err(Error::new(Kind::Usage, "not a sort of shingle")
                .expected("words:N or characters:N, with N from 1 to 64")
                .found(text)),
        }
    }
}
