//! A file of judged pairs that grows by a line with each answer, so that a review can stop at any time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::judged::HEADER;
use super::{JudgedPairs, Judgement};
use crate::error::{At, Result};
use crate::output::Lock;

/// A file of judged pairs, open to be added to. Nobody else opens it meanwhile.
#[derive(Debug)]
pub struct JudgedFile {
    path: PathBuf,
    file: File,
    lock: Lock,
}

impl JudgedFile {
    /// Opens the file, or makes it, and reads what it holds. A last line that was cut short, as by a crash,
    /// is removed.
    ///
    /// # Errors
    /// [`Kind::BadData`](crate::Kind::BadData) if the file holds anything else than judged pairs; it is left
    /// as it is. [`Kind::Temporary`](crate::Kind::Temporary) while another run has it open.
    pub fn open(path: &Path) -> Result<(JudgedFile, JudgedPairs)> {
        let lock = Lock::beside(path)?;
        let held = match fs::metadata(path) {
            Ok(metadata) if metadata.len() > 0 => true,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).at(path),
            _ => false,
        };
        if held && JudgedPairs::are_in(path)? {
            drop_torn_line(path)?;
        }
        let judged = if held { JudgedPairs::read(path)? } else { JudgedPairs::default() };
        let file = OpenOptions::new().append(true).create(true).open(path).at(path)?;
        let mut file = JudgedFile { path: path.to_owned(), file, lock };
        if !held {
            file.line(HEADER)?;
        }
        Ok((file, judged))
    }

    /// Adds a pair, and returns when it is on the disk.
    ///
    /// # Errors
    /// As the disk fails.
    pub fn add(&mut self, one: &str, another: &str, judgement: Judgement) -> Result<()> {
        self.line([one, another, judgement.name()])
    }

    fn line(&mut self, columns: [&str; 3]) -> Result<()> {
        let line = columns.join("\t") + "\n";
        self.lock.check()?;
        self.file.write_all(line.as_bytes()).at(&self.path)?;
        self.file.sync_data().at(&self.path)
    }
}

/// Completes a last line without an end if it has a judgement, and removes it otherwise.
fn drop_torn_line(path: &Path) -> Result<()> {
    let bytes = fs::read(path).at(path)?;
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    if end == bytes.len() {
        return Ok(());
    }
    let mut file = OpenOptions::new().append(true).open(path).at(path)?;
    let last = &bytes[end..];
    let whole = [Judgement::Same.name(), Judgement::Different.name(), HEADER[2]];
    if whole.iter().any(|name| last.ends_with(format!("\t{name}").as_bytes())) {
        file.write_all(b"\n").at(path)
    } else {
        file.set_len(end as u64).at(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn what_is_added_is_read_back_and_a_torn_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("judged.tsv");
        let (mut file, judged) = JudgedFile::open(&path).unwrap();
        assert!(judged.is_empty());
        file.add("a", "b", Judgement::Same).unwrap();
        file.add("c", "b", Judgement::Different).unwrap();
        assert_eq!(JudgedFile::open(&path).unwrap_err().kind(), Kind::Temporary);
        drop(file);
        let (_, judged) = JudgedFile::open(&path).unwrap();
        assert!(judged.contains("a", "b") && judged.contains("b", "c"));
        let text = "id1\tid2\tjudged\na\tb\tsame\nc\tb\tdifferent\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        // Every prefix of the file, as a crash may leave it, is taken up again.
        for length in 0..text.len() {
            fs::write(&path, &text[..length]).unwrap();
            let opened = JudgedFile::open(&path);
            if length > 0 && length < HEADER.join("\t").len() {
                assert_eq!(opened.unwrap_err().kind(), Kind::BadData, "{length}");
                assert_eq!(fs::read(&path).unwrap().len(), length);
                continue;
            }
            let (mut file, judged) = opened.unwrap();
            file.add("x", "y", Judgement::Same).unwrap();
            drop(file);
            let (_, more) = JudgedFile::open(&path).unwrap();
            assert_eq!(more.len(), judged.len() + 1, "{length}");
        }
    }

    #[test]
    fn another_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.tsv");
        fs::write(&path, "id\tcluster\na\t1").unwrap();
        assert_eq!(JudgedFile::open(&path).unwrap_err().kind(), Kind::BadData);
        assert_eq!(fs::read_to_string(&path).unwrap(), "id\tcluster\na\t1");
    }
}
