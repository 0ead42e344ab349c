//! The keep rule once more, as a fixed point in differential dataflow: a page is dropped if a page before it that is near is not
//! dropped. Each round decides one page more of every chain, so it ends.
//!
//! It says nothing of an order in which pages are taken, and is spread over workers by page. That is also how several processes could
//! decide; `cargo bench --bench keep_rule` shows what it costs beside one pass.

use std::collections::BTreeSet;
use std::sync::mpsc;

use differential_dataflow::input::Input;
use differential_dataflow::operators::Iterate;
use timely::Config;

/// Those that are dropped, of numbers in keep order: `near` has pairs of a later and an earlier one.
pub(crate) fn dropped(near: &[(u32, u32)], workers: usize) -> BTreeSet<u32> {
    let (send, found) = mpsc::channel();
    let near = near.to_vec();
    timely::execute(Config::process(workers), move |worker| {
        let (at, of, send) = (worker.index(), worker.peers(), send.clone());
        let own = near.iter().copied().skip(at).step_by(of);
        worker.dataflow::<(), _, _>(|scope| {
            let near = scope.new_collection_from(own.collect::<Vec<_>>()).1;
            let by_earlier = near.clone().map(|(later, earlier)| (earlier, later));
            let none = near.filter(|_| false).map(|(later, _)| later);
            none.iterate(|scope, dropped| {
                let near_one_that_stays = by_earlier.enter(scope).antijoin(dropped);
                near_one_that_stays.map(|(_, later)| later).distinct()
            })
            .consolidate()
            .inspect(move |&(page, _, _)| send.send(page).expect("somebody listens"));
        });
    })
    .expect("a configuration of threads alone")
    .join();
    found.into_iter().collect()
}
