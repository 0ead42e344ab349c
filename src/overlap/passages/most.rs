//! The passages that most pages have.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::finder::Passage;
use crate::document::host;

const NAMED: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatedPassage {
    /// The page where it stood first.
    pub of: String,
    /// Where it begins there, in bytes.
    pub of_begin: u32,
    /// How many words of it the page has that has most.
    pub words: u32,
    /// How many pages have it, with the first.
    pub pages: u64,
    pub hosts: u64,
}

/// Takes passages in the order of where they stood first, and of the pages that have them.
#[derive(Default)]
pub(super) struct Most {
    at_hand: Option<Group>,
    named: Vec<RepeatedPassage>,
}

/// The passages that stood first in one place.
struct Group {
    /// That place, and the last page.
    first: [u32; 2],
    last: u32,
    hosts: HashSet<String>,
    repeated: RepeatedPassage,
}

impl Most {
    /// Takes a passage of the page `id`, which stood first in the page `of`.
    pub(super) fn take(&mut self, passage: &Passage, id: &str, of: &str) {
        let first = [passage.of, passage.of_word];
        if self.at_hand.as_ref().is_none_or(|group| group.first != first) {
            self.end_group();
            let (of, of_begin) = (of.to_owned(), passage.of_begin);
            let repeated = RepeatedPassage { of, of_begin, words: 0, pages: 1, hosts: 0 };
            let hosts = host(&repeated.of).into_iter().map(|it| it.into_owned()).collect();
            self.at_hand = Some(Group { first, last: passage.of, hosts, repeated });
        }
        let Some(Group { last, hosts, repeated, .. }) = &mut self.at_hand else { return };
        repeated.words = repeated.words.max(passage.words);
        // Pages come in order, and the first one before all others.
        if *last != passage.page {
            *last = passage.page;
            repeated.pages += 1;
            hosts.extend(host(id).map(|it| it.into_owned()));
        }
    }

    fn end_group(&mut self) {
        let Some(Group { hosts, repeated, .. }) = self.at_hand.take() else { return };
        let repeated = RepeatedPassage { hosts: hosts.len() as u64, ..repeated };
        let before = |one: &RepeatedPassage| {
            (one.pages, &repeated.of, repeated.of_begin) >= (repeated.pages, &one.of, one.of_begin)
        };
        let place = self.named.partition_point(before);
        self.named.insert(place, repeated);
        self.named.truncate(NAMED);
    }

    pub(super) fn finish(mut self) -> Vec<RepeatedPassage> {
        self.end_group();
        self.named
    }
}
