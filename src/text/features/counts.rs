//! Tables of counts: in how many documents of a corpus each feature occurs.
//!
//! Counts of words give their inverse document frequency, counts of lines find the boilerplate of a site.
//! The file is text that people can read too; FORMAT.md beside this file describes its bytes. A recipe
//! names a table by the path of its file, the recipe's stamp by the digest of its contents.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use crate::error::{At, Error, Kind, Result};
use crate::features::by_hash::{ByHash, key};
use crate::features::frequency;
use crate::features::lists::by_digest;
use crate::output::{Fence, NewFile, has_magic};

const FIRST_LINE: &[u8] = b"dupsieve counts 1\n";
const LONGEST_LINE: u64 = 1 << 16;
/// The most features that are held: some 2 GiB of memory.
const MOST_ROWS: u64 = 1 << 26;

/// The longest feature that is counted, in bytes. Longer ones are never words, nor boilerplate.
const LONGEST_FEATURE: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// How the features were taken from the documents: equal where features can be looked up.
    pub of: String,
    pub documents: u64,
    /// A feature that fewer documents hold was left out.
    pub min_count: u64,
    /// What it was counted from, in the words of the job.
    pub identity: String,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(try_from = "PathBuf", into = "String")]
pub struct Counts {
    digest: String,
    loaded: Arc<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    head: Head,
    counts: ByHash<u64, u64>,
}

pub fn is_counted(feature: &str) -> bool {
    feature.len() <= LONGEST_FEATURE && !feature.contains('\n')
}

impl Counts {
    pub fn stands_at(path: &Path) -> Result<bool> {
        has_magic(path, FIRST_LINE)
    }

    pub fn read(path: &Path) -> Result<Counts> {
        let mut lines = Lines::open(path)?;
        let head = lines.head()?;
        let mut counts = ByHash::default();
        let mut rows = 0_u64;
        loop {
            let line = lines.next()?;
            if let Some(last) = line.strip_prefix("end ").map(str::to_owned) {
                let sum = format!("{:032x}", lines.hash.digest128());
                if last != end(rows, &sum) || !lines.file.fill_buf().at(path)?.is_empty() {
                    return Err(lines.damaged("its checksum is wrong").found(last));
                }
                return Ok(Counts { digest: sum, loaded: Arc::new(Loaded { head, counts }) });
            }
            let row = line.split_once('\t');
            let row = row.and_then(|(count, feature)| Some((key(feature), count.parse().ok()?)));
            let (feature, count) = row.ok_or_else(|| lines.damaged("a row cannot be read"))?;
            rows += 1;
            if rows > MOST_ROWS {
                return Err(Error::new(Kind::Config, "the table of counts has too many rows")
                    .at(path)
                    .expected(format!("at most {MOST_ROWS}"))
                    .help("leave out more of what few documents have")
                    .setting("min-count"));
            }
            counts.insert(feature, count);
        }
    }

    pub fn head(&self) -> &Head {
        &self.loaded.head
    }

    pub fn rows(&self) -> u64 {
        self.loaded.counts.len() as u64
    }

    /// How many documents hold `feature`, 0 if fewer than were counted at least.
    #[inline]
    pub fn count(&self, feature: &str) -> u64 {
        self.loaded.counts.get(&key(feature)).copied().unwrap_or(0)
    }

    pub fn idf(&self, feature: &str) -> i64 {
        frequency::inverse(self.head().documents, self.count(feature))
    }
}

by_digest!(Counts);

fn end(rows: u64, sum: &str) -> String {
    format!("{rows} {sum}")
}

struct Lines<'p> {
    path: &'p Path,
    file: BufReader<File>,
    line: Vec<u8>,
    hash: Xxh3Default,
    number: u64,
}

