//! The clusters of all that an update touches.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::engine::{Assignment, Engine, Portions};
use super::forest::Forest;
use super::method::Method;
use super::scratch::circle;
use super::touched::Touched;
use crate::error::Result;

/// How many links of an update one thread takes at once.
const PORTION: usize = 1 << 16;

/// Links in memory.
struct Held(Vec<(u32, u32)>);

impl Portions for Held {
    fn folder(&self) -> Option<&Path> {
        None
    }

    fn portions(&self) -> u64 {
        self.0.len().div_ceil(PORTION) as u64
    }

    fn portion(&self, number: u64) -> Result<Vec<(u32, u32)>> {
        Ok(self.0.chunks(PORTION).nth(number as usize).unwrap_or_default().to_vec())
    }
}

/// The clusters of all that is touched.
pub(super) struct Regrouped {
    /// The standing clusters that have another id now, and that id; both as labels.
    pub(super) renamed: HashMap<u32, u32>,
    /// The cluster of each touched page; none if it is in none.
    pub(super) pages: Vec<Option<u32>>,
}

impl Regrouped {
    pub(super) fn of(
        touched: &mut Touched,
        method: Method,
        engine: &mut dyn Engine,
    ) -> Result<Regrouped> {
        let forest = Arc::new(Forest::of(touched.nodes()));
        engine.unite(&forest, Arc::new(Held(std::mem::take(&mut touched.edges))))?;
        let names = names(touched, method, &forest)?;
        let standing = touched.standing as usize;
        let is_apart = |label: &u32| touched.apart.contains(label);
        let labels = (0..touched.standing).filter(|label| !is_apart(label));
        let before = labels.clone().map(|label| (label, label)).collect();
        let after = labels.map(|label| (label, names[label as usize])).collect();
        let changes: Vec<(Assignment, isize)> = engine.changes(before, after)?;
        let come = changes.into_iter().filter(|(_, diff)| *diff > 0);
        let renamed = come.map(|(renamed, _)| renamed).collect();
        let own = touched.pages.iter().zip(&names[standing..]);
        let pages = own.map(|(page, &name)| page.is_linked.then_some(name)).collect();
        Ok(Regrouped { renamed, pages })
    }
}

/// For each node the id of its cluster, as a label.
fn names(touched: &mut Touched, method: Method, forest: &Forest) -> Result<Vec<u32>> {
    let nodes = touched.nodes();
    let id = |node: u32| match node.checked_sub(touched.standing) {
        None => touched.labels.id(node),
        Some(own) => touched.pages[own as usize].page.id.as_str(),
    };
    let is_kept = |node: u32| match node.checked_sub(touched.standing) {
        None => !touched.apart.contains(&node),
        Some(own) => !touched.pages[own as usize].is_dropped,
    };
    // For each root, the node that names its tree.
    let mut naming: Vec<Option<u32>> = vec![None; nodes as usize];
    for node in 0..nodes {
        let names = &mut naming[forest.root(node) as usize];
        let is_better = match method {
            Method::Components => names.is_none_or(|named| id(node) < id(named)),
            Method::Star => is_kept(node),
        };
        if is_better {
            *names = Some(node);
        }
    }
    let mut named = Vec::with_capacity(nodes as usize);
    for node in 0..nodes {
        let is_apart = touched.apart.contains(&node) && node < touched.standing;
        let name = naming[forest.root(node) as usize].or(is_apart.then_some(node));
        named.push(name.ok_or_else(circle)?);
    }
    let ids: Vec<String> = named.iter().map(|&node| id(node).to_owned()).collect();
    Ok(ids.iter().map(|id| touched.labels.number(id)).collect())
}
