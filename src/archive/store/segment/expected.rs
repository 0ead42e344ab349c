//! Blocks that will be looked up soon.
//!
//! A request of an object store takes tens of milliseconds, however few bytes are asked for. Who looks up rows in their order knows the next
//! rows beforehand, and announces them here: the answers are on their way while others are looked up. A file on a disk
//! answers at once, so nothing is announced.

use super::directory::{Column, IdKind};
use super::lookup::place;
use super::open::Segment;

/// The last block of each column of a segment that was announced. Rows are announced in their order.
#[derive(Debug, Default)]
pub struct Expected(Vec<(Column, usize)>);

impl Expected {
    /// Announces the blocks of `columns` that have `row`. A column that the segment lacks has none. What fails here is asked for once more
    /// when it is looked up.
    pub fn announce(&mut self, segment: &Segment, columns: &[Column], row: u64) {
        let Some(remote) = segment.remote() else { return };
        for &column in columns {
            let column = match (column, segment.id_kind()) {
                (Column::Ids, IdKind::None) => Column::Fingerprints,
                _ => column,
            };
            let Some(placed) = segment.column(column) else { continue };
            let (index, _) = place(row, placed.head.coding.block_rows() as usize);
            if self.is_new(column, index)
                && let Ok(blocks) = segment.blocks(column)
            {
                remote.expect(blocks.all[index].range());
            }
        }
    }

    /// Whether a block was not the last one of its column. It is from now on.
    fn is_new(&mut self, column: Column, index: usize) -> bool {
        match self.0.iter_mut().find(|(of, _)| *of == column) {
            Some((_, last)) => std::mem::replace(last, index) != index,
            None => {
                self.0.push((column, index));
                true
            }
        }
    }
}
