//! A failure as a person reads it, with its advice in flags and commands, and its report: `OUTPUT.failed.json`, beside the output that was
//! not made.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use dupsieve::error::{At, Remedy};
use dupsieve::output::{self, NewFile};
use dupsieve::parallel::lock;
use dupsieve::{Error, Result};
use serde_json::json;

/// What the name of a report adds to the name of its output.
pub(crate) const SUFFIX: &str = ".failed.json";

/// Where a failure is to be reported; nowhere while no output is being made.
static PLACE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A failure as stderr shows it: what happened, the facts indented, and as the last line what to do.
pub(crate) fn shown(error: &Error) -> String {
    let indented = |text: &str| text.trim_end().replace('\n', "\n  ");
    let facts = error.facts().into_iter().map(|fact| format!("  {}\n", indented(&fact)));
    let facts: String = facts.collect();
    format!("error: {}\n{facts}help: {}", indented(error.what()), help(error))
}

/// What to do about a failure. Where nobody has said more, its chapter does.
pub(crate) fn help(error: &Error) -> String {
    let advice = error.advice().map(str::to_owned);
    advice.unwrap_or_else(|| format!("dupsieve help {}", error.name()))
}

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

pub(super) fn take_place() -> Option<PathBuf> {
    lock(&PLACE).take()
}

pub(super) fn write(path: &Path, error: &Error) -> Result<()> {
    let kind = error.kind();
    let failure = json!({
        "code": kind.code(),
        "error": error.to_string(),
        "help": help(error),
        "kind": error.name(),
        "retryable": kind.retryable(),
    });
    fs::create_dir_all(output::parent_of(path)).at(path)?;
    let mut file = NewFile::beside(path)?;
    writeln!(file, "{failure:#}").at(path)?;
    file.publish()
}

/// Adds to the advice of `error` the flags or the command with which it is followed.
pub(super) fn in_flags(error: Error) -> Error {
    match (error.advice(), named(error.remedy())) {
        (Some(advice), Some(named)) => {
            let advice = match error.remedy().job.is_some() {
                true => format!("{advice}: {named}"),
                false => format!("{advice} ({named})"),
            };
            error.help(advice)
        }
        _ => error,
    }
}

fn named(remedy: &Remedy) -> Option<String> {
    let flags: Vec<String> = remedy.settings.iter().map(|setting| format!("--{setting}")).collect();
    match &remedy.job {
        Some(job) => Some(format!("dupsieve {job} {}", flags.join(" ")).trim_end().to_owned()),
        None => Some(flags.join(", ")).filter(|flags| !flags.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use dupsieve::Kind;

    use super::*;

    #[test]
    fn a_failure_is_what_happened_then_facts_then_what_to_do() {
        let error = Error::new(Kind::BadData, "the block is damaged").at("a.seg").offset(7);
        assert_eq!(
            shown(&error.clone().expected(1).found(2).help("make it again")),
            "error: the block is damaged\n  a.seg at byte 7\n  expected: 1\n  found: 2\n\
             help: make it again"
        );
        let told = shown(&error);
        assert!(told.ends_with("\nhelp: dupsieve help bad-data"), "{told}");
        let told = shown(&Error::new(Kind::Config, "wrong\nin two lines").called("locked"));
        assert_eq!(told, "error: wrong\n  in two lines\nhelp: dupsieve help locked");
    }

    #[test]
    fn advice_names_flags_and_commands() {
        let error = || Error::new(Kind::Usage, "too small").help("allow more");
        for (error, told) in [
            (error(), "too small; allow more"),
            (error().setting("memory"), "too small; allow more (--memory)"),
            (error().settings(["a", "b exact"]), "too small; allow more (--a, --b exact)"),
            (error().job("weights"), "too small; allow more: dupsieve weights"),
            (
                error().job("store index").setting("filters"),
                "too small; allow more: dupsieve store index --filters",
            ),
            (error().setting("memory").help("wait"), "too small; wait"),
        ] {
            assert_eq!(in_flags(error).to_string(), told);
        }
    }
}
