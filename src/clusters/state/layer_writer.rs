//! The tables of a layer, being written.

use super::keys::{GroupRow, PageRow, group_row, link_key, link_value, page_key, page_value};
use super::table::Content;
use super::table_writer::{Named, TableWriter};
use crate::clusters::intern::too_many;
use crate::clusters::link::Link;
use crate::error::{Error, Kind, Result};
use crate::output::Staging;

/// The pages of a layer, being written in order.
pub(in crate::rooms::clusters) struct PageWriter {
    table: TableWriter,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl PageWriter {
    pub(in crate::rooms::clusters) fn create(staging: &Staging, layer: u32) -> Result<PageWriter> {
        let table = TableWriter::create(staging, layer, Content::Pages)?;
        Ok(PageWriter { table, key: Vec::new(), value: Vec::new() })
    }

    /// Writes a row and returns its number.
    pub(in crate::rooms::clusters) fn push(&mut self, row: &PageRow<'_>) -> Result<u32> {
        let number = u32::try_from(self.table.rows()).ok().filter(|&row| row + 1 < u32::MAX);
        page_key(&mut self.key, row.id, row.day);
        page_value(&mut self.value, row);
        self.table.push(&self.key, &self.value)?;
        number.ok_or_else(too_many)
    }

    pub(in crate::rooms::clusters) fn finish(self) -> Result<Named> {
        self.table.finish()
    }
}

/// The clusters of a layer, being written in the order of their ids.
pub(in crate::rooms::clusters) struct GroupWriter {
    table: TableWriter,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl GroupWriter {
    pub(in crate::rooms::clusters) fn create(staging: &Staging, layer: u32) -> Result<GroupWriter> {
        let table = TableWriter::create(staging, layer, Content::Groups)?;
        Ok(GroupWriter { table, key: Vec::new(), value: Vec::new() })
    }

    /// Writes a row of the layer that is in the cluster. The rows of a cluster ascend.
    pub(in crate::rooms::clusters) fn member(&mut self, cluster: &str, row: u32) -> Result<()> {
        self.push(cluster, GroupRow::Member(row))
    }

    /// Writes how many members the cluster has, after its rows.
    pub(in crate::rooms::clusters) fn size(&mut self, cluster: &str, size: u64) -> Result<()> {
        self.push(cluster, GroupRow::Size(size))
    }

    fn push(&mut self, cluster: &str, row: GroupRow) -> Result<()> {
        group_row(&mut self.key, &mut self.value, cluster, row);
        self.table.push(&self.key, &self.value)
    }

    pub(in crate::rooms::clusters) fn finish(self) -> Result<Named> {
        self.table.finish()
    }
}

/// The links of a layer, being written in order.
pub(in crate::rooms::clusters) struct LinkWriter {
    table: TableWriter,
    last: Option<Link>,
    /// The page of the verdict that was written last.
    judged: Option<u32>,
    counts: LinkCounts,
}

/// How many links there are.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::rooms::clusters) struct LinkCounts {
    pub(in crate::rooms::clusters) links: u64,
    pub(in crate::rooms::clusters) verdicts: u64,
}

impl LinkCounts {
    pub(in crate::rooms::clusters) fn add(&mut self, link: &Link) {
        self.links += 1;
        self.verdicts += u64::from(link.is_verdict);
    }
}

impl LinkWriter {
    pub(in crate::rooms::clusters) fn create(staging: &Staging, layer: u32) -> Result<LinkWriter> {
        let table = TableWriter::create(staging, layer, Content::Links)?;
        Ok(LinkWriter { table, last: None, judged: None, counts: LinkCounts::default() })
    }

    /// Takes the next link in order. Links between the same pages become one.
    ///
    /// # Errors
    /// [`Kind::BadData`] if a page has two verdicts.
    pub(in crate::rooms::clusters) fn push(&mut self, link: Link) -> Result<()> {
        match &mut self.last {
            Some(last) if last.is_between_those_of(&link) => last.merge(link),
            last => {
                let done = last.replace(link);
                done.map_or(Ok(()), |done| self.write(&done))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, link: &Link) -> Result<()> {
        self.counts.add(link);
        if link.is_verdict && self.judged.replace(link.new) == Some(link.new) {
            return Err(Error::new(Kind::BadData, "a page has two verdicts")
                .help("the outputs contradict each other: make them again"));
        }
        self.table.push(&link_key(link.new, link.existing), &link_value(link))
    }

    pub(in crate::rooms::clusters) fn finish(mut self) -> Result<(Named, LinkCounts)> {
        let last = self.last.take();
        last.map_or(Ok(()), |last| self.write(&last))?;
        Ok((self.table.finish()?, self.counts))
    }
}
