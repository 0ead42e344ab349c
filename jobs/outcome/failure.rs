//! The report of a failure: `OUTPUT.failed.json`, beside the output that was not made.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use dupsieve::rooms::error::At;
use dupsieve::rooms::output::{self, NewFile};
use dupsieve::rooms::parallel::lock;
use dupsieve::{Error, Result};
use serde_json::json;

/// What the name of a report adds to the name of its output.
pub(crate) const SUFFIX: &str = ".failed.json";

/// Where a failure is to be reported; nowhere while no output is being made.
static PLACE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Runs `job`, which makes `output`. If the process ends before `job` has succeeded, it leaves a report
/// of the failure beside the output. `enabled` is false in dry runs and in all processes but the leader.
pub(crate) fn reported_beside<T>(
    output: &Path,
    enabled: bool,
    job: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if !enabled {
        return job();
    }
    let path = output::beside(output, SUFFIX);
    report_at(Some(path.clone()));
    let done = job()?;
    report_at(None);
    // An earlier failure may have left one.
    let _ = fs::remove_file(&path);
    Ok(done)
}

fn report_at(path: Option<PathBuf>) {
    *lock(&PLACE) = path;
}

/// Lets no report of a failure be written: its output is gone.
pub(crate) fn forget() {
    report_at(None);
}

/// Takes the place where the failure of this process is to be reported.
pub(super) fn take_place() -> Option<PathBuf> {
    lock(&PLACE).take()
}

pub(super) fn write(path: &Path, error: &Error) -> Result<()> {
    let kind = error.kind();
    let failure =
        json!({ "code": kind.code(), "retryable": kind.retryable(), "error": error.to_string() });
    fs::create_dir_all(output::parent_of(path)).at(path)?;
    let mut file = NewFile::beside(path)?;
    writeln!(file, "{failure:#}").at(path)?;
    file.publish()
}
