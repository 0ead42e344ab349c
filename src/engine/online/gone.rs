//! The pages that go with a commit, since a page that stays holds them.

use std::path::Path;

use serde::Serialize;

use super::ration::PAGE_BYTES;
use super::service::OnlineOptions;
use crate::error::Result;
use crate::matches::each_replaced;
use crate::report::each_contained;
use crate::store::Day;

/// Pages that go with a commit: those that the commit leaves out of its day, and those of the store that it hides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gone {
    /// The first of them, by id: those that are left out, then those of the store.
    pub pages: Vec<GonePage>,
    /// How many more there are.
    pub more: u64,
}

/// A page that goes with a commit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GonePage {
    /// Its id.
    pub id: String,
    /// Its day in the store; none for a page that was remembered and is in no day.
    pub day: Option<Day>,
    /// The id of the page that holds it.
    pub by: String,
    /// The share of its text that this page has, from 0 to 1.
    pub containment: f64,
}

impl Gone {
    /// Those of the join in `folder`: the dropped pages, unless a commit adds these too, and the replaced pages, if a commit hides these.
    pub(super) fn of(folder: &Path, options: &OnlineOptions) -> Result<Gone> {
        let mut gone = Gone::default();
        let mut left = options.most_answer_bytes;
        let mut take = |id: &str, day: Option<Day>, by: &str, containment: f64| {
            let bytes = PAGE_BYTES + id.len() + by.len();
            if gone.more > 0 || bytes > left {
                gone.more += 1;
                return;
            }
            left -= bytes;
            gone.pages.push(GonePage { id: id.to_owned(), day, by: by.to_owned(), containment });
        };
        if !options.adds_dropped {
            each_contained(folder, |id, of, containment| {
                take(id, None, &of.id, f64::from(containment) / 1e4)
            })?;
        }
        if options.hides_replaced {
            each_replaced(folder, |id, day, by, containment| {
                take(id, Some(day), by, containment);
                Ok(())
            })?;
        }
        Ok(gone)
    }

    /// How many pages go.
    pub fn count(&self) -> u64 {
        self.pages.len() as u64 + self.more
    }
}
