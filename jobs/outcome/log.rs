//! Log lines on stderr: short text for people, or JSON objects in which each line says of itself which job, day,
//! process and step it is from.

use std::env;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{Format, Json, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use super::identity;
use super::terminal::Plain;

/// Whether lines are JSON; text until [`start`] says so.
static IS_JSON: OnceLock<bool> = OnceLock::new();

/// Sends log lines up to this level to stderr, each a JSON object if `as_json`.
pub(crate) fn start(level: LevelFilter, as_json: bool) {
    IS_JSON.get_or_init(|| as_json);
    let filter = filter(env::var("RUST_LOG").ok().as_deref(), level);
    let lines = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(|| Stderr);
    if as_json {
        lines.json().map_event_format(Identified).finish().with(filter).init();
    } else {
        let color = io::stderr().is_terminal();
        let lines = lines.with_ansi(color).with_target(false).without_time().compact();
        lines.finish().with(filter).init();
    }
}

/// Writes the failure that ends the job, whatever else is logged. It stays the last line: other threads that log wait for a lock
/// which is never released, until the process has ended.
pub(crate) fn failure(error: &str, shown: &str) {
    let mut last = ManuallyDrop::new(Plain::of(io::stderr().lock()));
    let _ = last.write_all(failure_text(error, shown, Some(now())).as_bytes());
}

/// What is logged of a failure: as it is `shown`, or the `error` as a line of JSON, with the time of it if that is known. It is to be
/// written at once, because other processes write to stderr too.
pub(crate) fn failure_text(error: &str, shown: &str, time: Option<String>) -> String {
    if IS_JSON.get() != Some(&true) {
        return format!("{shown}\n");
    }
    let mut line = identification();
    line.extend(time.map(|time| ("timestamp".to_owned(), time.into())));
    line.insert("level".to_owned(), "ERROR".into());
    line.insert("fields".to_owned(), json!({ "message": error }));
    line.insert("target".to_owned(), "dupsieve".into());
    format!("{}\n", Value::Object(line))
}

pub(super) fn now() -> String {
    let mut time = String::new();
    // Text takes whatever is written.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    time
}

fn identification() -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("job".to_owned(), identity::job().into());
    line.extend(identity::day().map(|day| ("day".to_owned(), day.to_string().into())));
    line.insert("process".to_owned(), identity::process().into());
    line.insert("step".to_owned(), identity::clock().current().name().into());
    line
}

struct Identified(Format<Json>);

impl<S, N> FormatEvent<S, N> for Identified
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        let own = Value::Object(identification()).to_string();
        write!(writer, "{},{}", own.trim_end_matches('}'), line.trim_start_matches('{'))
    }
}

/// What is logged: what `directives` say, such as `debug` or `dupsieve=debug`, and otherwise this level; of the crates below no more
/// than usual. Directives that cannot be read count for nothing.
fn filter(directives: Option<&str>, level: LevelFilter) -> Targets {
    let targets: Targets = directives.and_then(|text| text.parse().ok()).unwrap_or_default();
    if targets.default_level().is_some() {
        return targets;
    }
    let ours = Targets::new().with_target("dupsieve", level);
    ours.with_targets(targets).with_default(level.min(LevelFilter::INFO))
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

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn directives_add_to_the_usual_level_or_replace_it() {
        for (directives, level, ours, others) in [
            (None, LevelFilter::INFO, Level::INFO, Level::INFO),
            (None, LevelFilter::DEBUG, Level::DEBUG, Level::INFO),
            (None, LevelFilter::WARN, Level::WARN, Level::WARN),
            (Some("debug"), LevelFilter::INFO, Level::DEBUG, Level::DEBUG),
            (Some("dupsieve=trace"), LevelFilter::INFO, Level::TRACE, Level::INFO),
            (Some("no such=level"), LevelFilter::INFO, Level::INFO, Level::INFO),
        ] {
            let filter = filter(directives, level);
            for (target, most) in [("dupsieve", ours), ("timely", others)] {
                for level in [Level::INFO, Level::DEBUG, Level::TRACE] {
                    let logged = filter.would_enable(target, &level);
                    assert_eq!(logged, level <= most, "{directives:?} {target} {level}");
                }
            }
        }
    }
}
