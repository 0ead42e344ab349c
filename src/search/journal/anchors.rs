//! Pages by their anchors: which pages of those held in memory share some?

use std::collections::HashMap;

use crate::fingerprint::check::ANCHORS;
use crate::matches::anchors_of;
use crate::work::Work;

const END: u32 = u32::MAX;

/// The pages with each anchor, in chains. Pages are numbered as they came.
#[derive(Debug, Default)]
pub(super) struct AnchorTables {
    last: HashMap<(u8, u64), u32>,
    before: Vec<[u32; ANCHORS]>,
}

impl AnchorTables {
    pub(super) fn add(&mut self, anchors: &[u8]) {
        let page = self.before.len() as u32;
        let mut before = [END; ANCHORS];
        for (place, key) in anchors_of(anchors) {
            before[usize::from(place)] = self.last.insert((place, key), page).unwrap_or(END);
        }
        self.before.push(before);
    }

    /// The pages that share anchors, as far as `work` goes, each as often as it shares one.
    pub(super) fn sharing(&self, anchors: &[u8], work: &mut Work<'_>) -> Vec<u32> {
        let mut pages = Vec::new();
        for (place, key) in anchors_of(anchors) {
            let mut at = self.last.get(&(place, key)).copied().unwrap_or(END);
            while at != END && work.spend(1) {
                pages.push(at);
                at = self.before[at as usize][usize::from(place)];
            }
        }
        pages
    }
}
