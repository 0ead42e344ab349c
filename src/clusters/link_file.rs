//! links.bin of a state without layers: its matches, as pairs of rows of clusters.tsv. FORMAT.md describes it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::link::Link;
use super::measure::Measure;
use crate::error::{At, Error, Kind, Result};

/// The first bytes of the file.
const MAGIC: &[u8] = b"DUPSLINK";
/// The version of the format.
const VERSION: u32 = 1;
/// The bytes before the first link: those two, and the measure.
const HEAD: u64 = 16;
/// The bytes of a link.
const LINK: usize = 12;
/// The bit of the last number that says that the link is a verdict.
const VERDICT: u32 = 1 << 31;
/// How many links are read at once.
const PORTION: u64 = 1 << 16;

/// The file, open for reading.
#[derive(Debug)]
pub(super) struct LinkFile {
    path: PathBuf,
    file: File,
    links: u64,
}

impl LinkFile {
    /// The name of the file.
    pub(super) const NAME: &str = "links.bin";

    pub(super) fn open(folder: &Path) -> Result<LinkFile> {
        let path = folder.join(LinkFile::NAME);
        let file = File::open(&path).at(&path)?;
        let bytes = file.metadata().at(&path)?.len();
        let damaged = |what: &str| {
            Error::new(Kind::BadData, what)
                .at(&path)
                .help("make the clusters again, without --previous")
        };
        let mut head = [0; HEAD as usize];
        file.read_exact_at(&mut head, 0).map_err(|_| damaged("the file ends early"))?;
        if !head.starts_with(MAGIC) {
            return Err(damaged("this is no file of links"));
        }
        if word(&head, 8) != VERSION {
            let error = damaged("the version of this file is not known");
            return Err(error.expected(VERSION).found(word(&head, 8)));
        }
        if Measure::ALL.len() <= word(&head, 12) as usize {
            return Err(damaged("the measure is unknown"));
        }
        if !(bytes - HEAD).is_multiple_of(LINK as u64) {
            return Err(damaged("the file ends within a link"));
        }
        let links = (bytes - HEAD) / LINK as u64;
        Ok(LinkFile { path, file, links })
    }

    /// All links, in order.
    pub(super) fn links(&self) -> impl Iterator<Item = Result<Link>> + '_ {
        (0..self.portions()).flat_map(|portion| match self.read(portion) {
            Ok(links) => links.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }

    fn portions(&self) -> u64 {
        self.links.div_ceil(PORTION)
    }

    fn read(&self, portion: u64) -> Result<Vec<Link>> {
        let first = portion * PORTION;
        let links = PORTION.min(self.links - first);
        let mut bytes = vec![0; links as usize * LINK];
        self.file.read_exact_at(&mut bytes, HEAD + first * LINK as u64).at(&self.path)?;
        let link = |bytes: &[u8]| {
            let [new, existing, last] = [0, 4, 8].map(|at| word(bytes, at));
            Link { new, existing, apart: last & !VERDICT, is_verdict: last & VERDICT != 0 }
        };
        Ok(bytes.chunks_exact(LINK).map(link).collect())
    }
}

/// The number of 32 bits at a place, the low byte first.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
