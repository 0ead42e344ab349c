//! The flags that every command takes, the values of those that commands share, and which of them contradict each other.

use std::mem::take;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use dupsieve::budget::Budget;
use dupsieve::{Error, Kind, Result};

use super::config::Config;
use super::machines::{MachineFlags, MachineSettings, MemoryFlag, Seconds, StallFlag, WorkersFlag};
use super::settings::ByteSize;
use super::shared::{self, DryRunFlag, OverwriteFlag, Shared, TelemetryFlags};

const THREADS_PER_CORE: usize = 8;

/// The flags that every command takes, and the values of those that it shares with others.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct GlobalFlags {
    /// Format of the log lines on stderr
    #[arg(long, global = true, value_enum, default_value_t, env = "DUPSIEVE_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// Print the answer as JSON; on a terminal, print the JSON summary line instead of sentences
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show no progress, and log only warnings and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Log more: formats of files, times read, records that are no pages
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Folder for working copies of what is in object stores, and for what is known of inputs [default: ~/.cache/dupsieve]
    #[arg(long, global = true, value_name = "DIR", env = "DUPSIEVE_CACHE")]
    pub(crate) cache: Option<PathBuf>,
    /// Configuration file with values for flags that are not given. The command line overrides
    /// environment variables, and those override the file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    stall: StallFlag,
    /// Which of the supervised processes this is. It comes before the command
    #[arg(long, global = true, hide = true)]
    pub(crate) child: Option<usize>,
    /// The groups of shared flags that the command has. The values of the others are the defaults.
    #[arg(skip)]
    shared: Vec<Shared>,
    #[arg(skip)]
    workers: WorkersFlag,
    #[arg(skip)]
    memory: MemoryFlag,
    #[arg(skip)]
    pub(crate) machines: MachineFlags,
    #[arg(skip)]
    pub(crate) dry_run: bool,
    #[arg(skip)]
    pub(crate) overwrite: bool,
    #[arg(skip)]
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
    /// These flags, with those that `command` shares with others as they were `typed` for it.
    pub(crate) fn with_shared(
        mut self,
        command: &Command,
        typed: &ArgMatches,
    ) -> Result<GlobalFlags, clap::Error> {
        self.shared = Shared::of(command);
        for group in self.shared.clone() {
            match group {
                shared::Workers => self.workers = WorkersFlag::from_arg_matches(typed)?,
                shared::Memory => self.memory = MemoryFlag::from_arg_matches(typed)?,
                shared::Processes => self.machines = MachineFlags::from_arg_matches(typed)?,
                shared::DryRun => self.dry_run = DryRunFlag::from_arg_matches(typed)?.dry_run,
                shared::Overwrite => {
                    self.overwrite = OverwriteFlag::from_arg_matches(typed)?.overwrite;
                }
                shared::Telemetry => self.telemetry = TelemetryFlags::from_arg_matches(typed)?,
            }
        }
        Ok(self)
    }

    /// Whether the command makes or changes an output or a store, as commands with --dry-run or --overwrite do, and is no job of several
    /// processes, which agree on what is published and when.
    pub(crate) fn is_of_lone_writer(&self) -> bool {
        let has = |group| self.shared.contains(&group);
        (has(shared::DryRun) || has(shared::Overwrite)) && !has(shared::Processes)
    }

    /// How many processes to start and watch; none if the job runs in this process.
    pub(crate) fn to_supervise(&self) -> Option<usize> {
        self.machines.processes.filter(|&processes| processes > 1 && self.child.is_none())
    }

    /// Which process of the job this is; none if it only watches others.
    pub(crate) fn number(&self) -> Option<usize> {
        self.to_supervise().is_none().then(|| self.child.or(self.machines.process).unwrap_or(0))
    }

    /// Whether this process speaks for the job when it ends: alone, as the supervisor, or as the first of a hosts file.
    pub(crate) fn speaks_for_job(&self) -> bool {
        self.child.is_none() && self.machines.process.unwrap_or(0) == 0
    }

    pub(crate) fn longest_stall(&self) -> Duration {
        self.stall.stall_timeout.map_or(Duration::from_secs(600), Seconds::duration)
    }

    pub(crate) fn budget(&self) -> Budget {
        self.memory.memory.map_or_else(Budget::default, |ByteSize(bytes)| Budget::of(bytes))
    }

    pub(crate) fn config(&self) -> Result<Config> {
        self.config.as_deref().map_or_else(|| Ok(Config::default()), Config::read)
    }

    /// How many worker threads each process has when `local` processes share this machine.
    pub(crate) fn workers(&self, local: usize) -> usize {
        self.workers.workers.unwrap_or((cores() / local).max(1))
    }

    pub(crate) fn fill(&mut self, settings: MachineSettings) {
        self.workers = take(&mut self.workers).or(settings.workers);
        self.memory = take(&mut self.memory).or(settings.memory);
        self.stall = take(&mut self.stall).or(settings.stall);
        if self.shared.contains(&shared::Processes) {
            self.machines.fill(settings.processes);
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.workers.workers == Some(0) {
            return Err(Error::new(Kind::Usage, "--workers must be at least 1"));
        }
        self.machines.check()?;
        self.check_threads(self.machines.processes.unwrap_or(1))
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
    use dupsieve::peers::Patience;

    use super::*;
    use crate::flags::shared::{JOB, shared};

    fn typed(flags: &str) -> GlobalFlags {
        let command = GlobalFlags::augment_args(Command::new("job")).args(shared(JOB));
        let words = format!("job {flags}");
        let typed = command.clone().get_matches_from(words.split_whitespace());
        let global = GlobalFlags::from_arg_matches(&typed).unwrap();
        global.with_shared(&command, &typed).unwrap()
    }

    #[test]
    fn flags_that_contradict_each_other_and_more_threads_than_cores_can_use_are_refused() {
        let most = most_threads();
        for (flags, is_right) in [
            ("", true),
            ("--processes 2", true),
            ("--hosts f --process 0 --secret-file s", true),
            (&*format!("--workers {most}"), true),
            (&*format!("--workers {} --processes 2", most / 2), true),
            ("--workers 0", false),
            ("--processes 0", false),
            ("--listen 127.0.0.1", false),
            ("--hosts f", false),
            ("--process 0", false),
            ("--secret-file s", false),
            ("--hosts f --process 0 --processes 2", false),
            (&*format!("--workers {}", most + 1), false),
            (&*format!("--processes {}", most + 1), false),
            (&*format!("--workers {} --processes 3", most / 2), false),
        ] {
            let refused = typed(flags).check().map_err(|error| error.kind());
            assert_eq!(refused, if is_right { Ok(()) } else { Err(Kind::Usage) }, "{flags}");
        }
    }

    #[test]
    fn the_file_sets_every_flag_and_the_flags_win() {
        let file = "workers = 3\nhosts = \"h\"\nprocess = 1\nsecret_file = \"s\"\n\
            listen = \"127.0.0.1:7\"\nwait_for_peers = 5\npeer_timeout = 6\n\
            stall_timeout = 7\nrestarts = 8\nmemory = \"1GiB\"\n";
        let filled = |flags: &str| {
            let mut global = typed(flags);
            global.fill(toml::from_str(file).unwrap());
            global
        };
        let global = filled("");
        let flags = &global.machines;
        assert_eq!(
            (global.workers.workers, global.memory.memory),
            (Some(3), Some(ByteSize(1 << 30)))
        );
        assert_eq!((flags.process, flags.listen), (Some(1), "127.0.0.1:7".parse().ok()));
        assert_eq!((&flags.hosts, &flags.secret_file), (&Some("h".into()), &Some("s".into())));
        let Patience { arrival, silence } = flags.patience();
        assert_eq!([arrival, silence, global.longest_stall()].map(|it| it.as_secs()), [5, 6, 7]);
        assert_eq!(flags.most_restarts(), 8);
        let flags = filled("--peer-timeout 9 --stall-timeout 10 --restarts 0").machines;
        assert_eq!((flags.patience().silence.as_secs(), flags.most_restarts()), (9, 0));
        for wrong in ["wait_for_peers = 0", "peer_timeout = 36001", "restarts = -1", "listen = 1"] {
            assert!(toml::from_str::<MachineSettings>(wrong).is_err(), "{wrong}");
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
            assert_eq!(typed(flags).to_supervise(), processes, "{flags}");
        }
    }
}
