//! Work dispatched to workers in units: each worker takes a unit when it is free, and a window bounds what is in flight.
//!
//! timely has no flow control, and all its queues are unbounded. Here a worker counts the bytes that it sends at a timestamp, and goes
//! on to the next one when they are many. It sends until so many bytes of its own have not reached the end of the dataflow; the
//! frontier of a feedback loop tells it, without polling. So a unit with a large result sends it a few parts at a time, and what is in
//! flight does not depend on how many workers there are beside this one.
//!
//! The frontier knows the oldest time that is open anywhere, and not whose it is. A worker that takes long for a unit keeps
//! its time open, and with it all later ones. So times are divided into epochs, and a worker begins each unit in the epoch after
//! the oldest open one. Then what a worker has sent is finished when all others are through with the unit at which they are, and with those
//! that they begin before they learn how far the rest is. News may take longer than units do, so nobody waits for it who has sent
//! little: the window is one of bytes, not of units.
//!
//! An example: two workers compute units of epoch 1. The fast one is through first. The oldest epoch is 1 still, so its next
//! units are of epoch 2, at the times `2 << 24`, `2 << 24 | 1`, and so on. The slow one is through, and its next unit is of epoch 2
//! as well. Now epoch 1 is finished.

use std::collections::VecDeque;
use std::time::Duration;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::core::feedback::Handle;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::vec::Map;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback, Probe};
use timely::dataflow::{ProbeHandle, Scope, StreamVec};
use timely::worker::Worker;

use super::fatal::Fatal;
use super::gather::{Collect, Gathered};
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::work_queues::Claim;

/// How long a worker waits before it asks again, if no unit is ready.
const RETRY: Duration = Duration::from_millis(1);
/// After so many vain attempts an idle worker enters the next epoch, so that it does not hold up the others.
const IDLE: u32 = 32;

/// Records in one part of the result of a unit.
const PART: usize = 1 << 15;
/// Bytes of records in flight, for each worker, without what the records point to.
const WINDOW_BYTES: usize = 32 * TIME_BYTES;
/// A worker goes on to its next time when it has sent so many bytes at one.
const TIME_BYTES: usize = 512 << 10;
/// What a part takes beside its records, about.
const PART_BYTES: usize = 64;
/// The low bits of a timestamp, which count the times of a worker in an epoch.
const TIME_BITS: u32 = 24;

/// The records that a unit yields. They need not be in memory.
pub(super) type Yield<R> = Box<dyn Iterator<Item = Result<R>>>;

/// What one worker does with units of work: it claims them and runs each one as a whole.
pub(super) trait UnitRunner: 'static {
    type Unit: 'static;
    /// A unit yields any number of these.
    type Record: timely::ExchangeData;
    /// A unit yields exactly one of these, the proof that it was run.
    type Receipt: timely::ExchangeData;

    fn claim(&mut self) -> Result<Claim<Self::Unit>>;
    fn run(&mut self, unit: Self::Unit) -> Result<(Yield<Self::Record>, Self::Receipt)>;
}

enum Stage<W: UnitRunner> {
    /// It has claimed the unit and entered an epoch for it. All workers learn this before it begins.
    Claimed(W::Unit),
    /// It still has to send this, and the receipt.
    Sending(Yield<W::Record>, W::Receipt),
}

/// A part of what a unit yields, and the receipt with the last one.
type Part<W> = (Vec<<W as UnitRunner>::Record>, Option<<W as UnitRunner>::Receipt>);

struct Dispatching<W: UnitRunner> {
    runner: W,
    /// None between two units.
    stage: Option<Stage<W>>,
    times: Times,
    /// How often it has asked in vain.
    idle: u32,
}

impl<W: UnitRunner> Dispatching<W> {
    fn claim(&mut self, held: &mut [Capability<u64>]) -> Result<Claim<()>> {
        Ok(match self.runner.claim()? {
            Claim::Unit(unit) => {
                self.idle = 0;
                self.times.renew(held);
                self.stage = Some(Stage::Claimed(unit));
                Claim::Unit(())
            }
            Claim::Later => {
                self.idle += 1;
                if self.idle.is_multiple_of(IDLE) {
                    self.times.renew(held);
                }
                Claim::Later
            }
            Claim::Done => Claim::Done,
        })
    }

    /// The next records that the unit yields, and its receipt after the last.
    fn advance(&mut self, stage: Stage<W>) -> Result<Part<W>> {
        let (mut records, receipt) = match stage {
            Stage::Claimed(unit) => self.runner.run(unit)?,
            Stage::Sending(records, receipt) => (records, receipt),
        };
        let part = records.by_ref().take(PART).collect::<Result<Vec<_>>>()?;
        if part.len() < PART {
            return Ok((part, Some(receipt)));
        }
        self.stage = Some(Stage::Sending(records, receipt));
        Ok((part, None))
    }
}

#[derive(Default)]
struct Times {
    /// The time of what it sends next, which it holds.
    now: u64,
    /// The bytes that it has sent at this time.
    bytes: usize,
    /// The times before, ascending, of what has not reached the end, and the bytes that it has sent at each.
    open: VecDeque<(u64, usize)>,
    /// The oldest time that is open anywhere.
    oldest: u64,
}

