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

use super::intern::Interned;
use super::labels::Labels;
use super::link::Link;
use super::method::Method;
use super::page::Page;
use super::removed::RemovedIds;
use super::row_set::RowSet;
use super::state::{LinkCounts, Member, Pile};
use crate::error::Result;

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
    /// The pages that are removed.
    pub(super) left: Vec<TouchedPage>,
    /// Between nodes: the links, and the versions of one id where they count as connected.
    pub(super) edges: Vec<(u32, u32)>,
    /// The pages of the new links, in order.
    pub(super) linked: Vec<Page>,
    /// Those of them that stay in standing clusters, and these; the pages are places in `linked`.
    pub(super) held: Vec<(u32, u32)>,
    /// The new links, between those pages.
    pub(super) links: Vec<Link>,
    /// The links of the state that no longer count.
    pub(super) lost: LinkCounts,
}

/// A page that is a node.
pub(super) struct TouchedPage {
    pub(super) page: Page,
    /// Its cluster in the state, if it is there.
    pub(super) before: Option<u32>,
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
    pub(super) pile: &'a Pile,
    pub(super) method: Method,
    pub(super) removed: &'a RemovedIds,
}

/// What becomes of clusters that fall apart.
#[derive(Default)]
struct Freed {
    /// Their pages, in order, and those of them that are removed.
    pages: Vec<TouchedPage>,
    left: Vec<TouchedPage>,
    /// Their links between pages that are left, which are numbered by their places; and how many others there are.
    old_links: Vec<Link>,
    lost: LinkCounts,
}

/// What the state says of the pages of new links.
struct Standing {
    places: Vec<Place>,
    /// The clusters that fall apart.
    apart: HashSet<u32>,
}

impl Before<'_> {
    /// Finds what the links touch.
    pub(super) fn touched_by(&self, new: Interned) -> Result<Touched> {
        let linked: Vec<Page> = new.pages.collect::<Result<_>>()?;
        let links: Vec<Link> = new.links.collect::<Result<_>>()?;
        let mut dropped = RowSet::default();
        links.iter().filter(|link| link.is_verdict).for_each(|link| dropped.insert(link.new));
        let mut labels = Labels::default();
        let Standing { places, apart } = self.standing(&linked, &dropped, &mut labels)?;
        let Freed { mut pages, left, old_links, lost } = self.freed(&apart, &labels)?;
        let new = places.iter().zip(&linked).filter(|(place, _)| !matches!(place, Place::Held(_)));
        pages.extend(new.map(|(_, page)| TouchedPage::of(page.clone(), None)));
        pages.sort_unstable_by(|one, other| one.page.cmp(&other.page));
        let standing = labels.len();
        let mut touched = Touched {
            labels,
            standing,
            apart,
            pages,
            left,
            edges: Vec::new(),
            held: Vec::new(),
            linked,
            links,
            lost,
        };
        touched.held = touched.held_by(&places);
        let nodes = touched.nodes_of(&places);
        touched.connect(&nodes, &old_links);
        if self.method == Method::Components {
            touched.connect_versions(&places, &nodes);
        }
        Ok(touched)
    }

    /// Takes the clusters apart that fall apart.
    fn freed(&self, apart: &HashSet<u32>, labels: &Labels) -> Result<Freed> {
        let (members, pages) = members(self.pile, labels, apart.iter().copied())?;
        let mut in_order: Vec<usize> = (0..pages.len()).collect();
        in_order.sort_unstable_by(|&one, &other| pages[one].0.cmp(&pages[other].0));
        let mut freed = Freed::default();
        // For each member its place among the freed pages, unless it is removed.
        let mut places = vec![None; pages.len()];
        let mut pages: Vec<Option<(Page, u32)>> = pages.into_iter().map(Some).collect();
        for at in in_order {
            let Some((page, label)) = pages[at].take() else { continue };
            let is_removed = self.removed.contains(&page.id);
            places[at] = (!is_removed).then_some(freed.pages.len() as u32);
            let list = if is_removed { &mut freed.left } else { &mut freed.pages };
            list.push(TouchedPage::of(page, Some(label)));
        }
        self.pile.each_link_between(&members, |link| {
            match (places[link.new as usize], places[link.existing as usize]) {
                (Some(new), Some(existing)) => {
                    freed.old_links.push(Link { new, existing, ..link });
                }
                _ => freed.lost.add(&link),
            }
        })?;
        Ok(freed)
    }

    /// Looks up the pages of new links and those that are removed, and finds the clusters that fall apart.
    fn standing(&self, linked: &[Page], dropped: &RowSet, labels: &mut Labels) -> Result<Standing> {
        let mut places = vec![Place::New; linked.len()];
        let mut apart = HashSet::new();
        let mut next = 0;
        let linked_ids = linked.iter().map(|page| page.id.as_str());
        let ids = merged(linked_ids, self.removed.ids().iter().map(String::as_str));
        self.pile.each_id(ids, |id, versions| {
            if self.removed.contains(id) {
                apart.extend(versions.iter().map(|(_, cluster)| labels.number(cluster)));
            }
            while let Some(page) = linked.get(next).filter(|page| page.id == id) {
                let own = versions.iter().find(|(day, _)| *day == page.day);
                if let Some((_, cluster)) = own {
                    let label = labels.number(cluster);
                    places[next] = Place::Held(label);
                    if self.method == Method::Star && dropped.contains(next as u32) {
                        apart.insert(label);
                    }
                } else if let (Method::Components, Some((_, cluster))) =
                    (self.method, versions.first())
                {
                    places[next] = Place::VersionOf(labels.number(cluster));
                }
                next += 1;
            }
            Ok(())
        })?;
        Ok(Standing { places, apart })
    }
}

