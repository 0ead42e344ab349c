//! The flags that every command takes, and which of them contradict each other.

use std::path::PathBuf;
use std::thread;

use clap::{Args, ValueEnum};
use dupsieve::budget::Budget;
use dupsieve::{Error, Kind, Result};

use super::cluster::{ClusterFlags, ClusterSettings};
use super::config::Config;
use super::settings::ByteSize;
use super::telemetry::TelemetryFlags;

/// How many worker threads a core may have.
const THREADS_PER_CORE: usize = 8;

/// The flags that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct GlobalFlags {
    /// Threads in each process [default: cores / local processes]
    #[arg(long, global = true, value_name = "N", env = "DUPSIEVE_WORKERS")]
    pub(crate) workers: Option<usize>,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,
    /// Report what would be done, or why it would fail; write nothing
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Replace an output that was made from other inputs or parameters
    #[arg(long, global = true)]
    pub(crate) overwrite: bool,
    /// Format of the log lines on stderr
    #[arg(long, global = true, value_enum, default_value_t, env = "DUPSIEVE_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// Print the answer as JSON; on a terminal, print the JSON summary line instead of sentences
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show no progress, and log only warnings and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Memory for tables and sorts in each process, such as 8GiB. A join needs about 40 bytes more for
    /// each page of the batch, and room for its signature, 32 bytes by default (see `dupsieve plan`); `filter`
    /// and `store add --only` need 17 bytes for each listed id [default: 2GiB]
    #[arg(long, global = true, value_name = "SIZE", env = "DUPSIEVE_MEMORY")]
    pub(crate) memory: Option<ByteSize>,
    /// Folder for working copies of what is in object stores [default: ~/.cache/dupsieve]
    #[arg(long, global = true, value_name = "DIR", env = "DUPSIEVE_CACHE")]
    pub(crate) cache: Option<PathBuf>,
    /// Configuration file with values for flags that are not given. The command line overrides
    /// environment variables, and those override the file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) telemetry: TelemetryFlags,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl GlobalFlags {
    /// The memory for tables and sorts.
    pub(crate) fn budget(&self) -> Budget {
        self.memory.map_or_else(Budget::default, |ByteSize(bytes)| Budget::of(bytes))
    }

    /// The settings of the file named with --config.
    pub(crate) fn config(&self) -> Result<Config> {
        self.config.as_deref().map_or_else(|| Ok(Config::default()), Config::read)
    }

    /// How many worker threads each process has when `local` processes share this machine.
    pub(crate) fn workers(&self, local: usize) -> usize {
        self.workers.unwrap_or((cores() / local).max(1))
    }

    /// Takes from `settings` the values of flags that were not given. `can_be_shared` says whether
    /// several processes can run this command together.
    pub(crate) fn fill(&mut self, settings: ClusterSettings, can_be_shared: bool) {
        self.workers = self.workers.or(settings.workers);
        self.memory = self.memory.or(settings.memory);
        self.cluster.fill(settings, can_be_shared);
    }

    /// Refuses flags that contradict each other, before any work.
    pub(crate) fn check(&self, can_be_shared: bool) -> Result<()> {
        if self.workers == Some(0) {
            return Err(Error::new(Kind::Usage, "--workers must be at least 1"));
        }
        self.cluster.check(can_be_shared)?;
        self.check_threads(self.cluster.processes.unwrap_or(1))
    }

    /// Refuses far more threads than the machine has cores: each needs memory, and none helps.
    fn check_threads(&self, processes: usize) -> Result<()> {
        let most = most_threads();
        let threads = self.workers(processes).saturating_mul(processes);
        if threads <= most {
            return Ok(());
        }
        Err(Error::new(Kind::Usage, "more worker threads than this machine can use")
            .expected(format_args!("at most {most}, {THREADS_PER_CORE} for each core"))
            .found(threads)
            .help("lower --workers or --processes"))
    }
}

/// How many worker threads are allowed on this machine: `THREADS_PER_CORE` for each core, and at
/// least as many as on 4 cores.
fn most_threads() -> usize {
    cores().max(4) * THREADS_PER_CORE
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use dupsieve::peers::Patience;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        global: GlobalFlags,
    }

    fn typed(flags: &str) -> GlobalFlags {
        Typed::parse_from(format!("dupsieve {flags}").split_whitespace()).global
    }

    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        for flags in ["", "--workers 2", "--processes 2", "--hosts f --process 0 --secret-file s"] {
            assert_eq!(typed(flags).check(true), Ok(()), "{flags}");
        }
        for flags in [
            "--workers 0",
            "--processes 0",
            "--listen 127.0.0.1",
            "--hosts f",
            "--process 0",
            "--secret-file s",
            "--hosts f --process 0 --processes 2",
        ] {
            assert_eq!(typed(flags).check(true).unwrap_err().kind(), Kind::Usage, "{flags}");
        }
    }

    #[test]
    fn threads_are_limited_by_the_number_of_cores() {
        let most = most_threads();
        let more = most + 1;
        for flags in [format!("--workers {most}"), format!("--workers {} --processes 2", most / 2)]
        {
            assert_eq!(typed(&flags).check(true), Ok(()), "{flags}");
        }
        for flags in [
            format!("--workers {more}"),
            format!("--processes {more}"),
            format!("--workers {} --processes 3", most / 2),
        ] {
            assert_eq!(typed(&flags).check(true).unwrap_err().kind(), Kind::Usage, "{flags}");
        }
    }

    #[test]
    fn the_file_sets_every_flag_and_the_flags_win() {
        let file = "workers = 3\nhosts = \"h\"\nprocess = 1\nsecret_file = \"s\"\n\
            listen = \"127.0.0.1:7\"\nwait_for_peers = 5\npeer_timeout = 6\n\
            stall_timeout = 7\nrestarts = 8\nmemory = \"1GiB\"\n";
        let filled = |flags: &str| {
            let mut global = typed(flags);
            global.fill(toml::from_str(file).unwrap(), true);
            global
        };
        let global = filled("");
        let flags = &global.cluster;
        assert_eq!((global.workers, global.memory), (Some(3), Some(ByteSize(1 << 30))));
        assert_eq!((flags.process, flags.listen), (Some(1), "127.0.0.1:7".parse().ok()));
        assert_eq!((&flags.hosts, &flags.secret_file), (&Some("h".into()), &Some("s".into())));
        let Patience { arrival, silence } = flags.patience();
        assert_eq!([arrival, silence, flags.longest_stall()].map(|it| it.as_secs()), [5, 6, 7]);
        assert_eq!(flags.most_restarts(), 8);
        let flags = filled("--peer-timeout 9 --stall-timeout 10 --restarts 0").cluster;
        assert_eq!((flags.patience().silence.as_secs(), flags.most_restarts()), (9, 0));
        for wrong in ["wait_for_peers = 0", "peer_timeout = 36001", "restarts = -1", "listen = 1"] {
            assert!(toml::from_str::<ClusterSettings>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_parent_of_several_supervises_and_its_children_do_not() {
        for (flags, processes) in [
            ("", None),
            ("--processes 1", None),
            ("--processes 3", Some(3)),
            ("--processes 3 --child 0", None),
        ] {
            assert_eq!(typed(flags).cluster.to_supervise(), processes, "{flags}");
        }
    }
}
