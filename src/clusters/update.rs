//! Clusters from a state and what is new: the work is that of what is touched, and one copy of the state.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::engine::{Assignment, Engine, Portions};
use super::forest::Forest;
use super::intern::{Interned, too_many};
use super::link::Link;
use super::link_file::{LinkCounts, LinkWriter};
use super::method::Method;
use super::page::{Page, PageDay};
use super::renumbering::Renumbering;
use super::row::{CHANGES, Row, RowReader, RowWriter, SizeReader, SizeWriter};
use super::scratch::circle;
use super::space::Space;
use super::touched::{Before, Touched};
use super::written::Written;
use crate::error::{Error, Kind, Result};
use crate::matches::allocated;
use crate::output::{Staging, Sum};
use crate::runs::{Record, Sorter};

/// How many links of an update one thread takes at once.
const PORTION: usize = 1 << 16;

/// A line of changes.tsv: a row of clusters.tsv that comes or goes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Change {
    cluster: String,
    member: String,
    day: PageDay,
    diff: i8,
}

impl Record for Change {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster) + allocated(&self.member)
    }
}

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

/// Writes clusters.tsv, sizes.tsv, links.bin and changes.tsv; gives the sum of the last one too, and its lines.
pub(super) fn update(
    before: &Before<'_>,
    new: Interned,
    engine: &mut dyn Engine,
    staging: &Staging,
    space: &Space<'_>,
) -> Result<(Written, Sum, u64)> {
    let mut touched = before.touched_by(new)?;
    let clusters = Clusters::of(&mut touched, before.method, engine)?;
    let mut copy = Copy {
        before,
        touched: &touched,
        clusters: &clusters,
        rows: RowWriter::create(staging)?,
        changes: space.sorter(),
        sizes: HashMap::new(),
        renumbering: Renumbering::default(),
        linked: Vec::with_capacity(touched.linked.len()),
    };
    copy.run()?;
    let Copy { rows, changes, sizes, renumbering, linked, .. } = copy;
    if linked.len() < touched.linked.len() {
        return Err(contradiction(before, "the rows of clusters.tsv are not in order"));
    }
    let members = rows.rows;
    let (changes, lines) = write_changes(changes, staging)?;
    let (sizes, clusters) = write_sizes(before, sizes, staging)?;
    let (links, counts) = write_links(before, &touched.links, &renumbering, &linked, staging)?;
    let written = Written { rows: rows.finish()?, sizes, links, counts, members, clusters };
    Ok((written, changes, lines))
}

/// The clusters of all that is touched.
struct Clusters {
    /// The standing clusters that have another id now, and that id; both as labels.
    renamed: HashMap<u32, u32>,
    /// The cluster of each touched page; none if it is in none.
    pages: Vec<Option<u32>>,
}

impl Clusters {
    fn of(touched: &mut Touched, method: Method, engine: &mut dyn Engine) -> Result<Clusters> {
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
        Ok(Clusters { renamed, pages })
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

/// The copy of clusters.tsv, on which what is new comes in and what is gone is left out.
struct Copy<'a> {
    before: &'a Before<'a>,
    touched: &'a Touched,
    clusters: &'a Clusters,
    rows: RowWriter,
    changes: Sorter<Change>,
    /// By how much the clusters grow.
    sizes: HashMap<String, i64>,
    renumbering: Renumbering,
    /// The new row of each page of the new links, so far.
    linked: Vec<u32>,
}

impl Copy<'_> {
    fn run(&mut self) -> Result<()> {
        let mut rows = RowReader::open(self.before.folder)?;
        let (mut number, mut own) = (0, 0);
        while let Some(row) = rows.next()? {
            while self.page_before(own, &row) {
                self.add(own)?;
                own += 1;
            }
            if self.touched.pages.get(own).is_some_and(|it| row.is_of(&it.page.id, it.page.day)) {
                self.replace(number, &row, self.clusters.pages[own])?;
                own += 1;
            } else if self.before.is_removed(row.id) {
                self.replace(number, &row, None)?;
            } else {
                self.keep(number, &row)?;
            }
            number += 1;
        }
        (own..self.touched.pages.len()).try_for_each(|own| self.add(own))
    }

    /// Whether a touched page comes before a row.
    fn page_before(&self, own: usize, row: &Row<'_>) -> bool {
        let page = self.touched.pages.get(own).map(|touched| &touched.page);
        page.is_some_and(|page| (page.id.as_str(), page.day) < (row.id, row.day))
    }

    /// Writes a page that is new.
    fn add(&mut self, own: usize) -> Result<()> {
        let touched = self.touched;
        let Page { id, day } = &touched.pages[own].page;
        let label = self.clusters.pages[own].expect("a new page has a link");
        let row = Row { id, day: *day, cluster: touched.labels.id(label) };
        self.changed(&row, 1)?;
        self.write(row)
    }

