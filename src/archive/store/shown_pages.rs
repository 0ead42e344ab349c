//! The pages that a version shows, by their days.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_128;

use super::day::Day;
use super::file_record::FileRecord;
use super::version::Version;
use crate::error::Result;
use crate::progress::{self, Activity};

impl Version {
    /// The XXH3-128 of the ids of all pages that it shows of these days. Files without these days are not read, and others once.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub fn shown_pages(&self, days: &[Day]) -> Result<BTreeMap<Day, Vec<u128>>> {
        let mut pages: BTreeMap<Day, Vec<u128>> =
            days.iter().map(|&day| (day, Vec::new())).collect();
        let has_any = |record: &&FileRecord| days.iter().any(|&day| record.has(day));
        for record in self.files().iter().filter(has_any) {
            let dated = self.date(self.open(record)?, record)?;
            let (mut ids, mut dates, mut shown) =
                (dated.segment().ids(), dated.days(), dated.shown());
            for row in 0..dated.segment().rows() {
                progress::tick(Activity::Reading);
                if let Some(pages) = pages.get_mut(&dates.get(row)?)
                    && shown.get(row)?
                {
                    pages.push(xxh3_128(ids.get(row)?.as_bytes()));
                }
            }
        }
        Ok(pages)
    }
}
