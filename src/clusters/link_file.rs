//! links.bin: the matches of a clustering, as pairs of rows. FORMAT.md describes it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::engine::Portions;
use super::link::Link;
use super::measure::Measure;
use crate::error::{At, Error, Kind, Result};
use crate::output::{OutputFile, Staging, Sum};

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

/// Opens the links of a clustering in `folder`, as another process has written them.
pub fn open_links(folder: &Path) -> Result<Arc<dyn Portions>> {
    Ok(Arc::new(LinkFile::open(folder)?))
}

/// The file, open for reading.
#[derive(Debug)]
pub(super) struct LinkFile {
    path: PathBuf,
    file: File,
    measure: Measure,
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
        let measure = Measure::ALL.get(word(&head, 12) as usize).copied();
        let measure = measure.ok_or_else(|| damaged("the measure is unknown"))?;
        if !(bytes - HEAD).is_multiple_of(LINK as u64) {
            return Err(damaged("the file ends within a link"));
        }
        let links = (bytes - HEAD) / LINK as u64;
        Ok(LinkFile { path, file, measure, links })
    }

    pub(super) fn measure(&self) -> Measure {
        self.measure
    }

    /// All links, in order.
    pub(super) fn links(&self) -> impl Iterator<Item = Result<Link>> + '_ {
        (0..self.portions()).flat_map(|portion| match self.read(portion) {
            Ok(links) => links.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
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

impl Portions for LinkFile {
    fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    fn portions(&self) -> u64 {
        self.links.div_ceil(PORTION)
    }

    fn portion(&self, number: u64) -> Result<Vec<(u32, u32)>> {
        Ok(self.read(number)?.iter().map(|link| (link.new, link.existing)).collect())
    }
}

/// The number of 32 bits at a place, the low byte first.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The file while it is written.
pub(super) struct LinkWriter {
    file: OutputFile,
    last: Option<Link>,
    /// The page of the verdict that was written last.
    judged: Option<u32>,
    counts: LinkCounts,
}

/// How many links there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkCounts {
    pub(super) links: u64,
    pub(super) verdicts: u64,
}

impl LinkWriter {
    pub(super) fn create(staging: &Staging, measure: Measure) -> Result<LinkWriter> {
        let mut file = staging.create(LinkFile::NAME)?;
        file.write(|out| {
            out.write_all(MAGIC)?;
            out.write_all(&VERSION.to_le_bytes())?;
            out.write_all(&(measure as u32).to_le_bytes())
        })?;
        Ok(LinkWriter { file, last: None, judged: None, counts: LinkCounts::default() })
    }

    /// Takes the next link in order. Links between the same pages become one.
    ///
    /// # Errors
    /// [`Kind::BadData`] if a page has two verdicts.
    pub(super) fn push(&mut self, link: Link) -> Result<()> {
        match &mut self.last {
            Some(last) if last.is_between_those_of(&link) => last.merge(link),
            last => {
                let done = last.replace(link);
                done.map_or(Ok(()), |done| self.write(done))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, link: Link) -> Result<()> {
        let Link { new, existing, apart, is_verdict } = link;
        self.counts.links += 1;
        if is_verdict {
            self.counts.verdicts += 1;
            if self.judged.replace(new) == Some(new) {
                return Err(Error::new(Kind::BadData, "a page has two verdicts")
                    .help("the outputs contradict each other: make them again"));
            }
        }
        let last = apart | if is_verdict { VERDICT } else { 0 };
        self.file.write(|out| {
            [new, existing, last].iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
        })
    }

    pub(super) fn finish(mut self) -> Result<(Sum, LinkCounts)> {
        let last = self.last.take();
        last.map_or(Ok(()), |last| self.write(last))?;
        Ok((self.file.finish()?, self.counts))
    }
}