    /// Writes a row whose cluster is another one, or none.
    fn replace(&mut self, number: u32, row: &Row<'_>, label: Option<u32>) -> Result<()> {
        let Some(label) = label else {
            self.renumbering.remove(number);
            return self.changed(row, -1);
        };
        let cluster = self.touched.labels.id(label);
        let now = Row { cluster, ..*row };
        if cluster != row.cluster {
            self.changed(row, -1)?;
            self.changed(&now, 1)?;
        }
        self.renumbering.keep(number, self.next_row()?);
        self.write(now)
    }

    /// Writes a row of a standing cluster, which may have another id now.
    fn keep(&mut self, number: u32, row: &Row<'_>) -> Result<()> {
        let renamed = &self.clusters.renamed;
        let label = if renamed.is_empty() { None } else { self.touched.labels.find(row.cluster) };
        match label.and_then(|label| renamed.get(&label)) {
            Some(&name) => self.replace(number, row, Some(name)),
            None => {
                self.renumbering.keep(number, self.next_row()?);
                self.write(*row)
            }
        }
    }

    fn write(&mut self, row: Row<'_>) -> Result<()> {
        let number = self.next_row()?;
        let linked = self.touched.linked.get(self.linked.len());
        if linked.is_some_and(|page| row.is_of(&page.id, page.day)) {
            self.linked.push(number);
        }
        self.rows.push(row)
    }

    fn next_row(&self) -> Result<u32> {
        u32::try_from(self.rows.rows).ok().filter(|&row| row < u32::MAX).ok_or_else(too_many)
    }

    fn changed(&mut self, row: &Row<'_>, diff: i8) -> Result<()> {
        let cluster = row.cluster.to_owned();
        *self.sizes.entry(cluster.clone()).or_default() += i64::from(diff);
        self.changes.push(Change { cluster, member: row.id.to_owned(), day: row.day, diff })
    }
}

fn write_changes(changes: Sorter<Change>, staging: &Staging) -> Result<(Sum, u64)> {
    let mut file = staging.create(CHANGES)?;
    file.write(|out| writeln!(out, "cluster\tmember\tdiff\tday"))?;
    let mut lines = 0;
    for change in changes.sorted()? {
        let Change { cluster, member, day, diff } = change?;
        lines += 1;
        file.write(|out| writeln!(out, "{cluster}\t{member}\t{diff:+}\t{day}"))?;
    }
    Ok((file.finish()?, lines))
}

/// Copies sizes.tsv, on which the clusters that changed leave their places for new ones.
fn write_sizes(
    before: &Before<'_>,
    changed: HashMap<String, i64>,
    staging: &Staging,
) -> Result<(Sum, u64)> {
    let mut sizes: HashMap<String, i64> = changed;
    let mut old = SizeReader::open(before.folder)?;
    while let Some((size, cluster)) = old.next()? {
        if let Some(sum) = sizes.get_mut(cluster) {
            *sum += size as i64;
        }
    }
    let mut moved: Vec<(Reverse<u64>, &str)> = Vec::new();
    for (cluster, &size) in &sizes {
        match u64::try_from(size) {
            Ok(0) => {}
            Ok(size) => moved.push((Reverse(size), cluster)),
            Err(_) => {
                let what = "clusters.tsv and sizes.tsv contradict each other";
                return Err(contradiction(before, what));
            }
        }
    }
    moved.sort_unstable();
    let mut moved = moved.into_iter().peekable();
    let mut writer = SizeWriter::create(staging)?;
    let mut old = SizeReader::open(before.folder)?;
    while let Some((size, cluster)) = old.next()? {
        while let Some((Reverse(size), cluster)) =
            moved.next_if(|&moved| moved < (Reverse(size), cluster))
        {
            writer.push(size, cluster)?;
        }
        if !sizes.contains_key(cluster) {
            writer.push(size, cluster)?;
        }
    }
    moved.try_for_each(|(Reverse(size), cluster)| writer.push(size, cluster))?;
    let clusters = writer.clusters;
    Ok((writer.finish()?, clusters))
}

/// The error for a state that is not one.
fn contradiction(before: &Before<'_>, what: &str) -> Error {
    Error::new(Kind::BadData, what)
        .at(before.folder)
        .help("make the clusters again, without --previous")
}

/// Copies links.bin with the rows as they are now, and the new links between them.
fn write_links(
    before: &Before<'_>,
    new: &[Link],
    renumbering: &Renumbering,
    linked: &[u32],
    staging: &Staging,
) -> Result<(Sum, LinkCounts)> {
    let mut writer = LinkWriter::create(staging, before.links.measure())?;
    let numbered = |link: &Link| Link {
        new: linked[link.new as usize],
        existing: linked[link.existing as usize],
        ..*link
    };
    let mut new = new.iter().map(numbered).peekable();
    for link in before.links.links() {
        let old = link?;
        let rows = (renumbering.row(old.new), renumbering.row(old.existing));
        let (Some(row), Some(existing)) = rows else { continue };
        let link = Link { new: row, existing, ..old };
        while let Some(new) = new.next_if(|new| *new < link) {
            writer.push(new)?;
        }
        writer.push(link)?;
    }
    new.try_for_each(|link| writer.push(link))?;
    writer.finish()
}
