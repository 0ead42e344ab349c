//! Pairs of documents that were found to be near.

use std::path::Path;

use super::{Labels, columns};
use crate::error::Result;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Each pair once, the smaller number first, sorted.
    pairs: Vec<(u32, u32)>,
    pub unlabelled: u64,
}

impl Pairs {
    /// Reads two columns of ids: `new` and `existing`, as in matches.tsv, `id1` and `id2`, or the
    /// first two of a file without a header. A document is no pair with itself.
    pub fn read(path: &Path, labels: &Labels) -> Result<Pairs> {
        let mut pairs = Vec::new();
        let mut unlabelled = 0;
        let headers = [["new", "existing"], ["id1", "id2"]];
        columns::each(path, &headers, true, |[one, another]| {
            match (labels.document(one), labels.document(another)) {
                (Some(one), Some(another)) => pairs.push((one, another)),
                _ => unlabelled += 1,
            }
            Ok(())
        })?;
        Ok(Pairs { unlabelled, ..Pairs::of(pairs) })
    }

    /// These pairs, in whatever order and however often.
    pub fn of(pairs: impl IntoIterator<Item = (u32, u32)>) -> Pairs {
        let ordered = |(one, another): (u32, u32)| (one.min(another), one.max(another));
        let mut pairs: Vec<_> = pairs.into_iter().map(ordered).collect();
        pairs.retain(|(one, another)| one != another);
        pairs.sort_unstable();
        pairs.dedup();
        Pairs { pairs, unlabelled: 0 }
    }

    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    pub fn contains(&self, one: u32, another: u32) -> bool {
        self.pairs.binary_search(&(one.min(another), one.max(another))).is_ok()
    }
}
