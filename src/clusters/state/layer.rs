//! A layer of a state: what one day says of pages and clusters, over the layers before it.
//!
//! ```text
//! pages     page               its cluster, and whether older layers count
//! groups    cluster, row       one for each row of `pages` in it, then its size
//! links     row, row           two rows of `pages`, and how far apart they are
//! ```

use std::path::Path;

use super::cursor::Cursor;
use super::keys::{
    GroupRow, PageRow, group_row, link_key, page_key, read_group, read_link, read_page,
};
use super::table::{Content, Table};
use crate::clusters::engine::Portions;
use crate::clusters::link::Link;
use crate::clusters::page::PageDay;
use crate::error::Result;

/// How many blocks of links are one portion.
const PORTION: usize = 64;

/// The names of a layer's files: of its pages, groups and links.
pub(in crate::rooms::clusters) fn names(layer: u32) -> [String; 3] {
    Content::ALL.map(|content| content.file_of(layer))
}

/// Whether this is the name of a file of a layer.
pub fn is_layer(name: &str) -> bool {
    let parts = name.strip_suffix(".bin").and_then(|name| name.split_once('-'));
    let is_table = |table| Content::ALL.iter().any(|content| content.name() == table);
    parts.is_some_and(|(table, layer)| is_table(table) && layer.parse::<u32>().is_ok())
}

/// A layer, open for reading.
#[derive(Debug)]
pub(in crate::rooms::clusters) struct Layer {
    pub(super) pages: Table,
    pub(super) groups: Table,
    pub(super) links: Table,
}

impl Layer {
    pub(super) fn open(folder: &Path, number: u32) -> Result<Layer> {
        let open = |content| Table::open(folder, number, content);
        let layer = Layer {
            pages: open(Content::Pages)?,
            groups: open(Content::Groups)?,
            links: open(Content::Links)?,
        };
        match layer.pages.rows() < u64::from(u32::MAX) {
            true => Ok(layer),
            false => Err(layer.pages.damaged("there are more rows than a layer can have")),
        }
    }

    /// The row of its pages on which a cursor stands.
    pub(super) fn page<'a>(&self, cursor: &'a Cursor<'_>) -> Result<PageRow<'a>> {
        let row = read_page(cursor.key(), cursor.value());
        row.ok_or_else(|| self.pages.damaged("a row of a page cannot be read"))
    }

    /// The row of its clusters on which a cursor stands.
    pub(super) fn group<'a>(&self, cursor: &'a Cursor<'_>) -> Result<(&'a str, GroupRow)> {
        let row = read_group(cursor.key(), cursor.value());
        row.ok_or_else(|| self.groups.damaged("a row of a cluster cannot be read"))
    }

    /// Fails unless the clusters and the links name rows of the pages only.
    pub(super) fn check_rows(&self) -> Result<()> {
        let is_there = |row: u32| u64::from(row) < self.pages.rows();
        let mut groups = Cursor::of(&self.groups);
        while groups.next()? {
            if let (_, GroupRow::Member(row)) = self.group(&groups)?
                && !is_there(row)
            {
                return Err(self.groups.damaged("a cluster has a row that is not there"));
            }
        }
        let mut links = Links::of(self);
        while let Some(link) = links.next()? {
            if !is_there(link.new) || !is_there(link.existing) {
                return Err(self.links.damaged("a link has a row that is not there"));
            }
        }
        Ok(())
    }

    /// What reading and writing it again costs, in rows.
    pub(super) fn weight(&self) -> u64 {
        self.pages.rows() + self.groups.rows() + self.links.rows()
    }
}

/// Rows of pages.
pub(super) struct Pages<'a> {
    layer: &'a Layer,
    pub(super) cursor: Cursor<'a>,
    key: Vec<u8>,
}

impl<'a> Pages<'a> {
    pub(super) fn of(layer: &'a Layer) -> Pages<'a> {
        Pages { layer, cursor: Cursor::of(&layer.pages), key: Vec::new() }
    }

    /// The row that it stands on.
    pub(super) fn row(&self) -> Result<PageRow<'_>> {
        self.layer.page(&self.cursor)
    }

