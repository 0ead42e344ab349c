//! Pages by their anchors: which pages of those held in memory share some?

use std::collections::HashMap;

use crate::matches::anchors_of;
use crate::work::Work;

const END: u32 = u32::MAX;

/// The pages with each anchor, in chains. Pages are numbered as they came.
#[derive(Debug, Default)]
pub(super) struct AnchorTables {
    pages: u32,
    /// The last link of each anchor.
    last: HashMap<u64, u32>,
    /// A page with an anchor, and the link before it.
    links: Vec<(u32, u32)>,
}

impl AnchorTables {
    pub(super) fn add(&mut self, anchors: &[u8]) {
        for anchor in anchors_of(anchors) {
            let before = self.last.insert(anchor, self.links.len() as u32).unwrap_or(END);
            self.links.push((self.pages, before));
        }
        self.pages += 1;
    }

    /// The pages that share anchors, as far as `work` goes, each as often as it shares one.
    pub(super) fn sharing(&self, anchors: &[u8], work: &mut Work<'_>) -> Vec<u32> {
        let mut pages = Vec::new();
        for anchor in anchors_of(anchors) {
            let mut at = self.last.get(&anchor).copied().unwrap_or(END);
            while at != END && work.spend(1) {
                let (page, before) = self.links[at as usize];
                pages.push(page);
                at = before;
            }
        }
        pages
    }
}
