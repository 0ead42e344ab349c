//! The metrics that a job leaves when it ends, however it ends: a textfile for the node exporter of Prometheus.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use dupsieve::error::At;
use dupsieve::matches::Lost;
use dupsieve::output::{self, NewFile};
use dupsieve::small_file;
use dupsieve::{Error, Kind, Result};

use super::account::Account;
use super::exposition::{Exposition, value_of};
use super::identity;
use super::summary::SummaryLine;

const MOST_BYTES: u64 = 1 << 20;
const BEGINNING: &str = "# HELP dupsieve_";

/// The counts of a summary that are records of the inputs, by what became of them.
const RECORDS: &str = "read fingerprinted unchanged kept dropped empty repeated blank \
    truncated quarantined removed";

static FILE: OnceLock<PathBuf> = OnceLock::new();

/// From now on, the end of this process writes its metrics to the file at `path`.
pub(crate) fn write_at_end(path: &Path) -> Result<()> {
    let folder = output::parent_of(path);
    if !folder.is_dir() {
        return Err(Error::new(Kind::Missing, "the folder of --metrics-file is not there")
            .at(folder)
            .help("make it, or correct the path"));
    }
    if path.exists() && !read(path)?.starts_with(BEGINNING) {
        return Err(output::foreign(path, "metrics of dupsieve"));
    }
    FILE.get_or_init(|| path.to_path_buf());
    Ok(())
}

/// Writes the metrics of a job that ends with `line`, if a file for them was named. The job has ended as it has: a file
/// that cannot be written is a warning.
pub(super) fn write(line: &SummaryLine, code: u8, account: &Account) {
    let Some(path) = FILE.get() else { return };
    if let Err(error) = replace(path, line, code, account) {
        tracing::warn!("the metrics could not be written: {error}");
    }
}

fn replace(path: &Path, line: &SummaryLine, code: u8, account: &Account) -> Result<()> {
    // What cannot be read any more begins anew.
    let before = if path.exists() { read(path).unwrap_or_default() } else { String::new() };
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let text = text(line, code, account, now, &before);
    let mut file = NewFile::beside(path)?;
    file.write_all(text.as_bytes()).at(path)?;
    file.publish()
}

fn read(path: &Path) -> Result<String> {
    small_file::read_text(path, MOST_BYTES, Kind::Exists)
}

/// The metrics of a job that has ended `now`, after those of the runs `before`.
fn text(line: &SummaryLine, code: u8, account: &Account, now: Duration, before: &str) -> String {
    let command = [("command", identity::job())];
    let code_text = code.to_string();
    let coded = [command[0], ("exit_code", code_text.as_str())];
    let mut text = Exposition::default();
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    text.gauge("build_info", "The version that wrote this.").sample(&version, 1.0);
    let last = "last_run_timestamp_seconds";
    text.gauge(last, "When the last run ended.").sample(&command, now.as_secs_f64());
    let success = "last_success_timestamp_seconds";
    let succeeded =
        if code == 0 { Some(now.as_secs_f64()) } else { value_of(before, success, &command) };
    if let Some(time) = succeeded {
        text.gauge(success, "When the last run that succeeded ended.").sample(&command, time);
    }
    text.gauge("last_run_exit_code", "The exit code of the last run.")
        .sample(&command, code.into());
    runs(&mut text, before, &coded);
    let changed = f64::from(u8::from(code == 0 && !line.already_done));
    text.gauge("last_run_changed", "1 if the last run made something, 0 if all was done already.")
        .sample(&command, changed);
    text.gauge("step_duration_seconds", "How long each step of the last run took, in all.");
    for (step, &seconds) in &account.steps {
        text.sample(&[command[0], ("step", step)], seconds);
    }
    text.gauge("input_bytes", "Bytes of the inputs that the last run read.")
        .sample(&command, account.input_bytes as f64);
    if !account.requests.is_empty() {
        requests(&mut text, account, command[0]);
    }
    records(&mut text, line, account, command[0]);
    losses(&mut text, line, account, command[0]);
    text.into_text()
}

fn runs(text: &mut Exposition, before: &str, coded: &[(&str, &str); 2]) {
    text.counter("runs_total", "Runs that ended, by exit code.");
    for code in 0..=u8::MAX {
        let labels = [coded[0], ("exit_code", &code.to_string())];
        let now = f64::from(u8::from(labels == *coded));
        let runs = value_of(before, "runs_total", &labels).unwrap_or(0.0) + now;
        if runs > 0.0 {
            text.sample(&labels, runs);
        }
    }
}

fn losses(
    text: &mut Exposition,
    line: &SummaryLine,
    account: &Account,
    command: (&'static str, &str),
) {
    if let Some(count) = line.count("replaced") {
        let name = "replaced_pages";
        text.gauge(name, "Pages of the store that pages of the last run hold.");
        text.sample(&[command], count as f64);
    }
    if let Some(Lost { share, over_tenth, .. }) = account.lost {
        let name = "lost_text_ratio";
        text.gauge(name, "Share of the text of the dropped pages that is lost, on the worst day.");
        text.sample(&[command], share);
        let name = "lost_pages_ratio";
        text.gauge(
            name,
            "Share of the dropped pages that lack more than a tenth, on the worst day.",
        );
        text.sample(&[command], over_tenth);
    }
}

fn requests(text: &mut Exposition, account: &Account, command: (&'static str, &str)) {
    text.gauge("object_requests", "Requests of the last run to object stores, by kind.");
    for (kind, used) in account.requests.kinds() {
        text.sample(&[command, ("kind", kind)], used.requests as f64);
    }
    text.gauge(
        "object_bytes",
        "Bytes sent to object stores and received in the last run, by kind.",
    );
    for (kind, used) in account.requests.kinds() {
        text.sample(&[command, ("kind", kind)], used.bytes as f64);
    }
}

fn records(
    text: &mut Exposition,
    line: &SummaryLine,
    account: &Account,
    command: (&'static str, &str),
) {
    text.gauge("records", "Records of the days of the last run, by what became of them.");
    for outcome in RECORDS.split(' ') {
        if let Some(count) = line.count(outcome) {
            text.sample(&[command, ("outcome", outcome)], count as f64);
        }
    }
    text.gauge("unreadable_records", "Records that the last run could not read, by reason.");
    for (reason, &count) in &account.bad {
        text.sample(&[command, ("reason", reason)], count as f64);
    }
    text.gauge("skipped_records", "Records that are no pages, by what they are.");
    for (kind, count) in line.skipped() {
        text.sample(&[command, ("kind", kind)], count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::Summary;
    use super::*;

    /// What a job leaves that fails or is done already, `tests/metrics.rs` says.
    #[test]
    fn records_are_told_by_what_they_are() {
        let done = Summary::new().count("read", 7).count("skipped_request", 2);
        let done = SummaryLine::of("dupsieve", Ok(done));
        let account = Account { bad: [("cut off".to_owned(), 3)].into(), ..Account::default() };
        let text = text(&done, 0, &account, Duration::from_secs(100), "");
        for (name, label, value) in [
            ("records", ("outcome", "read"), 7.0),
            ("skipped_records", ("kind", "request"), 2.0),
            ("unreadable_records", ("reason", "cut off"), 3.0),
        ] {
            let labels = [("command", "dupsieve"), label];
            assert_eq!(value_of(&text, name, &labels), Some(value), "{name}");
        }
    }
}
