//! The kept pages of a day, copied as they came or without their passages: its clean files. They are made before the day enters the store, so a day in the store has them.

use std::path::{Path, PathBuf};

use dupsieve::document::IdList;
use dupsieve::output::{self, Lock, SUCCESS};
use dupsieve::store::{Day, Segment};
use dupsieve::{Error, Kind, Result};

use super::days::DayPlan;
use crate::commands::filter::{Cutting, Kept};
use crate::commands::{dedup, fingerprint};
use crate::flags::GlobalFlags;
use crate::outcome::Summary;

pub(super) fn copy(
    plan: &DayPlan<'_>,
    kept: Option<&Kept>,
    joined: &dedup::Request,
    global: &GlobalFlags,
) -> Result<Summary> {
    let Some(kept) = kept else { return Ok(Summary::new().already_done()) };
    let batch = Segment::open(&joined.batch)?;
    kept.copy(ids(joined, global)?, cutting(plan, joined, global)?, Some(&batch), global)
}

/// Whether the clean files of a day are there as they would be made, or not asked for.
pub(super) fn stand(
    plan: &DayPlan<'_>,
    day: Day,
    joined: &dedup::Request,
    global: &GlobalFlags,
) -> Result<bool> {
    let Some(kept) = plan.copies(day)? else { return Ok(true) };
    let cutting = cutting(plan, joined, global)?;
    kept.stand(&ids(joined, global)?, cutting.as_ref(), &Segment::open(&joined.batch)?)
}

/// Where the clean files of a day are made that take the place of others: beside these.
pub(super) fn staged(plan: &DayPlan<'_>, day: Day) -> Result<Option<PathBuf>> {
    Ok(plan.kept(day)?.map(|kept| beside(&kept)))
}

/// Moves what was staged to its place, unless that has been done.
pub(super) fn put_in_place(plan: &DayPlan<'_>, day: Day) -> Result<()> {
    let Some(kept) = plan.kept(day)? else { return Ok(()) };
    let _lock = Lock::beside(&kept)?;
    let staged = beside(&kept);
    if staged.join(SUCCESS).exists() { output::publish_folder(&staged, &kept) } else { Ok(()) }
}

/// Fails unless the pages of a day can be copied again, whose fingerprints are not made again.
pub(super) fn expect_inputs(plan: &DayPlan<'_>, day: Day) -> Result<()> {
    if plan.copies(day)?.is_none() || fingerprint::stands(&plan.to_fingerprint(day)?)? {
        return Ok(());
    }
    let what = format!(
        "the inputs of {day} are no longer what was joined, so its kept pages cannot be copied"
    );
    Err(Error::new(Kind::BadData, what).at(plan.batch(day)?).help(format!(
        "restore the inputs, or make that day again first: `{}`",
        plan.redo_command(day)
    )))
}

fn ids(joined: &dedup::Request, global: &GlobalFlags) -> Result<IdList> {
    IdList::read(&joined.output.join("keep.txt"), global.budget().whole())
}

/// What is cut out of the copies, by the passages of the output `joined`.
fn cutting(
    plan: &DayPlan<'_>,
    joined: &dedup::Request,
    global: &GlobalFlags,
) -> Result<Option<Cutting>> {
    let memory_bytes = global.budget().passages();
    let cutting = |cut| Cutting::read(&joined.output, Some(cut), None, memory_bytes);
    plan.cut().map(cutting).transpose()
}

fn beside(kept: &Path) -> PathBuf {
    let name = kept.file_name().unwrap_or_default().to_string_lossy();
    kept.with_file_name(format!(".{name}.redo"))
}
