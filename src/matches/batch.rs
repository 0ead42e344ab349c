//! The batch as verdicts need it: its fingerprints by group, its ids by row and in order, and, where
//! something is to be confirmed, its marks.

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::marks::Marks;
use crate::matches::{Against, Confirm, KeepOrder, Row};
use crate::store::{KeyRange, Segment};

/// The documents of the batch. A group is all rows with one fingerprint, one class and, with a check,
/// one signature. Groups and rows are numbered by fingerprint, then by class, then by signature, then by
/// id; without classes and a check that is the order of the segment.
#[derive(Debug)]
pub struct Batch<F> {
    groups: Vec<F>,
    /// The first row of each group, and past them the number of rows.
    starts: Vec<u32>,
    ids: Ids,
    /// With marks: the row of the segment of each row, the first group of each fingerprint and past
    /// them the number of groups, and the marks.
    places: Vec<u32>,
    firsts: Vec<u32>,
    marks: Option<Marks>,
    /// Rows in the order of their ids.
    by_id: Vec<u32>,
    /// The place of each row in that order.
    ranks: Vec<u32>,
}

impl<F: Fingerprint> Batch<F> {
    /// Loads a segment whole: about 30 bytes and the id for each document, and its mark where matches
    /// are to be confirmed.
    pub fn load(segment: &Segment, confirm: Option<Confirm>) -> Result<Batch<F>> {
        let (groups, mut starts) = grouped(segment)?;
        let rows = segment.rows() as u32;
        starts.push(rows);
        let ids = Ids::load(segment)?;
        let mut by_id: Vec<u32> = (0..rows).collect();
        by_id.sort_unstable_by_key(|&row| ids.get(row));
        let mut ranks = vec![0; by_id.len()];
        for (rank, &row) in by_id.iter().enumerate() {
            ranks[row as usize] = rank as u32;
        }
        let (places, firsts, marks) = (Vec::new(), Vec::new(), None);
        let mut batch = Batch { groups, starts, ids, places, firsts, marks, by_id, ranks };
        if let Some(marks) = Marks::load(segment, confirm)? {
            batch.divide(marks);
        }
        Ok(batch)
    }

