//! What the tests of several formats need: a file that is read to its end, and packed bytes.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use super::damage::Damage;
use super::fields::ReadOptions;
use super::format::Format;
use super::inputs::Inputs;
use super::read::read;
use super::record::Document;
use super::share::Share;
use super::skipped::Skipped;
use crate::error::Result;

/// What reading gave: of each record its line, and what a test shows of the document, or `!` and the reason why there is none.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) records: Vec<(u64, String)>,
    pub(super) blank: u64,
    pub(super) skipped: String,
    pub(super) damaged: Vec<Damage>,
}

impl Outcome {
    pub(super) fn said(&self) -> Vec<&str> {
        self.records.iter().map(|(_, said)| &**said).collect()
    }
}

pub(super) fn read_file(
    path: &Path,
    options: &ReadOptions,
    show: &dyn Fn(Document<'_>) -> String,
) -> Result<Outcome> {
    let format = if options.fields.vectors { Format::Vectors } else { Format::Auto };
    let inputs = Inputs::find(&[path.to_path_buf()], format)?;
    let (mut outcome, mut skipped) = (Outcome::default(), Skipped::default());
    let progress = AtomicU64::new(0);
    let files = read(&inputs, &Share::whole(), options, &progress, &mut |batch| {
        let passed = batch.parse(&options.fields, &mut |position, document| {
            let said = document.map_or_else(|reason| format!("! {reason}"), show);
            outcome.records.push((position.line, said));
        });
        outcome.blank += passed.blank;
        skipped.add(passed.skipped);
        true
    })?;
    if inputs.files()[0].format() == Format::Parquet {
        assert_eq!(progress.into_inner(), inputs.bytes(), "all of the file counts as read");
    }
    Ok(Outcome { skipped: skipped.to_string(), damaged: files.damaged, ..outcome })
}

/// As [`read_file`], of a file of these bytes.
pub(super) fn read_bytes(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    show: &dyn Fn(Document<'_>) -> String,
) -> Result<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_file(&path, options, show)
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
