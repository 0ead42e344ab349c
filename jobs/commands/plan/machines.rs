//! What a join takes on several machines that are like this one: the table of `plan --machines`.

use std::fmt;
use std::str::FromStr;

use dupsieve::rooms::tables::Plan;
use dupsieve::{Error, Kind};
use serde_json::{Value, json};

use crate::flags::settings::ByteSize;

/// To decode one fingerprint, in nanoseconds, on one thread of a Zen 5 machine without vector instructions.
const DECODE_NS: f64 = 0.8;
/// What one match takes when it is sent to the process that writes. It takes as much on its way to the process that sorts it.
const MATCH_BYTES: f64 = 40.0;
/// What a process sends to each other one, to agree on what is done (bench-data/runs/2026-11-26-growth.md).
const AGREEMENT_BYTES: f64 = 5e3;
/// The bytes of a chunk of a large store, and the number of chunks of a small one. No worker takes less than a chunk.
const CHUNK_BYTES: u64 = 64 << 20;
const CHUNKS: u64 = 64;

/// How many bytes a disk gives in a second, written as a size and `/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate(u64);

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Rate, Error> {
        let size = text.strip_suffix("/s").and_then(|size| ByteSize::from_str(size).ok());
        size.map(|size| Rate(size.0)).ok_or_else(|| {
            Error::new(Kind::Usage, "not a rate")
                .expected("a size a second, such as 1.2GB/s")
                .found(text)
        })
    }
}

/// What is shared among machines.
pub(super) struct Work<'a> {
    pub(super) plan: &'a Plan,
    pub(super) batch: u64,
    pub(super) store: u64,
    /// The threads of each machine.
    pub(super) workers: u64,
    /// The bytes of the store on the disks.
    pub(super) bytes: u64,
    /// The bytes that process 0 holds for each page of the batch.
    pub(super) held: u64,
    /// What each machine reads of the store in a second.
    pub(super) disk: Rate,
    /// What each machine sends or receives in a second.
    pub(super) link: Rate,
}

/// What each of several machines does.
pub(super) struct Share {
    machines: u64,
    /// The fingerprints of the store, and their bytes, on the machine that has the most chunks.
    fingerprints: f64,
    bytes: f64,
    /// In seconds: preparing the batch, reading, comparing on all threads, and receiving the matches.
    batch: f64,
    disk: f64,
    processors: f64,
    network: f64,
    /// The bytes to the first machine, and between all, if every page has a match.
    first_network_bytes: f64,
    network_bytes: f64,
    memory_bytes: u64,
    first_memory_bytes: u64,
    /// The ids that the first machine looks up, if every page has a match.
    ids: u64,
    /// Whether some workers get no chunk.
    is_idle: bool,
}

impl Share {
    /// The share of one of so many machines. All read at once, and each reads while it compares. Work is shared by whole chunks.
    pub(super) fn of(work: &Work<'_>, machines: u64) -> Share {
        let &Work { plan, batch, store, workers, bytes, held, disk, link } = work;
        let all = machines as f64;
        let probing = (plan.chosen.nanoseconds + DECODE_NS) * store as f64 / 1e9;
        let arranging =
            (plan.chosen.seconds - plan.chosen.nanoseconds * store as f64 / 1e9).max(0.0);
        let chunks = bytes.div_ceil(CHUNK_BYTES).max(CHUNKS);
        let most = |sharers: u64| chunks.div_ceil(sharers) as f64 / chunks as f64;
        let everyone = machines.saturating_mul(workers);
        let matches = batch as f64 * MATCH_BYTES * (all - 1.0) / all;
        let agreements = AGREEMENT_BYTES * all * (all - 1.0);
        let first_network_bytes = matches + agreements / all;
        Share {
            machines,
            fingerprints: store as f64 * most(machines),
            bytes: bytes as f64 * most(machines),
            batch: arranging / workers as f64,
            disk: bytes as f64 * most(machines) / disk.0 as f64,
            processors: probing * most(everyone) + plan.itself.seconds / everyone as f64,
            network: first_network_bytes / link.0 as f64,
            first_network_bytes,
            network_bytes: 2.0 * matches + agreements,
            memory_bytes: plan.chosen.memory_bytes,
            first_memory_bytes: batch.saturating_mul(held),
            ids: batch,
            is_idle: everyone > chunks,
        }
    }

    /// What takes longest after the batch is arranged, and its seconds.
    fn slowest(&self) -> (&'static str, f64) {
        let processors = if self.is_idle { "chunks" } else { "processors" };
        let all = [(processors, self.processors), ("disk", self.disk), ("network", self.network)];
        all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are three")
    }

    /// The seconds that the join takes: the batch is arranged first, then the slowest counts.
    fn seconds(&self) -> f64 {
        self.batch + self.slowest().1
    }

    pub(super) fn object(&self) -> Value {
        json!({
            "machines": self.machines, "fingerprints_each": self.fingerprints, "bytes_read_each": self.bytes,
            "disk_seconds": self.disk, "batch_seconds": self.batch, "processor_seconds": self.processors,
            "network_seconds_at_most": self.network, "seconds": self.seconds(), "pace": self.slowest().0,
            "first_network_bytes_at_most": self.first_network_bytes, "network_bytes_at_most": self.network_bytes,
            "memory_bytes_each": self.memory_bytes, "memory_bytes_first": self.first_memory_bytes,
            "first_ids_at_most": self.ids,
        })
    }
}