/// The distinct texts of two sequences that ascend.
fn merged<'a>(
    one: impl Iterator<Item = &'a str>,
    other: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = &'a str> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    let mut last = None;
    std::iter::from_fn(move || {
        loop {
            let is_first = match (one.peek(), other.peek()) {
                (Some(one), Some(other)) => one <= other,
                (one, _) => one.is_some(),
            };
            let next = if is_first { one.next() } else { other.next() }?;
            if last.replace(next) != Some(next) {
                return Some(next);
            }
        }
    })
}

/// A page, and the label of its cluster.
type Labelled = (Page, u32);

/// The members of the clusters with these labels, and for each its page and its label.
pub(super) fn members(
    pile: &Pile,
    labels: &Labels,
    of: impl Iterator<Item = u32>,
) -> Result<(Vec<Member>, Vec<Labelled>)> {
    let mut clusters: Vec<(&str, u32)> = of.map(|label| (labels.id(label), label)).collect();
    clusters.sort_unstable();
    let (ids, labels): (Vec<&str>, Vec<u32>) = clusters.into_iter().unzip();
    let mut pages = Vec::new();
    let members =
        pile.members(&ids, |row| pages.push(Page { id: row.id.to_owned(), day: row.day }))?;
    let label = |member: &Member| labels[member.cluster as usize];
    let pages = pages.into_iter().zip(members.iter().map(label)).collect();
    Ok((members, pages))
}

impl TouchedPage {
    fn of(page: Page, before: Option<u32>) -> TouchedPage {
        TouchedPage { page, before, is_linked: false, is_dropped: false }
    }
}

impl Touched {
    /// The pages of new links that stay in standing clusters.
    fn held_by(&self, places: &[Place]) -> Vec<(u32, u32)> {
        let held = (0..).zip(places).filter_map(|(at, place)| match place {
            Place::Held(label) if !self.apart.contains(label) => Some((at, *label)),
            _ => None,
        });
        held.collect()
    }

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
            .filter(|(_, page)| page.before.is_some())
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
