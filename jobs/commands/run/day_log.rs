//! What is logged of a day that is done.

use std::path::Path;

use dupsieve::Result;
use dupsieve::rooms::matches::Outcome;
use dupsieve::rooms::report::{Made, Report};
use dupsieve::rooms::store::{Added, Day, RecordCounts};

use super::days::DayPlan;

/// Where a day is that was added.
pub(super) fn in_version(added: &Added) -> String {
    match added {
        Added::New(version) => format!("store version {}", version.number()),
        Added::Already(version) => format!("in the store, now at version {}", version.number()),
    }
}

/// Logs what became of the pages of a day, whose join is the output `found`, and what is unusual about the day. `state` says
/// where the day is.
pub(super) fn log_day(plan: &DayPlan<'_>, day: Day, found: &Path, state: &str) -> Result<()> {
    let Some(Report { batch, outcome, later_days, .. }) = Report::read(found)? else {
        return Ok(());
    };
    let RecordCounts { read, empty, repeated, quarantined, removed, .. } = batch;
    let removed = if removed > 0 { format!(" + {removed} removed") } else { String::new() };
    let Outcome { kept, dropped, matches, .. } = outcome;
    tracing::info!(
        "{day}: {read} pages = {kept} kept + {dropped} near-duplicates dropped + {empty} empty + \
         {repeated} repeated + {quarantined} unreadable{removed}; {matches} matches; {state}"
    );
    if read == 0 {
        tracing::warn!(
            "the inputs of {day} hold no page; if pages come later, `{}` makes the day again",
            plan.redo_command(day)
        );
    }
    if let Some(later) = later_days {
        let redo = plan.first_out_of_order(day)?.map(|first| plan.redo_command(first.day));
        let advice = redo.map(|redo| format!("; `{redo}` joins the days again in their order"));
        tracing::warn!(
            "{day} was run after later days: the store held {} already, and {} pages were dropped in favour of pages of \
             later days{}",
            later.named(),
            later.dropped,
            advice.unwrap_or_default()
        );
    }
    Ok(())
}
