//! Pages that explain a difference by having left the store: they are looked up, and one that is there still is a contradiction.

use dupsieve::rooms::error::Named;
use dupsieve::rooms::seen::{By, Holdings, Sought};
use dupsieve::{Error, Kind, Result};

use super::join_output::{JoinOutput, StoreRead};

/// How many pages of the store are looked up at once.
pub(super) const PORTION: usize = 1 << 16;

/// A page of the store, by its id and day, that must be gone, because something else comes out for the page `id`.
pub(super) struct Gone {
    pub(super) id: String,
    pub(super) of: String,
    pub(super) against: String,
}

impl JoinOutput<'_> {
    /// Fails if the store shows one of these pages, once there are so many of them.
    pub(super) fn expect_gone(
        &self,
        gone: &mut Vec<Gone>,
        portion: usize,
        read: &StoreRead,
        what: &str,
    ) -> Result<()> {
        if gone.is_empty() || gone.len() < portion {
            return Ok(());
        }
        let holdings = Holdings::open(&read.store, read.version.clone())?;
        let sought: Vec<Sought<'_>> = gone.iter().map(|gone| Sought::Id(&gone.of)).collect();
        let days = holdings.newest_days(By::Ids, &sought, self.workers)?;
        for (Gone { id, against, .. }, day) in gone.drain(..).zip(days) {
            if day.is_some_and(|day| day.to_string() == against) {
                return Err(self.is_wrong(&id, what));
            }
        }
        Ok(())
    }

    /// The error for a page of which something else comes out, and no page is gone that explains it.
    pub(super) fn is_wrong(&self, id: &str, what: &str) -> Error {
        let what = format!(
            "joined with what is left of the store, a page has another {what}, which no page explains that is gone"
        );
        Error::new(Kind::BadData, what)
            .at(self.output)
            .found(id)
            .help(format!("make {} again with --overwrite", self.output.named()))
    }
}
