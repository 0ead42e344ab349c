//! The ids of one shard, sorted.
//!
//! A shard is a range of ids, so its ids begin alike. Only what follows that beginning is compared, eight
//! bytes at once; these decide nearly always.

use std::iter;

use crate::matches::numbers::SegmentRow;

/// The bytes before each id: its row and its length.
const HEAD_BYTES: usize = 8;

pub(super) fn push(bytes: &mut Vec<u8>, row: SegmentRow, id: &str) {
    bytes.extend(u32::from(row).to_le_bytes());
    bytes.extend((id.len() as u32).to_le_bytes());
    bytes.extend(id.as_bytes());
}

pub(super) fn bytes_of(id: &str) -> usize {
    HEAD_BYTES + id.len()
}

/// Ids in the order of their bytes; equal ones in the order of their rows.
#[derive(Debug)]
pub(in crate::matches) struct Shard {
    bytes: Vec<u8>,
    /// Where each id begins, by its place in the order.
    starts: Vec<usize>,
}

impl Shard {
    pub(super) fn sorted(bytes: Vec<u8>) -> Shard {
        let mut shard = Shard { bytes, starts: Vec::new() };
        let alike = shard.alike();
        let key = |start: usize| {
            let rest = &shard.id_bytes(start)[alike..];
            // No id has a byte of zero, so a shorter one comes first.
            let mut key = [0; 8];
            let length = rest.len().min(8);
            key[..length].copy_from_slice(&rest[..length]);
            (u64::from_be_bytes(key), start)
        };
        let mut order: Vec<(u64, usize)> = shard.unsorted().map(key).collect();
        order.sort_unstable_by(|&(key, start), &(other_key, other)| {
            let ids = || shard.id_bytes(start)[alike..].cmp(&shard.id_bytes(other)[alike..]);
            let rows = || shard.row(start).cmp(&shard.row(other));
            key.cmp(&other_key).then_with(ids).then_with(rows)
        });
        shard.starts = order.into_iter().map(|(_, start)| start).collect();
        shard
    }

    /// The ids in these bytes, in an order that is known already: `place` gives the place of each row's id.
    pub(super) fn ordered(bytes: Vec<u8>, place: impl Fn(SegmentRow) -> usize) -> Shard {
        let mut shard = Shard { bytes, starts: Vec::new() };
        let mut starts = vec![0; shard.unsorted().count()];
        shard.unsorted().for_each(|start| starts[place(shard.row(start))] = start);
        shard.starts = starts;
        shard
    }

    /// The rows in the order of their ids.
    pub(in crate::matches) fn rows(&self) -> impl Iterator<Item = SegmentRow> + '_ {
        self.starts.iter().map(|&start| self.row(start))
    }

    pub(in crate::matches) fn ids(&self) -> impl Iterator<Item = &str> {
        (0..self.starts.len()).map(|place| self.id(place))
    }

    pub(in crate::matches) fn id(&self, place: usize) -> &str {
        str::from_utf8(self.id_bytes(self.starts[place])).expect("an id that was put here as text")
    }

    /// Where each id begins, in the order in which they were added.
    fn unsorted(&self) -> impl Iterator<Item = usize> + '_ {
        let within = |start| (start < self.bytes.len()).then_some(start);
        iter::successors(within(0), move |&start| within(start + HEAD_BYTES + self.length(start)))
    }

    /// How many bytes all ids begin with alike.
    fn alike(&self) -> usize {
        let Some(first) = self.unsorted().next().map(|start| self.id_bytes(start)) else {
            return 0;
        };
        self.unsorted().fold(first.len(), |alike, start| {
            let id = &self.id_bytes(start)[..alike.min(self.length(start))];
            if first.starts_with(id) {
                return id.len();
            }
            id.iter().zip(first).take_while(|(a, b)| a == b).count()
        })
    }

    fn id_bytes(&self, start: usize) -> &[u8] {
        &self.bytes[start + HEAD_BYTES..][..self.length(start)]
    }

    fn row(&self, start: usize) -> SegmentRow {
        SegmentRow::from(self.number(start))
    }

    fn length(&self, start: usize) -> usize {
        self.number(start + 4) as usize
    }

    fn number(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }
}
