//! The metrics of a job while it runs: what it is at, how far it has come, and the memory it takes.

use std::fs;

use dupsieve::rooms::object_storage::Bill;
use dupsieve::rooms::progress;

use super::exposition::Exposition;
use super::identity;
use super::progress as shown;

pub(crate) fn text() -> String {
    let mut text = Exposition::default();
    let day = identity::day().map(|day| day.to_string()).unwrap_or_default();
    let process = identity::process().map(|process| process.to_string()).unwrap_or_default();
    text.gauge("build_info", "The version of the program.")
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    text.gauge("job_info", "The command, the day that is being made, and which process this is.")
        .sample(&[("command", identity::job()), ("day", &day), ("process", &process)], 1.0);
    text.gauge("step_active", "1 for the step that is under way, 0 for those before it.");
    let (current, times) = (identity::clock().current(), identity::clock().times());
    for (step, _) in &times {
        text.sample(&[("step", step.name())], f64::from(u8::from(*step == current)));
    }
    text.gauge("step_duration_seconds", "How long each step took so far, in all.");
    for (step, time) in times {
        text.sample(&[("step", step.name())], time.as_secs_f64());
    }
    far(&mut text);
    text.counter("activity_total", "Signs of life: small pieces of work that were done.");
    for (activity, count) in progress::ticks() {
        text.sample(&[("activity", activity.name())], count as f64);
    }
    let bill = Bill::so_far();
    if !bill.is_empty() {
        text.counter(
            "object_requests_total",
            "Requests of this process to object stores, by kind.",
        );
        for (kind, used) in bill.kinds() {
            text.sample(&[("kind", kind)], used.requests as f64);
        }
        text.counter("object_bytes_total", "Bytes sent to object stores and received, by kind.");
        for (kind, used) in bill.kinds() {
            text.sample(&[("kind", kind)], used.bytes as f64);
        }
    }
    text.gauge("resident_memory_bytes", "Memory of this process that is in use.")
        .sample(&[], resident_bytes() as f64);
    text.into_text()
}

/// How far the long work has come that is under way.
fn far(text: &mut Exposition) {
    let Some((task, unit, done, total)) = shown::current() else { return };
    let (name, expected) = match unit {
        shown::Unit::Bytes => ("progress_bytes", "progress_expected_bytes"),
        shown::Unit::Fingerprints => ("progress_fingerprints", "progress_expected_fingerprints"),
        shown::Unit::Pages => ("progress_pages", "progress_expected_pages"),
    };
    text.gauge(name, "How much of the work under way is done.")
        .sample(&[("task", task)], done as f64);
    text.gauge(expected, "How much work there is, roughly.")
        .sample(&[("task", task)], total as f64);
}

/// The memory of this process that is in use; 0 where the system does not tell.
fn resident_bytes() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}
