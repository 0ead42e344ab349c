//! The group key: what decides beside the fingerprint whether two pages match.
//!
//! With a check, only pages with similar signatures match. Pages of two classes never match, but by sketches, which compare whole texts of any
//! length: with these, all pages are of one class here. Pages of the batch with one fingerprint and one key are one group.

use std::ops::Range;

use super::coverage::{Coverage, Coverages};
use super::numbers::{Number, SegmentRow};
use super::similarity::Confirm;
use crate::error::Result;
use crate::fingerprint::Class;
use crate::progress::{self, Activity};
use crate::store::{Classes, Column, RowBytes, Segment};

/// The class of a page, and its signature, which is empty without a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupKey<'a> {
    pub class: Class,
    pub signature: &'a [u8],
}

impl GroupKey<'_> {
    /// How well each of two pages with these keys, at this distance, covers the other one. Copies always do, as one group.
    pub(crate) fn compare(
        self,
        other: GroupKey<'_>,
        distance: u32,
        confirm: Option<&Confirm>,
    ) -> Coverages {
        let distance = distance as u8;
        let one_class = confirm.is_none_or(Confirm::needs_one_class);
        match confirm {
            _ if one_class && self.class != other.class => Coverages::default(),
            _ if distance == 0 && self.signature == other.signature => {
                Coverages::mutual(Coverage::SAME)
            }
            None => Coverages::mutual(Coverage::near(distance)),
            Some(confirm) => Coverages::by(confirm, self.signature, other.signature, distance),
        }
    }
}

pub(crate) struct GroupKeyReader {
    classes: Option<Classes>,
    checks: Option<RowBytes>,
}

impl GroupKeyReader {
    /// The reader of `segment`; with `confirm`, it reads signatures too.
    pub(crate) fn new(segment: &Segment, confirm: Option<&Confirm>) -> Result<GroupKeyReader> {
        let checks = confirm.map(|confirm| confirm.signatures(segment)).transpose()?;
        let has_classes = confirm.is_none_or(Confirm::needs_one_class);
        let classes = if has_classes { segment.classes() } else { None };
        Ok(GroupKeyReader { classes, checks })
    }

    pub(crate) fn get(&mut self, row: u64) -> Result<GroupKey<'_>> {
        let class = self.classes.as_mut().map_or(Ok(Class::Full), |classes| classes.get(row))?;
        let signature = self.checks.as_mut().map_or(Ok(&[][..]), |checks| checks.get(row))?;
        Ok(GroupKey { class, signature })
    }
}

/// The keys of neighbouring rows of a segment, in memory.
pub(crate) struct HeldKeys {
    rows: Range<usize>,
    classes: Vec<Class>,
    /// The signatures, end to end, and where each ends.
    signatures: Vec<u8>,
    ends: Vec<usize>,
}

impl HeldKeys {
    /// How many keys of a segment fit into so much memory; one at least.
    pub(super) fn most(segment: &Segment, confirm: Option<&Confirm>, memory_bytes: usize) -> usize {
        let each = confirm.map_or(0, |_| segment.mean_row_bytes(Column::Checks));
        memory_bytes.checked_div(each).unwrap_or(usize::MAX).max(1)
    }

    pub(super) fn read(reader: &mut GroupKeyReader, rows: Range<usize>) -> Result<HeldKeys> {
        let (classes, ends) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let mut held = HeldKeys { rows: rows.clone(), classes, signatures: Vec::new(), ends };
        for row in rows {
            progress::tick(Activity::Working);
            let GroupKey { class, signature } = reader.get(row as u64)?;
            held.classes.push(class);
            held.signatures.extend(signature);
            held.ends.push(held.signatures.len());
        }
        Ok(held)
    }

    /// The key of a row, which `reader` looks up if it is not held.
    pub(super) fn get<'a>(
        &'a self,
        row: SegmentRow,
        reader: &'a mut GroupKeyReader,
    ) -> Result<GroupKey<'a>> {
        let row = row.index();
        if !self.rows.contains(&row) {
            return reader.get(row as u64);
        }
        let at = row - self.rows.start;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let signature = &self.signatures[start..self.ends[at]];
        Ok(GroupKey { class: self.classes[at], signature })
    }
}
