//! What differs between two states: the rows of the table of clusters that go and that come.
//!
//! Clusters are compared as rows of the later state, so no id is looked up but those of pages that move:
//!
//! ```text
//! before   a -> a, c -> c           rows of clusters   0 1     in the later state   0 2
//! after    a -> a, b -> a, c -> a                      0 0 0                        0 0 0
//! changes  a b +1, a c +1, c c -1
//! ```

use serde::{Deserialize, Serialize};

use super::page::Page;
use super::state::{ClusterState, Member, Named};
use crate::error::Result;
use crate::output::Staging;
use crate::results::{ResultColumn, ResultFile, ResultFormat, Values};
use crate::runs::{SortSpace, Sorter, next_if, record};

pub(super) const CHANGES: &str = "changes";

/// A page that comes into a cluster or goes. Ordered as the table is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Change {
    cluster: String,
    page: Page,
    diff: i8,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Move {
    cluster: u32,
    page: Page,
}

record!(Change, cluster, page.id);

record!(Move, page.id);

pub(super) fn write_changes(
    before: &ClusterState,
    after: &ClusterState,
    staging: &Staging,
    format: ResultFormat,
    space: SortSpace<'_>,
) -> Result<(Named, u64)> {
    const GONE: u32 = u32::MAX;
    let mut renumbered = Vec::new();
    each_of_both(before, after, |was, is| {
        if was.is_some() {
            renumbered.push(is.map_or(GONE, |(row, _)| row));
        }
        Ok(())
    })?;
    let [mut go, mut come]: [Sorter<Move>; 2] = [space.sorter(), space.sorter()];
    each_of_both(before, after, |was, is| {
        if let (Some(was), Some((_, is))) = (&was, &is)
            && renumbered[was.cluster as usize] == is.cluster
        {
            return Ok(());
        }
        let moved = |member: Member| Move { cluster: member.cluster, page: member.page };
        was.map_or(Ok(()), |was| go.push(moved(was)))?;
        is.map_or(Ok(()), |(_, is)| come.push(moved(is)))
    })?;
    drop(renumbered);
    let mut changes = space.sorter();
    for (state, moves, diff) in [(before, go, -1), (after, come, 1)] {
        state.each_with_page(
            moves,
            |it| it.cluster,
            |it, named| changes.push(Change { cluster: named.id.clone(), page: it.page, diff }),
        )?;
    }
    let columns = [
        ResultColumn::new("cluster", Values::Names).ascending(),
        ResultColumn::new("member", Values::Text),
        ResultColumn::new("diff", Values::Change),
        ResultColumn::new("day", Values::Day).or_null(),
    ];
    let mut table = ResultFile::create(staging, format, CHANGES, &columns)?;
    let mut count = 0;
    let mut changes = changes.sorted()?.peekable();
    while let Some(change) = changes.next() {
        let Change { cluster, page, diff } = change?;
        // A cluster keeps its id where another version of the page that names it becomes the first. That is no change.
        let stays = |next: &Change| (&next.cluster, &next.page) == (&cluster, &page);
        if next_if(&mut changes, stays)?.is_none() {
            table.row(format_args!("{cluster}\t{}\t{diff:+}\t{}", page.id, page.day))?;
            count += 1;
        }
    }
    Ok((table.finish()?, count))
}

fn each_of_both(
    before: &ClusterState,
    after: &ClusterState,
    mut take: impl FnMut(Option<Member>, Option<(u32, Member)>) -> Result<()>,
) -> Result<()> {
    let mut before = before.pages()?.peekable();
    for (row, is) in (0..).zip(after.pages()?) {
        let is = is?;
        while let Some(gone) = next_if(&mut before, |was| was.page < is.page)? {
            take(Some(gone), None)?;
        }
        let was = next_if(&mut before, |was| was.page == is.page)?;
        take(was, Some((row, is)))?;
    }
    before.try_for_each(|gone| take(Some(gone?), None))
}
