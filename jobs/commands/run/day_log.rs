//! What is logged of a day that is done.

use std::path::Path;

use dupsieve::Result;
use dupsieve::rooms::report::{Made, Report};
use dupsieve::rooms::store::{Day, RecordCounts};

use super::days::DayPlan;
use crate::outcome::summary::tally;

/// Logs what became of the pages of a day, whose join is the output `found`, and what is unusual about the day.
pub(super) fn log_day(plan: &DayPlan<'_>, day: Day, found: &Path) -> Result<()> {
    let Some(Report { batch, outcome, later_days, .. }) = Report::read(found)? else {
        return Ok(());
    };
    let RecordCounts { read, empty, repeated, quarantined, removed, .. } = batch;
    let parts = [
        (outcome.kept, "kept"),
        (outcome.duplicates(), "duplicate(s)"),
        (outcome.superseded.unwrap_or(0), "superseded"),
        (empty, "empty"),
        (repeated, "repeated id(s)"),
        (quarantined, "unreadable"),
        (removed, "removed"),
    ];
    tracing::info!("{day}  {}", tally(read, "page(s)", &parts));
    if read == 0 {
        tracing::warn!(
            "there are no pages for {day}; if they come later, run `{}`",
            plan.redo_command(day)
        );
    }
    if let Some(later) = later_days {
        let redo = plan.first_out_of_order(day)?.map(|first| plan.redo_command(first.day));
        let advice = redo.map(|redo| format!("; to put the days in order, run `{redo}`"));
        let dropped = match later.dropped {
            0 => String::new(),
            dropped => format!(": {dropped} of its pages are duplicates of pages of these days"),
        };
        tracing::warn!(
            "{day} was run after later days ({}){dropped}{}",
            later.named(),
            advice.unwrap_or_default()
        );
    }
    Ok(())
}
