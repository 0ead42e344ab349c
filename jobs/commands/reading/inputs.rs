//! What the inputs are: the files that all processes must see alike, and what the files hold, which decides an output.

use dupsieve::rooms::document::{FileContents, Inputs};
use dupsieve::rooms::flow::{Read, ShareRead};
use dupsieve::rooms::report::Parameters;
use dupsieve::rooms::store::Digest;
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use super::known;
use crate::flags::place::mounts;

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
    states.is_some_and(|states| known::is_known(states, digest, mounts().cache()))
}

pub(super) fn digest(inputs: &Inputs, contents: &[FileContents]) -> String {
    let digest = Digest(inputs.digest(contents)).to_string();
    if let Some(states) = inputs.states_at_rest() {
        known::remember(states, &digest, mounts().cache());
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
