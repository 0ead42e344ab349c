//! The batch as verdicts need it: its rows by group, their order by id, and, where something is to be
//! confirmed, its marks.
//!
//! Some bytes for each document are held, and its mark, never its id: the ids are sorted once, on disk
//! where they do not fit, and read in that order when the output is written.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Fingerprint, Width};
use crate::matches::group_key::{Mark, Marks};
use crate::matches::{Confirm, KeepOrder, Leaders, Similarity};
use crate::runs::{Record, Sorted, Sorter};
use crate::store::{KeyRange, Segment};

/// About how many bytes a join holds in memory for each page of a batch, beside its tables and sorts,
/// which `--memory` bounds: the fingerprint, the page's place in each order, its verdict, the sieve of
/// each of the `workers`, and with a check its mark. The process that writes the output holds all of
/// it, the others hold the fingerprint and the sieves.
pub fn held_bytes(width: Width, check: Option<Check>, workers: u64) -> u64 {
    // `starts` and `ranks` of the batch; three numbers of its leaders; the judgement; the nearest page
    // of the store.
    const PLACES: u64 = 8 + 12 + 5 + 1;
    /// Of one worker.
    const SIEVE: u64 = 2;
    // Places and first groups of divided fingerprints, what they are sorted from, and the class.
    const DIVIDED: u64 = 4 + 4 + 8 + 1;
    let marks = check.map_or(0, |check| DIVIDED + check.bytes() as u64);
    u64::from(width.bits()) / 8 + PLACES + SIEVE * workers + marks
}

/// The documents of the batch. A group is all rows with one fingerprint, one class and, with a check,
/// one signature. Groups and rows are numbered by fingerprint, then by class, then by signature, then by
/// id; without classes and a check that is the order of the segment.
#[derive(Debug)]
pub(super) struct Batch {
    /// The first row of each group, and past them the number of rows.
    starts: Vec<u32>,
    /// With marks, how they are divided by these.
    divided: Option<Divided>,
    /// The place of each row in the order of ids.
    ranks: Vec<u32>,
    /// The bytes of all ids.
    id_bytes: u64,
}

/// Fingerprints divided into groups.
#[derive(Debug)]
struct Divided {
    /// Where each row stands in the segment.
    places: Vec<u32>,
    /// The first group of each fingerprint, and past them the number of groups.
    firsts: Vec<u32>,
    marks: Marks,
}

/// A document's id and where it stands in the segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Id {
    pub(super) id: String,
    place: u32,
}

impl Record for Id {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id)
    }
}

/// About how many bytes a string takes beside itself.
pub(super) fn allocated(text: &str) -> usize {
    text.len().next_multiple_of(16) + 16
}

impl Batch {
    /// Loads a segment, eight bytes for each document, and eight more and its mark where matches are to
    /// be confirmed, and sorts its ids; the sort takes about `memory_bytes` and spills into `folder`.
    pub(super) fn load<F: Fingerprint>(
        segment: &Segment,
        confirm: Option<Confirm>,
        folder: &Path,
        memory_bytes: usize,
    ) -> Result<(Batch, Sorted<Id>)> {
        let mut starts = Vec::new();
        each_group::<F>(segment, |_, row| starts.push(row))?;
        starts.push(segment.rows() as u32);
        let (mut ids, mut sorter) = (segment.ids(), Sorter::new(folder, memory_bytes));
        let mut id_bytes = 0;
        for row in 0..segment.rows() {
            let id = ids.get(row)?.to_owned();
            id_bytes += id.len() as u64;
            sorter.push(Id { id, place: row as u32 })?;
        }
        let mut ranks = vec![0; segment.rows() as usize];
        let ranked = (0..).zip(sorter.sorted()?).map(|(rank, id)| {
            let id = id?;
            ranks[id.place as usize] = rank;
            Ok(id)
        });
        let ids = Sorted::through_disk(folder, ranked)?;
        let mut batch = Batch { starts, divided: None, ranks, id_bytes };
        if let Some(marks) = Marks::load(segment, confirm)? {
            batch.divide(marks);
        }
        Ok((batch, ids))
    }

    /// Divides groups by mark.
    fn divide(&mut self, marks: Marks) {
        let mut places: Vec<u32> = (0..self.rows()).collect();
        let (mut starts, mut firsts) = (Vec::new(), Vec::new());
        for fingerprint in 0..self.groups() {
            firsts.push(starts.len() as u32);
            let rows = self.rows_of(fingerprint);
            let alike = &mut places[rows.start as usize..rows.end as usize];
            alike.sort_by_key(|&place| marks.of(place));
            let mut start = rows.start;
            for group in alike.chunk_by(|&a, &b| marks.of(a) == marks.of(b)) {
                starts.push(start);
                start += group.len() as u32;
            }
        }
        firsts.push(starts.len() as u32);
        starts.push(self.rows());
        self.ranks = places.iter().map(|&place| self.ranks[place as usize]).collect();
        self.starts = starts;
        self.divided = Some(Divided { places, firsts, marks });
    }

    /// The marks, where matches are to be confirmed.
    pub(super) fn marks(&self) -> Option<&Marks> {
        self.divided.as_ref().map(|divided| &divided.marks)
    }

