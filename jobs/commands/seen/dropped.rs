//! The pages that days of `run` have read and dropped. A store does not hold them, but they were seen.

use std::collections::HashMap;
use std::path::PathBuf;

use dupsieve::Result;
use dupsieve::rooms::document::each_id;
use dupsieve::rooms::seen::By;
use dupsieve::rooms::store::{Day, Version};

use crate::flags::config::Config;
use crate::flags::place::Place;

#[derive(Debug, Default)]
pub(super) struct Dropped {
    /// The newest day first.
    lists: Vec<(Day, PathBuf)>,
    /// The days whose dropped pages are not looked for, the newest first.
    unread: Vec<Day>,
    /// Why not, and what to do.
    why: &'static str,
}

impl Dropped {
    /// Those of the days of `version`, where the configuration says where their outputs are. They have the ids of the pages, and not their
    /// texts.
    pub(super) fn of(config: &Config, version: &Version, by: By) -> Result<Dropped> {
        let why = match (by, &config.output.path) {
            (By::Texts, _) => "they have left their ids, and not their texts",
            (By::Ids, None) => {
                "with --config and the file of `run`, they are looked for in the outputs of the days"
            }
            (By::Ids, Some(_)) => "the outputs of these days are not where the file says",
        };
        let mut dropped = Dropped { why, ..Dropped::default() };
        for entry in version.all_entries().iter().rev() {
            let output = config.output.path.as_ref().filter(|_| by == By::Ids);
            let list = output.map(|output| Place::from(entry.day.expand(output)).here());
            let list = list.transpose()?.map(|output| output.join("dedup/drop.txt"));
            match list.filter(|list| list.exists()) {
                Some(list) => dropped.lists.push((entry.day, list)),
                // A day that was added whole has dropped no page.
                None => dropped.unread.extend(entry.only.map(|_| entry.day)),
            }
        }
        Ok(dropped)
    }

    pub(super) fn warn(&self) {
        if let [newest, .., oldest] | [newest @ oldest] = &self.unread[..] {
            tracing::warn!(
                "a no says nothing of the pages that the days from {oldest} to {newest} read and dropped, which the store does not have: {}",
                self.why
            );
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The newest day that has dropped a page with each of these ids; none if no day has.
    pub(super) fn newest_days(&self, ids: &[&str]) -> Result<Vec<Option<Day>>> {
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (place, id) in ids.iter().enumerate() {
            places.entry(id.as_bytes()).or_default().push(place);
        }
        let mut days = vec![None; ids.len()];
        for (day, list) in &self.lists {
            each_id(list, |_, id| {
                for place in places.remove(id).into_iter().flatten() {
                    days[place] = Some(*day);
                }
                Ok(())
            })?;
        }
        Ok(days)
    }
}
