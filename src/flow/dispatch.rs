//! Work dispatched to workers in units: in each process, the next free worker takes the next unit, and a
//! window bounds the units in flight.
//!
//! timely has no flow control, and all its queues are unbounded. Here each unit is a range of timestamps,
//! one for each part of its result. A worker starts unit `u` only when the end of the dataflow has finished
//! all units up to `u - window`; the frontier of a feedback loop tells it, without polling. A unit with a
//! large result sends its parts one by one, a few ahead of those that have reached the end.
//!
//! An example: with one worker the window is 4 units. Unit 5 starts when unit 1 has reached the end. If
//! unit 5 yields 100,000 pairs, they are 4 parts of at most 32,768 pairs with the timestamps
//! `5 << 24`, `5 << 24 | 1`, `5 << 24 | 2` and `5 << 24 | 3`.

use std::time::Duration;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::core::feedback::Handle;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::vec::Map;
use timely::dataflow::operators::{ConnectLoop, Feedback};
use timely::dataflow::{Scope, StreamVec};

use super::gather::End;
use crate::error::Result;
use crate::progress::{self, Activity};

/// How long a worker waits before it asks again, if no unit is ready.
const RETRY: Duration = Duration::from_millis(1);
/// Units in flight, for each worker.
const WINDOW: u64 = 4;

/// Records in one part of the result of a unit.
const PART: usize = 1 << 15;
/// Parts in flight, for each unit.
const PARTS: u64 = 8;
/// The low bits of a timestamp, which count the parts of a unit.
const PART_BITS: u32 = 24;

/// What a worker gets when it asks for work.
#[derive(Debug)]
pub(super) enum Claim<U> {
    /// The unit of this number. The numbers that one worker gets ascend.
    Unit(u64, U),
    /// No unit now, perhaps later.
    Later,
    /// No more units.
    Done,
}

/// The records that a unit yields. They need not be in memory.
pub(super) type Yield<R> = Box<dyn Iterator<Item = Result<R>>>;

/// What one worker does with units of work: it claims them and runs each one as a whole.
pub(super) trait UnitRunner: 'static {
    /// A unit of work.
    type Unit: 'static;
    /// A unit yields any number of these.
    type Record: timely::ExchangeData;
    /// A unit yields exactly one of these, the proof that it was run.
    type Receipt: timely::ExchangeData;

    /// Asks for the next unit.
    fn claim(&mut self) -> Claim<Self::Unit>;
    /// Runs one unit.
    fn run(&mut self, unit: Self::Unit) -> Result<(Yield<Self::Record>, Self::Receipt)>;
}

/// How far a worker is with a unit.
enum Stage<W: UnitRunner> {
    /// It has claimed the unit.
    Claimed(u64, W::Unit),
    /// It has run the unit and still has to send the result from this part on, then the receipt.
    Yielding { number: u64, part: u64, records: Yield<W::Record>, receipt: W::Receipt },
}

impl<W: UnitRunner> Stage<W> {
    /// The timestamp of what it sends next.
    fn time(&self) -> u64 {
        match self {
            Stage::Claimed(number, _) => number << PART_BITS,
            Stage::Yielding { number, part, .. } => number << PART_BITS | part,
        }
    }

    /// The worker waits until the end of the dataflow has finished all times below this one, plus one for the
    /// way back.
    fn awaits(&self, window: u64) -> u64 {
        match self {
            Stage::Claimed(number, _) if *number < window => 0,
            Stage::Claimed(number, _) => ((number + 1 - window) << PART_BITS) + 1,
            Stage::Yielding { part, .. } if *part < PARTS => 0,
            Stage::Yielding { .. } => self.time() - PARTS + 2,
        }
    }

