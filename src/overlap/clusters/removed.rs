//! Ids whose pages leave a clustering.

use std::path::Path;

use crate::document::each_id;
use crate::error::{Error, Kind, Result};
use crate::store::Digest;

/// A set of ids, in order.
#[derive(Debug, Default)]
pub struct RemovedIds {
    ids: Vec<String>,
}

impl RemovedIds {
    /// Reads a list, one id a line in any order. Blank lines are ignored. The set takes at most about `memory_bytes`.
    ///
    /// # Errors
    /// [`Kind::BadData`] if a line is no id; [`Kind::Usage`] if the list needs more memory.
    pub fn read(path: &Path, memory_bytes: u64) -> Result<RemovedIds> {
        let (mut ids, mut bytes) = (Vec::new(), 0);
        each_id(path, |line, id| {
            let id = str::from_utf8(id)
                .map_err(|_| Error::new(Kind::BadData, "an id is not UTF-8").at(path).line(line))?;
            bytes += (size_of::<String>() + id.len()) as u64;
            if bytes > memory_bytes {
                return Err(Error::new(Kind::Usage, "the list of ids needs too much memory")
                    .at(path)
                    .expected(format_args!("at most {memory_bytes} bytes"))
                    .help("allow more memory")
                    .setting("memory"));
            }
            ids.push(id.to_owned());
            Ok(())
        })?;
        Ok(RemovedIds::of(ids))
    }

    fn of(mut ids: Vec<String>) -> RemovedIds {
        ids.sort_unstable();
        ids.dedup();
        RemovedIds { ids }
    }

    /// The digest of the set.
    pub fn digest(&self) -> Digest {
        Digest::of(self.ids.join("\n").as_bytes())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.ids.binary_search_by(|own| own.as_str().cmp(id)).is_ok()
    }
}

impl<'a> FromIterator<&'a str> for RemovedIds {
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> RemovedIds {
        RemovedIds::of(ids.into_iter().map(str::to_owned).collect())
    }
}
