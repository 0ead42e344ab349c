//! A list of ids in a file, one a line, such as `keep.txt`.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::id_sieve::IdSieve;
use super::record::MAX_ID_BYTES;
use crate::error::{At, Error, Excerpt, Kind, Result};
use crate::progress::{self, Activity};
use crate::small_file;

/// A set of ids. Each is kept as its XXH3-128, in 16 bytes whatever its length.
#[derive(Debug)]
pub struct IdList {
    path: PathBuf,
    keys: Vec<u128>,
    repeated: u64,
    sieve: IdSieve,
}

impl IdList {
    /// The default limit of memory: enough for 268 million ids.
    pub const MOST_BYTES: u64 = 4 << 30;

    /// Reads a list in any order. Blank lines are ignored. The set takes at most about `memory_bytes`.
    pub fn read(path: &Path, memory_bytes: u64) -> Result<IdList> {
        IdList::read_some(path, memory_bytes, |_| true)
    }

    pub fn read_some(
        path: &Path,
        memory_bytes: u64,
        mut takes: impl FnMut(&str) -> bool,
    ) -> Result<IdList> {
        let mut keys = Vec::new();
        each_id(path, |_, id| {
            if !takes(&String::from_utf8_lossy(id)) {
                return Ok(());
            }
            keys.push(xxh3_128(id));
            if (size_of::<u128>() * keys.len()) as u64 <= memory_bytes {
                return Ok(());
            }
            Err(Error::new(Kind::Usage, "the list of ids needs too much memory")
                .at(path)
                .expected(format_args!("at most {memory_bytes} bytes, 16 for each id"))
                .help("allow more memory")
                .setting("memory"))
        })?;
        Ok(IdList::of(path, keys))
    }

    pub fn with(mut self, ids: impl Iterator<Item = Result<String>>) -> Result<IdList> {
        for id in ids {
            self.keys.push(xxh3_128(id?.as_bytes()));
        }
        Ok(IdList::of(&self.path, self.keys))
    }

    /// The list of the ids with these XXH3-128, which are those of lines of the file at `path`.
    pub fn of(path: &Path, mut keys: Vec<u128>) -> IdList {
        let lines = keys.len();
        keys.sort_unstable();
        keys.dedup();
        let sieve = IdSieve::of(keys.iter().copied());
        let repeated = (lines - keys.len()) as u64;
        IdList { path: path.to_path_buf(), keys, repeated, sieve }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub fn place(&self, id: &str) -> Option<usize> {
        let key = xxh3_128(id.as_bytes());
        self.sieve.may_have(key).then(|| self.keys.binary_search(&key).ok()).flatten()
    }

    pub fn keys(&self) -> &[u128] {
        &self.keys
    }

    /// The error that a listed id was not found: it names the first id in the file that is in the set and whose index is false
    /// in `found`. `what` says where it was looked for.
    pub fn missing(&self, found: &[bool], what: &str) -> Error {
        let named = each_id(&self.path, |line, id| match self.keys.binary_search(&xxh3_128(id)) {
            Ok(place) if !found[place] => Err(Error::new(Kind::BadData, what)
                .at(&self.path)
                .line(line)
                .found(Excerpt(&String::from_utf8_lossy(id)))),
            _ => Ok(()),
        });
        match named {
            Err(error) if error.kind() == Kind::BadData => error,
            // A pipe cannot be read again, and a list may be gone, so the id stays unnamed.
            _ => Error::new(Kind::BadData, what).at(&self.path),
        }
    }
}

pub fn each_id(path: &Path, mut take: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    let mut lines = BufReader::new(small_file::open(path)?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut bounded = lines.by_ref().take(MAX_ID_BYTES as u64 + 2);
        if bounded.read_until(b'\n', &mut line).at(path)? == 0 {
            break;
        }
        progress::tick(Activity::Reading);
        let id = line.strip_suffix(b"\n").unwrap_or(&line);
        // An id cannot end in CR.
        let id = id.strip_suffix(b"\r").unwrap_or(id);
        if id.len() > MAX_ID_BYTES {
            let error = Error::new(Kind::BadData, "a line is too long for an id").at(path);
            return Err(error.line(number));
        }
        // Some editors begin a file with a byte order mark.
        let id =
            if number == 1 { id.strip_prefix("\u{feff}".as_bytes()).unwrap_or(id) } else { id };
        if std::str::from_utf8(id).is_err() {
            let error = Error::new(Kind::BadData, "a line is no id, because it is not UTF-8");
            return Err(error.at(path).line(number).help("unpack the file, if it is packed"));
        }
        if !id.is_empty() {
            take(number, id)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.txt");
        std::fs::write(&path, "\u{feff}b\n\na\r\nb\n页").unwrap();
        let ids = IdList::read(&path, 1 << 10).unwrap();
        assert_eq!((ids.len(), ids.repeated()), (3, 1));
        assert!(["b", "a", "页"].into_iter().all(|id| ids.place(id).is_some()));
        assert_eq!(ids.place("c"), None);
        let mut found = [true; 3];
        found[ids.place("a").unwrap()] = false;
        let error = ids.missing(&found, "not found").to_string();
        assert!(error.ends_with("ids.txt:3: not found: found \"a\""), "{error}");
        std::fs::write(&path, b"a\n\x1f\x8b\n").unwrap();
        let error = each_id(&path, |_, _| Ok(())).unwrap_err().to_string();
        assert!(error.contains("ids.txt:2: a line is no id"), "{error}");
    }

    #[test]
    fn no_list_takes_the_memory() {
        let error = IdList::read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert!(error.to_string().contains("/dev/zero:1: a line is too long"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.txt");
        std::fs::write(&path, "a\nb\nc\n").unwrap();
        assert_eq!(IdList::read(&path, 47).unwrap_err().kind(), Kind::Usage);
        assert_eq!(IdList::read(&path, 48).unwrap().len(), 3);
    }
}