    /// Divides groups by mark.
    fn divide(&mut self, marks: Marks) {
        let mut places: Vec<u32> = (0..self.rows()).collect();
        let (mut groups, mut starts, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
        for (number, &fingerprint) in (0..).zip(&self.groups) {
            firsts.push(groups.len() as u32);
            let rows = self.rows_of(number);
            let alike = &mut places[rows.start as usize..rows.end as usize];
            alike.sort_by_key(|&place| marks.of(place));
            let mut start = rows.start;
            for group in alike.chunk_by(|&a, &b| marks.of(a) == marks.of(b)) {
                groups.push(fingerprint);
                starts.push(start);
                start += group.len() as u32;
            }
        }
        firsts.push(groups.len() as u32);
        starts.push(self.rows());
        let ranks = places.iter().map(|&place| self.ranks[place as usize]).collect();
        for (row, &rank) in (0..).zip(&ranks as &Vec<u32>) {
            self.by_id[rank as usize] = row;
        }
        (self.groups, self.starts, self.ranks) = (groups, starts, ranks);
        (self.places, self.firsts, self.marks) = (places, firsts, Some(marks));
    }

    /// The marks, where matches are to be confirmed.
    pub(super) fn marks(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    /// The number of distinct fingerprints.
    pub(super) fn fingerprints(&self) -> u32 {
        self.firsts.len().checked_sub(1).unwrap_or(self.groups.len()) as u32
    }

    /// The groups that have a fingerprint, by its number among the distinct ones.
    pub(super) fn groups_of(&self, fingerprint: u32) -> Range<u32> {
        match self.firsts.get(fingerprint as usize..fingerprint as usize + 2) {
            Some(&[first, end]) => first..end,
            _ => fingerprint..fingerprint + 1,
        }
    }

    /// Where a row stands in the segment.
    pub(super) fn place(&self, row: u32) -> u32 {
        self.places.get(row as usize).copied().unwrap_or(row)
    }

    /// The fingerprints of the groups, ascending.
    pub fn groups(&self) -> &[F] {
        &self.groups
    }

    /// The number of documents.
    pub fn rows(&self) -> u32 {
        self.by_id.len() as u32
    }

    /// The rows of a group.
    pub fn rows_of(&self, group: u32) -> Range<u32> {
        self.starts[group as usize]..self.starts[group as usize + 1]
    }

    /// The group of a row.
    pub fn group_of(&self, row: u32) -> u32 {
        self.starts.partition_point(|&start| start <= row) as u32 - 1
    }

    /// The id of a row.
    pub fn id(&self, row: u32) -> &str {
        self.ids.get(self.place(row))
    }

    /// The place of a row in the order of ids.
    pub fn rank(&self, row: u32) -> u32 {
        self.ranks[row as usize]
    }

    /// Rows in the order of their ids.
    pub fn by_id(&self) -> &[u32] {
        &self.by_id
    }

    /// The row of matches.tsv for two rows of the batch: the larger id is the new one.
    pub fn pair(&self, a: u32, b: u32, distance: u8) -> Row {
        let (smaller, larger) = if self.rank(a) < self.rank(b) { (a, b) } else { (b, a) };
        let similarity = self.marks.as_ref().and_then(|marks| {
            let [one, another] = [a, b].map(|row| marks.of(self.place(row)).signature);
            marks.confirm()?.similarity(one, another)
        });
        let (new, existing) = (self.rank(larger), self.id(smaller).to_owned());
        Row { new, distance, existing, against: Against::Batch, similarity }
    }

    /// Each group's first row in keep order, the only one of the group that can be kept.
    pub fn leaders(&self, segment: &Segment, keep: KeepOrder) -> Result<Leaders> {
        let mut rows = self.by_id.clone();
        match keep {
            KeepOrder::FirstId => {}
            KeepOrder::Oldest => {
                let times = times(segment)?;
                let time = |row: u32| times[self.place(row) as usize];
                rows.sort_by_key(|&row| (time(row).is_none(), time(row)));
            }
            KeepOrder::Longest => {
                let lengths = lengths(segment)?;
                rows.sort_by_key(|&row| std::cmp::Reverse(lengths[self.place(row) as usize]));
            }
        }
        let mut leaders = Leaders { rank: vec![u32::MAX; self.groups.len()], order: Vec::new() };
        for row in rows {
            let group = self.group_of(row);
            if leaders.rank[group as usize] == u32::MAX {
                leaders.rank[group as usize] = leaders.order.len() as u32;
                leaders.order.push(row);
            }
        }
        Ok(leaders)
    }
}

/// The documents that may be kept, one a group.
#[derive(Debug)]
pub struct Leaders {
    /// Their rows, in keep order.
    pub order: Vec<u32>,
    /// The place in that order of each group's leader.
    pub rank: Vec<u32>,
}

/// The time of every row.
fn times(segment: &Segment) -> Result<Vec<Option<i64>>> {
    let mut times = segment.times().ok_or_else(|| KeepOrder::Oldest.lacks_its_column(segment))?;
    (0..segment.rows()).map(|row| times.get(row)).collect()
}

/// The length of the text of every row, in bytes.
fn lengths(segment: &Segment) -> Result<Vec<u64>> {
    let mut lengths =
        segment.lengths().ok_or_else(|| KeepOrder::Longest.lacks_its_column(segment))?;
    (0..segment.rows()).map(|row| lengths.get(row)).collect()
}

/// The distinct fingerprints of a segment, ascending.
pub fn groups<F: Fingerprint>(segment: &Segment) -> Result<Vec<F>> {
    grouped(segment).map(|(groups, _)| groups)
}

/// The distinct fingerprints of a segment, and the first row of each.
fn grouped<F: Fingerprint>(segment: &Segment) -> Result<(Vec<F>, Vec<u32>)> {
    if segment.rows() > u64::from(u32::MAX) {
        return Err(too_many_rows(segment));
    }
    let (mut groups, mut starts) = (Vec::new(), Vec::new());
    let mut scan = segment.scan::<F>(KeyRange::all());
    let mut run = Vec::new();
    while let Some(first) = scan.next(&mut run)? {
        for (row, &fingerprint) in (first as u32..).zip(&run) {
            if groups.last() != Some(&fingerprint) {
                groups.push(fingerprint);
                starts.push(row);
            }
        }
    }
    Ok((groups, starts))
}

fn too_many_rows(segment: &Segment) -> Error {
    Error::new(Kind::Usage, "a batch this large cannot be joined at once")
        .at(segment.path())
        .expected(format!("at most {} documents", u32::MAX))
        .found(segment.rows())
        .help("split the batch")
}

/// Strings by number, end to end in one piece of memory.
#[derive(Debug)]
struct Ids {
    text: String,
    ends: Vec<u64>,
}

impl Ids {
    fn load(segment: &Segment) -> Result<Ids> {
        let mut loaded = Ids { text: String::new(), ends: vec![0] };
        let mut ids = segment.ids();
        for row in 0..segment.rows() {
            loaded.text.push_str(ids.get(row)?);
            loaded.ends.push(loaded.text.len() as u64);
        }
        Ok(loaded)
    }

    fn get(&self, row: u32) -> &str {
        let [start, end] = [0, 1].map(|side| self.ends[row as usize + side] as usize);
        &self.text[start..end]
    }
}
