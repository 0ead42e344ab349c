//! What a clustering leaves to the workers of a processes.
//!
//! Process 0 makes the clusters. Where the work can be shared, it tells the others what to do, and they wait for
//! that until it has ended:
//!
//! ```text
//! process 0                                   the others
//! sort, number, write links.bin               wait
//! unite: a share of the links, then theirs    unite: a share of the links, then say what they joined
//! name the clusters, write the files          wait, until process 0 has ended
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::changes::changes;
use super::processes::Processes;
use super::role::Role;
use super::unite::unite;
use crate::clusters::{Assignment, Engine, Forest, Portions, open_links};
use crate::error::{Error, Kind, Result};
use crate::step::{self, Step};

/// The name of all steps of a clustering.
const STEP: &str = "cluster";

/// What process 0 asks of the others.
#[derive(Debug, Serialize, Deserialize)]
enum Task {
    /// Join the links of this folder between so many pages.
    Unite { folder: PathBuf, pages: u32 },
    /// Nothing more.
    End,
}

impl Processes {
    /// Makes clusters: process 0 calls `lead` with all workers as its engine, and the others work for it until it
    /// has ended. If it fails, all fail alike.
    ///
    /// # Errors
    /// As [`Processes::agree`].
    pub fn clustering<S>(
        &mut self,
        lead: impl FnOnce(&mut dyn Engine) -> Result<S>,
    ) -> Result<Role<S>> {
        step::begin(Step::Clustering);
        if self.is_leader() {
            let made = lead(self);
            let (_, made) = self.agree(STEP, || Ok((Task::End, Role::Leader(made?))))?;
            return Ok(made);
        }
        loop {
            let nobody = || Err(Error::new(Kind::Internal, "only process 0 decides"));
            let (task, made) = self.agree::<(Task, Role<S>)>(STEP, nobody)?;
            let Task::Unite { folder, pages } = task else { return Ok(made) };
            unite(self, &Arc::new(Forest::of(pages)), open_links(&folder)?)?;
        }
    }
}

/// The workers of one process share a forest. What is in the memory of process 0 alone, its own workers do.
impl Engine for Processes {
    fn unite(&mut self, forest: &Arc<Forest>, links: Arc<dyn Portions>) -> Result<()> {
        let Some(folder) = links.folder() else {
            return unite(&mut Processes::alone(self.topology().workers), forest, links);
        };
        let task = Task::Unite { folder: folder.to_path_buf(), pages: forest.pages() };
        self.agree(STEP, || Ok((task, Role::Leader(()))))?;
        unite(self, forest, links)
    }

    fn changes(
        &mut self,
        before: Vec<Assignment>,
        after: Vec<Assignment>,
    ) -> Result<Vec<(Assignment, isize)>> {
        changes(&mut Processes::alone(self.topology().workers), before, after)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use differential_dataflow::algorithms::graphs::propagate::propagate;
    use differential_dataflow::input::Input;
    use proptest::prelude::*;
    use timely::dataflow::operators::capture::{Capture, Extract};

    use super::*;

    /// Edges, so many in a portion.
    struct Edges(Vec<Vec<(u32, u32)>>);

    impl Portions for Edges {
        fn folder(&self) -> Option<&Path> {
            None
        }

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
            Processes::alone(workers).unite(&forest, Arc::new(portions)).unwrap();
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
            let found = Processes::alone(workers).changes(before, after).unwrap();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
