//! What a join takes on several machines that are like this one: the table of `plan --machines`.

use std::fmt;
use std::str::FromStr;

use dupsieve::rooms::tables::Plan;
use dupsieve::{Error, Kind};
use serde_json::{Value, json};

use crate::flags::settings::ByteSize;

/// To decode one fingerprint, in nanoseconds, on one thread of a Zen 5 machine without vector instructions.
const DECODE_NS: f64 = 0.8;
/// What one match takes when it is sent to the process that writes.
const MATCH_BYTES: u64 = 40;

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
}

/// What each of several machines does.
pub(super) struct Share {
    machines: u64,
    rate: Rate,
    store: u64,
    bytes: u64,
    /// In seconds: reading, preparing the batch, and comparing on all threads.
    disk: f64,
    batch: f64,
    processor: f64,
    network_bytes: u64,
    memory_bytes: u64,
    first_bytes: u64,
}

impl Share {
    /// The share of one of so many machines. All read at once, and each reads while it compares.
    pub(super) fn of(work: &Work<'_>, machines: u64, rate: Rate) -> Share {
        let Work { plan, batch, store, workers, bytes, held } = *work;
        let all = machines as f64;
        let probing = (plan.chosen.nanoseconds + DECODE_NS) * store as f64 / 1e9;
        let arranging =
            (plan.chosen.seconds - plan.chosen.nanoseconds * store as f64 / 1e9).max(0.0);
        let share = bytes.div_ceil(machines);
        Share {
            machines,
            rate,
            store: store.div_ceil(machines),
            bytes: share,
            disk: share as f64 / rate.0 as f64,
            batch: arranging / workers as f64,
            processor: (probing + plan.itself.seconds) / all / workers as f64,
            network_bytes: batch.saturating_mul(MATCH_BYTES),
            memory_bytes: plan.chosen.memory_bytes,
            first_bytes: batch.saturating_mul(held),
        }
    }

    /// The seconds that the join takes: the batch is arranged first, then the slower of the two counts.
    fn seconds(&self) -> f64 {
        self.batch + self.disk.max(self.processor)
    }

    pub(super) fn object(&self) -> Value {
        json!({
            "machines": self.machines, "fingerprints_each": self.store, "bytes_read_each": self.bytes,
            "disk_seconds": self.disk, "batch_seconds": self.batch, "processor_seconds": self.processor,
            "seconds": self.seconds(), "network_bytes_at_most": self.network_bytes,
            "memory_bytes_each": self.memory_bytes, "memory_bytes_first": self.first_bytes,
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let slower = if self.disk > self.processor { "disk" } else { "processors" };
        writeln!(f, "each of {} machines like this one:", self.machines)?;
        writeln!(f, "  compares      {:>12.3e} fingerprints of the store", self.store as f64)?;
        writeln!(f, "  batch         {:>12.1} s to arrange it, on every machine", self.batch)?;
        writeln!(
            f,
            "  disk          {:>12.1} s for {:.1} GB at {:.2} GB/s",
            self.disk,
            gigabytes(self.bytes),
            gigabytes(self.rate.0)
        )?;
        writeln!(
            f,
            "  processors    {:>12.1} s to decode and compare, on all workers",
            self.processor
        )?;
        writeln!(
            f,
            "  network       {:>12.2} GB to the first machine if every page has a match",
            gigabytes(self.network_bytes)
        )?;
        writeln!(
            f,
            "  memory        {:>12.2} GB, the first machine {:.2} GB more",
            gigabytes(self.memory_bytes),
            gigabytes(self.first_bytes)
        )?;
        write!(f, "the join takes about {:.0} s; the {slower} set the pace", self.seconds())
    }
}

#[cfg(test)]
mod tests {
    use dupsieve::rooms::fingerprint::Width;
    use dupsieve::rooms::tables::{Design, Problem, plan};

    use super::*;

    fn on(machines: u64, rate: &str) -> Share {
        let (batch, store) = (10_000_000, 100_000_000_000);
        let problem = Problem::uniform(batch, store, 3, Width::W64, 2);
        let plan = plan::choose(Design::Auto, &problem, 8 << 30).unwrap();
        let bytes = 4 * store;
        let work = Work { plan: &plan, batch, store, workers: 2, bytes, held: 40 };
        Share::of(&work, machines, rate.parse().unwrap())
    }

    #[test]
    fn machines_share_the_store_and_each_arranges_the_batch() {
        let [one, ten] = [1, 10].map(|machines| on(machines, "1GB/s"));
        assert!((one.disk - 400.0).abs() < 1e-9 && (ten.disk - 40.0).abs() < 1e-9);
        assert!((one.processor / ten.processor - 10.0).abs() < 1e-9);
        assert_eq!((one.batch, one.memory_bytes), (ten.batch, ten.memory_bytes));
        assert!(on(10, "1MB/s").to_string().ends_with("the disk set the pace"));
        assert!(on(10, "1TB/s").to_string().ends_with("the processors set the pace"));
        assert!(["1GB", "fast/s", "0/s"].iter().all(|rate| rate.parse::<Rate>().is_err()));
    }
}
