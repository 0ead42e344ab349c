//! Work dealt to those who ask for it.
//!
//! A queue has a number of tickets, and each ticket is dealt once. An asker gets a run of neighbours: a part of what is left, so
//! that runs are long at first and short at the end. Who works at a quarter of the speed of the others asks a quarter as often, and
//! gets a quarter as much.
//!
//! A queue is cut into stretches. Each belongs to one asker, who goes through it in order. Who is through takes the second half of
//! the longest stretch that is left. Where askers share one stretch, every asker gets ascending tickets.
//!
//! An example with the tickets 0 to 7, two askers, and runs of one ticket:
//!
//! ```text
//! asker 0   0 1 2 3 6 7    done with its own, it takes two of the four that are left
//! asker 1   4 5            slower
//! ```

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::parallel::lock;

/// What somebody asks for. All who ask for tickets of a queue name the same numbers of tickets and askers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub queue: u64,
    pub tickets: u64,
    /// Whose stretch the run is taken from.
    pub asker: u32,
    pub askers: u32,
    /// The run is this part of what is left of the stretch, and at least one ticket: 4 stands for a quarter.
    pub part: u64,
}

#[derive(Debug)]
pub enum Claim<U> {
    Unit(U),
    /// No unit now, perhaps later.
    Later,
    Done,
}

pub trait WorkQueues: Send + Sync {
    fn claim(&self, ask: Ask) -> Result<Range<u64>>;
}

/// The queues of a work, each of which is there from the first time that it is asked for.
#[derive(Debug, Default)]
pub struct Queues(Mutex<HashMap<u64, Queue>>);

#[derive(Debug)]
struct Queue(Vec<Range<u64>>);

impl Queues {
    pub fn deal(&self, ask: Ask) -> Range<u64> {
        let mut queues = lock(&self.0);
        let queue = queues.entry(ask.queue).or_insert_with(|| Queue::new(ask.tickets, ask.askers));
        queue.deal(ask.asker, ask.part)
    }
}

impl WorkQueues for Queues {
    fn claim(&self, ask: Ask) -> Result<Range<u64>> {
        Ok(self.deal(ask))
    }
}

impl Queue {
    fn new(tickets: u64, askers: u32) -> Queue {
        let start = |asker| (u128::from(tickets) * u128::from(asker) / u128::from(askers)) as u64;
        Queue((0..askers).map(|asker| start(asker)..start(asker + 1)).collect())
    }

    fn deal(&mut self, asker: u32, part: u64) -> Range<u64> {
        let asker = asker as usize;
        if self.0[asker].is_empty()
            && let Some(longest) = self.0.iter_mut().max_by_key(|rest| rest.end - rest.start)
        {
            let middle = longest.start + (longest.end - longest.start) / 2;
            let taken = middle..longest.end;
            longest.end = middle;
            self.0[asker] = taken;
        }
        let rest = &mut self.0[asker];
        let run = rest.start..rest.start + (rest.end - rest.start).div_ceil(part);
        rest.start = run.end;
        run
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_ticket_is_dealt_once_whoever_asks(
            tickets in 0_u64..99,
            askers in 1_u32..5,
            part in prop_oneof![1_u64..9, Just(u64::MAX)],
            turns in prop::collection::vec(0_u32..4, 99),
            is_shared in any::<bool>(),
        ) {
            let work = Queues::default();
            let mut dealt: Vec<Vec<u64>> = vec![Vec::new(); 4];
            for turn in turns.into_iter().chain((0..4).cycle().take(400)) {
                let [asker, askers] = if is_shared { [0, 1] } else { [turn % askers, askers] };
                let ask = Ask { queue: 7, tickets, asker, askers, part };
                dealt[turn as usize].extend(work.deal(ask));
            }
            if is_shared {
                prop_assert!(dealt.iter().all(|tickets| tickets.is_sorted()));
            }
            let mut all = dealt.concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..tickets));
        }
    }

    #[test]
    fn an_asker_goes_from_neighbour_to_neighbour() {
        let work = Queues::default();
        let dealt = |asker, turns| -> Vec<u64> {
            let ask = Ask { queue: 0, tickets: 8, asker, askers: 2, part: u64::MAX };
            (0..turns).flat_map(|_| work.deal(ask)).collect()
        };
        assert_eq!(dealt(1, 2), [4, 5]);
        assert_eq!(dealt(0, 9), [0, 1, 2, 3, 7, 6]);
    }

    #[test]
    fn runs_shrink_and_what_is_left_goes_to_the_faster() {
        let work = Queues::default();
        let ask = |asker| Ask { queue: 0, tickets: 1600, asker, askers: 2, part: 8 };
        assert_eq!(work.deal(ask(1)), 800..900);
        let (mut fast, mut before) = (0, u64::MAX);
        loop {
            let run = work.deal(ask(0));
            if run.is_empty() {
                break;
            }
            fast += run.end - run.start;
            before = before.min(run.end - run.start);
        }
        assert_eq!((fast, before), (1500, 1), "the slow one has its first run alone");
    }

    #[test]
    fn piles_are_apart_and_may_have_no_end() {
        let work = Queues::default();
        let ask = |queue| Ask { queue, tickets: u64::MAX, asker: 0, askers: 1, part: u64::MAX };
        assert_eq!([0, 1, 0].map(|queue| work.deal(ask(queue))), [0..1, 0..1, 1..2]);
    }
}
