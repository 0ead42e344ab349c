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

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::processes::Processes;
use super::role::Role;
use super::unite::unite;
use crate::clusters::{Engine, Forest, open_links};
use crate::error::{Error, Kind, Result};
use crate::step::{self, Step};

const STEP: &str = "cluster";

/// What process 0 asks of the others.
#[derive(Debug, Serialize, Deserialize)]
enum Task {
    /// Join the links of this folder between so many pages.
    Unite {
        folder: PathBuf,
        pages: u32,
    },
    End,
}

impl Processes {
    /// Makes clusters: process 0 calls `lead` with all workers as its engine, and the others work for it until it
    /// has ended. If it fails, all fail alike.
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

/// The workers of one process share a forest.
impl Engine for Processes {
    fn unite(&mut self, forest: &Arc<Forest>, folder: &Path) -> Result<()> {
        let task = Task::Unite { folder: folder.to_path_buf(), pages: forest.pages() };
        self.agree(STEP, || Ok((task, Role::Leader(()))))?;
        unite(self, forest, open_links(folder)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clusters::Portions;

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

    proptest! {
        #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

        #[test]
        fn workers_that_share_a_forest_find_what_one_thread_finds(
            edges in prop::collection::vec((0_u32..50, 0_u32..50), 0..70),
            portion in 1_usize..9,
            workers in 1_usize..4,
        ) {
            let (shared, alone) = (Arc::new(Forest::of(50)), Forest::of(50));
            let portions = Edges(edges.chunks(portion).map(<[_]>::to_vec).collect());
            unite(&mut Processes::alone(workers), &shared, Arc::new(portions)).unwrap();
            edges.iter().for_each(|&(one, other)| alone.join(one, other));
            for page in 0..50 {
                prop_assert_eq!(shared.root(page), alone.root(page));
            }
        }
    }
}
