//! Work dealt to those who ask for it.
//!
//! A pile has a number of tickets, and each ticket is dealt once. An asker gets a run of neighbours: a part of what is left, so
//! that runs are long at first and short at the end. Who works at a quarter of the speed of the others asks a quarter as often, and
//! gets a quarter as much.
//!
//! A pile is cut into stretches. Each belongs to one asker, who goes through it in order. Who is through takes the second half of
//! the longest stretch that is left. Where askers share one stretch, every asker gets ascending tickets.
//!
//! An example with the tickets 0 to 7, two askers, and runs of one ticket:
//!
//! ```text
//! asker 0   0 1 2 3 6 7    done with its own, it takes two of the four that are left
//! asker 1   4 5            slower
//! ```
//!
//! ```
//! use dupsieve::rooms::desk::{Ask, Desk, Piles};
//!
//! let desk = Piles::default();
//! let ask = |asker| Ask { pile: 0, tickets: 8, asker, askers: 2, part: 4 };
//! assert_eq!(desk.claim(ask(1))?, 4..5);
//! assert_eq!(desk.claim(ask(0))?, 0..1);
//! # Ok::<(), dupsieve::Error>(())
//! ```

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::parallel::lock;

/// What somebody asks for. All who ask for tickets of a pile name the same numbers of tickets and askers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub pile: u64,
    pub tickets: u64,
    /// Whose stretch the run is taken from.
    pub asker: u32,
    /// How many stretches there are.
    pub askers: u32,
    /// The run is this part of what is left of the stretch, and at least one ticket: 4 stands for a quarter.
    pub part: u64,
}

/// What a worker gets when it asks for work.
#[derive(Debug)]
pub(crate) enum Claim<U> {
    Unit(U),
    /// No unit now, perhaps later.
    Later,
    /// No more units.
    Done,
}

pub trait Desk: Send + Sync {
    /// The next run of tickets; empty if all are dealt.
    ///
    /// # Errors
    /// The desk may be out of reach.
    fn claim(&self, ask: Ask) -> Result<Range<u64>>;
}

/// The piles of a desk, each of which is there from the first time that it is asked for.
#[derive(Debug, Default)]
pub struct Piles(Mutex<HashMap<u64, Pile>>);

/// What is left of a pile, by stretches.
#[derive(Debug)]
struct Pile(Vec<Range<u64>>);

impl Piles {
    /// The next run of tickets; empty if all are dealt.
    pub fn deal(&self, ask: Ask) -> Range<u64> {
        let mut piles = lock(&self.0);
        let pile = piles.entry(ask.pile).or_insert_with(|| Pile::new(ask.tickets, ask.askers));
        pile.deal(ask.asker, ask.part)
    }
}

impl Desk for Piles {
    fn claim(&self, ask: Ask) -> Result<Range<u64>> {
        Ok(self.deal(ask))
    }
}

impl Pile {
    fn new(tickets: u64, askers: u32) -> Pile {
        let start = |asker| (u128::from(tickets) * u128::from(asker) / u128::from(askers)) as u64;
        Pile((0..askers).map(|asker| start(asker)..start(asker + 1)).collect())
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
            let desk = Piles::default();
            let mut dealt: Vec<Vec<u64>> = vec![Vec::new(); 4];
            for turn in turns.into_iter().chain((0..4).cycle().take(400)) {
                let [asker, askers] = if is_shared { [0, 1] } else { [turn % askers, askers] };
                let ask = Ask { pile: 7, tickets, asker, askers, part };
                dealt[turn as usize].extend(desk.deal(ask));
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
        let desk = Piles::default();
        let dealt = |asker, turns| -> Vec<u64> {
            let ask = Ask { pile: 0, tickets: 8, asker, askers: 2, part: u64::MAX };
            (0..turns).flat_map(|_| desk.deal(ask)).collect()
        };
        assert_eq!(dealt(1, 2), [4, 5]);
        assert_eq!(dealt(0, 9), [0, 1, 2, 3, 7, 6]);
    }

    #[test]
    fn runs_shrink_and_what_is_left_goes_to_the_faster() {
        let desk = Piles::default();
        let ask = |asker| Ask { pile: 0, tickets: 1600, asker, askers: 2, part: 8 };
        assert_eq!(desk.deal(ask(1)), 800..900);
        let (mut fast, mut before) = (0, u64::MAX);
        loop {
            let run = desk.deal(ask(0));
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
        let desk = Piles::default();
        let ask = |pile| Ask { pile, tickets: u64::MAX, asker: 0, askers: 1, part: u64::MAX };
        assert_eq!([0, 1, 0].map(|pile| desk.deal(ask(pile))), [0..1, 0..1, 1..2]);
    }
}
