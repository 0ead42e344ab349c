//! Gathers streams, in worker 0 of process 0 or each record at its owner, and waits for their ends.

use std::cell::RefCell;
use std::rc::Rc;

use timely::ExchangeData;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::{ProbeHandle, StreamVec};
use timely::worker::Worker;

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

/// What a dataflow gathers in this worker. What is sent to worker 0 of process 0 is nowhere else.
#[derive(Debug)]
pub(super) struct Gathered<C>(Rc<RefCell<Option<C>>>);

impl<C> Gathered<C> {
    pub(super) fn new(collector: C) -> Gathered<C> {
        Gathered(Rc::new(RefCell::new(Some(collector))))
    }

    /// What was gathered. Call it after [`End::wait`].
    pub(super) fn take(self) -> C {
        self.0.take().expect("what was gathered is taken once")
    }
}

/// The end of a dataflow: its last streams are watched here, and its errors raised.
#[derive(Clone)]
pub(super) struct End {
    reached: ProbeHandle<u64>,
    fatal: Fatal,
}

impl End {
    pub(super) fn new(fatal: Fatal) -> End {
        End { reached: ProbeHandle::new(), fatal }
    }

    /// Where operators raise errors.
    pub(super) fn fatal(&self) -> &Fatal {
        &self.fatal
    }

    /// Steps the worker until everything has been gathered, in every process.
    pub(super) fn wait(&self, worker: &mut Worker) -> Result<()> {
        self.fatal.step_while(worker, || !self.reached.done())
    }
}

pub(super) trait Gather<'scope, R> {
    /// Sends every record to the worker that owns it, which passes it to its collector. The resulting stream is empty; it
    /// has passed a time when the collectors have taken all records of that time.
    fn hand_over<C: Collect<R>>(
        self,
        owner: impl Fn(&R) -> u64 + 'static,
        into: &Gathered<C>,
        end: &End,
    ) -> StreamVec<'scope, u64, ()>;

    /// Sends every record to worker 0.
    fn gather<C: Collect<R>>(self, into: &Gathered<C>, end: &End) -> StreamVec<'scope, u64, ()>
    where
        Self: Sized,
    {
        self.hand_over(|_| 0, into, end)
    }
}

impl<'scope, R: ExchangeData> Gather<'scope, R> for StreamVec<'scope, u64, R> {
    fn hand_over<C: Collect<R>>(
        self,
        owner: impl Fn(&R) -> u64 + 'static,
        into: &Gathered<C>,
        end: &End,
    ) -> StreamVec<'scope, u64, ()> {
        let collector = Rc::clone(&into.0);
        let fatal = end.fatal.clone();
        let taken = self.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(
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
        );
        taken.probe_with(&end.reached)
    }
}
