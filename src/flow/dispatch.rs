//! Work dealt to workers in units: within a process whoever is free takes the next one, and no more
//! units are in flight than a window allows.
//!
//! timely has no flow control of its own and every queue in it is unbounded. Here each unit is a
//! stretch of timestamps, one for each part of what it yields, and a worker begins unit `u` only once
//! the far end of the dataflow is through with all units up to `u - window`: the frontier of a feedback
//! loop says so, without polling. A unit that yields much hands on its parts one by one, a few ahead
//! of what the far end is through with.

use std::time::Duration;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::core::feedback::Handle;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::vec::Map;
use timely::dataflow::operators::{ConnectLoop, Feedback};
use timely::dataflow::{Scope, StreamVec};

use super::End;
use crate::error::Result;
use crate::progress::{self, Activity};

/// How long a worker waits before it asks again for a unit that is not ready.
const RETRY: Duration = Duration::from_millis(1);
/// Units in flight, for each worker.
const WINDOW: u64 = 4;

/// Records in a part of what a unit yields.
const PART: usize = 1 << 15;
/// Parts of a unit in flight.
const PARTS: u64 = 8;
/// How many bits of a timestamp count the parts of its unit.
const PART_BITS: u32 = 24;

/// What a worker gets when it asks for work.
#[derive(Debug)]
pub enum Claim<U> {
    /// The unit of this number; the numbers that one worker gets ascend.
    Unit(u64, U),
    /// None now, perhaps later.
    Later,
    /// No more.
    Done,
}

/// What a unit yields: any number of records, which need not be in memory.
pub type Yield<R> = Box<dyn Iterator<Item = Result<R>>>;

/// One worker's hand in a job: it claims units and works each one off as a whole.
pub trait Work: 'static {
    /// A unit of work.
    type Unit: 'static;
    /// What a unit yields any number of.
    type Record: timely::ExchangeData;
    /// What a unit yields exactly one of, the proof that it was done.
    type Receipt: timely::ExchangeData;

    /// Asks for the next unit.
    fn claim(&mut self) -> Claim<Self::Unit>;
    /// Works off one unit.
    fn run(&mut self, unit: Self::Unit) -> Result<(Yield<Self::Record>, Self::Receipt)>;
}

/// What a worker has in hand.
enum Stage<W: Work> {
    /// A unit that it has claimed.
    Claimed(u64, W::Unit),
    /// What is left of what a unit yielded, from this part on, and its receipt.
    Yielding { number: u64, part: u64, records: Yield<W::Record>, receipt: W::Receipt },
}

impl<W: Work> Stage<W> {
    /// The time of what it gives next.
    fn time(&self) -> u64 {
        match self {
            Stage::Claimed(number, _) => number << PART_BITS,
            Stage::Yielding { number, part, .. } => number << PART_BITS | part,
        }
    }

    /// The time up to which the far end is to be through first, and one more for the way back.
    fn awaits(&self, window: u64) -> u64 {
        match self {
            Stage::Claimed(number, _) if *number < window => 0,
            Stage::Claimed(number, _) => ((number + 1 - window) << PART_BITS) + 1,
            Stage::Yielding { part, .. } if *part < PARTS => 0,
            Stage::Yielding { .. } => self.time() - PARTS + 2,
        }
    }

    /// Works off the unit, or gives the next part.
    fn advance(self, work: &mut W, give: impl FnOnce(&mut Vec<W::Record>)) -> Result<Next<W>> {
        match self {
            Stage::Claimed(number, unit) => {
                let (records, receipt) = work.run(unit)?;
                Ok(Next::Stage(Stage::Yielding { number, part: 0, records, receipt }))
            }
            Stage::Yielding { number, part, mut records, receipt } => {
                let mut given = records.by_ref().take(PART).collect::<Result<Vec<_>>>()?;
                let more = given.len() == PART;
                give(&mut given);
                Ok(match more {
                    true => {
                        Next::Stage(Stage::Yielding { number, part: part + 1, records, receipt })
                    }
                    false => Next::End(receipt),
                })
            }
        }
    }
}

/// What follows a stage.
enum Next<W: Work> {
    Stage(Stage<W>),
    End(W::Receipt),
}

/// The two streams that come of work, stamped with the units' numbers and parts.
pub struct Dealt<'scope, W: Work> {
    /// What the units yielded.
    pub records: StreamVec<'scope, u64, W::Record>,
    /// One receipt a unit.
    pub receipts: StreamVec<'scope, u64, W::Receipt>,
    /// To be closed at the far end.
    pub window: Window<'scope>,
}

/// The bound on units in flight.
pub struct Window<'scope>(Handle<'scope, u64, Vec<()>>);

impl<'scope> Window<'scope> {
    /// Ties the window to `end`: a unit is through when it is through there.
    pub fn close(self, end: StreamVec<'scope, u64, ()>) {
        end.flat_map(|()| None).connect_loop(self.0);
    }
}

/// Deals `work` in this scope; every worker brings its own hand.
pub fn deal<'scope, W: Work>(scope: Scope<'scope, u64>, work: W, end: &End) -> Dealt<'scope, W> {
    let (mut work, fatal) = (work, end.fatal().clone());
    let (handle, through) = scope.feedback::<Vec<()>>(1);
    let mut builder = OperatorBuilder::new("Deal".to_owned(), scope);
    let activator = scope.activator_for(builder.operator_info().address);
    let mut through = builder.new_input_connection(through, Pipeline, []);
    let (records, record_stream) = builder.new_output_connection::<Vec<W::Record>, _>([]);
    let (receipts, receipt_stream) = builder.new_output_connection::<Vec<W::Receipt>, _>([]);
    let mut records = OutputBuilder::<_, CapacityContainerBuilder<_>>::from(records);
    let mut receipts = OutputBuilder::<_, CapacityContainerBuilder<_>>::from(receipts);
    let window = WINDOW * scope.peers() as u64;

    builder.build(move |capabilities| {
        let mut capabilities = Some(capabilities);
        let mut in_hand: Option<Stage<W>> = None;
        move |frontiers| {
            through.for_each(|_, _| ());
            let Some(held) = &mut capabilities else { return };
            if fatal.check().is_err() {
                return;
            }
            let stage = match in_hand.take() {
                Some(stage) => stage,
                None => match work.claim() {
                    Claim::Done => return capabilities = None,
                    Claim::Later => return activator.activate_after(RETRY),
                    Claim::Unit(number, unit) => Stage::Claimed(number, unit),
                },
            };
            held.iter_mut().for_each(|capability| capability.downgrade(&stage.time()));
            if frontiers[0].less_than(&stage.awaits(window)) {
                return in_hand = Some(stage);
            }
            progress::tick(Activity::Working);
            let given =
                |part: &mut Vec<_>| records.activate().session(&held[0]).give_container(part);
            match stage.advance(&mut work, given) {
                Err(error) => return fatal.raise(error),
                Ok(Next::Stage(stage)) => in_hand = Some(stage),
                Ok(Next::End(receipt)) => receipts.activate().session(&held[1]).give(receipt),
            }
            activator.activate();
        }
    });
    Dealt { records: record_stream, receipts: receipt_stream, window: Window(handle) }
}
