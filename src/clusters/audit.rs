//! Reads a whole state, and holds the report and the tables beside it against it.
//!
//! What was found is computed from the state again: sizes, stars, links, and how wide the largest clusters are. The tables of clusters and
//! sizes must have the rows of the state, and the table of changes those in which it differs from the state before.

use std::fmt::{self, Display};
use std::path::Path;

use serde::Serialize;

use super::clustering::Previous;
use super::contents::Contents;
use super::describe::{Sizes, describe};
use super::found::Clusters;
use super::listed::{Listed, listed_changes, listed_sizes};
use super::row::{CLUSTERS, row_columns};
use super::state::{LinkCounts, Pile};
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};
use crate::runs::Space;

/// The file that holds what was found.
const REPORT: &str = "report.json";

/// The links of so many members are counted at once; a cluster with more is counted by itself.
const MEMBERS_AT_ONCE: u64 = 1 << 20;

/// A clustering to be audited.
#[derive(Debug)]
pub struct ClusterAudit<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// What its report says.
    pub found: &'a Clusters,
    /// The clustering that it was added to, if that is still there.
    pub before: Option<Previous>,
    /// A place for spilled runs.
    pub spill: &'a Path,
    /// The memory of each sort; two exist at once.
    pub memory_bytes: usize,
}

impl ClusterAudit<'_> {
    /// Reads every row of every layer, and fails unless the report and the tables are what they come to.
    ///
    /// # Errors
    /// [`Kind::BadData`] if a table is damaged, or if tables contradict each other or the report.
    pub fn run(&self) -> Result<()> {
        let ClusterAudit { folder, found, .. } = self;
        let space = Space { folder: self.spill, memory_bytes: self.memory_bytes };
        found.check_layers(folder)?;
        let pile = Pile::open(folder, &found.layers)?;
        self.check_members(&pile)?;
        pile.check_rows()?;
        let sizes = Sizes::of(&pile)?;
        self.expect("clusters", sizes.clusters(), found.clusters)?;
        self.expect("sizes", Shown(sizes.ranges()), Shown(found.sizes.clone()))?;
        let LinkCounts { links, verdicts } = self.link_counts(&pile)?;
        self.expect("links", links, found.links)?;
        self.expect("stars", found.members - verdicts.min(found.members), found.stars)?;
        let largest = describe(&pile, &sizes, found.measure)?;
        self.expect("largest", Shown(largest), Shown(found.largest.clone()))?;
        listed_sizes(folder, found, &pile, space)?;
        let changes = listed_changes(folder, found, &pile, self.before.as_ref(), space)?;
        self.expect("changes", Shown(changes), Shown(found.changes))
    }

    /// Checks the pages, along with the table of clusters if there is one.
    fn check_members(&self, pile: &Pile) -> Result<()> {
        let ClusterAudit { folder, found, .. } = self;
        let mut listed = Listed::open(folder, found, CLUSTERS, &row_columns())?;
        let (mut members, mut contents) = (0, Contents::default());
        pile.each_page(|page, cluster| {
            progress::tick(Activity::Reading);
            members += 1;
            contents.add(page.id, page.day, cluster);
            let (id, day) = (page.id, page.day);
            listed
                .as_mut()
                .map_or(Ok(()), |rows| rows.expect(format_args!("{id}\t{cluster}\t{day}")))
        })?;
        listed.map_or(Ok(0), Listed::end)?;
        self.expect("members", members, found.members)?;
        self.expect("contents", contents.digest(), found.contents)
    }

    /// How many links and verdicts there are, counted cluster by cluster. Fails unless the clusters have as many members as their sizes
    /// say, and all members are in one.
    fn link_counts(&self, pile: &Pile) -> Result<LinkCounts> {
        let mut counts = LinkCounts::default();
        let mut all = 0_u64;
        let mut clusters: Vec<String> = Vec::new();
        let mut size = 0_u64;
        let mut count = |clusters: &mut Vec<String>, size: u64| {
            progress::tick(Activity::Reading);
            let ids: Vec<&str> = clusters.iter().map(String::as_str).collect();
            let members = pile.members(&ids, |_| {})?;
            self.expect("sizes", members.len() as u64, size)?;
            all = all.saturating_add(size);
            clusters.clear();
            pile.each_link_between(&members, |link| counts.add(&link))
        };
        pile.each_size(|cluster, members| {
            if size.saturating_add(members) > MEMBERS_AT_ONCE && !clusters.is_empty() {
                count(&mut clusters, size)?;
                size = 0;
            }
            size = size.saturating_add(members);
            clusters.push(cluster.to_owned());
            Ok(())
        })?;
        count(&mut clusters, size)?;
        self.expect("members", all, self.found.members)?;
        Ok(counts)
    }

    /// Fails unless what the report says of `name` is what the state comes to.
    fn expect<T: PartialEq + Display>(&self, name: &str, computed: T, told: T) -> Result<()> {
        if computed == told {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, format!("the state gives another `{name}` than the report"))
            .at(self.folder.join(REPORT))
            .expected(computed)
            .found(told)
            .help("make the clusters again, from nothing")
            .setting("previous"))
    }
}

/// Something that a report holds, as the report shows it.
#[derive(PartialEq)]
struct Shown<T>(T);

impl<T: Serialize> Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}