impl<'p> Lines<'p> {
    fn open(path: &'p Path) -> Result<Lines<'p>> {
        let file = BufReader::with_capacity(1 << 18, File::open(path).at(path)?);
        Ok(Lines { path, file, line: Vec::new(), hash: Xxh3Default::new(), number: 0 })
    }

    fn head(&mut self) -> Result<Head> {
        let mut first = Vec::new();
        let length = FIRST_LINE.len() as u64;
        (&mut self.file).take(length).read_to_end(&mut first).at(self.path)?;
        if first != FIRST_LINE {
            let what = "not a table of counts, or one of a later version";
            return Err(Error::new(Kind::BadData, what)
                .at(self.path)
                .help("count the documents of a corpus")
                .job("weights"));
        }
        self.hash.update(&first);
        self.number = 1;
        let head = serde_json::from_str(self.next()?);
        head.map_err(|_| self.damaged("its head cannot be read"))
    }

    fn next(&mut self) -> Result<&str> {
        if self.number > 1 {
            self.hash.update(&self.line);
            self.hash.update(b"\n");
        }
        self.line.clear();
        let mut bounded = (&mut self.file).take(LONGEST_LINE);
        bounded.read_until(b'\n', &mut self.line).at(self.path)?;
        self.number += 1;
        match self.line.pop() {
            Some(b'\n') => {}
            _ => return Err(self.damaged("it breaks off")),
        }
        let damaged = self.damaged("it is not UTF-8");
        std::str::from_utf8(&self.line).map_err(|_| damaged)
    }

    fn damaged(&self, how: &str) -> Error {
        Error::new(Kind::BadData, format!("a table of counts is damaged: {how}"))
            .at(self.path)
            .line(self.number)
            .help("count the documents again")
            .job("weights")
    }
}

/// Writes a table: absent until it is whole.
pub struct CountsWriter {
    path: PathBuf,
    file: BufWriter<NewFile>,
    hash: Xxh3Default,
    rows: u64,
    row: Vec<u8>,
}

impl CountsWriter {
    pub fn create(path: &Path, head: &Head) -> Result<CountsWriter> {
        let file = BufWriter::new(NewFile::beside(path)?);
        let path = path.to_path_buf();
        let hash = Xxh3Default::new();
        let mut writer = CountsWriter { path, file, hash, rows: 0, row: FIRST_LINE.to_vec() };
        serde_json::to_writer(&mut writer.row, head).expect("a head is an object");
        writer.row.push(b'\n');
        writer.put()?;
        Ok(writer)
    }

    /// Publishes it only while the lock of this fence is held.
    pub fn fenced(&mut self, fence: &Fence) {
        self.file.get_mut().fenced(fence);
    }

    /// Takes the next feature, in the order of their bytes, each once. It [can be counted](is_counted).
    pub fn push(&mut self, feature: &str, count: u64) -> Result<()> {
        debug_assert!(is_counted(feature));
        self.row.extend(count.to_string().bytes());
        self.row.push(b'\t');
        self.row.extend(feature.bytes());
        self.row.push(b'\n');
        self.rows += 1;
        self.put()
    }

    fn put(&mut self) -> Result<()> {
        self.hash.update(&self.row);
        self.file.write_all(&self.row).at(&self.path)?;
        self.row.clear();
        Ok(())
    }

    pub fn finish(mut self) -> Result<u64> {
        let sum = format!("{:032x}", self.hash.digest128());
        writeln!(self.file, "end {}", end(self.rows, &sum)).at(&self.path)?;
        let file = self.file.into_inner().map_err(|cause| Error::io(&self.path, cause.error()))?;
        file.publish()?;
        Ok(self.rows)
    }
}

#[cfg(test)]
pub(crate) fn written(path: &Path, of: &str, rows: &[(&str, u64)]) {
    let head = Head { of: of.to_owned(), documents: 7, min_count: 1, identity: String::new() };
    let mut writer = CountsWriter::create(path, &head).unwrap();
    rows.iter().for_each(|(feature, count)| writer.push(feature, *count).unwrap());
    assert_eq!(writer.finish(), Ok(rows.len() as u64));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::ONE;

    #[test]
    fn a_table_reads_back_and_weighs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        written(&path, "words", &[("a\tb", 7), ("end 1", 1), ("中文", 3)]);
        let counts = Counts::read(&path).unwrap();
        assert_eq!((counts.rows(), counts.head().documents), (3, 7));
        assert_eq!(["a\tb", "end 1", "中文", "x"].map(|it| counts.count(it)), [7, 1, 3, 0]);
        assert_eq!((counts.idf("a\tb"), counts.idf("x")), (ONE, 3 * ONE));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("dupsieve counts 1\n{\"of\":\"words\",\"documents\":7,"),
            "{text}"
        );
        written(&path, "words", &[]);
        assert_eq!(Counts::read(&path).unwrap().rows(), 0);
        assert!(!is_counted("a\nb") && !is_counted(&"x".repeat(LONGEST_FEATURE + 1)));
    }

    #[test]
    fn damage_is_found_at_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        written(&path, "words", &[("a", 5), ("中文", 3)]);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(Counts::read(&path).unwrap_err().kind(), Kind::BadData, "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(Counts::read(&path).unwrap_err().kind(), Kind::BadData, "cut at {at}");
        }
        std::fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(Counts::read(&path).unwrap_err().kind(), Kind::BadData);
        assert_eq!(Counts::read(Path::new("no such table")).unwrap_err().kind(), Kind::Missing);
    }
}
