//! OpenLineage: events that tell a catalogue when a job started and how it ended, what it read and what it wrote.
//!
//! A catalogue that cannot be told fails no job. A job that cannot write to the file of events at its start is refused,
//! because its path is most likely wrong.

mod event;
mod target;

use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use dupsieve::Result;

use super::account::Account;
use super::identity;
use super::summary::SummaryLine;
use event::{Parent, Run};
use target::Target;

/// The run of this process, and where its events go.
static RUN: OnceLock<(Run, Target)> = OnceLock::new();
/// Whether a signal ends the job.
static WAS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Tells `target` that the job starts, and from now on how it ends. `detail` tells this job from others of the same
/// command.
///
/// # Errors
/// [`Kind::Usage`](dupsieve::Kind::Usage) if `target` is none that this build can reach; that of the file, if it
/// cannot be written.
pub(crate) fn begin(target: &str, detail: Option<&str>) -> Result<()> {
    let target = Target::read(target)?;
    let name = [Some(identity::job()), detail].into_iter().flatten().collect::<Vec<_>>().join(".");
    let namespace = env::var("OPENLINEAGE_NAMESPACE").unwrap_or("dupsieve".to_owned());
    let run = Run::new(namespace, name, parent());
    let told = target.send(&run.event("START", &Account::default(), None));
    if let Err(error) = told {
        if target.is_file() {
            return Err(error);
        }
        tracing::warn!("the start of the job could not be told: {error}");
    }
    RUN.get_or_init(|| (run, target));
    Ok(())
}

/// The run that started this one, as Airflow names it for its tasks.
fn parent() -> Option<Parent> {
    let named = env::var("OPENLINEAGE_PARENT_ID").ok()?;
    let parent = Parent::read(&named);
    if parent.is_none() {
        tracing::warn!(
            "OPENLINEAGE_PARENT_ID is not NAMESPACE/JOB/RUN with a UUID as its last part: {named}"
        );
    }
    parent
}

/// Notes that a signal ends the job, which counts as aborted then.
pub(crate) fn note_signal() {
    WAS_INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Tells how the job has ended.
pub(super) fn end(line: &SummaryLine, code: u8, account: &Account) {
    let Some((run, target)) = RUN.get() else { return };
    let kind = match code {
        0 => "COMPLETE",
        _ if WAS_INTERRUPTED.load(Ordering::Relaxed) => "ABORT",
        _ => "FAIL",
    };
    let error = (code > 0).then(|| line.error().unwrap_or("the reason is in the log"));
    if let Err(error) = target.send(&run.event(kind, account, error)) {
        tracing::warn!("the end of the job could not be told: {error}");
    }
}
