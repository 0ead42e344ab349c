//! The tables that people read, held against the state that they were written from.

use std::fmt::{Display, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::clustering::Previous;
use super::found::Clusters;
use super::lists::sorted_sizes;
use super::page::PageDay;
use super::row::{CHANGES, SIZES, change_columns, size_columns};
use super::state::{PageRow, Pile};
use crate::error::Result;
use crate::matches::allocated;
use crate::progress::{self, Activity};
use crate::results::{ResultColumn, ResultFormat, ResultReader};
use crate::runs::{Record, Sorter, Space};

/// A table that must have certain rows.
pub(super) struct Listed {
    rows: ResultReader,
    expected: String,
    count: u64,
}

impl Listed {
    /// Opens a table; none if the report does not name it.
    pub(super) fn open(
        folder: &Path,
        found: &Clusters,
        table: &str,
        columns: &[ResultColumn],
    ) -> Result<Option<Listed>> {
        if found.file_of(table).is_none() {
            return Ok(None);
        }
        let rows = ResultReader::of(folder, table)?;
        rows.expect_columns(columns.iter().map(|column| column.name))?;
        Ok(Some(Listed { rows, expected: String::new(), count: 0 }))
    }

    /// Fails unless the next row is this one.
    pub(super) fn expect(&mut self, row: impl Display) -> Result<()> {
        let Listed { rows, expected, count } = self;
        expected.clear();
        write!(expected, "{row}").expect("a string takes any text");
        *count += 1;
        let found = match rows.next_row()? {
            Some(found) if found == expected => return Ok(()),
            Some(found) => format!("{found:.300}"),
            None => "no more rows".to_owned(),
        };
        let error = rows.wrong("not the row that the state beside the table gives");
        Err(error.expected(format_args!("{expected:.300}")).found(found))
    }

    /// How many rows there are, whatever they are.
    fn count(mut self) -> Result<u64> {
        let mut count = 0;
        while self.rows.next_row()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Fails if there is another row, and gives how many there were.
    pub(super) fn end(mut self) -> Result<u64> {
        let Some(found) = self.rows.next_row()?.map(|found| format!("{found:.300}")) else {
            return Ok(self.count);
        };
        let error = self.rows.wrong("not the row that the state beside the table gives");
        Err(error.expected("no more rows").found(found))
    }
}

/// Checks the table of sizes, if there is one.
pub(super) fn listed_sizes(
    folder: &Path,
    found: &Clusters,
    pile: &Pile,
    space: Space<'_>,
) -> Result<()> {
    let Some(mut listed) = Listed::open(folder, found, SIZES, &size_columns())? else {
        return Ok(());
    };
    for size in sorted_sizes(pile, space)? {
        let (cluster, size) = size?;
        listed.expect(format_args!("{cluster}\t{size}"))?;
    }
    listed.end().map(drop)
}

/// A page and its cluster. Ordered as the pages of a state are.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Standing {
    id: String,
    day: PageDay,
    cluster: String,
}

/// A page that comes into a cluster or goes. Ordered as the table of changes is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Move {
    cluster: String,
    id: String,
    day: PageDay,
    diff: i8,
}

impl Record for Standing {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id) + allocated(&self.cluster)
    }
}

impl Record for Move {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id) + allocated(&self.cluster)
    }
}

impl Standing {
    fn of(page: &PageRow<'_>, cluster: &str) -> Standing {
        Standing { id: page.id.to_owned(), day: page.day, cluster: cluster.to_owned() }
    }

    fn moved(self, diff: i8) -> Move {
        let Standing { id, day, cluster } = self;
        Move { cluster, id, day, diff }
    }
}

/// Checks the table of changes, if there is one, against the state `before`, if that is still there. Gives how many rows it has.
pub(super) fn listed_changes(
    folder: &Path,
    found: &Clusters,
    pile: &Pile,
    before: Option<&Previous>,
    space: Space<'_>,
) -> Result<Option<u64>> {
    let Some(mut listed) = Listed::open(folder, found, CHANGES, &change_columns())? else {
        return Ok(None);
    };
    let Some(Previous { folder, found }) = before else { return listed.count().map(Some) };
    found.check_layers(folder)?;
    let before = Pile::open(folder, &found.layers)?;
    // A number has no plus in JSON.
    let has_plus = ResultFormat::of_path(listed.rows.path()) != ResultFormat::JsonLines;
    for moved in moves(&before, pile, space)?.sorted()? {
        let Move { cluster, id, day, diff } = moved?;
        let diff = if has_plus { format!("{diff:+}") } else { diff.to_string() };
        listed.expect(format_args!("{cluster}\t{id}\t{diff}\t{day}"))?;
    }
    listed.end().map(Some)
}

/// In what two states differ.
fn moves(before: &Pile, after: &Pile, space: Space<'_>) -> Result<Sorter<Move>> {
    let mut was: Sorter<Standing> = space.sorter();
    before.each_page(|page, cluster| was.push(Standing::of(page, cluster)))?;
    let mut was = was.sorted()?.peekable();
    let mut moves = space.sorter();
    after.each_page(|page, cluster| {
        progress::tick(Activity::Reading);
        let now = Standing::of(page, cluster);
        while let Some(gone) = was.next_if(|it| it.as_ref().map_or(true, |it| *it < now)) {
            moves.push(gone?.moved(-1))?;
        }
        match was.next_if(|it| it.as_ref() == Ok(&now)) {
            Some(_) => Ok(()),
            None => moves.push(now.moved(1)),
        }
    })?;
    for gone in was {
        moves.push(gone?.moved(-1))?;
    }
    Ok(moves)
}
