//! What a clustering leaves to the workers of a cluster.

use std::sync::Arc;

use super::changes::changes;
use super::cluster::Cluster;
use super::unite::unite;
use crate::clusters::{Assignment, Engine, Forest, Portions};
use crate::error::Result;

/// The workers of one process share the forest.
impl Engine for Cluster {
    fn unite(&mut self, forest: &Arc<Forest>, links: Arc<dyn Portions>) -> Result<()> {
        unite(self, forest, links)
    }

    fn changes(
        &mut self,
        before: Vec<Assignment>,
        after: Vec<Assignment>,
    ) -> Result<Vec<(Assignment, isize)>> {
        changes(self, before, after)
    }
}
