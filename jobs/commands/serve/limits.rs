//! What a client may ask of the service at most.

use std::time::Duration;

use clap::Args;
use dupsieve::{Error, Kind};

use crate::flags::{ByteSize, Count, Seconds};

/// The limits of the service.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Longest body of a request
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = parse_bytes)]
    pub(super) max_body: usize,
    /// Most bytes of all bodies and answers together that are worked on, wait or are being sent; requests beyond them are
    /// told to come again (503). A body counts twice: as it came, and as it was read
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_bytes)]
    pub(super) max_in_flight: usize,
    /// Longest text of a page
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = parse_bytes)]
    pub(super) max_text: usize,
    /// Most fingerprints or pages of a request
    #[arg(long, value_name = "N", default_value = "10000", value_parser = parse_number)]
    pub(super) max_batch: usize,
    /// Most steps of work for a request. A step is a fingerprint or a page that is looked at; then what was found so far is
    /// answered (`cut`)
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = parse_number)]
    pub(super) max_work: usize,
    /// Most near pages that an answer names for a fingerprint or page; the others are counted
    #[arg(long, value_name = "N", default_value = "100", value_parser = parse_number)]
    pub(super) limit: usize,
    /// Most bytes of near pages that an answer names in all, about; the others are counted
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = parse_bytes)]
    pub(super) max_answer: usize,
    /// Most requests that are worked on or wait at the same time; others are told to come again (503)
    #[arg(long, value_name = "N", default_value = "256", value_parser = parse_number)]
    pub(super) max_requests: usize,
    /// Most open connections; others are told to come again (503)
    #[arg(long, value_name = "N", default_value = "1024", value_parser = parse_number)]
    pub(super) max_connections: usize,
    /// Longest time for the head of a request, for its body, for its answer, and for the client to take that
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_time)]
    pub(super) max_time: Duration,
    /// Most bytes of the journal; then pages are remembered only after a commit (503)
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes)]
    pub(super) max_journal: usize,
}

impl Limits {
    pub(super) fn check(&self) -> dupsieve::Result<()> {
        if self.max_body.saturating_mul(2) <= self.max_in_flight {
            return Ok(());
        }
        let what = "--max-body is more than half of --max-in-flight, so no such body could come";
        let most = self.max_in_flight / 2;
        Err(Error::new(Kind::Usage, what)
            .expected(format_args!("at most {most}"))
            .found(self.max_body))
    }
}

fn parse_bytes(text: &str) -> Result<usize, String> {
    let ByteSize(bytes) = text.parse().map_err(|wrong: dupsieve::Error| wrong.to_string())?;
    usize::try_from(bytes).map_err(|_| "more than this machine can address".to_owned())
}

fn parse_number(text: &str) -> Result<usize, String> {
    let Count(count) = text.parse()?;
    // What semaphores hold.
    let most = 1 << 40;
    let count = usize::try_from(count).ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| format!("expected 1 to {most}"))
}

fn parse_time(text: &str) -> Result<Duration, String> {
    text.parse().map(Seconds::<86_400>::duration)
}
