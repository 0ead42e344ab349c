//! What a clustering leaves to threads: the parts that `flow` does as dataflows.

use std::path::Path;
use std::sync::Arc;

use super::forest::Forest;
use crate::error::Result;

/// Does the parts of a clustering that many threads share. [`Processes`](crate::flow::Processes) is one: its workers, and those of other
/// processes.
pub trait Engine {
    /// Joins the two pages of every link in `forest`.
    fn unite(&mut self, forest: &Arc<Forest>, links: Arc<dyn Portions>) -> Result<()>;

    /// What changes from `before` to `after`: assignments that go, with -1, and that come, with +1, sorted.
    /// What is in both is left out.
    fn changes(
        &mut self,
        before: Vec<Assignment>,
        after: Vec<Assignment>,
    ) -> Result<Vec<(Assignment, isize)>>;
}

/// A thing that is assigned to a cluster, and the cluster; both are numbers.
pub type Assignment = (u32, u32);

/// Links in portions, each of which one thread takes.
pub trait Portions: Send + Sync + 'static {
    /// How many there are.
    fn portions(&self) -> u64;

    /// The folder in which other processes find the same links, if they are in a file.
    fn folder(&self) -> Option<&Path>;

    /// The links of one portion.
    fn portion(&self, number: u64) -> Result<Vec<(u32, u32)>>;
}
