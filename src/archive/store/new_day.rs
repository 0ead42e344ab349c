//! What enters a store as a day: a segment, which of its pages, and which pages of the store they replace.

use std::path::{Path, PathBuf};

use super::day::Day;
use super::replacements::Replacements;

#[derive(Clone, Copy, Debug)]
pub struct NewDay<'a> {
    pub segment: &'a Path,
    pub day: Day,
    /// A file with the ids of the pages that enter, one a line; all enter without it.
    pub only: Option<&'a Path>,
    /// The pages of the store that these replace, and the slack of pages; without it none are replaced, and no slack is known.
    pub replaces: Option<&'a Replacements>,
}

/// Which pages of a segment enter a store, and which pages of the store they replace; by default all enter, and none is replaced.
#[derive(Clone, Debug, Default)]
pub struct Entering {
    /// A file with the ids of the pages that enter, one a line; all enter without it.
    pub only: Option<PathBuf>,
    /// The pages of the store that these replace, and the slack of pages; without it none are replaced, and no slack is known.
    pub replaces: Option<Replacements>,
}

impl NewDay<'_> {
    /// All pages of `segment` as `day`, which replace none.
    pub fn whole(segment: &Path, day: Day) -> NewDay<'_> {
        NewDay { segment, day, only: None, replaces: None }
    }
}
