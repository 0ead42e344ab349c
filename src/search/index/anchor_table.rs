//! The anchors of a segment, sorted: which rows have this one?
//!
//! The column has the anchors of row after row, to stream past a batch. For one page a table has them once more, a segment of 128 bits
//! without ids. An entry is the anchor, and the row, in as many bits as the last row needs:
//!
//! ```text
//! 128 bits       zeros | anchor, 40 bits | row      so the rows with an anchor follow each other
//! ```
//!
//! A crowd may share an anchor. So rows are given range by range, each with at most as many entries as a [chunk](CHUNK_ROWS) of rows can have.

use std::iter;
use std::ops::Range;

use crate::error::Result;
use crate::fingerprint::check::ANCHORS;
use crate::matches::{CHUNK_ROWS, RowAnchor, anchors_of};
use crate::store::{Column, Cursor, KeyRange, Ranked, Segment};

/// The most entries of a range that has more rows than a chunk.
const MOST_ENTRIES: u64 = CHUNK_ROWS * ANCHORS as u64;

pub(super) struct AnchorTable {
    ranked: Ranked<u128>,
    rows: u64,
}

impl AnchorTable {
    pub(super) fn new(ranked: Ranked<u128>, rows: u64) -> AnchorTable {
        AnchorTable { ranked, rows }
    }

    pub(super) fn sharing<'a>(
        &'a self,
        anchors: &'a [u8],
    ) -> impl Iterator<Item = Result<Vec<RowAnchor>>> + 'a {
        let mut ranges: Vec<_> = iter::once(0..self.rows).collect();
        iter::from_fn(move || self.next(anchors, &mut ranges).transpose())
    }

    /// The rows of the last of the `ranges`, or of a part of it if they are too many.
    fn next(&self, anchors: &[u8], ranges: &mut Vec<Range<u64>>) -> Result<Option<Vec<RowAnchor>>> {
        while let Some(Range { start, end }) = ranges.pop() {
            let keys = anchors_of(anchors).map(|anchor| (anchor, entry(anchor, 0, self.rows)));
            let mut entries = 0;
            if end - start > CHUNK_ROWS {
                for (_, key) in keys.clone() {
                    let (low, high) = (key | u128::from(start), key | u128::from(end - 1));
                    let at = self.ranked.rows(KeyRange { low, high })?;
                    entries += at.end - at.start;
                }
            }
            if entries > MOST_ENTRIES {
                let middle = start + (end - start).div_ceil(2).next_multiple_of(CHUNK_ROWS);
                ranges.extend([middle..end, start..middle]);
                continue;
            }
            let mut rows = Vec::new();
            for (anchor, key) in keys {
                let mut cursors = [Cursor::default()];
                self.ranked.seek(&[key | u128::from(start)], &mut cursors)?;
                let last = key | u128::from(end - 1);
                self.ranked.read_to(cursors[0], last, usize::MAX, |_, entry| {
                    rows.push(((entry ^ key) as u64, anchor));
                })?;
            }
            return Ok(Some(rows));
        }
        Ok(None)
    }
}

pub(super) fn each_entry(
    segment: &Segment,
    mut each: impl FnMut(u128) -> Result<()>,
) -> Result<()> {
    let Some(mut anchors) = segment.anchors() else { return Ok(()) };
    for block in 0..segment.blocks_of(Column::Anchors) {
        let (rows, block) = anchors.block_of(block)?;
        for (row, anchors) in rows.zip(block.each()) {
            anchors_of(anchors).try_for_each(|anchor| each(entry(anchor, row, segment.rows())))?;
        }
    }
    Ok(())
}

fn entry(anchor: u64, row: u64, rows: u64) -> u128 {
    let row_bits = u64::BITS - rows.saturating_sub(1).leading_zeros();
    u128::from(anchor) << row_bits | u128::from(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Lock;
    use crate::store::{Access, Details, IdKind, SegmentOptions, SideTableWriter};
    use crate::tests::segment;

    /// Anchors that most rows share, and more rows than a chunk has: given in ranges, they are those of the column.
    #[test]
    fn a_crowd_is_given_range_by_range() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let options =
            SegmentOptions { ids: IdKind::None, anchors: true, ..SegmentOptions::default() };
        let rows = 2 * CHUNK_ROWS + 77;
        let anchor = |row: u64, place: u64| 8 * u64::from((row + place).is_multiple_of(9)) + place;
        let anchors_of_row = |row: u64| -> Vec<u8> {
            let places = 0..ANCHORS as u64;
            places.flat_map(|place| [anchor(row, place) as u8, 1, 2, 3, 4]).collect()
        };
        let page = |row| (row, "", Details { anchors: anchors_of_row(row), ..Details::default() });
        let segment = segment(&folder.path().join("day.seg"), options, (0..rows).map(page))?;
        let (path, lock) =
            (folder.path().join("table.seg"), Lock::on_file(&folder.path().join("x"))?);
        let mut writer = SideTableWriter::create(&path, String::new(), lock.fence())?;
        let mut entries = Vec::new();
        each_entry(&segment, |entry| {
            entries.push(entry);
            Ok(())
        })?;
        entries.sort_unstable();
        entries.into_iter().try_for_each(|entry| writer.push(entry))?;
        let table = writer.finish()?;
        let table = AnchorTable::new(Ranked::open(&table, Access::OnDisk)?, rows);
        let asked = anchors_of_row(1);
        let mut found = Vec::new();
        let mut ranges = 0;
        for range in table.sharing(&asked) {
            let mut range = range?;
            range.sort_unstable();
            assert!(range.len() as u64 <= MOST_ENTRIES && found.last() < range.first());
            found.extend(range);
            ranges += 1;
        }
        let asked: Vec<u64> = anchors_of(&asked).collect();
        let expected = (0..rows).flat_map(|row| {
            anchors_of(&anchors_of_row(row))
                .map(|it| (row, it))
                .filter(|it| asked.contains(&it.1))
                .collect::<Vec<_>>()
        });
        assert!(found.into_iter().eq(expected));
        assert!(ranges > 1, "{ranges}");
        Ok(())
    }
}
