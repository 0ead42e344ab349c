//! Links dealt to workers in portions: every worker joins their pages in the one forest of its process.
//!
//! Each process takes every so manieth portion. When it has joined all of these, its forest says in a few pairs what
//! they joined: each page that is no root, with its root. Process 0 joins these pairs in its own forest:
//!
//! ```text
//! process 0   links 4-2, 1-0      forest 0 0 2 3 2
//! process 1   links 3-2, 4-3      forest 0 1 2 2 2    sends 3-2, 4-2
//! process 0                       forest 0 0 2 2 2
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timely::dataflow::operators::Concat;
use timely::worker::Worker;

use super::dispatch::{UnitRunner, Yield, dispatch};
use super::fatal::Fatal;
use super::gather::{Collect, End, Gather, Gathered};
use super::processes::Processes;
use crate::clusters::{Forest, Portions};
use crate::error::{Error, Kind, Result};
use crate::work_queues::Claim;

/// How many pages one unit looks at for what was joined.
const RANGE: u32 = 1 << 16;

/// The forest of this process, and the links that are joined in it.
struct Uniting {
    forest: Arc<Forest>,
    links: Arc<dyn Portions>,
    process: u64,
    processes: u64,
    /// How many portions workers have claimed, and how many they have joined.
    claimed: AtomicU64,
    joined: AtomicU64,
    ranges: AtomicU64,
}

enum Unit {
    /// It joins a portion of the links.
    Join(u64),
    /// It says what was joined of a range of pages.
    Tell(u64),
}

/// Joins the pages of all links in the `forest` of process 0. Every process calls this with the same links and
/// a forest of its own.
pub(super) fn unite(
    processes: &mut Processes,
    forest: &Arc<Forest>,
    links: Arc<dyn Portions>,
) -> Result<()> {
    let portions = links.portions();
    let topology = *processes.topology();
    let uniting = Arc::new(Uniting {
        forest: Arc::clone(forest),
        links,
        process: topology.process as u64,
        processes: topology.processes as u64,
        claimed: AtomicU64::new(0),
        joined: AtomicU64::new(0),
        ranges: AtomicU64::new(0),
    });
    let fatal = processes.fatal();
    let united = processes.execute_gathered(move |worker| step(worker, &uniting, &fatal))?;
    if united == portions || !processes.is_leader() {
        return Ok(());
    }
    let error = Error::new(Kind::Internal, "a portion of the links was left out");
    Err(error.expected(portions).found(united))
}

/// The dataflow. Gives the number of portions that all workers joined.
fn step(worker: &mut Worker, uniting: &Arc<Uniting>, fatal: &Fatal) -> Result<u64> {
    let end = End::new(fatal.clone());
    let trees = Gathered::new(Arc::clone(&uniting.forest));
    let receipts = Gathered::new(Vec::new());
    worker.dataflow(|scope| {
        let dispatched = dispatch(scope, Arc::clone(uniting), &end);
        let told = dispatched.records.gather(&trees, &end);
        dispatched.window.close(told.concat(dispatched.receipts.gather(&receipts, &end)));
    });
    end.wait(worker)?;
    Ok(receipts.take().into_iter().sum())
}

/// What the others joined is joined here too.
impl Collect<(u32, u32)> for Arc<Forest> {
    fn collect(&mut self, joined: &mut Vec<(u32, u32)>) -> Result<()> {
        joined.drain(..).for_each(|(page, root)| self.join(page, root));
        Ok(())
    }
}

impl Uniting {
    /// How many portions this process takes.
    fn share(&self) -> u64 {
        self.links.portions().saturating_sub(self.process).div_ceil(self.processes)
    }
}

impl UnitRunner for Arc<Uniting> {
    type Unit = Unit;
    type Record = (u32, u32);
    /// How many portions were joined.
    type Receipt = u64;

    fn claim(&mut self) -> Result<Claim<Unit>> {
        let share = self.share();
        let number = self.claimed.fetch_add(1, Ordering::Relaxed);
        if number < share {
            return Ok(Claim::Unit(Unit::Join(self.process + number * self.processes)));
        }
        if self.process == 0 {
            return Ok(Claim::Done);
        }
        if self.joined.load(Ordering::Acquire) < share {
            return Ok(Claim::Later);
        }
        Ok(match self.ranges.fetch_add(1, Ordering::Relaxed) {
            range if range * u64::from(RANGE) < u64::from(self.forest.pages()) => {
                Claim::Unit(Unit::Tell(range))
            }
            _ => Claim::Done,
        })
    }

    fn run(&mut self, unit: Unit) -> Result<(Yield<(u32, u32)>, u64)> {
        match unit {
            Unit::Join(portion) => {
                let links = self.links.portion(portion)?;
                links.iter().for_each(|&(new, existing)| self.forest.join(new, existing));
                self.joined.fetch_add(1, Ordering::Release);
                Ok((Box::new(std::iter::empty()), 1))
            }
            Unit::Tell(range) => {
                let first = range as u32 * RANGE;
                let pages = first..self.forest.pages().min(first.saturating_add(RANGE));
                let forest = Arc::clone(&self.forest);
                let joined = pages.map(move |page| (page, forest.root(page)));
                Ok((Box::new(joined.filter(|(page, root)| page != root).map(Ok)), 0))
            }
        }
    }
}
