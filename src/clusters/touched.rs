//! What an update touches: the pages of the new matches, the clusters that stand in the state and that they
//! reach, and those that fall apart.
//!
//! A standing cluster is one node, whatever its size. A cluster falls apart if one of its pages is removed, or if
//! its kept page is now dropped: then each of its pages is a node again, and its old links count again. All else
//! in the state is not looked at twice.
//!
//! ```text
//! state           a a, b a, c a     m m, n m        new links: x-b, x-m
//! nodes           [a]               [m]        x
//! links of nodes  x-[a], x-[m]                      components: all one, and a names it
//! ```

use std::collections::HashSet;
use std::path::Path;

use super::intern::Interned;
use super::labels::Labels;
use super::link::Link;
use super::link_file::LinkFile;
use super::method::Method;
use super::page::Page;
use super::row::RowReader;
use super::row_set::RowSet;
use crate::document::IdList;
use crate::error::{Error, Kind, Result};

/// What an update touches. Its pages and ids are in memory.
pub(super) struct Touched {
    /// The ids of clusters that are named here.
    pub(super) labels: Labels,
    /// How many of them are nodes: their numbers are those of the labels. Pages come after them.
    pub(super) standing: u32,
    /// The clusters that fall apart, which are no nodes.
    pub(super) apart: HashSet<u32>,
    /// The pages that are nodes, in order.
    pub(super) pages: Vec<TouchedPage>,
    /// Between nodes: the links, and the versions of one id where they count as connected.
    pub(super) edges: Vec<(u32, u32)>,
    /// The pages of the new links, in order.
    pub(super) linked: Vec<Page>,
    /// The new links, between those pages.
    pub(super) links: Vec<Link>,
}

/// A page that is a node.
pub(super) struct TouchedPage {
    pub(super) page: Page,
    /// Whether the state has it.
    is_held: bool,
    /// Whether it has a link. If not, it stands in no cluster.
    pub(super) is_linked: bool,
    /// Whether its verdict is among the links.
    pub(super) is_dropped: bool,
}

/// Where the page of a new link stands.
#[derive(Clone, Copy)]
enum Place {
    /// In a cluster of the state.
    Held(u32),
    /// Nowhere; but another version of its id stands in this cluster, and both count as connected.
    VersionOf(u32),
    New,
}

/// A state that is to be updated.
pub(super) struct Before<'a> {
    pub(super) folder: &'a Path,
    pub(super) links: &'a LinkFile,
    pub(super) method: Method,
    pub(super) removed: Option<&'a IdList>,
}

impl Before<'_> {
    pub(super) fn is_removed(&self, id: &str) -> bool {
        self.removed.is_some_and(|removed| removed.place(id).is_some())
    }

    /// The error for a state that is not one.
    pub(super) fn contradiction(&self, what: &str) -> Error {
        Error::new(Kind::BadData, what)
            .at(self.folder)
            .help("make the clusters again, without --previous")
    }

    /// Finds what the links touch.
    pub(super) fn touched_by(&self, new: Interned) -> Result<Touched> {
        let linked: Vec<Page> = new.pages.collect::<Result<_>>()?;
        let links: Vec<Link> = new.links.collect::<Result<_>>()?;
        let mut dropped = RowSet::default();
        links.iter().filter(|link| link.is_verdict).for_each(|link| dropped.insert(link.new));
        let mut labels = Labels::default();
        let (places, apart) = self.places(&linked, &dropped, &mut labels)?;
        let freed = self.freed(&apart, &labels)?;
        let old_links = self.links_between(&freed)?;
        let standing = labels.len();
        let new = places.iter().zip(&linked).filter(|(place, _)| !matches!(place, Place::Held(_)));
        let new = new.map(|(_, page)| TouchedPage::of(page.clone(), false));
        let mut pages: Vec<TouchedPage> =
            freed.into_iter().map(|(_, page)| TouchedPage::of(page, true)).chain(new).collect();
        pages.sort_unstable_by(|one, other| one.page.cmp(&other.page));
        let mut touched =
            Touched { labels, standing, apart, pages, edges: Vec::new(), linked, links };
        let nodes = touched.nodes_of(&places);
        touched.connect(&nodes, &old_links);
        if self.method == Method::Components {
            touched.connect_versions(&places, &nodes);
        }
        Ok(touched)
    }

    /// Looks up the pages of new links, and finds the clusters that fall apart.
    fn places(
        &self,
        linked: &[Page],
        dropped: &RowSet,
        labels: &mut Labels,
    ) -> Result<(Vec<Place>, HashSet<u32>)> {
        let mut places = vec![Place::New; linked.len()];
        let mut apart = HashSet::new();
        let mut rows = RowReader::open(self.folder)?;
        // The page to look up next, and the last row whose id it shares: its id and its cluster.
        let (mut next, mut last) = (0, (String::new(), 0));
        while let Some(row) = rows.next()? {
            if self.is_removed(row.id) {
                apart.insert(labels.number(row.cluster));
            }
            while next < linked.len() && !row.is_before(&linked[next].id, linked[next].day) {
                let page = &linked[next];
                if row.is_of(&page.id, page.day) {
                    let label = labels.number(row.cluster);
                    places[next] = Place::Held(label);
                    if self.method == Method::Star && dropped.contains(next as u32) {
                        apart.insert(label);
                    }
                } else if page.id == row.id {
                    places[next] = Place::VersionOf(labels.number(row.cluster));
                } else if page.id == last.0 {
                    places[next] = Place::VersionOf(last.1);
                }
                next += 1;
            }
            // Only a page that comes next can be a version of this row.
            if linked.get(next).is_some_and(|page| page.id == row.id) && last.0 != row.id {
                last = (row.id.to_owned(), labels.number(row.cluster));
            }
        }
        for (page, place) in linked.iter().zip(&mut places).skip(next) {
            if page.id == last.0 {
                *place = Place::VersionOf(last.1);
            }
        }
        Ok((places, apart))
    }

    /// The rows of the clusters that fall apart, without those that are removed.
    fn freed(&self, apart: &HashSet<u32>, labels: &Labels) -> Result<Vec<(u32, Page)>> {
        let mut freed = Vec::new();
        if apart.is_empty() {
            return Ok(freed);
        }
        let mut rows = RowReader::open(self.folder)?;
        let mut number = 0;
        while let Some(row) = rows.next()? {
            let is_apart = labels.find(row.cluster).is_some_and(|label| apart.contains(&label));
            if is_apart && !self.is_removed(row.id) {
                freed.push((number, Page { id: row.id.to_owned(), day: row.day }));
            }
            number += 1;
        }
        Ok(freed)
    }

    /// The links of the state between freed pages, as their places among them.
    fn links_between(&self, freed: &[(u32, Page)]) -> Result<Vec<Link>> {
        let mut links = Vec::new();
        if freed.is_empty() {
            return Ok(links);
        }
        let mut set = RowSet::default();
        freed.iter().for_each(|&(row, _)| set.insert(row));
        let places = set.ranked();
        for link in self.links.links() {
            let link = link?;
            if let (Some(new), Some(existing)) = (places.rank(link.new), places.rank(link.existing))
            {
                links.push(Link { new: new as u32, existing: existing as u32, ..link });
            }
        }
        Ok(links)
    }
}

