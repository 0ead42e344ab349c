//! What `/metrics` tells, in the text format of Prometheus.

use std::time::Duration;

use axum::http::StatusCode;
use dupsieve::rooms::online::Online;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The counters of the service.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    times: Family<Path, Histogram>,
    pub(super) asked: Counter,
    pub(super) remembered: Counter,
    pub(super) commits: Counter,
    pub(super) connections: Gauge,
    version: Gauge,
    rows: Gauge,
    journal_pages: Gauge,
    journal_bytes: Gauge,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    path: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Path {
    path: String,
}

/// Buckets from a tenth of a millisecond to 13 seconds.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(1e-4, 2.0, 18))
}

impl Metrics {
    pub(super) fn new() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("dupsieve"),
            requests: Family::default(),
            times: Family::new_with_constructor(histogram),
            asked: Counter::default(),
            remembered: Counter::default(),
            commits: Counter::default(),
            connections: Gauge::default(),
            version: Gauge::default(),
            rows: Gauge::default(),
            journal_pages: Gauge::default(),
            journal_bytes: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("requests", "Requests by path and status", metrics.requests.clone());
        registry.register_with_unit(
            "request",
            "Time from the head of a request to its answer",
            Unit::Seconds,
            metrics.times.clone(),
        );
        registry.register(
            "asked",
            "Fingerprints and pages that were asked for",
            metrics.asked.clone(),
        );
        registry.register("remembered", "Pages sent to be remembered", metrics.remembered.clone());
        registry.register("commits", "Days that were committed", metrics.commits.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register(
            "store_version",
            "Version of the store that answers",
            metrics.version.clone(),
        );
        registry.register("store_rows", "Fingerprints of that version", metrics.rows.clone());
        registry.register(
            "journal_pages",
            "Pages in no day of the store yet",
            metrics.journal_pages.clone(),
        );
        registry.register_with_unit(
            "journal",
            "Size of the file that takes new pages",
            Unit::Bytes,
            metrics.journal_bytes.clone(),
        );
        metrics
    }

    /// Counts a request. A path that is not served is counted as `other`.
    pub(super) fn answered(&self, path: Option<&str>, status: StatusCode, time: Duration) {
        let path = path.unwrap_or("other").to_owned();
        let status = status.as_u16();
        self.times.get_or_create(&Path { path: path.clone() }).observe(time.as_secs_f64());
        self.requests.get_or_create(&Answered { path, status }).inc();
    }

    /// All of them as text.
    pub(super) fn text(&self, online: Option<&Online>) -> String {
        if let Some(online) = online {
            let version = online.version();
            self.version.set(version.number().cast_signed());
            self.rows.set(version.shown_rows().cast_signed());
            self.journal_pages.set(online.journal().pages().cast_signed());
            self.journal_bytes.set(online.journal().bytes().cast_signed());
        }
        let mut text = String::new();
        // Text takes whatever is written.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
