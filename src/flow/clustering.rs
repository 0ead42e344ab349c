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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use differential_dataflow::algorithms::graphs::propagate::propagate;
    use differential_dataflow::input::Input;
    use proptest::prelude::*;
    use timely::dataflow::operators::capture::{Capture, Extract};

    use super::*;

    /// Edges, so many in a portion.
    struct Edges(Vec<Vec<(u32, u32)>>);

    impl Portions for Edges {
        fn portions(&self) -> u64 {
            self.0.len() as u64
        }

        fn portion(&self, number: u64) -> Result<Vec<(u32, u32)>> {
            Ok(self.0[number as usize].clone())
        }
    }

    /// The smallest page that each page is connected with, by label propagation over everything.
    fn propagated(pages: u32, edges: Vec<(u32, u32)>) -> Vec<u32> {
        let labels = timely::execute_directly(move |worker| {
            worker.dataflow::<u64, _, _>(|scope| {
                let edges = edges.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
                let (_, edges) = scope.new_collection_from(edges);
                let (_, nodes) = scope.new_collection_from((0..pages).map(|page| (page, page)));
                propagate(edges, nodes).consolidate().inner.capture()
            })
        });
        let mut labels: Vec<(u32, u32)> = labels
            .extract()
            .into_iter()
            .flat_map(|(_, labels)| labels)
            .map(|(label, _, diff)| {
                assert_eq!(diff, 1);
                label
            })
            .collect();
        labels.sort_unstable();
        labels.into_iter().map(|(_, label)| label).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

        #[test]
        fn workers_that_share_a_forest_find_what_propagation_finds(
            edges in prop::collection::vec((0_u32..50, 0_u32..50), 0..70),
            portion in 1_usize..9,
            workers in 1_usize..4,
        ) {
            let forest = Arc::new(Forest::of(50));
            let portions = Edges(edges.chunks(portion).map(<[_]>::to_vec).collect());
            Cluster::alone(workers).unite(&forest, Arc::new(portions)).unwrap();
            let roots: Vec<u32> = (0..50).map(|page| forest.root(page)).collect();
            prop_assert_eq!(roots, propagated(50, edges));
        }

        #[test]
        fn changes_are_the_difference(
            before in prop::collection::btree_set((0_u32..20, 0_u32..4), 0..40),
            after in prop::collection::btree_set((0_u32..20, 0_u32..4), 0..40),
            workers in 1_usize..4,
        ) {
            let gone = before.difference(&after).map(|&assigned| (assigned, -1));
            let come = after.difference(&before).map(|&assigned| (assigned, 1));
            let expected: BTreeSet<(Assignment, isize)> = gone.chain(come).collect();
            let [before, after] = [before, after].map(|it| it.into_iter().collect::<Vec<_>>());
            let found = Cluster::alone(workers).changes(before, after).unwrap();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
