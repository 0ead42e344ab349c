//! The group key: what decides beside the fingerprint whether two pages match.
//!
//! Pages of two classes never match. With a check, only pages with similar signatures match. Pages of
//! the batch with one fingerprint and one key are one group.

use super::numbers::{Number, SegmentRow};
use super::similarity::{Confirm, Similarity};
use crate::error::Result;
use crate::fingerprint::Class;
use crate::store::{Checks, Classes, Segment};

/// The class of a page, and its signature, which is empty without a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey<'a> {
    pub(super) class: Class,
    pub(super) signature: &'a [u8],
}

/// Looks up the keys of a segment by row.
pub(super) struct GroupKeyReader {
    classes: Option<Classes>,
    checks: Option<Checks>,
}

impl GroupKeyReader {
    /// The reader of `segment`; with `confirm`, it reads signatures too.
    ///
    /// # Errors
    /// A segment without these signatures is [`crate::Kind::BadData`].
    pub(super) fn new(segment: &Segment, confirm: Option<&Confirm>) -> Result<GroupKeyReader> {
        let checks = confirm.map(|confirm| confirm.signatures(segment)).transpose()?;
        Ok(GroupKeyReader { classes: segment.classes(), checks })
    }

    /// The key of a row of the segment.
    pub(super) fn get(&mut self, row: u64) -> Result<GroupKey<'_>> {
        let class = self.classes.as_mut().map_or(Ok(Class::Full), |classes| classes.get(row))?;
        let signature = self.checks.as_mut().map_or(Ok(&[][..]), |checks| checks.get(row))?;
        Ok(GroupKey { class, signature })
    }
}

/// The keys of the batch, in memory.
#[derive(Debug)]
pub(super) struct GroupKeys {
    confirm: Option<Confirm>,
    /// By row of the segment.
    classes: Vec<Class>,
    /// By row of the segment, end to end.
    signatures: Vec<u8>,
}

impl GroupKeys {
    /// Loads the keys of all rows of a segment. `None` if all its pages may match: it has no classes,
    /// and nothing confirms.
    pub(super) fn load(segment: &Segment, confirm: Option<Confirm>) -> Result<Option<GroupKeys>> {
        if confirm.is_none() && !segment.has_classes() {
            return Ok(None);
        }
        let mut keys = GroupKeys { confirm, classes: Vec::new(), signatures: Vec::new() };
        if segment.rows() > 0 {
            let mut reader = GroupKeyReader::new(segment, confirm.as_ref())?;
            let rows = segment.rows() as usize;
            keys.classes.reserve_exact(rows);
            keys.signatures.reserve_exact(rows * keys.signature_bytes());
            for row in 0..segment.rows() {
                let GroupKey { class, signature } = reader.get(row)?;
                keys.classes.push(class);
                keys.signatures.extend(signature);
            }
        }
        Ok(Some(keys))
    }

    fn signature_bytes(&self) -> usize {
        self.confirm.map_or(0, |confirm| confirm.check.bytes())
    }

    /// The key of a row.
    pub(super) fn of(&self, row: SegmentRow) -> GroupKey<'_> {
        let row = row.index();
        let size = self.signature_bytes();
        GroupKey { class: self.classes[row], signature: &self.signatures[row * size..][..size] }
    }

    /// `None` if pages with these keys, at this distance, do not match; else how alike they are, where
    /// that is checked. Pages with one fingerprint and one key always match: they would be one group.
    pub(super) fn compare(
        &self,
        one: GroupKey<'_>,
        other: GroupKey<'_>,
        distance: u32,
    ) -> Option<Option<Similarity>> {
        if distance == 0 && one == other {
            return Some(self.confirm.map(|_| Similarity::SAME));
        }
        if one.class != other.class {
            return None;
        }
        match &self.confirm {
            None => Some(None),
            Some(confirm) => confirm.similarity(one.signature, other.signature).map(Some),
        }
    }

    /// The check that confirms matches, if there is one.
    pub(super) fn confirm(&self) -> Option<&Confirm> {
        self.confirm.as_ref()
    }
}