    /// Runs the unit, or sends the next part.
    fn advance(self, runner: &mut W, give: impl FnOnce(&mut Vec<W::Record>)) -> Result<Next<W>> {
        match self {
            Stage::Claimed(number, unit) => {
                let (records, receipt) = runner.run(unit)?;
                Ok(Next::Stage(Stage::Yielding { number, part: 0, records, receipt }))
            }
            Stage::Yielding { number, part, mut records, receipt } => {
                let mut given = records.by_ref().take(PART).collect::<Result<Vec<_>>>()?;
                let is_last = given.len() < PART;
                give(&mut given);
                if is_last {
                    return Ok(Next::End(receipt));
                }
                Ok(Next::Stage(Stage::Yielding { number, part: part + 1, records, receipt }))
            }
        }
    }
}

/// What follows a stage.
enum Next<W: UnitRunner> {
    Stage(Stage<W>),
    End(W::Receipt),
}

/// The streams of dispatched work. Their timestamps are the numbers and parts of the units.
pub(super) struct Dispatched<'scope, W: UnitRunner> {
    /// What the units yielded.
    pub(super) records: StreamVec<'scope, u64, W::Record>,
    /// One receipt a unit.
    pub(super) receipts: StreamVec<'scope, u64, W::Receipt>,
    /// To be closed at the end of the dataflow.
    pub(super) window: Window<'scope>,
}

/// The bound on units in flight.
pub(super) struct Window<'scope>(Handle<'scope, u64, Vec<()>>);

impl<'scope> Window<'scope> {
    /// Closes the window at `end`: a unit is finished when it has passed there.
    pub(super) fn close(self, end: StreamVec<'scope, u64, ()>) {
        end.flat_map(|()| None).connect_loop(self.0);
    }
}

/// Dispatches work in this scope. Every worker brings a `runner` of its own.
pub(super) fn dispatch<'scope, W: UnitRunner>(
    scope: Scope<'scope, u64>,
    mut runner: W,
    end: &End,
) -> Dispatched<'scope, W> {
    let fatal = end.fatal().clone();
    let (handle, through) = scope.feedback::<Vec<()>>(1);
    let mut builder = OperatorBuilder::new("Dispatch".to_owned(), scope);
    let activator = scope.activator_for(builder.operator_info().address);
    let mut through = builder.new_input_connection(through, Pipeline, []);
    let (records, record_stream) = builder.new_output_connection::<Vec<W::Record>, _>([]);
    let (receipts, receipt_stream) = builder.new_output_connection::<Vec<W::Receipt>, _>([]);
    let mut records = OutputBuilder::<_, CapacityContainerBuilder<_>>::from(records);
    let mut receipts = OutputBuilder::<_, CapacityContainerBuilder<_>>::from(receipts);
    let window = WINDOW * scope.peers() as u64;

    builder.build(move |capabilities| {
        let mut capabilities = Some(capabilities);
        let mut current: Option<Stage<W>> = None;
        move |frontiers| {
            through.for_each(|_, _| ());
            let Some(held) = &mut capabilities else { return };
            if fatal.check().is_err() {
                return;
            }
            let stage = match current.take() {
                Some(stage) => stage,
                None => match runner.claim() {
                    Claim::Done => return capabilities = None,
                    Claim::Later => return activator.activate_after(RETRY),
                    Claim::Unit(number, unit) => Stage::Claimed(number, unit),
                },
            };
            held.iter_mut().for_each(|capability| capability.downgrade(&stage.time()));
            if frontiers[0].less_than(&stage.awaits(window)) {
                return current = Some(stage);
            }
            progress::tick(Activity::Working);
            let given =
                |part: &mut Vec<_>| records.activate().session(&held[0]).give_container(part);
            match stage.advance(&mut runner, given) {
                Err(error) => return fatal.raise(error),
                Ok(Next::Stage(stage)) => current = Some(stage),
                Ok(Next::End(receipt)) => receipts.activate().session(&held[1]).give(receipt),
            }
            activator.activate();
        }
    });
    Dispatched { records: record_stream, receipts: receipt_stream, window: Window(handle) }
}