    /// Moves to a row, which is not behind.
    pub(super) fn at_row(&mut self, row: u32) -> Result<PageRow<'_>> {
        match self.cursor.seek_row(u64::from(row))? {
            true => self.row(),
            false => Err(self.layer.groups.damaged("a cluster has a row that is not there")),
        }
    }

    /// Advances to the first row whose page does not come before this page. Does nothing if the
    /// cursor is already there or past that row. Returns false if there is no such row.
    pub(super) fn seek(&mut self, id: &str, day: PageDay) -> Result<bool> {
        page_key(&mut self.key, id, day);
        self.cursor.seek(&self.key)
    }

    /// Moves on, and says whether it stands on the row of this page now.
    pub(super) fn is_at(&mut self, id: &str, day: PageDay) -> Result<bool> {
        Ok(self.seek(id, day)? && self.cursor.key() == self.key.as_slice())
    }
}

/// Rows of clusters.
pub(super) struct Groups<'a> {
    layer: &'a Layer,
    pub(super) cursor: Cursor<'a>,
    key: Vec<u8>,
}

impl<'a> Groups<'a> {
    pub(super) fn of(layer: &'a Layer) -> Groups<'a> {
        Groups { layer, cursor: Cursor::of(&layer.groups), key: Vec::new() }
    }

    /// The row that it stands on.
    pub(super) fn row(&self) -> Result<(&str, GroupRow)> {
        self.layer.group(&self.cursor)
    }

    /// Moves to a row of a cluster or behind it; false if there is nothing.
    pub(super) fn seek(&mut self, cluster: &str, row: GroupRow) -> Result<bool> {
        group_row(&mut self.key, &mut Vec::new(), cluster, row);
        self.cursor.seek(&self.key)
    }
}

/// Rows of links.
pub(super) struct Links<'a> {
    table: &'a Table,
    cursor: Cursor<'a>,
}

impl<'a> Links<'a> {
    pub(super) fn of(layer: &'a Layer) -> Links<'a> {
        Links::in_table(&layer.links)
    }

    fn in_table(table: &'a Table) -> Links<'a> {
        Links { table, cursor: Cursor::of(table) }
    }

    /// The next link; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Link>> {
        if self.cursor.next()? { self.link().map(Some) } else { Ok(None) }
    }

    /// The first link of the page at `row` or behind it; none at the end.
    pub(super) fn seek(&mut self, row: u32) -> Result<Option<Link>> {
        if self.cursor.seek(&link_key(row, 0))? { self.link().map(Some) } else { Ok(None) }
    }

    fn link(&self) -> Result<Link> {
        let link = read_link(self.cursor.key(), self.cursor.value());
        link.ok_or_else(|| self.table.damaged("a link cannot be read"))
    }
}

/// The links of a layer, for threads to share.
#[derive(Debug)]
pub(in crate::rooms::clusters) struct SharedLinks(Table);

impl SharedLinks {
    pub(in crate::rooms::clusters) fn open(folder: &Path, layer: u32) -> Result<SharedLinks> {
        Table::open(folder, layer, Content::Links).map(SharedLinks)
    }
}

impl Portions for SharedLinks {
    fn folder(&self) -> Option<&Path> {
        self.0.folder()
    }

    fn portions(&self) -> u64 {
        self.0.blocks().div_ceil(PORTION) as u64
    }

    fn portion(&self, number: u64) -> Result<Vec<(u32, u32)>> {
        let blocks =
            number as usize * PORTION..self.0.blocks().min((number as usize + 1) * PORTION);
        let row =
            |block| if block == self.0.blocks() { self.0.rows() } else { self.0.first_row(block) };
        let rows = row(blocks.start)..row(blocks.end);
        let mut links = Links::in_table(&self.0);
        if !links.cursor.seek_row(rows.start)? {
            return Ok(Vec::new());
        }
        let mut found = Vec::with_capacity((rows.end - rows.start) as usize);
        let mut next = Some(links.link()?);
        for _ in rows {
            let Some(link) = next else { break };
            found.push((link.new, link.existing));
            next = links.next()?;
        }
        Ok(found)
    }
}
