//! What a client may ask of the service at most.

use std::time::Duration;

use clap::Args;

use crate::flags::settings::{ByteSize, Count};

/// The limits of the service.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Longest body of a request
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = bytes)]
    pub(super) max_body: usize,
    /// Longest text of a page
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = bytes)]
    pub(super) max_text: usize,
    /// Most fingerprints or pages of a request
    #[arg(long, value_name = "N", default_value = "10000", value_parser = count)]
    pub(super) max_batch: usize,
    /// Most near pages that an answer names; the others are counted
    #[arg(long, value_name = "N", default_value = "100", value_parser = count)]
    pub(super) limit: usize,
    /// Most requests that are worked on or wait at the same time; others are told to come again (503)
    #[arg(long, value_name = "N", default_value = "256", value_parser = count)]
    pub(super) max_requests: usize,
    /// Most open connections; others are told to come again (503)
    #[arg(long, value_name = "N", default_value = "1024", value_parser = count)]
    pub(super) max_connections: usize,
    /// Longest time for the head of a request, for its body, and for its answer
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(super) max_time: Duration,
    /// Most bytes of the journal; then pages are remembered only after a commit (503)
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    pub(super) max_journal: usize,
}

fn bytes(text: &str) -> Result<usize, String> {
    let ByteSize(bytes) = text.parse().map_err(|wrong: dupsieve::Error| wrong.to_string())?;
    usize::try_from(bytes).map_err(|_| "more than this machine can address".to_owned())
}

fn count(text: &str) -> Result<usize, String> {
    let Count(count) = text.parse()?;
    // What semaphores hold.
    let most = 1 << 40;
    usize::try_from(count)
        .ok()
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| format!("expected 1 to {most}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| "expected 1 to 86400 seconds".to_owned())
}
