//! The pages of a day that overlap: the batch and the store as it was before the day, by their buckets.
//!
//! What enters the store is decided by `dedup` alone.

use dupsieve::Result;
use dupsieve::rooms::flow::Processes;

use super::days::DayPlan;
use crate::commands::dedup;
use crate::commands::lsh::{BatchAsked, batch_stands, make_batch};
use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;

/// Finds the pages that overlap, if the file asks for them: with the same batch and the same version of the store as
/// `joined`, beside its output. Every process of the job calls this.
pub(super) fn make(
    plan: &DayPlan<'_>,
    processes: &mut Processes,
    joined: &dedup::Request,
    global: &GlobalFlags,
) -> Result<Summary> {
    let unchanged = Summary::new().already_done();
    let Some(asked) = asked(plan, joined) else { return Ok(unchanged) };
    let made = make_batch(processes, &asked, global)?;
    let [dropped, matches] = ["dropped", "matches"].map(|name| made.counted(name));
    let done = unchanged.count("lsh_dropped", dropped).count("lsh_matches", matches);
    Ok(if made.is_already_done() { done } else { done.changed() })
}

/// Whether they exist as they would be made, if the file asks for them.
pub(super) fn stand(plan: &DayPlan<'_>, joined: &dedup::Request) -> bool {
    asked(plan, joined).is_none_or(|asked| batch_stands(&asked).unwrap_or(false))
}

/// What is to be compared, if the file asks for it.
fn asked(plan: &DayPlan<'_>, joined: &dedup::Request) -> Option<BatchAsked> {
    let settings = plan.config.lsh.as_ref()?;
    Some(BatchAsked {
        batch: joined.batch.clone(),
        store: joined.store.clone(),
        output: joined.output.with_file_name("lsh"),
        destination: joined.destination.clone(),
        least: settings.least(),
        confirmation: settings.confirm.unwrap_or_default(),
        keep: settings.keep,
        detail: settings.matches.unwrap_or_default(),
        max_matches: settings.max_matches,
        format: joined.format,
        replaces_outdated: true,
    })
}
