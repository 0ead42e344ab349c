//! What earlier runs know of the contents of files, so that a rerun need not read files that are as they were: a note beside an
//! output.
//!
//! ```text
//! dupsieve inputs 1
//! 77c1e5af36d2ab6e01f1fd34fe1aa3c2 5be9f8e2b4b1f0a2cbd1cf13fa8f2d3e   the state of a file, and the digest of its contents
//! 1c0e4f5a0b8a9d3377a0a4c93d0a63fe                                    the digest of all this
//! ```
//!
//! The state of a file is a digest of its inode, size and times; that of an object is one of its address, size and ETag. A note is
//! advice: without one, or with one that is damaged, files are read. A file that was changed shortly before it was found is
//! left out, because a further change might leave the times as they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::inputs::Input;
use crate::error::{At, Kind, Result};
use crate::output::{NewFile, inputs_note};
use crate::small_file;

/// The first line of a note.
const HEAD: &str = "dupsieve inputs 1\n";

/// The most bytes of a note: some four million files.
const MOST_BYTES: u64 = 300 << 20;

/// Digests of the contents of files, by the states that they were in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(BTreeMap<u128, u128>);

impl FromIterator<(u128, u128)> for Known {
    fn from_iter<I: IntoIterator<Item = (u128, u128)>>(known: I) -> Known {
        Known(known.into_iter().collect())
    }
}

impl Known {
    /// What the note beside `output` says; nothing, if there is none that can be read.
    pub fn beside(output: &Path) -> Known {
        let path = inputs_note(output);
        let text = path.is_file().then(|| small_file::read_text(&path, MOST_BYTES, Kind::BadData));
        text.and_then(Result::ok).and_then(|text| Known::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Known> {
        let number = |text: &str| u128::from_str_radix(text, 16).ok();
        let start = text.trim_end().rfind('\n')? + 1;
        let (lines, end) = text.split_at(start);
        if number(end.trim_end())? != xxh3_128(lines.as_bytes()) {
            return None;
        }
        let pair = |line: &str| {
            let (state, digest) = line.split_once(' ')?;
            Some((number(state)?, number(digest)?))
        };
        lines.strip_prefix(HEAD)?.lines().map(pair).collect::<Option<_>>().map(Known)
    }

    /// Leaves a note beside `output` that says this, unless one does.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn leave(&self, output: &Path) -> Result<()> {
        if Known::beside(output) == *self {
            return Ok(());
        }
        let mut text = HEAD.to_owned();
        for (state, digest) in &self.0 {
            // Text takes whatever is written.
            let _ = writeln!(text, "{state:032x} {digest:032x}");
        }
        let end = xxh3_128(text.as_bytes());
        let _ = writeln!(text, "{end:032x}");
        let path = inputs_note(output);
        let mut file = NewFile::beside(&path)?;
        file.write_all(text.as_bytes()).at(&path)?;
        file.publish()
    }

    /// What is known of a file with this digest; nothing, if a later change might leave its state as it is.
    pub(super) fn of(file: &Input, digest: u128) -> Option<(u128, u128)> {
        Some((file.origin().sign().filter(|_| file.origin().is_at_rest())?, digest))
    }

    /// The digest of the contents of a file, if it is in a state that is known.
    pub(super) fn digest(&self, file: &Input) -> Option<u128> {
        self.0.get(&file.origin().sign()?).copied()
    }
}
