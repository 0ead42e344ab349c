//! Documents lifted to a stream: workers take batches of records as they become free, so that one large
//! file keeps all of them busy. A [`Handler`] decides what is made of a document.

use std::iter;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::dispatch::{UnitRunner, Yield};
use super::gather::Collect;
use super::portions::{Portion, Portions};
use super::read::Read;
use crate::document::{Document, Fields, Position, Quarantine, Quarantined, Reason};
use crate::error::{Kind, Result};
use crate::runs::{Record, Sorter};
use crate::work_queues::Claim;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Taken<R> {
    /// The handler made this of one document or several.
    Made(R),
    Quarantined(Quarantined),
}

pub(super) trait Handler: 'static {
    type Made: timely::ExchangeData + Record;

    fn take(&mut self, position: Position, document: Document<'_>) -> Result<Option<Self::Made>>;

    /// Calls `made` with what was made of several documents, at the end of each batch, and adds to the
    /// counts of what was `read`.
    fn end_batch(&mut self, _read: &mut Read, _made: &mut dyn FnMut(Self::Made)) {}
}

#[derive(Debug)]
pub struct Collected<R> {
    pub made: Sorter<R>,
    pub quarantined: Quarantine,
}

impl<R: Record + 'static> Collect<Taken<R>> for Collected<R> {
    fn collect(&mut self, records: &mut Vec<Taken<R>>) -> Result<()> {
        records.drain(..).try_for_each(|record| match record {
            Taken::Made(made) => self.made.push(made),
            Taken::Quarantined(record) => {
                self.quarantined.push(record);
                Ok(())
            }
        })
    }
}

/// One worker that reads: it takes batches and passes their documents to its handler.
pub(super) struct Reading<H> {
    pub(super) portions: Portions,
    pub(super) fields: Fields,
    pub(super) kept: Option<Arc<Checkpoint>>,
    pub(super) handler: H,
}

impl<H: Handler> UnitRunner for Reading<H> {
    type Unit = Portion;
    type Record = Taken<H::Made>;
    type Receipt = Read;

    fn claim(&mut self) -> Result<Claim<Portion>> {
        Ok(self.portions.claim())
    }

    fn run(&mut self, portion: Portion) -> Result<(Yield<Taken<H::Made>>, Read)> {
        let batch = match portion {
            Portion::Records(batch) => batch,
            Portion::Kept(portion) => {
                let (records, read): (Vec<_>, Read) = portion.made()?;
                return Ok((Box::new(records.into_iter().map(Ok)), read));
            }
            Portion::End(read) => return Ok((Box::new(iter::empty()), *read)),
        };
        let Reading { fields, handler, kept, .. } = self;
        let mut records = Vec::new();
        let mut failure = None;
        let mut read = Read { taken: 1, ..Read::default() };
        let order_wanted = fields.order.is_some();
        let passed = batch.parse(fields, &mut |position, document| {
            let lacks_id = document.as_ref().is_ok_and(|document| document.lacks_id);
            if let Ok(document) = &document {
                if lacks_id {
                    read.note_lacking_id(position, document);
                }
                if order_wanted {
                    read.note_order(position, document);
                }
            }
            let reason = match document.map(|document| handler.take(position, document)) {
                Ok(Ok(made)) => {
                    read.documents += 1;
                    read.without_id += u64::from(lacks_id);
                    return records.extend(made.map(Taken::Made));
                }
                Ok(Err(error)) if error.kind() == Kind::BadData => Reason::from(&error),
                Ok(Err(error)) => return failure = failure.take().or(Some(error)),
                Err(reason) => reason,
            };
            read.bad += 1;
            records.push(Taken::Quarantined(Quarantined { position, reason }));
        });
        read.pass(passed);
        handler.end_batch(&mut read, &mut |made| records.push(Taken::Made(made)));
        failure.map_or(Ok(()), Err)?;
        let keep = |kept: &Arc<Checkpoint>| kept.add(batch.sequence, &(&records, &read));
        kept.as_ref().map_or(Ok(()), keep)?;
        Ok((Box::new(records.into_iter().map(Ok)), read))
    }
}

impl<R: Record> Collected<R> {
    /// Nothing yet. What is made spills into `folder` when it takes more than `memory_bytes`.
    pub fn new(folder: &Path, memory_bytes: usize) -> Collected<R> {
        Collected { made: Sorter::new(folder, memory_bytes), quarantined: Quarantine::default() }
    }
}