impl TouchedPage {
    fn of(page: Page, is_held: bool) -> TouchedPage {
        TouchedPage { page, is_held, is_linked: false, is_dropped: false }
    }
}

impl Touched {
    /// The node of each page of the new links.
    fn nodes_of(&self, places: &[Place]) -> Vec<u32> {
        let mut own = 0;
        let node = |(page, place): (&Page, &Place)| match *place {
            Place::Held(label) if !self.apart.contains(&label) => label,
            _ => {
                while self.pages[own].page < *page {
                    own += 1;
                }
                self.standing + own as u32
            }
        };
        self.linked.iter().zip(places).map(node).collect()
    }

    /// Takes the new links, and the old ones between the freed pages, which are in the order of their nodes.
    fn connect(&mut self, nodes: &[u32], old_links: &[Link]) {
        let freed: Vec<u32> = (self.standing..)
            .zip(&self.pages)
            .filter(|(_, page)| page.is_held)
            .map(|(node, _)| node)
            .collect();
        let old = old_links
            .iter()
            .map(|link| (freed[link.new as usize], freed[link.existing as usize], link.is_verdict));
        let new = self
            .links
            .iter()
            .map(|link| (nodes[link.new as usize], nodes[link.existing as usize], link.is_verdict));
        let links: Vec<(u32, u32, bool)> = old.chain(new).collect();
        for (new, existing, is_verdict) in links {
            for node in [new, existing] {
                if let Some(page) = self.page_mut(node) {
                    page.is_linked = true;
                }
            }
            if let Some(page) = self.page_mut(new).filter(|_| is_verdict) {
                page.is_dropped = true;
            }
            if new != existing {
                self.edges.push((new, existing));
            }
        }
    }

    /// Connects the versions of one id.
    fn connect_versions(&mut self, places: &[Place], nodes: &[u32]) {
        let follows = |pair: &[TouchedPage]| pair[0].page.id == pair[1].page.id;
        let same = self.pages.windows(2).zip(self.standing..).filter(|(pair, _)| follows(pair));
        self.edges.extend(same.map(|(_, node)| (node, node + 1)));
        for (place, &node) in places.iter().zip(nodes) {
            if let Place::VersionOf(label) = place
                && !self.apart.contains(label)
            {
                self.edges.push((node, *label));
            }
        }
    }

    fn page_mut(&mut self, node: u32) -> Option<&mut TouchedPage> {
        node.checked_sub(self.standing).map(|own| &mut self.pages[own as usize])
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> u32 {
        self.standing + self.pages.len() as u32
    }
}
