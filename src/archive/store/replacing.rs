//! Replacing pages: those of the store that pages of a new day hold are hidden from the version on that has the day.
//!
//! The rows are found by the ids, in the files of their days alone, and written beside the manifest (see `replaced_rows`).
//! Versions before are as they were. For example, the page `c` of a day holds `a` and `b`:
//!
//! ```text
//! version   6: a b x            as before
//!           7: a b x  c         a and b are hidden: no join or query finds them, and the next merge leaves them out
//! ```
//!
//! No page is replaced by one that does not enter the store. So where `c` was removed, and stays out of its day, `a` and `b`
//! stay.

use std::collections::{BTreeSet, HashSet};

use xxhash_rust::xxh3::xxh3_128;

use super::dated::Dated;
use super::file_record::FileRecord;
use super::folder::Store;
use super::id_search::find_on_all_cores;
use super::manifest::Manifest;
use super::removals::Removals;
use super::replaced_rows;
use super::replacements::{Replacement, Replacements};
use super::row_sets::{RowSets, copy_of};
use super::segment::Segment;
use crate::day::Day;
use crate::error::Result;
use crate::output::Lock;

impl Store {
    /// The rows that are replaced in the version after `last`, which has the pages of `held` as `day` besides.
    pub(super) fn replacing(
        &self,
        last: &Manifest,
        replacements: &Replacements,
        (held, day): (&Segment, Day),
    ) -> Result<RowSets> {
        let removals = Removals::read(self.path())?;
        let mut replaced = replaced_rows::read(self.path(), last.replaced)?;
        let successors = successors(replacements, (held, day))?;
        let mut stays = Vec::new();
        for page in &replacements.pages {
            let enters = successors.contains(&page.by);
            if !enters && !removals.has_digest(page.by, day) {
                let what = "the page that is to replace another one does not enter the store";
                return Err(replacements
                    .wrong(page, what)
                    .help("name the list that was written with this segment and its kept pages"));
            }
            stays.push(!enters);
        }
        let mut found = vec![false; replacements.len()];
        let days: BTreeSet<Day> = replacements.pages.iter().map(|page| page.day).collect();
        let records = FileRecord::all(last).into_iter();
        for record in records.filter(|it| it.days().any(|day| days.contains(&day))) {
            let dated = record.dated(self.path())?;
            let found_rows = find_on_all_cores(&dated, |id| replacements.listed(id))?.rows;
            let mut set = copy_of(&replaced, &record.file);
            let mut rows: Vec<(u64, Day)> = found_rows
                .into_iter()
                .filter_map(|(row, day, id)| {
                    let place = replacements.place(id, day)?;
                    found[place] = true;
                    (!stays[place]).then_some((row, day))
                })
                .collect();
            rows.sort_unstable();
            if set.add(rows.into_iter(), [].into_iter()) > 0 {
                replaced.insert(record.file, set.into());
            }
        }
        let lost = replacements.pages.iter().zip(&found).filter(|(_, found)| !**found);
        for (page, _) in lost {
            expect_gone(last, &removals, replacements, page)?;
        }
        Ok(replaced)
    }

    /// The same version with these rows replaced, as far as it has their files. They are written first.
    pub(super) fn with_replaced(
        &self,
        version: Manifest,
        mut replaced: RowSets,
        lock: &Lock,
    ) -> Result<Manifest> {
        let files: HashSet<&str> = version.entries.iter().map(|entry| &*entry.file).collect();
        replaced.retain(|file, _| files.contains(&**file));
        let replaced = replaced_rows::write(self.path(), &replaced, lock)?;
        Ok(Manifest { replaced, ..version })
    }
}

fn successors(replacements: &Replacements, (held, day): (&Segment, Day)) -> Result<HashSet<u128>> {
    let wanted = replacements.successors();
    let is_wanted = |id: &str| {
        let id = xxh3_128(id.as_bytes());
        wanted.contains(&id).then_some(id)
    };
    let rows = find_on_all_cores(&Dated::new(held.clone(), Some(day)), is_wanted)?.rows;
    Ok(rows.into_iter().map(|(_, _, id)| id).collect())
}

/// Fails unless a page that `last` does not have was there before: its day has expired, or has lost pages.
fn expect_gone(
    last: &Manifest,
    removals: &Removals,
    replacements: &Replacements,
    page: &Replacement,
) -> Result<()> {
    let is_gone = last.entry(page.day).is_some_and(|entry| {
        entry.has_expired() || entry.dropped > 0 || removals.has_digest(page.id, page.day)
    });
    if is_gone {
        return Ok(());
    }
    let what = "the store does not have the page that is to be replaced";
    Err(replacements.wrong(page, what).help("name the list of a join with this store"))
}
