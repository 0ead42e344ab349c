//! The list of the files of a tree in an object store. Whoever has it has the tree: the list is one object, and replacing it
//! is the commit.

use std::collections::BTreeMap;
use std::iter;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};

/// The name of the list, below the address of the tree. Sensors of schedulers wait for this name.
pub(super) const HEAD: &str = "_SUCCESS";

/// The name of the list of an unfinished run, below the address of the tree. No reader takes it for the tree.
pub(super) const DRAFT: &str = "_UNFINISHED";

/// How the names of attempts begin; 16 hexadecimal digits follow.
pub(super) const ATTEMPT: &str = "dupsieve-";

pub(super) const MAX_HEAD_BYTES: u64 = 256 << 20;

const FORMAT: u32 = 1;

/// How many attempts before its own a list remembers. An attempt that does not learn whether it has won looks for itself there.
const REMEMBERED: usize = 256;

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// Always `tree`, so that nobody takes another `_SUCCESS` for one of ours.
    dupsieve: String,
    format: u32,
    pub(super) attempt: String,
    /// The attempts that wrote the lists before it, the newest first, as far as they are remembered.
    pub(super) earlier: Vec<String>,
    pub(super) empty_folders: Vec<String>,
    pub(super) files: BTreeMap<String, Held>,
    /// Objects that this list no longer needs. Readers of the list before it may; so the next commit deletes them.
    pub(super) released: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    /// The object with its bytes, below the address of the tree.
    pub(super) object: String,
    pub(super) bytes: u64,
    pub(super) digest: String,
}

impl Head {
    pub(super) fn new(attempt: &str, before: Option<&Head>) -> Head {
        let earlier = before.into_iter().flat_map(|it| iter::once(&it.attempt).chain(&it.earlier));
        Head {
            dupsieve: "tree".to_owned(),
            format: FORMAT,
            attempt: attempt.to_owned(),
            earlier: earlier.take(REMEMBERED).cloned().collect(),
            empty_folders: Vec::new(),
            files: BTreeMap::new(),
            released: Vec::new(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Head> {
        let head: Head = serde_json::from_slice(bytes).map_err(|cause| {
            Error::new(Kind::Exists, "something else is here already, not a tree of dupsieve")
                .found(cause)
                .help("choose another place")
        })?;
        if head.format != FORMAT {
            return Err(Error::new(Kind::BadData, "the list of the files has another format")
                .expected(FORMAT)
                .found(head.format)
                .help("use the version of dupsieve that wrote it"));
        }
        match head.unsafe_name() {
            None => Ok(head),
            Some(name) => {
                Err(Error::new(Kind::BadData, "a name in the list of the files leads elsewhere")
                    .found(format_args!("{name:.100?}")))
            }
        }
    }

    pub(super) fn unsafe_name(&self) -> Option<&String> {
        let objects = self.files.values().map(|held| &held.object).chain(&self.released);
        self.files.keys().chain(&self.empty_folders).chain(objects).find(|it| !is_safe(it))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a list is plain data");
        bytes.push(b'\n');
        bytes
    }

    /// The list of the same files that `attempt` writes after this one. It has released nothing.
    pub(super) fn again(&self, attempt: &str) -> Head {
        let Head { empty_folders, files, .. } = self.clone();
        Head { empty_folders, files, ..Head::new(attempt, Some(self)) }
    }

    /// Whether `attempt` has written this list, or one before it.
    pub(super) fn follows(&self, attempt: &str) -> bool {
        self.attempt == attempt || self.earlier.iter().any(|it| it == attempt)
    }

    /// Whether an attempt that found the list `before` has written this one.
    pub(super) fn comes_after(&self, before: Option<&Head>) -> bool {
        self.earlier.first() == before.map(|it| &it.attempt)
    }

    pub(super) fn holds_as(&self, other: &Head) -> bool {
        let contents = |head: &Head| -> Vec<(String, u64, String)> {
            let files = head.files.iter();
            files.map(|(name, held)| (name.clone(), held.bytes, held.digest.clone())).collect()
        };
        self.empty_folders == other.empty_folders && contents(self) == contents(other)
    }
}

fn is_safe(name: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.len() <= 1024 && !name.contains(['\0', '\\']) && name.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str) -> Head {
        let held = Held { object: "a1/x".to_owned(), bytes: 1, digest: "0f".to_owned() };
        Head { files: BTreeMap::from([(name.to_owned(), held)]), ..Head::new("a1", None) }
    }

    #[test]
    fn a_list_of_the_first_format_is_read_for_ever() {
        let kept = r#"{"dupsieve":"tree","format":1,"attempt":"9b1f0c6ad2e47530","earlier":["0000000000000001"],"empty_folders":["segments"],"files":{"CURRENT":{"object":"9b1f0c6ad2e47530/CURRENT","bytes":24,"digest":"0123456789abcdef0123456789abcdef"}},"released":["0000000000000001/CURRENT"]}"#;
        let head = Head::parse(kept.as_bytes()).unwrap();
        assert_eq!(head.files["CURRENT"].bytes, 24);
        assert!(head.follows("9b1f0c6ad2e47530") && head.follows("0000000000000001"));
        assert_eq!(String::from_utf8(head.to_bytes()).unwrap(), format!("{kept}\n"));
    }

    #[test]
    fn what_is_not_ours_or_leads_elsewhere_is_refused() {
        for foreign in ["", "{}", "[1]", "{\"dupsieve\":\"tree\"}"] {
            assert_eq!(Head::parse(foreign.as_bytes()).unwrap_err().kind(), Kind::Exists);
        }
        let later = Head { format: 2, ..head("a") };
        assert_eq!(Head::parse(&later.to_bytes()).unwrap_err().kind(), Kind::BadData);
        for name in ["../x", "/etc/passwd", "a//b", "", "a/./b", "a\0", "a\\b"] {
            assert_eq!(Head::parse(&head(name).to_bytes()).unwrap_err().kind(), Kind::BadData);
        }
    }
}
