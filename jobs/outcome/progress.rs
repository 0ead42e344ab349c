//! Log lines, and the progress of long work: a bar with rate and time left on a terminal, log lines
//! elsewhere.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Sends log lines to stderr: only warnings and errors if `quiet`, each a JSON object if `as_json`.
pub(crate) fn log(quiet: bool, as_json: bool) {
    let level = if quiet { LevelFilter::WARN } else { LevelFilter::INFO };
    let filter = filter(env::var("RUST_LOG").ok().as_deref(), level);
    let lines = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(|| Stderr);
    if as_json {
        lines.json().finish().with(filter).init();
    } else {
        let color = io::stderr().is_terminal();
        let lines = lines.with_ansi(color).with_target(false).without_time().compact();
        lines.finish().with(filter).init();
    }
}

/// What is logged: what `directives` say, such as `debug` or `dupsieve=debug`, and otherwise this level.
/// Directives that cannot be read count for nothing.
fn filter(directives: Option<&str>, level: LevelFilter) -> Targets {
    let targets: Targets = directives.and_then(|text| text.parse().ok()).unwrap_or_default();
    if targets.default_level().is_some() { targets } else { targets.with_default(level) }
}

/// Standard error. A log line that cannot be written is lost and causes no failure.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Bytes,
    Fingerprints,
    Pages,
}

/// Shows the progress of a counter until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    ended: Arc<AtomicBool>,
    display: Option<JoinHandle<()>>,
}

impl Progress {
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

fn describe(unit: Unit, total: u64, done: u64, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64();
    let left =
        Duration::from_secs_f64((total.saturating_sub(done) as f64 / rate.max(1e-9)).min(1e9));
    let left = HumanDuration(left);
    match unit {
        Unit::Bytes => {
            let [done, total, rate] = [done, total, rate as u64].map(HumanBytes);
            format!("{done} of {total}, {rate}/s, {left} left")
        }
        Unit::Fingerprints => {
            let [done, total, rate] = [done, total, rate as u64].map(HumanCount);
            format!("{done} of {total} fingerprints, {rate}/s, {left} left")
        }
        Unit::Pages => {
            let [done, total] = [done, total].map(HumanCount);
            format!("{done} of {total} pages, {left} left")
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn directives_add_to_the_usual_level_or_replace_it() {
        for (directives, ours, others) in [
            (None, Level::INFO, Level::INFO),
            (Some("debug"), Level::DEBUG, Level::DEBUG),
            (Some("dupsieve=trace"), Level::TRACE, Level::INFO),
            (Some("no such=level"), Level::INFO, Level::INFO),
        ] {
            let filter = filter(directives, LevelFilter::INFO);
            for (target, most) in [("dupsieve", ours), ("timely", others)] {
                for level in [Level::INFO, Level::DEBUG, Level::TRACE] {
                    let logged = filter.would_enable(target, &level);
                    assert_eq!(logged, level <= most, "{directives:?} {target} {level}");
                }
            }
        }
    }
}