/// A column for each number of machines.
pub(super) struct Shares<'a>(pub(super) &'a [Share]);

impl fmt::Display for Shares<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |what: &str, value: &dyn Fn(&Share) -> String| {
            write!(f, "{what:<52}")?;
            self.0.iter().try_for_each(|share| write!(f, "{:>12}", value(share)))?;
            writeln!(f)
        };
        let gigabytes = |bytes: f64| format!("{:.2}", bytes / 1e9);
        line("machines like this one", &|it| it.machines.to_string())?;
        line("fingerprints of the store, each", &|it| format!("{:.3e}", it.fingerprints))?;
        line("seconds to arrange the batch, each", &|it| format!("{:.1}", it.batch))?;
        line("seconds to decode and compare, on all workers", &|it| {
            format!("{:.1}", it.processors)
        })?;
        line("GB read of the store, each", &|it| gigabytes(it.bytes))?;
        line("seconds to read them", &|it| format!("{:.1}", it.disk))?;
        line("GB to the first, if every page has a match", &|it| {
            gigabytes(it.first_network_bytes)
        })?;
        line("seconds to receive them", &|it| format!("{:.1}", it.network))?;
        line("GB between all, if every page has a match", &|it| gigabytes(it.network_bytes))?;
        line("GB of memory, each", &|it| gigabytes(it.memory_bytes as f64))?;
        line("GB of memory more, the first", &|it| gigabytes(it.first_memory_bytes as f64))?;
        line("ids that the first looks up besides, at most", &|it| {
            format!("{:.1e}", it.ids as f64)
        })?;
        line("the join takes about, in seconds", &|it| format!("{:.0}", it.seconds()))?;
        line("what sets the pace", &|it| it.slowest().0.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use dupsieve::rooms::fingerprint::Width;
    use dupsieve::rooms::tables::{Design, Problem, plan};

    use super::*;

    fn on(machines: u64, disk: &str, link: &str) -> Share {
        let (batch, store) = (10_000_000, 100_000_000_000);
        let problem = Problem::uniform(batch, store, 3, Width::W64, 2);
        let plan = plan::choose(Design::Auto, &problem, 8 << 30).unwrap();
        let [disk, link] = [disk, link].map(|rate| rate.parse().unwrap());
        // In 6400 chunks.
        let bytes = 6400 * CHUNK_BYTES;
        let work = Work { plan: &plan, batch, store, workers: 2, bytes, held: 40, disk, link };
        Share::of(&work, machines)
    }

    #[test]
    fn machines_share_the_store_by_chunks_and_each_arranges_the_batch() {
        let [one, ten] = [1, 10].map(|machines| on(machines, "1GB/s", "1GB/s"));
        assert!((one.disk / ten.disk - 10.0).abs() < 1e-9 && (ten.fingerprints - 1e10).abs() < 1.0);
        assert!((one.processors / ten.processors - 10.0).abs() < 1e-9);
        assert_eq!((one.batch, one.memory_bytes), (ten.batch, ten.memory_bytes));
        assert_eq!((one.network_bytes, one.first_network_bytes), (0.0, 0.0));
        assert!((ten.first_network_bytes - 3.6e8).abs() < 1e5, "{}", ten.first_network_bytes);
        assert!((ten.network_bytes - 7.2e8).abs() < 1e6, "{}", ten.network_bytes);
        // Beyond a chunk for each worker, more machines save nothing.
        let [enough, more] = [3200, 6400].map(|machines| on(machines, "1GB/s", "1TB/s").processors);
        assert!((enough - more).abs() < 0.01 * enough, "{enough} {more}");
    }

    #[test]
    fn what_takes_longest_sets_the_pace() {
        let pace = |machines, disk, link| on(machines, disk, link).slowest().0;
        assert_eq!(pace(10, "1MB/s", "1GB/s"), "disk");
        assert_eq!(pace(10, "1TB/s", "1TB/s"), "processors");
        assert_eq!(pace(10, "1TB/s", "1kB/s"), "network");
        assert_eq!(pace(4000, "1TB/s", "1TB/s"), "chunks");
        assert!(["1GB", "fast/s", "0/s"].iter().all(|rate| rate.parse::<Rate>().is_err()));
    }

    #[test]
    fn each_number_of_machines_is_a_column() {
        let shares = [10, 200].map(|machines| on(machines, "1.2GB/s", "1.25GB/s"));
        let shown = Shares(&shares).to_string();
        let last = |line: &str| -> Vec<String> {
            line[52..].split_whitespace().map(str::to_owned).collect()
        };
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(last(lines[0]), ["10", "200"]);
        assert_eq!(last(lines[1]), ["1.000e10", "5.000e8"]);
        assert_eq!(last(lines.last().unwrap()), ["processors", "processors"]);
        assert!(lines.iter().all(|line| last(line).len() == 2), "{shown}");
    }
}
