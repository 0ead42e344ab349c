//! Work dealt to workers in units: within a process whoever is free takes the next one, and no more
//! units are in flight than a window allows.
//!
//! timely has no flow control of its own and every queue in it is unbounded. Here each unit is a
//! timestamp, and a worker begins unit `u` only once the far end of the dataflow is through with all
//! units up to `u - window`: the frontier of a feedback loop says so, without polling.

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

impl<U> Claim<U> {
    fn of((number, unit): (u64, U)) -> Claim<U> {
        Claim::Unit(number, unit)
    }
}

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
    fn run(&mut self, unit: Self::Unit) -> Result<(Vec<Self::Record>, Self::Receipt)>;
}

/// The two streams that come of work, stamped with the units' numbers.
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
        let mut claimed = None;
        move |frontiers| {
            through.for_each(|_, _| ());
            let Some(held) = &mut capabilities else { return };
            if fatal.check().is_err() {
                return;
            }
            let (number, unit) = match claimed.take().map_or_else(|| work.claim(), Claim::of) {
                Claim::Done => return capabilities = None,
                Claim::Later => return activator.activate_after(RETRY),
                Claim::Unit(number, unit) => (number, unit),
            };
            held.iter_mut().for_each(|capability| capability.downgrade(&number));
            if frontiers[0].less_than(&(number + 2).saturating_sub(window)) {
                return claimed = Some((number, unit));
            }
            progress::tick(Activity::Working);
            match work.run(unit) {
                Err(error) => fatal.raise(error),
                Ok((mut batch, receipt)) => {
                    records.activate().session(&held[0]).give_container(&mut batch);
                    receipts.activate().session(&held[1]).give(receipt);
                    activator.activate();
                }
            }
        }
    });
    Dealt { records: record_stream, receipts: receipt_stream, window: Window(handle) }
}