    /// The mark of a group, one of these.
    pub(super) fn mark<'m>(&self, marks: &'m Marks, group: u32) -> Mark<'m> {
        marks.of(self.place(self.rows_of(group).start))
    }

    /// Whether two groups are of one class and, with a check, have signatures that are alike.
    pub(super) fn matches(&self, a: u32, b: u32) -> bool {
        let compare = |marks: &Marks| marks.compare(self.mark(marks, a), self.mark(marks, b));
        self.marks().is_none_or(|marks| compare(marks).is_some())
    }

    /// How alike two rows are, where that is checked.
    pub(super) fn similarity(&self, a: u32, b: u32) -> Option<Similarity> {
        let marks = self.marks()?;
        let [one, another] = [a, b].map(|row| marks.of(self.place(row)).signature);
        marks.confirm()?.similarity(one, another)
    }

    /// Where a row stands in the segment.
    pub(super) fn place(&self, row: u32) -> u32 {
        self.divided.as_ref().map_or(row, |divided| divided.places[row as usize])
    }

    /// The number of distinct fingerprints.
    pub(super) fn fingerprints(&self) -> u32 {
        self.divided.as_ref().map_or(self.groups(), |divided| divided.firsts.len() as u32 - 1)
    }

    /// The groups that have a fingerprint, by its number among the distinct ones.
    pub(super) fn groups_of(&self, fingerprint: u32) -> Range<u32> {
        match &self.divided {
            None => fingerprint..fingerprint + 1,
            Some(Divided { firsts, .. }) => {
                firsts[fingerprint as usize]..firsts[fingerprint as usize + 1]
            }
        }
    }

    /// The number of a group's fingerprint among the distinct ones.
    pub(super) fn fingerprint_of(&self, group: u32) -> u32 {
        self.divided.as_ref().map_or(group, |divided| {
            divided.firsts.partition_point(|&first| first <= group) as u32 - 1
        })
    }

    /// How many rows of a group have an id that comes before the one of this rank. The ids of a group
    /// ascend.
    pub(super) fn before(&self, group: u32, rank: u32) -> usize {
        let Range { start, end } = self.rows_of(group);
        self.ranks[start as usize..end as usize].partition_point(|&other| other < rank)
    }

    /// The group of a row.
    pub(super) fn group_of(&self, row: u32) -> u32 {
        self.starts.partition_point(|&start| start <= row) as u32 - 1
    }

    /// The row of each rank in the order of ids.
    pub(super) fn by_rank(&self) -> Vec<u32> {
        let mut rows = vec![0; self.ranks.len()];
        (0..).zip(&self.ranks).for_each(|(row, &rank)| rows[rank as usize] = row);
        rows
    }

    /// The number of groups.
    pub(super) fn groups(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The number of documents.
    pub(super) fn rows(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The rows of a group.
    pub(super) fn rows_of(&self, group: u32) -> Range<u32> {
        self.starts[group as usize]..self.starts[group as usize + 1]
    }

    /// The place of a row in the order of ids.
    pub(super) fn rank(&self, row: u32) -> u32 {
        self.ranks[row as usize]
    }

    /// About how many bytes an id has.
    pub(super) fn id_bytes(&self) -> u64 {
        self.id_bytes / u64::from(self.rows()).max(1)
    }

    /// Each group's first row in keep order, the only one of the group that can be kept.
    pub(super) fn leaders(
        &self,
        segment: &Segment,
        keep: KeepOrder,
        folder: &Path,
        memory_bytes: usize,
    ) -> Result<Leaders> {
        let mut turn = keep.turns(segment)?;
        let (mut rows, mut order) = (Vec::new(), Sorter::new(folder, memory_bytes));
        for group in 0..self.groups() {
            let mut first = None;
            for row in self.rows_of(group) {
                let next = (turn(self.place(row))?, self.rank(row), row);
                first = first.map_or(Some(next), |first| Some(next.min(first)));
            }
            let (turn, rank, row) = first.expect("a group has a row");
            rows.push(row);
            order.push((turn, rank, group))?;
        }
        Leaders::of(rows, order.sorted()?.map(|next| next.map(|(_, _, group)| group)))
    }
}

/// The distinct fingerprints of a segment, ascending.
pub fn groups<F: Fingerprint>(segment: &Segment) -> Result<Vec<F>> {
    let mut groups = Vec::new();
    each_group(segment, |fingerprint, _| groups.push(fingerprint))?;
    Ok(groups)
}

/// Calls `each` with every distinct fingerprint of a segment and its first row.
fn each_group<F: Fingerprint>(segment: &Segment, mut each: impl FnMut(F, u32)) -> Result<()> {
    if segment.rows() > u64::from(u32::MAX) {
        return Err(too_many_rows(segment));
    }
    let mut scan = segment.scan::<F>(KeyRange::all());
    let (mut run, mut last) = (Vec::new(), None);
    while let Some(first) = scan.next(&mut run)? {
        for (row, &fingerprint) in (first as u32..).zip(&run) {
            if last != Some(fingerprint) {
                each(fingerprint, row);
                last = Some(fingerprint);
            }
        }
    }
    Ok(())
}

fn too_many_rows(segment: &Segment) -> Error {
    Error::new(Kind::Usage, "a batch this large cannot be joined at once")
        .at(segment.path())
        .expected(format!("at most {} documents", u32::MAX))
        .found(segment.rows())
        .help("split the batch")
}
