//! Gathers streams, each record at the worker that owns it.

use std::cell::RefCell;
use std::rc::Rc;

use timely::ExchangeData;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use super::fatal::Fatal;
use crate::error::Result;
use crate::runs::{Record, Sorter};

/// Takes gathered records. It may fail, for example on a full disk.
pub(super) trait Collect<R>: 'static {
    /// Takes a batch of records, leaving the vector empty.
    fn collect(&mut self, records: &mut Vec<R>) -> Result<()>;
}

impl<R: 'static> Collect<R> for Vec<R> {
    fn collect(&mut self, records: &mut Vec<R>) -> Result<()> {
        self.append(records);
        Ok(())
    }
}

impl<R: Record + 'static> Collect<R> for Sorter<R> {
    fn collect(&mut self, records: &mut Vec<R>) -> Result<()> {
        self.extend(records.drain(..))
    }
}

pub(super) struct Gathered<C>(Rc<RefCell<Option<C>>>);

impl<C> Gathered<C> {
    pub(super) fn new(collector: C) -> Gathered<C> {
        Gathered(Rc::new(RefCell::new(Some(collector))))
    }

    /// What was gathered, once the dataflow is at its end.
    pub(super) fn take(self) -> C {
        self.0.take().expect("what was gathered is taken once")
    }

    /// Sends every record to the worker that owns it, which passes it to its collector. The resulting stream is empty; it
    /// has passed a time when the collectors have taken all records of that time.
    pub(super) fn from<'scope, R: ExchangeData>(
        &self,
        records: StreamVec<'scope, u64, R>,
        owner: impl Fn(&R) -> u64 + 'static,
        fatal: &Fatal,
    ) -> StreamVec<'scope, u64, ()>
    where
        C: Collect<R>,
    {
        let (collector, fatal) = (Rc::clone(&self.0), fatal.clone());
        records.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(
            Exchange::new(owner),
            "Gather",
            |_, _| {
                move |input, _| {
                    input.for_each(|_, records| {
                        let mut collector = collector.borrow_mut();
                        let collector = collector.as_mut().expect("records come before the end");
                        if let Err(error) = collector.collect(records) {
                            fatal.raise(error);
                        }
                    });
                }
            },
        )
    }
}
