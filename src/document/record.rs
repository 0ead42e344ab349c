//! A record of the input as read: where it stands and what it holds.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::time::Time;

/// A page as read; it borrows from its [`Batch`] what need not be copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// Its id: not empty, and without tab, CR, LF and NUL.
    pub id: Cow<'a, str>,
    /// When it was fetched, where the record says so.
    pub time: Time,
    /// What it holds.
    pub content: Content<'a>,
    /// The record itself, as it stands in its file: a line without its end, or the whole file.
    pub record: &'a [u8],
}

/// What a document holds, by the format of its file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// Text, from which features are to be made.
    Text(Cow<'a, str>),
    /// Features ready made: name and finite weight, in the order of the file, perhaps repeated.
    Features(Vec<(&'a str, f64)>),
    /// A fingerprint ready made, within the width asked for.
    Fingerprint(u128),
}

impl Content<'_> {
    /// XXH3-64 of what it holds: equal for equal contents.
    pub fn digest(&self) -> u64 {
        match self {
            Content::Text(text) => xxh3_64(text.as_bytes()),
            Content::Fingerprint(fingerprint) => xxh3_64(&fingerprint.to_le_bytes()),
            Content::Features(features) => {
                let mut hasher = Xxh3::new();
                for (name, weight) in features {
                    hasher.update(&(name.len() as u64).to_le_bytes());
                    hasher.update(name.as_bytes());
                    hasher.update(&weight.to_bits().to_le_bytes());
                }
                hasher.digest()
            }
        }
    }

    /// The length of the text in UTF-8 bytes; what came ready made has none.
    pub fn text_bytes(&self) -> u64 {
        match self {
            Content::Text(text) => text.len() as u64,
            Content::Features(_) | Content::Fingerprint(_) => 0,
        }
    }
}

/// Where a record stands. Positions in order are the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The index of the file in [`Inputs::files`].
    pub file: u32,
    /// The line, counted from 1; 0 where the file as a whole is the record.
    pub line: u64,
}

impl Position {
    /// Whether the record is a whole file.
    pub fn is_file(self) -> bool {
        self.line == 0
    }
}
