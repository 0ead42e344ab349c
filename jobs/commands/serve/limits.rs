//! What a client may ask of the service at most.

use std::time::Duration;

use clap::Args;
use dupsieve::{Error, Kind};

use crate::flags::settings::{ByteSize, Count};

/// Something that is limited, and how its limit is typed.
pub(super) trait Unit {
    /// What `--help` shows for it.
    const NAME: &str;
    type Limit: Clone + Send + Sync + 'static;
    fn read(text: &str) -> Result<Self::Limit, String>;
}

pub(super) struct Bytes;
pub(super) struct Number;
pub(super) struct Seconds;

/// Flags for limits: the text of the help, the name, the unit and the default of each.
macro_rules! limits {
    ($($(#[doc = $help:literal])* $name:ident: $unit:ident = $default:literal,)*) => {
        /// The limits of the service.
        #[derive(Args, Clone, Copy, Debug)]
        pub(super) struct Limits {
            $(
                $(#[doc = $help])*
                #[arg(long, value_name = $unit::NAME, default_value = $default, value_parser = $unit::read)]
                pub(super) $name: <$unit as Unit>::Limit,
            )*
        }
    };
}

limits! {
    /// Longest body of a request
    max_body: Bytes = "16MiB",
    /// Most bytes of all bodies and answers together that are worked on, wait or are being sent; requests beyond them are
    /// told to come again (503). A body counts twice: as it came, and as it was read
    max_in_flight: Bytes = "256MiB",
    /// Longest text of a page
    max_text: Bytes = "4MiB",
    /// Most fingerprints or pages of a request
    max_batch: Number = "10000",
    /// Most steps of work for a request. A step is a fingerprint or a page that is looked at; then what was found so far is
    /// answered (`cut`)
    max_work: Number = "10000000",
    /// Most near pages that an answer names for a fingerprint or page; the others are counted
    limit: Number = "100",
    /// Most bytes of near pages that an answer names in all, about; the others are counted
    max_answer: Bytes = "16MiB",
    /// Most requests that are worked on or wait at the same time; others are told to come again (503)
    max_requests: Number = "256",
    /// Most open connections; others are told to come again (503)
    max_connections: Number = "1024",
    /// Longest time for the head of a request, for its body, for its answer, and for the client to take that
    max_time: Seconds = "30",
    /// Most bytes of the journal; then pages are remembered only after a commit (503)
    max_journal: Bytes = "1GiB",
}

impl Limits {
    /// Refuses limits that contradict each other.
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

impl Unit for Bytes {
    const NAME: &str = "SIZE";
    type Limit = usize;

    fn read(text: &str) -> Result<usize, String> {
        let ByteSize(bytes) = text.parse().map_err(|wrong: dupsieve::Error| wrong.to_string())?;
        usize::try_from(bytes).map_err(|_| "more than this machine can address".to_owned())
    }
}

impl Unit for Number {
    const NAME: &str = "N";
    type Limit = usize;

    fn read(text: &str) -> Result<usize, String> {
        let Count(count) = text.parse()?;
        // What semaphores hold.
        let most = 1 << 40;
        usize::try_from(count)
            .ok()
            .filter(|count| (1..=most).contains(count))
            .ok_or_else(|| format!("expected 1 to {most}"))
    }
}

impl Unit for Seconds {
    const NAME: &str = "SECONDS";
    type Limit = Duration;

    fn read(text: &str) -> Result<Duration, String> {
        let seconds = text.parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
        seconds.map(Duration::from_secs).ok_or_else(|| "expected 1 to 86400 seconds".to_owned())
    }
}
