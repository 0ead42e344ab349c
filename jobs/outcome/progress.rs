//! The progress of long work: a bar with rate and time left on a terminal, log lines elsewhere.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Bytes,
    Fingerprints,
    Pages,
}

#[derive(Debug)]
pub(crate) struct Progress {
    ended: Arc<AtomicBool>,
    display: Option<JoinHandle<()>>,
}

impl Progress {
    pub(crate) fn count(
        task: &'static str,
        unit: Unit,
        total: u64,
        quiet: bool,
    ) -> (Arc<AtomicU64>, Progress) {
        let counter = Arc::new(AtomicU64::new(0));
        let shown = Progress::show(task, unit, total, Arc::clone(&counter), quiet);
        (counter, shown)
    }

    /// Shows how far `counter` has come to `total`, under the name `task`. Shows nothing if `quiet`.
    pub(crate) fn show(
        task: &'static str,
        unit: Unit,
        total: u64,
        counter: Arc<AtomicU64>,
        quiet: bool,
    ) -> Progress {
        let ended = Arc::new(AtomicBool::new(false));
        let display = (!quiet).then(|| {
            let ended = Arc::clone(&ended);
            thread::spawn(move || {
                let show = if io::stderr().is_terminal() { show_bar } else { log_lines };
                show(task, unit, total, &counter, &ended);
            })
        });
        Progress { ended, display }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(display) = self.display.take() {
            display.thread().unpark();
            let _ = display.join();
        }
    }
}

fn show_bar(task: &'static str, unit: Unit, total: u64, counter: &AtomicU64, ended: &AtomicBool) {
    let bar = ProgressBar::new(total).with_style(style(unit)).with_message(task);
    while !ended.load(Ordering::Relaxed) {
        bar.set_position(counter.load(Ordering::Relaxed));
        thread::park_timeout(Duration::from_millis(100));
    }
    bar.finish_and_clear();
}

fn style(unit: Unit) -> ProgressStyle {
    let template = match unit {
        Unit::Bytes => "{msg} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta} left",
        Unit::Fingerprints | Unit::Pages => {
            "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta} left"
        }
    };
    ProgressStyle::with_template(template).expect("the template is valid")
}

/// Logs a line after 10 s, and then at longer and longer intervals of up to a minute.
fn log_lines(task: &'static str, unit: Unit, total: u64, counter: &AtomicU64, ended: &AtomicBool) {
    let began = Instant::now();
    let mut interval = Duration::from_secs(10);
    let mut due = began + interval;
    while !ended.load(Ordering::Relaxed) {
        thread::park_timeout(due.saturating_duration_since(Instant::now()));
        if ended.load(Ordering::Relaxed) || Instant::now() < due {
            continue;
        }
        let line = describe(unit, total, counter.load(Ordering::Relaxed), began.elapsed());
        tracing::info!("{task}: {line}");
        interval = (interval * 2).min(Duration::from_secs(60));
        due = Instant::now() + interval;
    }
}

/// What is done of the total, and what the pace so far promises for the rest. Before anything is done there is no pace, and a total of 0 is
/// none: a batch without a store is compared with itself.
fn describe(unit: Unit, total: u64, done: u64, elapsed: Duration) -> String {
    if total == 0 {
        return format!("{} so far", HumanDuration(elapsed));
    }
    let rate = done as f64 / elapsed.as_secs_f64();
    let left = total.saturating_sub(done) as f64 / rate;
    let left = Duration::try_from_secs_f64(left).ok().map(HumanDuration);
    let left = left.map_or_else(String::new, |left| format!(", {left} left"));
    match unit {
        Unit::Bytes => {
            let [done, total, rate] = [done, total, rate as u64].map(HumanBytes);
            format!("{done} of {total}, {rate}/s{left}")
        }
        Unit::Fingerprints => {
            let [done, total, rate] = [done, total, rate as u64].map(HumanCount);
            format!("{done} of {total} fingerprints, {rate}/s{left}")
        }
        Unit::Pages => {
            let [done, total] = [done, total].map(HumanCount);
            format!("{done} of {total} pages{left}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_follows_the_pace_and_needs_one() {
        let after = |done| describe(Unit::Fingerprints, 1_000, done, Duration::from_secs(10));
        assert_eq!(after(100), "100 of 1,000 fingerprints, 10/s, 2 minutes left");
        assert_eq!(after(0), "0 of 1,000 fingerprints, 0/s");
        let without_total = describe(Unit::Fingerprints, 0, 0, Duration::from_secs(40));
        assert_eq!(without_total, "40 seconds so far");
    }
}
