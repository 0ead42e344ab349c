//! The group key: what decides beside the fingerprint whether two pages match.
//!
//! With a check, only pages with similar signatures match. Pages of two classes never match, but by sketches, which compare whole texts of any
//! length: with these, all pages are of one class here. Pages of the batch with one fingerprint and one key are one group.

use std::cell::RefCell;
use std::ops::Range;

use super::nearness::Nearness;
use super::numbers::{Number, SegmentRow};
use super::similarity::Confirm;
use super::standing::{Standing, Standings};
use crate::error::Result;
use crate::fingerprint::Class;
use crate::store::{Classes, Column, RowBytes, Segment};

/// The class of a page, and its signature, which is empty without a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupKey<'a> {
    pub(crate) class: Class,
    pub(crate) signature: &'a [u8],
}

impl GroupKey<'_> {
    /// How well each of two pages with these keys, at this distance, stands for the other one. Pages with one fingerprint and
    /// one key always do: they would be one group.
    pub(crate) fn compare(
        self,
        other: GroupKey<'_>,
        distance: u32,
        confirm: Option<&Confirm>,
    ) -> Standings {
        let distance = distance as u8;
        let one_class = confirm.is_none_or(Confirm::needs_one_class);
        match confirm {
            _ if one_class && self.class != other.class => Standings::default(),
            _ if distance == 0 && self.signature == other.signature => {
                Standings::mutual(Standing::SAME)
            }
            None => Standings::mutual(Standing::near(distance)),
            Some(confirm) => Standings::by(confirm, self.signature, other.signature, distance),
        }
    }
}

/// Looks up the keys of a segment by row.
pub(crate) struct GroupKeyReader {
    classes: Option<Classes>,
    checks: Option<RowBytes>,
}

impl GroupKeyReader {
    /// The reader of `segment`; with `confirm`, it reads signatures too.
    ///
    /// # Errors
    /// A segment without these signatures is [`crate::Kind::BadData`].
    pub(crate) fn new(segment: &Segment, confirm: Option<&Confirm>) -> Result<GroupKeyReader> {
        let checks = confirm.map(|confirm| confirm.signatures(segment)).transpose()?;
        let has_classes = confirm.is_none_or(Confirm::needs_one_class);
        let classes = if has_classes { segment.classes() } else { None };
        Ok(GroupKeyReader { classes, checks })
    }

    /// The key of a row of the segment.
    pub(crate) fn get(&mut self, row: u64) -> Result<GroupKey<'_>> {
        let class = self.classes.as_mut().map_or(Ok(Class::Full), |classes| classes.get(row))?;
        let signature = self.checks.as_mut().map_or(Ok(&[][..]), |checks| checks.get(row))?;
        Ok(GroupKey { class, signature })
    }
}

/// The keys of the batch: the classes of all pages, and the signatures of a window of rows. Other signatures are
/// read when they are asked for, a block of 64 at a time, so neighbouring rows are fast.
pub(super) struct GroupKeys {
    confirm: Option<Confirm>,
    /// By row of the segment.
    classes: Vec<Class>,
    window: Window,
    /// Look up what is not in the window: one for each of two rows that are compared.
    readers: RefCell<Option<[RowBytes; 2]>>,
}

/// The signatures of neighbouring rows.
struct Window {
    /// The rows, as their segment counts them.
    rows: Range<usize>,
    /// Their signatures, end to end, and where each ends.
    signatures: Vec<u8>,
    ends: Vec<usize>,
    /// How many rows may be held.
    most: usize,
}

