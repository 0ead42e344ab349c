//! Matches reduced: exchanged by range of the batch into differential arrangements, which sort,
//! consolidate and deduplicate them.
//!
//! A near pair is poison for differential's default exchange: the low bits of its FNV hash are the
//! parity of bits in which the two hardly differ, so most pairs would meet on one worker. The exchange
//! here is by range, which also leaves every worker a sorted run of its own.

use differential_dataflow::operators::arrange::arrangement::arrange_core;
use differential_dataflow::trace::implementations::{KeyBatcher, KeySpine};
use differential_dataflow::trace::{Cursor, Navigable, SpanOf};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;

use crate::matches::Pair;

/// A pair as differential takes it: key without value, unit of work as time, multiplicity.
type Update = ((Pair, ()), u64, isize);

/// The arrangement that sorts and deduplicates the pairs.
type Spine = KeySpine<Pair, u64, isize>;

/// Streams of pairs, which can be reduced.
pub trait Reduce<'scope> {
    /// Sorted batches of distinct pairs, in ranges of `groups`, the number of groups of the batch.
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

/// Each pair once, at the time of the unit that found it.
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

/// The pairs of sealed batches, in order.
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
