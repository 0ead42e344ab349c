//! The tables of what was found: `items`, a row for each item in a page, and `counts`, a row for each item.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::finder::{Finder, ItemFound};
use super::reference::Items;
use crate::error::Result;
use crate::output::{Staging, Sum};
use crate::results::{ResultColumn, ResultFile, ResultFormat, Values};
use crate::runs::{SortedRecords, record};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ItemHit {
    item: u32,
    page: String,
    shared: u32,
    shingles: u32,
    begin: u64,
    end: u64,
}

record!(ItemHit, page);

impl Finder {
    pub fn hits(
        &mut self,
        page: &str,
        text: &str,
    ) -> Result<impl Iterator<Item = ItemHit> + use<>> {
        let page = page.to_owned();
        let hit = move |ItemFound { item, shared, shingles, place }| {
            let (begin, end) = (place.start as u64, place.end as u64);
            ItemHit { item, page: page.clone(), shared, shingles, begin, end }
        };
        Ok(self.find(text)?.into_iter().map(hit))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemsFound {
    pub items: u64,
    /// How many of them stand in a page.
    pub found: u64,
    pub hits: u64,
    pub pages: u64,
    /// The items that most pages have, and in how many pages each stands.
    pub most: Vec<(String, u64)>,
    pub files: BTreeMap<String, Sum>,
}

const NAMED: usize = 10;

impl Items {
    pub fn write_hits(
        &self,
        hits: SortedRecords<ItemHit>,
        format: ResultFormat,
        staging: &Staging,
    ) -> Result<ItemsFound> {
        let rows = [
            ResultColumn::new("item", Values::Names).ascending(),
            ResultColumn::new("page", Values::Text),
            ResultColumn::new("share", Values::Share),
            ResultColumn::new("begin", Values::Count),
            ResultColumn::new("end", Values::Count),
        ];
        let mut table = ResultFile::create(staging, format, "items", &rows)?;
        let mut pages_of = vec![0_u64; self.len()];
        // The hashes of their ids: sixteen bytes a page.
        let mut pages = HashSet::new();
        let mut found = ItemsFound { items: self.len() as u64, ..ItemsFound::default() };
        for hit in hits {
            let ItemHit { item, page, shared, shingles, begin, end } = hit?;
            let share = f64::from(shared) / f64::from(shingles);
            let id = &self.items[item as usize].id;
            table.row(format_args!("{id}\t{page}\t{share:.4}\t{begin}\t{end}"))?;
            pages_of[item as usize] += 1;
            pages.insert(xxh3_128(page.as_bytes()));
            found.hits += 1;
        }
        found.pages = pages.len() as u64;
        let columns = [
            ResultColumn::new("item", Values::Text).ascending(),
            ResultColumn::new("words", Values::Count),
            ResultColumn::new("pages", Values::Count),
        ];
        let mut counts = ResultFile::create(staging, format, "counts", &columns)?;
        for (item, pages) in self.items.iter().zip(&pages_of) {
            counts.row(format_args!("{}\t{}\t{pages}", item.id, item.words))?;
        }
        found.files.extend([table.finish()?, counts.finish()?]);
        let counted = self.items.iter().zip(pages_of);
        let mut most: Vec<(u64, &str)> =
            counted.filter(|it| it.1 > 0).map(|(item, pages)| (pages, &*item.id)).collect();
        found.found = most.len() as u64;
        most.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        most.truncate(NAMED);
        found.most = most.into_iter().map(|(pages, id)| (id.to_owned(), pages)).collect();
        Ok(found)
    }
}
