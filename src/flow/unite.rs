//! Links dealt to workers in portions: every worker joins their pages in the one forest of its process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timely::worker::Worker;

use super::cluster::Cluster;
use super::dispatch::{Claim, UnitRunner, Yield, dispatch};
use super::fatal::Fatal;
use super::gather::{End, Gather, Gathered};
use crate::clusters::{Forest, Portions};
use crate::error::{Error, Kind, Result};

/// The forest, and the links that are joined in it.
struct Uniting {
    forest: Arc<Forest>,
    links: Arc<dyn Portions>,
    /// How many portions workers have claimed.
    claimed: AtomicU64,
}

/// Joins the pages of all links in `forest`.
pub(super) fn unite(
    cluster: &mut Cluster,
    forest: &Arc<Forest>,
    links: Arc<dyn Portions>,
) -> Result<()> {
    let portions = links.portions();
    let forest = Arc::clone(forest);
    let uniting = Arc::new(Uniting { forest, links, claimed: AtomicU64::new(0) });
    let fatal = cluster.fatal();
    let united = cluster.execute_gathered(move |worker| step(worker, &uniting, &fatal))?;
    if united == portions {
        return Ok(());
    }
    let error = Error::new(Kind::Internal, "a portion of the links was left out");
    Err(error.expected(portions).found(united))
}

/// The dataflow. Gives the number of portions that all workers joined.
fn step(worker: &mut Worker, uniting: &Arc<Uniting>, fatal: &Fatal) -> Result<u64> {
    let end = End::new(fatal.clone());
    let (records, receipts) = (Gathered::new(Vec::new()), Gathered::new(Vec::new()));
    worker.dataflow(|scope| {
        let dispatched = dispatch(scope, Arc::clone(uniting), &end);
        dispatched.records.gather::<Vec<()>>(&records, &end);
        dispatched.window.close(dispatched.receipts.gather(&receipts, &end));
    });
    end.wait(worker)?;
    Ok(receipts.take().len() as u64)
}

impl UnitRunner for Arc<Uniting> {
    type Unit = u64;
    type Record = ();
    type Receipt = u64;

    fn claim(&mut self) -> Claim<u64> {
        match self.claimed.fetch_add(1, Ordering::Relaxed) {
            portion if portion < self.links.portions() => Claim::Unit(portion, portion),
            _ => Claim::Done,
        }
    }

    fn run(&mut self, portion: u64) -> Result<(Yield<()>, u64)> {
        let links = self.links.portion(portion)?;
        links.iter().for_each(|&(new, existing)| self.forest.join(new, existing));
        Ok((Box::new(std::iter::empty()), portion))
    }
}
