//! What the inputs are: the files that all processes must see alike, and what the files hold, which decides an output.
//!
//! The file `inputs` in the cache has a line for each time that inputs were read: 32 hexadecimal digits, a digest of the states of the
//! files (inode, size and times; of an object the address, size and `ETag`) and of the digest of their contents. Its lines are advice
//! for a rerun: inputs without a line are read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dupsieve::document::{FileContents, Inputs};
use dupsieve::error::Named;
use dupsieve::flow::{Read, ShareRead};
use dupsieve::report::Parameters;
use dupsieve::small_file;
use dupsieve::store::Digest;
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::flags::mounts;

pub(crate) const INPUTS: &str = "inputs";

/// The inputs that a process sees, to compare them with those of other processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listing {
    files: u64,
    bytes: u64,
    /// The digest of their paths, formats and sizes.
    names: Digest,
}

impl Listing {
    pub(super) fn of(inputs: &Inputs) -> Listing {
        let files = inputs.files().len() as u64;
        Listing { files, bytes: inputs.bytes(), names: Digest(inputs.names_digest()) }
    }

    /// Checks that these are the inputs that process 0 sees, by their names and sizes. Their contents are compared when they have been
    /// read.
    pub(crate) fn check(&self, expected: &Listing) -> Result<()> {
        if self == expected {
            return Ok(());
        }
        let told = |it: &Listing| {
            format!("{} files of {} bytes, names and sizes {}", it.files, it.bytes, it.names)
        };
        Err(Error::new(Kind::Missing, "this process sees other inputs than process 0")
            .expected(told(expected))
            .found(told(self))
            .help("put the inputs where all hosts see the same"))
    }
}

/// `asked`, with the digest of the inputs as they are now, to be compared with what decided the output that stands. No file is read if
/// all are as they were for that output, or if the output is another one anyway.
pub(super) fn with_digest(
    asked: &Parameters,
    made: &Parameters,
    inputs: &Inputs,
) -> Result<Parameters> {
    let mut asked = asked.clone();
    let is_other = made.iter().filter(|(name, _)| *name != INPUTS).ne(&asked);
    let stands = |digest: &&String| is_other || is_known(inputs, digest);
    let known = made.get(INPUTS).filter(stands).cloned();
    let found = match known {
        Some(known) => Some(known),
        None => inputs.contents()?.map(|contents| digest(inputs, &contents)),
    };
    asked.extend(found.map(|digest| (INPUTS.to_owned(), digest)));
    Ok(asked)
}

fn is_known(inputs: &Inputs, digest: &str) -> bool {
    let states = inputs.states_at_rest();
    states.is_some_and(|states| were_read(states, digest, mounts().cache()))
}

pub(super) fn digest(inputs: &Inputs, contents: &[FileContents]) -> String {
    let digest = Digest(inputs.digest(contents)).to_string();
    if let Some(states) = inputs.states_at_rest() {
        remember(states, &digest, mounts().cache());
    }
    digest
}

/// What the files hold, in order, as all processes have read them; none if there is a stream. A process that sees the files of
/// another host must have read what process 0 reads.
pub(super) fn contents(inputs: &Inputs, read: &Read) -> Result<Option<Vec<FileContents>>> {
    if inputs.has_stream() {
        return Ok(None);
    }
    let files = inputs.files();
    let mut digests: Vec<Option<u128>> = vec![None; files.len()];
    let mut shares: Vec<&ShareRead> = read.shares.iter().collect();
    shares.sort_by_key(|share| share.process);
    let states = inputs.states();
    for share in shares {
        let is_elsewhere = share.process > 0 && (states.is_none() || share.states != states);
        for &FileContents { file, digest } in &share.contents {
            let known = &mut digests[file as usize];
            if known.is_none() && is_elsewhere {
                *known = Some(files[file as usize].contents()?);
            }
            if *known.get_or_insert(digest) != digest {
                return Err(read_other(share.process));
            }
        }
    }
    let contents = (0..).zip(digests).map(|(file, digest)| {
        let digest = digest.ok_or_else(|| {
            Error::new(Kind::Internal, "a file was not read").at(files[file as usize].path())
        })?;
        Ok(FileContents { file, digest })
    });
    contents.collect::<Result<_>>().map(Some)
}

fn read_other(process: u32) -> Error {
    Error::new(Kind::Missing, format!("process {process} read other contents than process 0 saw"))
        .found("files of the same names and sizes, with other bytes")
        .help("put the inputs where all hosts see the same")
}

/// The most bytes of the file, some thirty thousand lines. A longer file is begun anew.
const MOST_BYTES: u64 = 1 << 20;

/// Whether inputs in these states had contents of this digest when they were read.
fn were_read(states: u128, contents: &str, cache: &Path) -> bool {
    let lines = small_file::read_text(&path(cache), MOST_BYTES, Kind::BadData);
    lines.is_ok_and(|lines| lines.lines().any(|known| known == line(states, contents)))
}

/// Notes that inputs in these states have contents of this digest. If that fails, a rerun reads the inputs.
fn remember(states: u128, contents: &str, cache: &Path) {
    if let Err(error) = append(&line(states, contents), cache) {
        tracing::info!("a rerun will read the inputs: {}: {error}", path(cache).named());
    }
}

fn append(line: &str, cache: &Path) -> io::Result<()> {
    fs::create_dir_all(cache)?;
    let mut file = OpenOptions::new().create(true).append(true).open(path(cache))?;
    let line = format!("{line}\n");
    if file.metadata()?.len() + line.len() as u64 > MOST_BYTES {
        file.set_len(0)?;
    }
    file.write_all(line.as_bytes())
}

fn path(cache: &Path) -> PathBuf {
    cache.join("inputs")
}

fn line(states: u128, contents: &str) -> String {
    format!("{:032x}", xxh3_128(format!("{states:032x} {contents}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_known_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let cache = &home.path().join("cache");
        assert!(!were_read(1, "a", cache));
        remember(1, "a", cache);
        remember(2, "b", cache);
        assert!(were_read(1, "a", cache) && were_read(2, "b", cache));
        assert!(!were_read(1, "b", cache) && !were_read(2, "a", cache));
        fs::write(path(cache), line(1, "a").replacen(char::is_numeric, "x", 1)).unwrap();
        assert!(!were_read(1, "a", cache), "a line that was damaged");
        fs::write(path(cache), [0xff]).unwrap();
        assert!(!were_read(1, "a", cache), "no text");
    }

    #[test]
    fn the_file_stays_small_and_a_cache_that_cannot_be_written_harms_nobody() {
        let home = tempfile::tempdir().unwrap();
        let cache = home.path();
        fs::write(path(cache), "x".repeat(MOST_BYTES as usize - 33)).unwrap();
        remember(1, "a", cache);
        assert_eq!(fs::metadata(path(cache)).unwrap().len(), MOST_BYTES);
        remember(2, "b", cache);
        assert_eq!(fs::read_to_string(path(cache)).unwrap(), format!("{}\n", line(2, "b")));
        remember(1, "a", &path(cache));
        assert!(!were_read(1, "a", &path(cache)));
    }
}
