//! Pages that come back when the days that had replaced them leave a store, by the outputs of its days.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dupsieve::Result;
use dupsieve::matches::{each_replaced, replacements_in};
use dupsieve::store::{ComingBack, Day, Entry, Replacements, Segment, Store, Version};

/// How many ids of pages that stay away are named for each day.
const NAMED: usize = 3;

/// The pages that come back when `store` goes back from its newest version, `current`, to what it held in version `base`. `output` gives the
/// folder of the output of a day, if it is there: in it are the list of the pages that a day has replaced, and the segment that a day was added from. If
/// something is missing, a warning names the pages that stay away, with what to do about those of a day.
pub(crate) fn coming_back(
    store: &Store,
    current: &Version,
    base: u64,
    output: impl Fn(Day) -> Option<PathBuf>,
    advice: impl Fn(Day) -> String,
) -> Result<ComingBack> {
    if !store.is_pruned(base)? {
        return Ok(ComingBack::default());
    }
    // Its pages can be of any day.
    let first = current.entries().first().map(|entry| entry.day);
    let mut lists: Vec<(Day, PathBuf)> = Vec::new();
    let mut pages = Replacements::new(store.path());
    let leaves = |entry: &&Entry| entry.added_in > base && entry.replaces.is_some();
    for entry in current.all_entries().iter().filter(leaves) {
        let found = output(entry.day).map(|output| output.join("dedup"));
        let list = found.and_then(|found| Some((replacements_in(&found).ok()?, found)));
        match list.filter(|(list, _)| list.are_of(entry)) {
            Some((list, found)) => {
                pages.extend(list);
                lists.push((entry.day, found));
            }
            None => tracing::warn!(
                "pages that {} had replaced stay hidden, because its list of them, the table `replaced`, is not there; {}",
                entry.day,
                advice(first.unwrap_or(entry.day))
            ),
        }
    }
    let pages = pages.sorted();
    if pages.is_empty() {
        return Ok(ComingBack::default());
    }
    let back = current.coming_back(base, &pages, |entry| {
        Segment::open(output(entry.day)?.join("batch.seg")).ok()
    })?;
    let mut away: BTreeMap<(Day, Day), Vec<String>> = BTreeMap::new();
    for (by, found) in lists {
        each_replaced(&found, |id, day, _, _| {
            if back.lacks(id, day) {
                away.entry((day, by)).or_default().push(id.to_owned());
            }
            Ok(())
        })?;
    }
    for ((day, by), ids) in away {
        let more = ids.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        tracing::warn!(
            "pages of {day} that {by} had replaced stay away, because the store has lost them and the segment of {day} is not there: {}{more}; {}",
            ids[..ids.len().min(NAMED)].join(", "),
            advice(day)
        );
    }
    Ok(back)
}
