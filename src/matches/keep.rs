//! Keep order: which of several near pages stays.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Kind, Result};
use crate::runs::Record;
use crate::store::Segment;

/// The order in which the pages of a batch are taken; the first of several near ones is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepOrder {
    /// By time, those without one last; ties by id.
    Oldest,
    /// By the bytes of the id.
    FirstId,
    /// By length of the text, longest first; ties by id.
    Longest,
}

/// When a page has its turn: whether it comes behind all others, and else in this order.
pub(super) type Turn = (bool, i64);

/// The documents that may be kept, one a group.
#[derive(Debug)]
pub(super) struct Leaders {
    /// The row of each group's leader.
    pub(super) rows: Vec<u32>,
    /// The groups in keep order.
    pub(super) order: Vec<u32>,
    /// The place of each group in that order.
    pub(super) rank: Vec<u32>,
}

impl Leaders {
    /// The leaders that stand in these `rows`, of groups that come in keep `order`.
    pub(super) fn of(rows: Vec<u32>, order: impl Iterator<Item = Result<u32>>) -> Result<Leaders> {
        let order = order.collect::<Result<Vec<u32>>>()?;
        let mut rank = vec![0; order.len()];
        for (place, &group) in (0..).zip(&order) {
            rank[group as usize] = place;
        }
        Ok(Leaders { rows, order, rank })
    }
}

impl Record for (Turn, u32, u32) {}

impl KeepOrder {
    const NAMED: [(&str, KeepOrder); 3] = [
        ("oldest", KeepOrder::Oldest),
        ("first-id", KeepOrder::FirstId),
        ("longest", KeepOrder::Longest),
    ];

    /// The order asked for, or the usual one: oldest first where the segment has times.
    ///
    /// # Errors
    /// [`Kind::Usage`] where the segment lacks the column that the order goes by.
    pub fn for_segment(asked: Option<KeepOrder>, segment: &Segment) -> Result<KeepOrder> {
        match asked {
            None if segment.has_times() => Ok(KeepOrder::Oldest),
            None => Ok(KeepOrder::FirstId),
            Some(KeepOrder::Oldest) if !segment.has_times() => {
                Err(KeepOrder::Oldest.lacks_its_column(segment))
            }
            Some(KeepOrder::Longest) if !segment.has_lengths() => {
                Err(KeepOrder::Longest.lacks_its_column(segment))
            }
            Some(order) => Ok(order),
        }
    }

    /// When the row of a segment has its turn, asked of ascending rows; ties go by id.
    pub(super) fn turns(self, segment: &Segment) -> Result<Box<dyn FnMut(u32) -> Result<Turn>>> {
        match self {
            KeepOrder::FirstId => Ok(Box::new(|_| Ok(Turn::default()))),
            KeepOrder::Oldest => {
                let mut times = segment.times().ok_or_else(|| self.lacks_its_column(segment))?;
                Ok(Box::new(move |row| {
                    let time = times.get(row.into())?;
                    Ok((time.is_none(), time.unwrap_or(0)))
                }))
            }
            KeepOrder::Longest => {
                let mut lengths =
                    segment.lengths().ok_or_else(|| self.lacks_its_column(segment))?;
                Ok(Box::new(move |row| {
                    Ok((false, i64::try_from(lengths.get(row.into())?).map_or(i64::MIN, |it| -it)))
                }))
            }
        }
    }

    /// The segment does not hold what this order goes by.
    fn lacks_its_column(self, segment: &Segment) -> Error {
        Error::new(Kind::Usage, format!("the batch cannot be kept {self}: it lacks that column"))
            .at(segment.path())
            .help("choose another --keep; times come of --time-field, lengths of texts")
    }
}

impl fmt::Display for KeepOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = KeepOrder::NAMED.iter().find(|(_, order)| order == self);
        f.write_str(named.expect("every order has a name").0)
    }
}

impl FromStr for KeepOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<KeepOrder> {
        let named = KeepOrder::NAMED.iter().find(|(name, _)| *name == text);
        named.map(|(_, order)| *order).ok_or_else(|| {
            Error::new(Kind::Usage, "there is no such keep order")
                .expected(KeepOrder::NAMED.map(|(name, _)| name).join(", "))
                .found(text)
        })
    }
}
