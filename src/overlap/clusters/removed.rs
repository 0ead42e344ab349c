//! Ids whose pages leave a clustering.

use std::collections::BTreeSet;
use std::path::Path;

use crate::document::each_id;
use crate::error::{Error, Kind, Result};
use crate::store::Digest;

/// A set of ids.
#[derive(Debug, Default)]
pub struct RemovedIds(pub(super) BTreeSet<String>);

impl RemovedIds {
    /// Reads a list, one id a line in any order. Blank lines are ignored. The set takes at most about `memory_bytes`.
    ///
    /// # Errors
    /// [`Kind::BadData`] if a line is no id; [`Kind::Usage`] if the list needs more memory.
    pub fn read(path: &Path, memory_bytes: u64) -> Result<RemovedIds> {
        let (mut ids, mut bytes) = (BTreeSet::new(), 0);
        each_id(path, |_, id| {
            bytes += (size_of::<String>() + id.len()) as u64;
            if bytes > memory_bytes {
                return Err(Error::new(Kind::Usage, "the list of ids needs too much memory")
                    .at(path)
                    .expected(format_args!("at most {memory_bytes} bytes"))
                    .help("allow more memory")
                    .setting("memory"));
            }
            ids.insert(String::from_utf8_lossy(id).into_owned());
            Ok(())
        })?;
        Ok(RemovedIds(ids))
    }

    /// The digest of the set.
    pub fn digest(&self) -> Digest {
        let ids: Vec<&str> = self.0.iter().map(String::as_str).collect();
        Digest::of(ids.join("\n").as_bytes())
    }
}

impl<'a> FromIterator<&'a str> for RemovedIds {
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> RemovedIds {
        RemovedIds(ids.into_iter().map(str::to_owned).collect())
    }
}
