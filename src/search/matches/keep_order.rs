//! Keep order: which of several near pages stays.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::numbers::{Group, KeepRank, Number, Row, SegmentRow};
use crate::error::{Error, Kind, Result, by_name};
use crate::store::Segment;

/// The order in which the pages of a batch are taken. Of several near pages the first one is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepOrder {
    /// By time, pages without one last; ties by id.
    Oldest,
    /// By time, the last first, pages without one last; ties by id.
    Newest,
    FirstId,
    /// By length of the text, longest first; ties by id.
    Longest,
    /// By the keys that the batch has of a field ([`Segment::order`]), the least first, pages without one last; ties by id.
    Field,
}

/// When a page has its turn: its place, behind whether it comes after all that have a place.
pub type Turn = (bool, i64);

/// A class of lengths: those within a tenth count as one. Longer texts have greater classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LengthClass(u16);

impl LengthClass {
    /// The class of a text of so many runs. Each begins a tenth above the one before, and at least one run.
    pub fn of(runs: u64) -> LengthClass {
        static BEGINNINGS: LazyLock<Vec<u64>> = LazyLock::new(|| {
            let next = |&begin: &u64| begin.checked_add((begin / 10).max(1));
            std::iter::successors(Some(0), next).collect()
        });
        LengthClass(BEGINNINGS.partition_point(|&begin| begin <= runs) as u16)
    }
}

/// When a page of the batch is taken, before any other order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Precedence {
    /// It takes the place of pages of the store, and is kept.
    Replaces,
    #[default]
    Usual,
    /// A newer page of its key is there: it is not kept.
    Superseded,
}

/// The leader of each group: its first page in keep order, the only one of the group that can be kept.
#[derive(Debug)]
pub(super) struct Leaders {
    rows: Vec<Row>,
    order: Vec<Group>,
    ranks: Vec<KeepRank>,
}

impl Leaders {
    /// The `rows` that lead the groups, and the groups in keep `order`.
    pub(super) fn new(
        rows: Vec<Row>,
        order: impl Iterator<Item = Result<Group>>,
    ) -> Result<Leaders> {
        let order = order.collect::<Result<Vec<Group>>>()?;
        let mut ranks = vec![KeepRank::from(0); order.len()];
        for (rank, &group) in (0..).zip(&order) {
            ranks[group.index()] = KeepRank::from(rank);
        }
        Ok(Leaders { rows, order, ranks })
    }

    pub(super) fn row(&self, group: Group) -> Row {
        self.rows[group.index()]
    }

    pub(super) fn group(&self, rank: KeepRank) -> Group {
        self.order[rank.index()]
    }

    pub(super) fn rank(&self, group: Group) -> KeepRank {
        self.ranks[group.index()]
    }
}

impl KeepOrder {
    pub const ALL: [KeepOrder; 4] =
        [KeepOrder::Oldest, KeepOrder::Newest, KeepOrder::FirstId, KeepOrder::Longest];

    /// The order that was asked for, or the default: by the field if the segment has keys, else by time if it has times, else by id.
    pub fn for_segment(asked: Option<KeepOrder>, segment: &Segment) -> Result<KeepOrder> {
        let has_keys = segment.order().is_some();
        if has_keys && asked.is_none_or(|order| order == KeepOrder::Field) {
            return Ok(KeepOrder::Field);
        }
        let [has_times, has_lengths] = [segment.times().is_some(), segment.lengths().is_some()];
        KeepOrder::for_documents(asked, has_times && !has_keys, has_lengths)
            .map_err(|error| error.at(segment.path()))
    }

    /// The order that was asked for, or the default, for documents that may have times and texts.
    pub fn for_documents(asked: Option<KeepOrder>, times: bool, texts: bool) -> Result<KeepOrder> {
        let default = if times { KeepOrder::Oldest } else { KeepOrder::FirstId };
        let order = asked.unwrap_or(default);
        let has_column = match order {
            KeepOrder::Oldest | KeepOrder::Newest => times,
            KeepOrder::Longest => texts,
            KeepOrder::FirstId => true,
            KeepOrder::Field => false,
        };
        if has_column { Ok(order) } else { Err(order.lacks_its_column()) }
    }

    /// When a page of this time, or key, and length has its turn; ties go by id.
    pub fn turn(self, time: Option<i64>, length: u64) -> Turn {
        match self {
            KeepOrder::FirstId => Turn::default(),
            KeepOrder::Oldest | KeepOrder::Field => (time.is_none(), time.unwrap_or(0)),
            KeepOrder::Newest => (time.is_none(), !time.unwrap_or(0)), // greater times have smaller complements
            KeepOrder::Longest => (false, i64::try_from(length).map_or(i64::MIN, |length| -length)),
        }
    }

    /// Gives the turn of each row of a segment; ties go by id. Rows may be asked for in any order, but
    /// the reader keeps only the last block it decoded, so an order close to ascending is fast.
    pub(super) fn turns(
        self,
        segment: &Segment,
    ) -> Result<Box<dyn FnMut(SegmentRow) -> Result<Turn>>> {
        let lacking = || self.lacks_its_column().at(segment.path());
        match self {
            KeepOrder::FirstId => Ok(Box::new(|_| Ok(Turn::default()))),
            KeepOrder::Oldest | KeepOrder::Newest | KeepOrder::Field => {
                let mut times = segment.times().ok_or_else(lacking)?;
                Ok(Box::new(move |row| Ok(self.turn(times.get(u32::from(row).into())?, 0))))
            }
            KeepOrder::Longest => {
                let mut lengths = segment.lengths().ok_or_else(lacking)?;
                Ok(Box::new(move |row| Ok(self.turn(None, lengths.get(u32::from(row).into())?))))
            }
        }
    }

    /// Its name in a report, for pages of a segment: of a field the one whose keys the segment has.
    pub fn named(self, segment: &Segment) -> String {
        match (self, segment.order()) {
            (KeepOrder::Field, Some(field)) => field.to_owned(),
            _ => self.to_string(),
        }
    }

    /// The order that has this name in a report.
    pub fn recorded(name: &str) -> Result<KeepOrder> {
        if name.contains(':') { Ok(KeepOrder::Field) } else { name.parse() }
    }

    fn lacks_its_column(self) -> Error {
        Error::new(Kind::Usage, format!("the pages cannot be kept {self}: it is not known of them"))
            .help("keep pages by something else; times, and the values of a field, must be read with the pages")
            .settings(["keep", "time-field"])
    }
}

impl fmt::Display for KeepOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeepOrder::Oldest => "oldest",
            KeepOrder::Newest => "newest",
            KeepOrder::FirstId => "first-id",
            KeepOrder::Longest => "longest",
            KeepOrder::Field => "field",
        })
    }
}

impl FromStr for KeepOrder {
    type Err = Error;

    fn from_str(name: &str) -> Result<KeepOrder> {
        let orders = KeepOrder::ALL.map(|order| (order.to_string(), order));
        let named = orders.each_ref().map(|(name, order)| (&**name, *order));
        by_name(&named, name, "there is no such keep order")
    }
}
