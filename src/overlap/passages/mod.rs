//! Text that is repeated inside pages that are otherwise new: boilerplate, quotes, licences, tables.
//!
//! A window of some words (50) is repeated if the same words stood at an earlier place: in an earlier page, or earlier in its page. A passage is a
//! longest run of repeated windows. A word counts as 32 bits of its hash, and a window as 122 bits of theirs.
//!
//! - `page_words`: the words of a page, and where they stand. `windows`: the hash of each window, as words pass.
//! - `finder`: the passages of pages, found by sorting windows, by all workers (`parted_sorter`). `window_filter`: which windows may be repeated.
//! - `cut`: a text without its passages. `by_page`: the passages of each page.
//! - `tables`: the passages of a corpus as a table. `most`: those that most pages have.
//! - `naming`: the ids of the pages, and the rows of the table.
//! - `anchors`: what pages that share a passage have in common. `over_days`: the passages of a day that stood in earlier days. `cost`: what
//!   these take.
//!
//! Imports `features`, `store`, `matches`, `output`, `results` and `runs`. Start with [`PassageFinder`].
//!
//! ```
//! use dupsieve_overlap::passages::{PageWords, PassageFinder};
//!
//! let pages = ["All rights reserved by the author. Spring tides.", "Autumn tides. ALL RIGHTS reserved by the author!"];
//! let finder = PassageFinder::new(4, 0, &std::env::temp_dir(), 1 << 20, 2);
//! let mut words = PageWords::default();
//! for (page, text) in (0..).zip(pages) {
//!     words.take(text)?;
//!     finder.take(page, &words)?;
//! }
//! let found = finder.finish()?.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(found.len(), 1);
//! assert_eq!((found[0].page, found[0].words, found[0].of), (1, 6, 0));
//! assert_eq!(&pages[1][found[0].begin as usize..found[0].end as usize], "ALL RIGHTS reserved by the author");
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

mod anchors;
mod by_page;
mod cost;
mod cut;
mod finder;
mod most;
mod naming;
mod over_days;
mod page_words;
mod parted_sorter;
mod tables;
#[cfg(test)]
mod tests;
mod window_filter;
mod windows;

pub use anchors::{LEAST_WORDS, anchors_of};
pub use by_page::PassagesByPage;
pub use cost::PassageCost;
pub use cut::{Cut, RepeatedText};
pub use finder::{Passage, PassageFinder, Passages};
pub use most::RepeatedPassage;
pub use naming::{NamedPassage, PassageRow, PassageRows};
pub use over_days::{DayPassages, DayPassagesFound, KeptPages};
pub use page_words::PageWords;
pub use tables::{CorpusPage, HostWords, PassageTables, PassagesFound};
