//! Reduces pairs: they are exchanged by range of the batch into differential arrangements, which sort them
//! and remove duplicates.
//!
//! An example with a batch of 10 groups and 2 workers: a pair of group `g` goes to worker `g * 2 / 10`.
//!
//! ```text
//! chunk 7 finds (9, store row 40), (2, store row 41)     worker 0: groups 0 to 4    worker 1: groups 5 to 9
//! chunk 8 finds (2, store row 12), (2, store row 41)
//!                                                        (2, row 12), (2, row 41)   (9, row 40)
//! ```
//!
//! Each worker sends on a sorted run of distinct pairs. Duplicates are removed only among pairs that an
//! arrangement seals at the same time. That is enough, because each pair is found in one chunk only.
//!
//! The default exchange of differential must not be used here. It takes the low bits of an FNV hash, which
//! are the parity of the key's bits. The two sides of a near pair differ in so few bits that these parities
//! cancel, and most pairs would meet on one worker.

use differential_dataflow::operators::arrange::arrangement::arrange_core;
use differential_dataflow::trace::implementations::{KeyBatcher, KeySpine};
use differential_dataflow::trace::{Cursor, Navigable, SpanOf};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;

use crate::matches::Pair;

/// A pair as differential takes it: a key without a value, the unit of work as the time, a multiplicity.
type Update = ((Pair, ()), u64, isize);

/// The arrangement that sorts pairs and removes duplicates.
type Spine = KeySpine<Pair, u64, isize>;

/// Streams of pairs that can be reduced.
pub(super) trait Reduce<'scope> {
    /// Sorted runs of distinct pairs, one range of the batch for each worker. The batch has `groups` groups.
    fn reduce(self, groups: u64) -> StreamVec<'scope, u64, Pair>;
}

impl<'scope> Reduce<'scope> for StreamVec<'scope, u64, Pair> {
    fn reduce(self, groups: u64) -> StreamVec<'scope, u64, Pair> {
        let peers = self.scope().peers() as u64;
        let range =
            move |((pair, ()), _, _): &Update| u64::from(u32::from(pair.new)) * peers / groups;
        let batcher = KeyBatcher::<Pair, u64, isize>::new;
        let arranged = arrange_core::<_, _, _, Spine>(
            as_updates(self),
            Exchange::new(range),
            "Reduce",
            batcher,
        );
        as_pairs(arranged.stream)
    }
}

/// Each pair as an update, at the time of the unit that found it.
fn as_updates(pairs: StreamVec<'_, u64, Pair>) -> StreamVec<'_, u64, Update> {
    pairs.unary::<CapacityContainerBuilder<Vec<Update>>, _, _, _>(Pipeline, "Updates", |_, _| {
        |input, output| {
            input.for_each(|unit, pairs| {
                let time = *unit.least().expect("pairs travel at the time of their unit");
                let mut updates = pairs.drain(..).map(|pair| ((pair, ()), time, 1)).collect();
                output.session(&unit).give_container(&mut updates);
            });
        }
    })
}

/// The pairs of sealed runs, in order.
fn as_pairs<'scope>(sealed: StreamVec<'scope, u64, SpanOf<Spine>>) -> StreamVec<'scope, u64, Pair> {
    sealed.unary::<CapacityContainerBuilder<Vec<Pair>>, _, _, _>(Pipeline, "Sealed", |_, _| {
        |input, output| {
            input.for_each(|time, spans| {
                let mut session = output.session(&time);
                for batch in spans.drain(..).filter_map(|span| span.inner) {
                    let mut cursor = batch.cursor();
                    while let Some(pair) = cursor.get_key(&batch) {
                        session.give(*pair);
                        cursor.step_key(&batch);
                    }
                }
            });
        }
    })
}