impl Times {
    /// Learns the `frontier` of the way back, on which one is added to every time.
    fn learn(&mut self, frontier: Option<u64>) {
        self.oldest = frontier.map_or(self.now, |time| time.saturating_sub(1));
        while self.open.pop_front_if(|(time, _)| *time < self.oldest).is_some() {}
    }

    /// Whether so much is in flight that the worker has to wait.
    fn are_full(&self) -> bool {
        self.open.iter().map(|(_, bytes)| bytes).sum::<usize>() >= WINDOW_BYTES
    }

    /// Enters the epoch after the oldest that is open.
    fn renew(&mut self, held: &mut [Capability<u64>]) {
        self.go_on_to(((self.oldest >> TIME_BITS) + 1) << TIME_BITS, held);
    }

    fn sent(&mut self, bytes: usize, held: &mut [Capability<u64>]) {
        self.bytes += bytes;
        if self.bytes >= TIME_BYTES {
            self.go_on_to(self.now + 1, held);
        }
    }

    /// Holds this time from now on, unless it is at a later one.
    fn go_on_to(&mut self, time: u64, held: &mut [Capability<u64>]) {
        if time <= self.now {
            return;
        }
        if self.bytes > 0 {
            self.open.push_back((self.now, std::mem::take(&mut self.bytes)));
        }
        self.now = time;
        held.iter_mut().for_each(|capability| capability.downgrade(&time));
    }
}

/// Runs all units of work, on the workers of all processes: each brings a `runner` of its own, and collectors of records and of
/// receipts. A record goes to the worker that is its `owner`, and every receipt to worker 0 of process 0. Returns what the collectors have.
pub(super) fn run_units<W, C, D>(
    worker: &mut Worker,
    runner: W,
    owner: impl Fn(&W::Record) -> u64 + 'static,
    (records, receipts): (C, D),
    fatal: &Fatal,
) -> Result<(C, D)>
where
    W: UnitRunner,
    C: Collect<W::Record>,
    D: Collect<W::Receipt>,
{
    let (records, receipts) = (Gathered::new(records), Gathered::new(receipts));
    let reached = ProbeHandle::new();
    worker.dataflow(|scope| {
        let (yielded, proofs, window) = dispatch(scope, runner, fatal);
        receipts.from(proofs, |_| 0, fatal).probe_with(&reached);
        let taken = records.from(yielded, owner, fatal).probe_with(&reached);
        // What was sent is finished when it has passed here.
        taken.flat_map(|()| None).connect_loop(window);
    });
    fatal.step_while(worker, |_| !reached.done())?;
    Ok((records.take(), receipts.take()))
}

/// The records and the receipts that the units of this worker yield, and the end of the feedback loop that bounds what is in flight.
type Dispatched<'scope, W> = (
    StreamVec<'scope, u64, <W as UnitRunner>::Record>,
    StreamVec<'scope, u64, <W as UnitRunner>::Receipt>,
    Handle<'scope, u64, Vec<()>>,
);

fn dispatch<'scope, W: UnitRunner>(
    scope: Scope<'scope, u64>,
    runner: W,
    fatal: &Fatal,
) -> Dispatched<'scope, W> {
    let fatal = fatal.clone();
    let (handle, through) = scope.feedback::<Vec<()>>(1);
    let mut builder = OperatorBuilder::new("Dispatch".to_owned(), scope);
    let activator = scope.activator_for(builder.operator_info().address);
    let mut through = builder.new_input_connection(through, Pipeline, []);
    let (records, record_stream) = builder.new_output_connection::<Vec<W::Record>, _>([]);
    let (receipts, receipt_stream) = builder.new_output_connection::<Vec<W::Receipt>, _>([]);
    let mut records = OutputBuilder::<_, CapacityContainerBuilder<_>>::from(records);
    let mut receipts = OutputBuilder::<_, CapacityContainerBuilder<_>>::from(receipts);

    builder.build(move |capabilities| {
        let mut capabilities = Some(capabilities);
        let mut worker = Dispatching { runner, stage: None, times: Times::default(), idle: 0 };
        move |frontiers| {
            through.for_each(|_, _| ());
            let Some(held) = &mut capabilities else { return };
            worker.times.learn(frontiers[0].frontier().first().copied());
            if fatal.check().is_err() || worker.times.are_full() {
                return;
            }
            let Some(stage) = worker.stage.take() else {
                return match worker.claim(held) {
                    Ok(Claim::Unit(())) => activator.activate(),
                    Ok(Claim::Later) => activator.activate_after(RETRY),
                    Ok(Claim::Done) => capabilities = None,
                    Err(error) => fatal.raise(error),
                };
            };
            progress::tick(Activity::Working);
            match worker.advance(stage) {
                Err(error) => return fatal.raise(error),
                Ok((mut part, receipt)) => {
                    let bytes = PART_BYTES + size_of_val(&*part);
                    records.activate().session(&held[0]).give_container(&mut part);
                    if let Some(receipt) = receipt {
                        receipts.activate().session(&held[1]).give(receipt);
                    }
                    worker.times.sent(bytes, held);
                }
            }
            activator.activate();
        }
    });
    (record_stream, receipt_stream, handle)
}
