//! Lists that a user provides: stop words, and words for jieba's dictionary.
//!
//! A recipe names a list by the path of its file. The recipe's stamp holds the digest of the file's
//! contents, so fingerprints made with other words are never compared.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jieba_rs::Jieba;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Kind, Result};
use crate::small_file;

const LONGEST_LIST: u64 = 64 << 20;

/// Words that are not features. The file has one word a line, in UTF-8, perhaps with white space around it.
#[derive(Clone, Deserialize, Serialize)]
#[serde(try_from = "PathBuf", into = "String")]
pub struct StopWords {
    digest: String,
    words: Arc<HashSet<Box<str>>>,
}

/// Additional words for jieba, in its format: `word frequency tag` a line, of which the last two are optional.
#[derive(Clone, Deserialize, Serialize)]
#[serde(try_from = "PathBuf", into = "String")]
pub struct UserDictionary {
    digest: String,
    jieba: Arc<Jieba>,
}

impl StopWords {
    pub fn read(path: &Path) -> Result<StopWords> {
        let (digest, text) = read(path)?;
        let words = text.lines().map(str::trim).filter(|word| !word.is_empty());
        Ok(StopWords { digest, words: Arc::new(words.map(Into::into).collect()) })
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }
}

impl UserDictionary {
    pub fn read(path: &Path) -> Result<UserDictionary> {
        let (digest, text) = read(path)?;
        let mut jieba = Jieba::new();
        jieba.load_dict(&mut text.as_bytes()).map_err(|cause| {
            Error::new(Kind::Config, "not a dictionary of jieba")
                .at(path)
                .expected("`word frequency tag` a line")
                .found(cause)
        })?;
        Ok(UserDictionary { digest, jieba: Arc::new(jieba) })
    }

    pub(super) fn jieba(&self) -> Arc<Jieba> {
        Arc::clone(&self.jieba)
    }
}

fn read(path: &Path) -> Result<(String, String)> {
    let bytes = small_file::read(path, LONGEST_LIST, Kind::Config)?;
    let digest = format!("{:032x}", xxh3_128(&bytes));
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to() as u64;
        Error::new(Kind::Config, "the list is not UTF-8").at(path).offset(offset)
    })?;
    Ok((digest, text))
}

/// Implements what serde needs of a list: read from its path, written and compared as its digest.
macro_rules! by_digest {
    ($list:ident) => {
        impl TryFrom<PathBuf> for $list {
            type Error = Error;

            fn try_from(path: PathBuf) -> Result<$list> {
                $list::read(&path)
            }
        }

        impl From<$list> for String {
            fn from(list: $list) -> String {
                list.digest
            }
        }

        impl PartialEq for $list {
            fn eq(&self, other: &$list) -> bool {
                self.digest == other.digest
            }
        }

        impl Eq for $list {}

        impl fmt::Debug for $list {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($list), self.digest)
            }
        }
    };
}

pub(super) use by_digest;

by_digest!(StopWords);
by_digest!(UserDictionary);

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn stop_words_are_lines_and_known_by_what_the_file_held() {
        let lists = ["the\n 的 \n\nof\r\n", "the\n 的 \n\nof\r\n", "the\n的\nof"];
        let read = lists.map(|list| StopWords::read(file(list.as_bytes()).path()).unwrap());
        for list in &read {
            let mut words: Vec<&str> = list.iter().collect();
            words.sort_unstable();
            assert_eq!(words, ["of", "the", "的"]);
        }
        assert_eq!(read[0], read[1]);
        assert_ne!(read[0], read[2]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let kind = |path: &Path| StopWords::read(path).unwrap_err().kind();
        assert_eq!(kind(Path::new("no such file")), Kind::Missing);
        assert_eq!(kind(file(b"the\n\xff").path()), Kind::Config);
        let wrong = file("云计算 many n".as_bytes());
        assert_eq!(UserDictionary::read(wrong.path()).unwrap_err().kind(), Kind::Config);
    }
}
