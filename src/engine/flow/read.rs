//! What was read, counted: the proof that nothing was lost between the files and the result.

use serde::{Deserialize, Serialize};

use super::gather::Collect;
use crate::document::{
    Damage, Document, FileContents, OrderCounts, OrderKey, Passed, Position, Skipped,
};
use crate::error::{Error, Kind, Result};
use crate::object_storage::Bill;

/// Counts of what was read. Their sums over all processes prove that nothing was lost on the way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Read {
    pub blank: u64,
    pub skipped: Skipped,
    /// What could not be read of files and was accepted.
    pub damaged: Vec<Damage>,
    /// The first file of text with so many lines that each may be a page of its own, and how many these are.
    pub many_lines: Option<(u32, u64)>,
    pub documents: u64,
    pub bad: u64,
    /// Documents that are nothing but boilerplate of their host, and were taken whole.
    pub only_boilerplate: u64,
    /// Documents that a store holds, of which nothing was computed.
    pub unchanged: u64,
    pub taken: u64,
    pub delivered: u64,
    pub ends: u64,
    /// Documents without the field of the id, whose ids are the places of their records.
    pub without_id: u64,
    /// The first of these, and the fields that it has.
    pub lacking_id: Option<(Position, String)>,
    /// How what puts documents in order was written, if it is wanted.
    pub order: OrderCounts,
    /// The first document without the field that puts it in order, and the fields that it has.
    pub without_order: Option<(Position, String)>,
    pub shares: Vec<ShareRead>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShareRead {
    pub process: u32,
    /// The states of all files, as the process saw them ([`Inputs::states`](crate::document::Inputs::states)).
    pub states: Option<u128>,
    pub contents: Vec<FileContents>,
    /// What it had asked object stores for by then.
    pub bill: Bill,
}

impl Read {
    pub(super) fn pass(&mut self, passed: Passed) {
        self.blank += passed.blank;
        self.skipped.add(passed.skipped);
    }

    pub(super) fn note_lacking_id(&mut self, position: Position, document: &Document<'_>) {
        self.lacking_id.get_or_insert_with(|| (position, document.fields_found()));
    }

    pub(super) fn note_order(&mut self, position: Position, document: &Document<'_>) {
        self.order.count(document.order);
        if document.order == OrderKey::NoField && self.without_order.is_none() {
            self.without_order = Some((position, document.fields_found()));
        }
    }

    pub fn unread_bytes(&self) -> u64 {
        self.damaged.iter().map(|damage| damage.unread).sum()
    }

    /// Checks that every process read its share to the end and every batch was taken.
    pub fn check_complete(&self, processes: usize) -> Result<()> {
        if self.ends == processes as u64 && self.taken == self.delivered {
            return Ok(());
        }
        let told = |ends, batches| format!("{batches} batches and {ends} ends of input");
        Err(Error::new(Kind::Internal, "not all that was read has arrived")
            .expected(told(processes as u64, self.delivered))
            .found(told(self.ends, self.taken)))
    }
}

impl Collect<Read> for Read {
    fn collect(&mut self, parts: &mut Vec<Read>) -> Result<()> {
        for part in parts.drain(..) {
            self.pass(Passed { blank: part.blank, skipped: part.skipped });
            self.damaged.extend(part.damaged);
            self.documents += part.documents;
            self.bad += part.bad;
            self.only_boilerplate += part.only_boilerplate;
            self.unchanged += part.unchanged;
            self.taken += part.taken;
            self.delivered += part.delivered;
            self.ends += part.ends;
            self.order.add(part.order);
            self.without_id += part.without_id;
            let first = |one: &mut Option<(Position, String)>, other| {
                *one = one.take().into_iter().chain(other).min();
            };
            first(&mut self.lacking_id, part.lacking_id);
            first(&mut self.without_order, part.without_order);
            self.many_lines = self.many_lines.into_iter().chain(part.many_lines).min();
            self.shares.extend(part.shares);
        }
        Ok(())
    }
}
