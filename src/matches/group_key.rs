//! Marks: what decides beside the fingerprint whether pages match, by row of a segment.
//!
//! Pages of two classes never match, and with a check only pages with signatures alike.

use crate::error::Result;
use crate::fingerprint::Class;
use crate::matches::{Confirm, Similarity};
use crate::store::{Checks, Classes, Segment};

/// The class of a page, and its signature, which is empty where nothing is to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark<'a> {
    pub(super) class: Class,
    pub(super) signature: &'a [u8],
}

/// Looks up the marks of a segment.
pub(super) struct MarkReader {
    classes: Option<Classes>,
    checks: Option<Checks>,
}

impl MarkReader {
    /// The reader of `segment`, with its signatures if they are to `confirm` something.
    ///
    /// # Errors
    /// A segment that does not hold them is [`crate::Kind::BadData`].
    pub(super) fn new(segment: &Segment, confirm: Option<&Confirm>) -> Result<MarkReader> {
        let checks = confirm.map(|confirm| confirm.signatures(segment)).transpose()?;
        Ok(MarkReader { classes: segment.classes(), checks })
    }

    /// The mark of a row.
    pub(super) fn get(&mut self, row: u64) -> Result<Mark<'_>> {
        let class = self.classes.as_mut().map_or(Ok(Class::Full), |classes| classes.get(row))?;
        let signature = self.checks.as_mut().map_or(Ok(&[][..]), |checks| checks.get(row))?;
        Ok(Mark { class, signature })
    }
}

/// The marks of the batch.
#[derive(Debug)]
pub(super) struct Marks {
    confirm: Option<Confirm>,
    /// By row of the segment.
    classes: Vec<Class>,
    /// By row of the segment, end to end.
    signatures: Vec<u8>,
}

impl Marks {
    /// Loads those of a segment whole; none if all its pages may match.
    pub(super) fn load(segment: &Segment, confirm: Option<Confirm>) -> Result<Option<Marks>> {
        if confirm.is_none() && !segment.has_classes() {
            return Ok(None);
        }
        let mut marks = Marks { confirm, classes: Vec::new(), signatures: Vec::new() };
        if segment.rows() > 0 {
            let mut reader = MarkReader::new(segment, confirm.as_ref())?;
            let rows = segment.rows() as usize;
            marks.classes.reserve_exact(rows);
            marks.signatures.reserve_exact(rows * marks.signature_bytes());
            for row in 0..segment.rows() {
                let Mark { class, signature } = reader.get(row)?;
                marks.classes.push(class);
                marks.signatures.extend(signature);
            }
        }
        Ok(Some(marks))
    }

    fn signature_bytes(&self) -> usize {
        self.confirm.map_or(0, |confirm| confirm.check.bytes())
    }

    /// The mark of a row of the segment.
    pub(super) fn of(&self, row: u32) -> Mark<'_> {
        let (row, size) = (row as usize, self.signature_bytes());
        Mark { class: self.classes[row], signature: &self.signatures[row * size..][..size] }
    }

    /// Whether pages of two marks match, and how alike they are where that is checked: `None` if they
    /// do not match.
    pub(super) fn compare(&self, one: Mark<'_>, other: Mark<'_>) -> Option<Option<Similarity>> {
        if one.class != other.class {
            return None;
        }
        match &self.confirm {
            None => Some(None),
            Some(confirm) => confirm.similarity(one.signature, other.signature).map(Some),
        }
    }

    /// What signatures confirm, where there are any.
    pub(super) fn confirm(&self) -> Option<&Confirm> {
        self.confirm.as_ref()
    }
}
