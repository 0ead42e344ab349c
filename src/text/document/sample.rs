//! What the tests of several formats need: a file that is read to its end, and packed bytes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use tempfile::TempDir;

use super::fields::ReadOptions;
use super::format::Format;
use super::inputs::Inputs;
use super::read::read;
use super::record::{Document, Position};
use super::share::Share;
use super::skipped::Skipped;
use super::source::Damage;
use crate::error::Result;

/// What reading gave: of each record its place, and what a test shows of the document, or `!` and the reason why there is none.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) records: Vec<(Position, String)>,
    pub(super) blank: u64,
    pub(super) skipped: Skipped,
    pub(super) damaged: Vec<Damage>,
}

impl Outcome {
    pub(super) fn said(&self) -> Vec<&str> {
        self.records.iter().map(|(_, said)| &**said).collect()
    }

    pub(super) fn lines(&self) -> Vec<(u64, &str)> {
        self.records.iter().map(|(position, said)| (position.line, &**said)).collect()
    }

    pub(super) fn reasons(&self) -> Vec<(u64, &str)> {
        let all = self.lines().into_iter();
        all.filter_map(|(line, said)| Some((line, said.strip_prefix("! ")?))).collect()
    }
}

/// What a test shows of a document.
type Show<'s> = &'s dyn Fn(Document<'_>) -> String;

pub(super) fn read_file(path: &Path, options: &ReadOptions, show: Show<'_>) -> Result<Outcome> {
    let format = if options.fields.vectors { Format::Vectors } else { Format::Auto };
    let inputs = Inputs::find(&[path.to_path_buf()], format)?;
    read_share(&inputs, &Share::whole(), options, show)
}

/// Reads a share of the inputs, whose batches and records must come in order, and whose contents must be those of the files.
pub(super) fn read_share(
    inputs: &Inputs,
    share: &Share,
    options: &ReadOptions,
    show: Show<'_>,
) -> Result<Outcome> {
    let (mut outcome, mut next) = (Outcome::default(), 0);
    let progress = AtomicU64::new(0);
    let files = read(inputs, share, options, &progress, &mut |batch| {
        assert_eq!(batch.sequence, next);
        next += 1;
        let passed = batch.parse(&options.fields, &mut |position, document| {
            let said = document.map_or_else(|reason| format!("! {reason}"), show);
            outcome.records.push((position, said));
        });
        outcome.blank += passed.blank;
        outcome.skipped.add(passed.skipped);
        true
    })?;
    outcome.damaged = files.damaged;
    assert!(outcome.records.is_sorted_by_key(|(position, _)| *position));
    let (read, all) = (progress.into_inner(), inputs.bytes());
    let is_counted_whole = inputs.formats().contains_key(&Format::Parquet);
    assert!(if is_counted_whole { read == all } else { read <= all }, "{read} of {all} bytes");
    if let Some(contents) = inputs.contents()? {
        assert!(files.contents.iter().all(|read| contents[read.file as usize] == *read));
    }
    Ok(outcome)
}

pub(super) fn read_bytes(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    show: Show<'_>,
) -> Result<Outcome> {
    let folder = folder(&[(name, bytes)]);
    read_file(&folder.path().join(name), options, show)
}

pub(super) fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// With a checksum.
pub(super) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packer.include_checksum(true).unwrap();
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}
