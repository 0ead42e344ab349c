//! The pages that days of `run` have read and dropped. A store does not hold them, but they were seen.

use std::collections::HashMap;
use std::path::PathBuf;

use dupsieve::Result;
use dupsieve::rooms::document::each_id;
use dupsieve::rooms::store::{Day, Version};

use crate::flags::config::Config;
use crate::flags::place::Place;

/// The lists of dropped pages of the days in a store, the newest first.
#[derive(Debug, Default)]
pub(super) struct Dropped(Vec<(Day, PathBuf)>);

impl Dropped {
    /// Those of the days of `version`, where the configuration says where their outputs are.
    pub(super) fn of(config: &Config, version: &Version) -> Result<Dropped> {
        let Some(output) = &config.output.path else { return Ok(Dropped::default()) };
        let mut lists = Vec::new();
        for entry in version.all_entries().iter().rev() {
            let list = Place::from(entry.day.expand(output)).here()?.join("dedup/drop.txt");
            lists.extend(list.exists().then_some((entry.day, list)));
        }
        Ok(Dropped(lists))
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The newest day that has dropped a page with each of these ids; none if no day has.
    pub(super) fn newest_days(&self, ids: &[&str]) -> Result<Vec<Option<Day>>> {
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (place, id) in ids.iter().enumerate() {
            places.entry(id.as_bytes()).or_default().push(place);
        }
        let mut days = vec![None; ids.len()];
        for (day, list) in &self.0 {
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
