//! The section `[machines]`: in how many processes a job runs (in this one alone, in several on this machine, or on many
//! machines), and what each may use. Flags and environment variables can set all of it too.

use std::env;
use std::mem::take;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use dupsieve::peers::Patience;
use dupsieve::{Error, Kind, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::settings::{ByteSize, allowed, section, typed};

section! {
    /// The section `[machines]` of a configuration file.
    MachineSettings;

    /// How many threads a process has.
    workers: WorkersFlag {
        /// Threads in each process [default: cores / local processes]
        #[arg(long, value_name = "N", env = "DUPSIEVE_WORKERS")]
        workers: usize,
    }

    /// How much memory a process takes.
    memory: MemoryFlag {
        /// Memory for tables and sorts in each process, such as 8GiB. A join needs about 80 bytes more for
        /// each page of the batch, and room for its sketch (see `dupsieve plan`); `filter`
        /// and `store add --only` need 17 bytes for each listed id [default: 2GiB]
        #[arg(long, value_name = "SIZE", env = "DUPSIEVE_MEMORY")]
        memory: ByteSize as "allowed::number",
    }

    /// How long a process may hang.
    stall: StallFlag {
        /// Abort (exit 75) after this long without progress, for example on a hung disk [default: 600]
        #[arg(long, global = true, value_name = "SECONDS", env = "DUPSIEVE_STALL_TIMEOUT")]
        stall_timeout: Seconds<{ u64::MAX }> as "allowed::seconds",
    }

    /// In how many processes a job runs.
    processes: MachineFlags {
        /// Start this many processes on this machine and watch them [env: DUPSIEVE_PROCESSES]
        #[arg(long, value_name = "N")]
        processes: usize,
        /// The processes of the job, one host:port a line; this one is a line of the file
        /// [env: DUPSIEVE_HOSTS]
        #[arg(long, value_name = "FILE")]
        hosts: PathBuf,
        /// Which line of the hosts file this process is, counted from 0 [env: DUPSIEVE_PROCESS]
        #[arg(long, value_name = "I")]
        process: usize,
        /// File with a secret that all processes of the hosts file share; only its owner may read it.
        /// Needed unless all processes listen at loopback addresses [env: DUPSIEVE_SECRET_FILE]
        #[arg(long, value_name = "FILE")]
        secret_file: PathBuf,
        /// Address of this machine to listen at, instead of the one in the hosts file
        /// [env: DUPSIEVE_LISTEN]
        #[arg(long, value_name = "ADDR[:PORT]", value_parser = Listen::from_str)]
        listen: Listen as "allowed::text",
        /// Abort (exit 69) when another process has not started after this long [default: 60]
        #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_WAIT_FOR_PEERS")]
        wait_for_peers: Seconds<86_400> as "allowed::seconds",
        /// Abort (exit 75) when another process gave no sign of life for this long [default: 30]
        #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_PEER_TIMEOUT")]
        peer_timeout: Seconds<36_000> as "allowed::seconds",
        /// Restart all processes of --processes at most this often when one is lost [default: 2]
        #[arg(long, value_name = "N", env = "DUPSIEVE_RESTARTS")]
        restarts: u32,
    }
}

impl MachineFlags {
    /// How long to wait for a peer that is silent.
    pub(crate) fn patience(&self) -> Patience {
        Patience {
            arrival: self.wait_for_peers.map_or(Duration::from_secs(60), Seconds::duration),
            silence: self.peer_timeout.map_or(Duration::from_secs(30), Seconds::duration),
        }
    }

    pub(crate) fn most_restarts(&self) -> u32 {
        self.restarts.unwrap_or(2)
    }

    /// Takes from `settings` the values of flags that were not given. --processes or --hosts hides
    /// both settings of those names, so that `--processes 2` does not contradict hosts in the file.
    pub(super) fn fill(&mut self, mut settings: MachineFlags) {
        if self.processes.is_some() || self.hosts.is_some() {
            (settings.processes, settings.hosts) = (None, None);
        }
        if self.hosts.is_none() && settings.hosts.is_none() {
            (settings.process, settings.secret_file, settings.listen) = (None, None, None);
        }
        *self = take(self).or(settings);
    }

    pub(super) fn check(&self) -> Result<()> {
        let has_hosts = self.hosts.is_some();
        let has_process = self.process.is_some();
        let contradictions = [
            (self.processes == Some(0), "--processes must be at least 1"),
            (has_hosts && self.processes.is_some(), "--processes and --hosts exclude each other"),
            (has_hosts && !has_process, "--hosts needs --process: which line of the file this is"),
            (has_process && !has_hosts, "--process needs --hosts"),
            (self.secret_file.is_some() && !has_hosts, "--secret-file needs --hosts"),
            (self.listen.is_some() && !has_hosts, "--listen needs --hosts"),
        ];
        match contradictions.into_iter().find(|(found, _)| *found) {
            Some((_, what)) => Err(Error::new(Kind::Usage, what)),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seconds<const MOST: u64>(u64);

impl<const MOST: u64> Seconds<MOST> {
    pub(crate) fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl<const MOST: u64> FromStr for Seconds<MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Seconds<MOST>, String> {
        let seconds = text.parse().ok().filter(|seconds| (1..=MOST).contains(seconds));
        seconds.map(Seconds).ok_or_else(|| format!("expected 1 to {MOST} seconds"))
    }
}

/// Where to listen: an address of this machine, and a port if it is not the one of the hosts file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    pub(crate) address: IpAddr,
    pub(crate) port: Option<u16>,
}

impl FromStr for Listen {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Listen, &'static str> {
        let whole =
            text.parse().map(|at: SocketAddr| Listen { address: at.ip(), port: Some(at.port()) });
        let address = text.trim_start_matches('[').trim_end_matches(']').parse();
        whole.or(address.map(|address| Listen { address, port: None })).map_err(
            |_| "expected an IP address, with or without a port, such as 10.0.0.2 or 0.0.0.0:2101",
        )
    }
}

impl MachineSettings {
    /// The settings that environment variables give. They are a layer of their own between flags and
    /// file, so that they never contradict a flag, nor a command that runs in one process.
    pub(crate) fn from_environment() -> Result<MachineSettings> {
        let processes = MachineFlags {
            processes: variable("DUPSIEVE_PROCESSES")?,
            hosts: variable("DUPSIEVE_HOSTS")?,
            process: variable("DUPSIEVE_PROCESS")?,
            secret_file: variable("DUPSIEVE_SECRET_FILE")?,
            listen: variable("DUPSIEVE_LISTEN")?,
            ..MachineFlags::default()
        };
        Ok(MachineSettings { processes, ..MachineSettings::default() })
    }
}

fn variable<T: FromStr>(name: &str) -> Result<Option<T>> {
    let Some(text) = env::var_os(name) else { return Ok(None) };
    let value = text.to_str().and_then(|text| text.parse().ok());
    value.map(Some).ok_or_else(|| {
        Error::new(Kind::Usage, format!("the environment variable {name} has an invalid value"))
            .found(text.to_string_lossy())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_or_none() {
        let parse = |text: &str| text.parse().map(|Listen { address, port }| (address, port));
        assert_eq!(parse("10.0.0.2"), Ok(([10, 0, 0, 2].into(), None)));
        assert_eq!(parse("10.0.0.2:21"), Ok(([10, 0, 0, 2].into(), Some(21))));
        assert_eq!(parse("[::1]:21").unwrap().1, Some(21));
        assert_eq!(parse("[::1]"), parse("::1"));
        assert!(parse("host").is_err() && parse("").is_err());
    }
}