impl GroupKeys {
    /// The keys of all rows of a segment, with signatures held in `memory_bytes`: from the first row on, as many
    /// as fit. `None` if all its pages may match: it has no classes, and nothing confirms.
    pub(super) fn load(
        segment: &Segment,
        confirm: Option<Confirm>,
        memory_bytes: usize,
    ) -> Result<Option<GroupKeys>> {
        if confirm.is_none() && !segment.has_classes() {
            return Ok(None);
        }
        let rows = segment.rows();
        let each = confirm.map_or(0, |_| segment.mean_row_bytes(Column::Checks));
        let most = memory_bytes.checked_div(each).unwrap_or(usize::MAX).max(1);
        let window = Window { rows: 0..0, signatures: Vec::new(), ends: Vec::new(), most };
        let mut keys =
            GroupKeys { confirm, classes: Vec::new(), window, readers: RefCell::default() };
        if rows > 0 {
            let has_classes = confirm.as_ref().is_none_or(Confirm::needs_one_class);
            let mut classes = if has_classes { segment.classes() } else { None };
            let class = |row| classes.as_mut().map_or(Ok(Class::Full), |classes| classes.get(row));
            keys.classes = (0..rows).map(class).collect::<Result<_>>()?;
            if let Some(confirm) = confirm {
                let reader = || confirm.signatures(segment);
                keys.readers = RefCell::new(Some([reader()?, reader()?]));
            }
            keys.hold(0)?;
        }
        Ok(Some(keys))
    }

    /// How many rows are held at once.
    pub(super) fn most_rows(&self) -> usize {
        self.window.most
    }

    /// Holds the signatures of the rows from `start` on, as many as fit, unless they are held already.
    pub(super) fn hold(&mut self, start: usize) -> Result<()> {
        let GroupKeys { classes, window, readers, .. } = self;
        let end = classes.len().min(start.saturating_add(window.most));
        let Some([reader, _]) = readers.get_mut() else { return Ok(()) };
        if window.rows.start <= start && end <= window.rows.end {
            return Ok(());
        }
        window.rows = 0..0;
        window.signatures.clear();
        window.ends.clear();
        for row in start..end {
            window.signatures.extend(reader.get(row as u64)?);
            window.ends.push(window.signatures.len());
        }
        window.rows = start..end;
        Ok(())
    }

    /// The key of a row, which `reader` looks up if it is not held.
    fn of<'a>(&'a self, row: SegmentRow, reader: Option<&'a mut RowBytes>) -> Result<GroupKey<'a>> {
        let row = row.index();
        let signature = match reader {
            Some(reader) => match self.window.get(row) {
                Some(signature) => signature,
                None => reader.get(row as u64)?,
            },
            None => &[],
        };
        Ok(GroupKey { class: self.classes[row], signature })
    }

    /// As [`GroupKey::compare`], for two rows of the batch.
    pub(super) fn compare_rows(
        &self,
        one: SegmentRow,
        other: SegmentRow,
        distance: u32,
    ) -> Result<Standings> {
        let mut readers = self.readers.borrow_mut();
        let [first, second] = match &mut *readers {
            Some([first, second]) => [Some(first), Some(second)],
            None => [None, None],
        };
        let other = self.of(other, second)?;
        Ok(self.of(one, first)?.compare(other, distance, self.confirm()))
    }

    /// As [`GroupKey::compare`], for a row of the batch and any key.
    pub(super) fn compare_row(
        &self,
        one: SegmentRow,
        other: GroupKey<'_>,
        distance: u32,
    ) -> Result<Standings> {
        let mut readers = self.readers.borrow_mut();
        let reader = readers.as_mut().map(|[reader, _]| reader);
        Ok(self.of(one, reader)?.compare(other, distance, self.confirm()))
    }

    /// The number of shingles of a page, where a check with a direction confirms matches.
    pub(super) fn shingles(&self, row: SegmentRow) -> Result<Option<u64>> {
        let Some(check) = self.confirm.map(|it| it.check).filter(|it| it.has_direction()) else {
            return Ok(None);
        };
        let mut readers = self.readers.borrow_mut();
        let reader = readers.as_mut().map(|[reader, _]| reader);
        Ok(check.shingles(self.of(row, reader)?.signature))
    }

    /// Whether it is known which of two pages contains the other one.
    pub(super) fn has_direction(&self) -> bool {
        self.confirm.is_some_and(|confirm| confirm.has_direction())
    }

    /// The check that confirms matches, if there is one.
    pub(super) fn confirm(&self) -> Option<&Confirm> {
        self.confirm.as_ref()
    }
}

impl Window {
    /// The signature of a row, if it is held.
    fn get(&self, row: usize) -> Option<&[u8]> {
        let at = self.rows.contains(&row).then(|| row - self.rows.start)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        Some(&self.signatures[start..self.ends[at]])
    }
}
