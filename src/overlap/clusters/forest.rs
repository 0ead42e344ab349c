//! Union-find over numbered pages, shared by all threads of a process.
//!
//! Every page points at a page with a smaller number, or at itself: then it is a root. A link joins two trees
//! by pointing the larger root at the smaller one, so the root of a finished component is its smallest page,
//! whatever the order of the links and whichever thread took them. For example:
//!
//! ```text
//! links      4-2    3-4    1-0        roots 0 0 2 2 2
//! pointers   0 1 2 3 2  ->  0 1 2 2 2  ->  0 0 2 2 2
//! ```
//!
//! No thread waits for another. Only a root changes by compare-and-swap; on the way to a root, each step points
//! a page at its grandparent (path halving), which is right whoever does it (Anderson and Woll, "Wait-free
//! parallel algorithms for the union-find problem", STOC 1991). The memory is 4 bytes a page.

use std::sync::atomic::{AtomicU32, Ordering};

/// Trees of pages.
#[derive(Debug)]
pub struct Forest {
    parents: Vec<AtomicU32>,
}

impl Forest {
    /// So many pages, each a tree of its own.
    pub fn of(pages: u32) -> Forest {
        Forest { parents: (0..pages).map(AtomicU32::new).collect() }
    }

    /// How many pages there are.
    pub fn pages(&self) -> u32 {
        self.parents.len() as u32
    }

    /// Joins the trees of two pages.
    pub fn join(&self, one: u32, other: u32) {
        let (mut one, mut other) = (one, other);
        loop {
            (one, other) = (self.root(one), self.root(other));
            if one == other {
                return;
            }
            let (low, high) = (one.min(other), one.max(other));
            let root = &self.parents[high as usize];
            if root.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    /// The smallest page of the tree.
    pub fn root(&self, page: u32) -> u32 {
        let mut page = page;
        loop {
            let parent = self.parent(page);
            if parent == page {
                return page;
            }
            let above = self.parent(parent);
            if above == parent {
                return parent;
            }
            self.parents[page as usize].store(above, Ordering::Relaxed);
            page = above;
        }
    }

    fn parent(&self, page: u32) -> u32 {
        self.parents[page as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    /// The smallest page that each page can reach, by search.
    fn reached(pages: u32, links: &[(u32, u32)]) -> Vec<u32> {
        let mut least: Vec<u32> = (0..pages).collect();
        loop {
            let before = least.clone();
            for &(one, other) in links {
                let low = least[one as usize].min(least[other as usize]);
                (least[one as usize], least[other as usize]) = (low, low);
            }
            if before == least {
                return least;
            }
        }
    }

    proptest! {
        #[test]
        fn threads_that_share_a_forest_find_the_components(
            links in prop::collection::vec((0_u32..60, 0_u32..60), 0..80),
            threads in 1_usize..4,
        ) {
            let forest = Forest::of(60);
            thread::scope(|scope| {
                for part in links.chunks(links.len().div_ceil(threads).max(1)) {
                    scope.spawn(|| part.iter().for_each(|&(one, other)| forest.join(one, other)));
                }
            });
            let roots: Vec<u32> = (0..60).map(|page| forest.root(page)).collect();
            prop_assert_eq!(roots, reached(60, &links));
        }
    }

    #[test]
    fn chains_in_any_direction_take_linear_time() {
        let pages = 1 << 20;
        for links in [
            (1..pages).map(|page| (page - 1, page)).collect::<Vec<_>>(),
            (1..pages).rev().map(|page| (page - 1, page)).collect(),
            (1..pages).map(|page| (0, page)).collect(),
        ] {
            let forest = Forest::of(pages);
            links.iter().for_each(|&(one, other)| forest.join(one, other));
            assert!((0..pages).all(|page| forest.root(page) == 0));
        }
    }
}
