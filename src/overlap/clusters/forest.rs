//! Union-find over numbered pages.
//!
//! Every page points at a page with a smaller number, or at itself: then it is a root. A link joins two trees
//! by pointing the larger root at the smaller one, so the root of a finished component is its smallest page,
//! whatever the order of the links. For example:
//!
//! ```text
//! links      4-2    3-4    1-0        roots 0 0 2 2 2
//! pointers   0 1 2 3 2  ->  0 1 2 2 2  ->  0 0 2 2 2
//! ```
//!
//! On the way to a root, each step points a page at its grandparent (path halving). The memory is 4 bytes a page.

/// Trees of pages.
#[derive(Debug)]
pub struct Forest {
    parents: Vec<u32>,
}

impl Forest {
    /// So many pages, each a tree of its own.
    pub fn of(pages: u32) -> Forest {
        Forest { parents: (0..pages).collect() }
    }

    /// Joins the trees of two pages.
    pub fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other) as usize] = one.min(other);
    }

    /// The smallest page of the tree.
    pub fn root(&mut self, page: u32) -> u32 {
        let mut page = page as usize;
        while self.parents[page] != page as u32 {
            self.parents[page] = self.parents[self.parents[page] as usize];
            page = self.parents[page] as usize;
        }
        page as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_in_any_direction_take_linear_time() {
        let pages = 1 << 20;
        for links in [
            (1..pages).map(|page| (page - 1, page)).collect::<Vec<_>>(),
            (1..pages).rev().map(|page| (page - 1, page)).collect(),
            (1..pages).map(|page| (0, page)).collect(),
        ] {
            let mut forest = Forest::of(pages);
            links.iter().for_each(|&(one, other)| forest.join(one, other));
            assert!((0..pages).all(|page| forest.root(page) == 0));
        }
    }
}
