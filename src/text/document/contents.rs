//! Digests of the contents of the input files. A file is read once: its digest is made while its pages are read. Only where nothing
//! is read, because an output stands already, files are read for their digests alone.

use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::format::Format;
use super::in_order::InOrder;
use super::inputs::{Input, Inputs};
use super::origin::changed;
use crate::error::{At, Result};
use crate::output::copy_hashed;
use crate::progress::{self, Activity};

const AHEAD_BYTES: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FileContents {
    pub file: u32,
    pub digest: u128,
}

impl Inputs {
    /// The contents of all files in order, which are read. `None` if there is a stream among them, because a stream can be read only once.
    pub fn contents(&self) -> Result<Option<Vec<FileContents>>> {
        if self.has_stream() {
            return Ok(None);
        }
        let (files, all) = (InOrder::of(self, AHEAD_BYTES), 0..self.files.len() as u32);
        files.announce(all.clone());
        let contents = all.map(|file| {
            let path = self.files[file as usize].path();
            Ok(FileContents { file, digest: digest_of(&mut *files.open(file)?, path)? })
        });
        contents.collect::<Result<_>>().map(Some)
    }

    /// XXH3-128 of all files in order, which hold this: for each its format, its name if that is the id, and the digest of its bytes.
    pub fn digest(&self, contents: &[FileContents]) -> u128 {
        let mut hasher = Xxh3::new();
        for (file, contents) in self.files.iter().zip(contents) {
            file.hash(contents.digest, &mut hasher);
        }
        hasher.digest128()
    }

    /// The same of the states of the files, which change when the bytes do, on every host alike. None if a file has none.
    pub fn states(&self) -> Option<u128> {
        let mut hasher = Xxh3::new();
        for file in &self.files {
            file.hash(file.origin().sign()?, &mut hasher);
        }
        Some(hasher.digest128())
    }

    /// The states, if no later change of a file can leave its state as it is.
    pub fn states_at_rest(&self) -> Option<u128> {
        self.states().filter(|_| self.files.iter().all(|file| file.origin().is_at_rest()))
    }

    /// Fails with [`Kind::Temporary`](crate::Kind::Temporary) if a file has another size or time than when it was found, or an object
    /// another size or tag. Contents that were `read` are compared where a file was touched and its size and time are as before.
    pub fn check_unchanged(&self, read: &[FileContents]) -> Result<()> {
        let mut suspicious = Vec::new();
        for (number, file) in (0..).zip(&self.files) {
            progress::tick(Activity::Reading);
            if file.origin().is_suspicious(file.path())? {
                suspicious.push(number);
            }
        }
        let read = read.iter().filter(|read| suspicious.contains(&read.file));
        read.copied().try_for_each(|FileContents { file, digest }| {
            let file = &self.files[file as usize];
            if file.contents()? == digest { Ok(()) } else { Err(changed(file.path())) }
        })
    }
}

impl Input {
    /// Its state and its format, if no later change of its bytes can leave that as it is.
    pub fn state_at_rest(&self) -> Option<u128> {
        let mut hasher = Xxh3::new();
        self.hash(self.origin().sign().filter(|_| self.origin().is_at_rest())?, &mut hasher);
        Some(hasher.digest128())
    }

    pub fn contents(&self) -> Result<u128> {
        digest_of(&mut *self.open()?, self.path())
    }

    fn hash(&self, bytes: u128, hasher: &mut Xxh3) {
        hasher.update(self.format().name().as_bytes());
        if self.format().is_whole_file() || self.format() == Format::Lines {
            let name = self.name().as_os_str().as_encoded_bytes();
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name);
        }
        hasher.update(&bytes.to_le_bytes());
    }
}

fn digest_of(file: &mut dyn Read, path: &Path) -> Result<u128> {
    copy_hashed(file, &mut io::sink()).at(path).map(|(_, digest)| digest)
}
