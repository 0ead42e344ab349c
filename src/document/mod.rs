//! Pages in: which files there are, what they hold, and what of it cannot be read.
//!
//! ```text
//! Inputs -> Source (unpacked bytes) -> Batch (whole records) -- another thread --> Document, or the Reason why not
//! ```
//!
//! [`read`] does what has to be done in order, opening, unpacking and cutting; [`Batch::parse`] does
//! the rest on whichever thread has time. A record that cannot be read never stops the job: it is
//! handed on with its [`Position`] and a [`Reason`], to be quarantined and counted.

mod batch;
mod expand;
mod format;
mod ids;
mod inputs;
mod jsonl;
mod lines;
mod quarantine;
mod read;
mod ready;
mod repeated;
mod source;
mod time;
mod tolerance;
mod tsv;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Kind, Result};

pub use batch::Batch;
pub use format::Format;
pub use ids::IdList;
pub use inputs::{Contents, Input, Inputs, PassedOver};
pub use quarantine::{Quarantine, Quarantined, Reason};
pub use read::{ReadOptions, Share, Tally, read};
pub use repeated::{Place, Repeated};
pub use time::{Time, TimeKind, Times};
pub use tolerance::Tolerance;

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

impl Document<'_> {
    /// The names of the fields of its record, for a message, where the record is a JSON object; no more
    /// than the first few.
    pub fn fields_found(&self) -> String {
        jsonl::fields_found(str::from_utf8(self.record).unwrap_or_default())
    }
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

/// Which fields of a record are wanted, and how wide a ready-made fingerprint may be.
///
/// A name is a column of a `tsv` file, or a key of a `jsonl` object; `meta.url` is the key `url` of
/// the object `meta`, or the key `meta.url` itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The field of the id.
    pub id: String,
    /// The field of the text.
    pub text: String,
    /// The field of the time, if any is wanted.
    pub time: Option<String>,
    /// The width in bits of ready-made fingerprints.
    pub width_bits: u32,
}

impl Default for Fields {
    fn default() -> Fields {
        Fields { id: "id".into(), text: "text".into(), time: None, width_bits: 64 }
    }
}

impl Fields {
    /// The names that are wanted: id, text, time.
    fn names(&self) -> [Option<&str>; 3] {
        [Some(&self.id), Some(&self.text), self.time.as_deref()]
    }

    /// A [`Kind::Usage`] error unless every name is given and no two are the same.
    fn check(&self) -> Result<()> {
        let [id, text, time] = self.names();
        if [id, text, time].contains(&Some("")) {
            return Err(Error::new(Kind::Usage, "the name of a field is empty"));
        }
        if id == text || id == time || text == time {
            let found = format!("id {id:?}, text {text:?}, time {time:?}");
            return Err(Error::new(Kind::Usage, "two fields have the same name").found(found));
        }
        Ok(())
    }
}

/// The longest id, in bytes.
pub const MAX_ID_BYTES: usize = 1 << 16;

/// Refuses an id that could not stand in a line of a TSV file, or is too long.
fn check_id(id: &str) -> Result<(), Reason> {
    if id.len() > MAX_ID_BYTES {
        return Err(Reason::quoting(format!("the id is longer than {MAX_ID_BYTES} bytes"), id));
    }
    match id.bytes().any(|byte| matches!(byte, b'\t' | b'\r' | b'\n' | 0)) {
        true => Err(Reason::quoting("the id holds a tab, CR, LF or NUL", id)),
        false if id.is_empty() => Err("the id is empty".into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
