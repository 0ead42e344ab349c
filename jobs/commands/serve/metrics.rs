//! What `/metrics` tells, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use dupsieve::online::Online;
use dupsieve::parallel::lock;

use crate::outcome::exposition::Exposition;

#[derive(Default)]
pub(super) struct Metrics {
    answered: Mutex<BTreeMap<String, Answered>>,
    pub(super) asked: AtomicU64,
    pub(super) remembered: AtomicU64,
    pub(super) commits: AtomicU64,
    pub(super) connections: AtomicU64,
}

/// How many buckets of times there are: from a tenth of a millisecond to 13 seconds, each twice as long as the one before.
const BUCKETS: usize = 18;
const FIRST_BUCKET: f64 = 1e-4;

#[derive(Default)]
struct Answered {
    statuses: BTreeMap<u16, u64>,
    /// The requests that took at most as long as each bucket says.
    buckets: [u64; BUCKETS],
    seconds: f64,
}

impl Metrics {
    /// Counts a request. A path that is not served is counted as `other`.
    pub(super) fn answered(&self, path: Option<&str>, status: StatusCode, time: Duration) {
        let mut paths = lock(&self.answered);
        let answered = paths.entry(path.unwrap_or("other").to_owned()).or_default();
        *answered.statuses.entry(status.as_u16()).or_default() += 1;
        let seconds = time.as_secs_f64();
        answered.seconds += seconds;
        for (bucket, most) in answered.buckets.iter_mut().zip(bounds()) {
            *bucket += u64::from(seconds <= most);
        }
    }

    pub(super) fn text(&self, online: Option<&Online>) -> String {
        let mut text = Exposition::default();
        self.requests(&mut text);
        for (name, help, count) in [
            ("asked_total", "Fingerprints and pages that were asked for.", &self.asked),
            ("remembered_total", "Pages sent to be remembered.", &self.remembered),
            ("commits_total", "Days that were committed.", &self.commits),
        ] {
            text.counter(name, help).sample(&[], count.load(Ordering::Relaxed) as f64);
        }
        let connections = self.connections.load(Ordering::Relaxed);
        text.gauge("connections", "Open connections.").sample(&[], connections as f64);
        let Some(online) = online else { return text.into_text() };
        let (version, journal) = (online.version(), online.journal());
        for (name, help, value) in [
            ("store_version", "Version of the store that answers.", version.number()),
            ("store_rows", "Fingerprints of that version.", version.shown_rows()),
            ("journal_pages", "Pages in no day of the store yet.", journal.pages()),
            ("journal_bytes", "Size of the file that takes new pages.", journal.bytes()),
        ] {
            text.gauge(name, help).sample(&[], value as f64);
        }
        text.into_text()
    }

    fn requests(&self, text: &mut Exposition) {
        let paths = lock(&self.answered);
        text.counter("requests_total", "Requests by path and status.");
        for (path, answered) in &*paths {
            for (status, count) in &answered.statuses {
                text.sample(&[("path", path), ("status", &status.to_string())], *count as f64);
            }
        }
        text.histogram("request_seconds", "Time from the head of a request to its answer.");
        for (path, Answered { statuses, buckets, seconds }) in &*paths {
            let all: u64 = statuses.values().sum();
            let bounds = bounds().map(|most| most.to_string()).chain(["+Inf".to_owned()]);
            for (most, count) in bounds.zip(buckets.iter().copied().chain([all])) {
                text.part("_bucket", &[("path", path), ("le", &most)], count as f64);
            }
            text.part("_sum", &[("path", path)], *seconds);
            text.part("_count", &[("path", path)], all as f64);
        }
    }
}

fn bounds() -> impl Iterator<Item = f64> {
    (0..BUCKETS as u32).map(|at| FIRST_BUCKET * f64::from(1_u32 << at))
}
