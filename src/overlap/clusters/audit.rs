//! Holds a clustering against its state: all of it is made again from the pages and links, and must come out as it is.

use std::path::Path;

use serde_json::Value;

use super::changes::CHANGES;
use super::clustering::{Clustering, Previous};
use super::found::Clusters;
use super::lists::{CLUSTERS, SIZES};
use super::source::Method;
use super::state::{Link, Member, StateRow, damaged, differs};
use crate::error::{At, Result};
use crate::output::{Lock, Staging};
use crate::results::{ResultFormat, ResultReader};

/// Fails unless the state of a clustering by this method gives the tables beside it and what the report says. Its changes are those since the clustering
/// `before`, if that is still there. All is made again in `spill`; `memory_bytes` is the memory of each sort, of which three exist at once.
pub fn audit(
    made: &Previous,
    method: Method,
    before: Option<&Previous>,
    spill: &Path,
    memory_bytes: usize,
) -> Result<()> {
    let Previous { folder, found } = made;
    let home = tempfile::tempdir_in(spill).at(spill)?;
    let target = home.path().join("again");
    let staging = Staging::beside(&target, Lock::beside(&target)?)?;
    let tables = [CLUSTERS, SIZES, CHANGES];
    let named = tables.iter().find_map(|table| found.file_of(table));
    let clustering = Clustering {
        previous: Some(made.clone()),
        writes_lists: [CLUSTERS, SIZES].iter().any(|table| found.file_of(table).is_some()),
        format: named.map_or_else(Default::default, |it| ResultFormat::of_path(it.as_ref())),
        memory_bytes,
        ..Clustering::new(method, Vec::new())
    };
    let before = before.map(Previous::state).transpose()?;
    let mut again = clustering.write_since(before.as_ref(), &staging)?;
    for name in [Member::FILE, Link::FILE] {
        if again.files[name] != found.files[name] {
            return Err(damaged("the links do not give these clusters").at(folder.join(name)));
        }
    }
    for table in tables.into_iter().filter(|table| found.file_of(table).is_some()) {
        match again.file_of(table) {
            Some(_) => compare_rows(folder, staging.folder(), table)?,
            // Without the state before, nothing more is known of the changes.
            None => again.changes = Some(count_rows(folder, table)?),
        }
    }
    compare(folder, &again, found)
}

fn compare_rows(made: &Path, again: &Path, table: &str) -> Result<()> {
    let mut made = ResultReader::of(made, table)?;
    let mut again = ResultReader::of(again, table)?;
    made.expect_columns(again.columns().into_iter().flatten().map(String::as_str))?;
    loop {
        let [expected, found] = [again.next_row()?, made.next_row()?];
        if expected != found {
            let [expected, found] = [expected, found]
                .map(|row| row.map_or("no more rows".to_owned(), |row| format!("{row:.300}")));
            let error = made.wrong("not the row that the state beside the table gives");
            return Err(error.expected(expected).found(found));
        }
        if found.is_none() {
            return Ok(());
        }
    }
}

fn count_rows(folder: &Path, table: &str) -> Result<u64> {
    let mut rows = ResultReader::of(folder, table)?;
    let mut count = 0;
    while rows.next_row()?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn compare(folder: &Path, computed: &Clusters, told: &Clusters) -> Result<()> {
    let value = |clusters| serde_json::to_value(clusters).unwrap_or_default();
    let [computed, told]: [Value; 2] = [computed, told].map(value);
    for name in ["members", "clusters", "stars", "links", "changes", "sizes", "largest"] {
        if computed[name] != told[name] {
            return Err(differs(name, folder).expected(&computed[name]).found(&told[name]));
        }
    }
    Ok(())
}
