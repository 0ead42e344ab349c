//! Groups of flags that several commands share. A command names the groups that it uses in its attribute
//! `args = shared(&[...])`. A command without a group does not have the flags of the group.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use dupsieve::Result;
use dupsieve::store::Day;

use super::machines::{MachineFlags, MemoryFlag, WorkersFlag};

pub(crate) const COMMON: &str = "Common flags";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    Workers,
    Memory,
    Processes,
    DryRun,
    Overwrite,
    Telemetry,
}

pub(crate) use Shared::{DryRun, Memory, Overwrite, Processes, Telemetry, Workers};

/// All groups: those of a job that several processes do together.
pub(crate) const JOB: &[Shared] = &[Workers, Memory, Processes, DryRun, Overwrite, Telemetry];

impl Shared {
    pub(super) fn of(command: &Command) -> Vec<Shared> {
        let has = |flag: Arg| command.get_arguments().any(|it| it.get_id() == flag.get_id());
        JOB.iter().copied().filter(|group| group.flags().into_iter().all(has)).collect()
    }

    fn flags(self) -> Vec<Arg> {
        let none = Command::new("").next_help_heading(COMMON);
        let group = match self {
            Workers => WorkersFlag::augment_args(none),
            Memory => MemoryFlag::augment_args(none),
            Processes => MachineFlags::augment_args(none),
            DryRun => DryRunFlag::augment_args(none),
            Overwrite => OverwriteFlag::augment_args(none),
            Telemetry => TelemetryFlags::augment_args(none),
        };
        group.get_arguments().cloned().collect()
    }
}

pub(crate) fn shared(groups: &[Shared]) -> Vec<Arg> {
    let flags = groups.iter().copied().flat_map(Shared::flags);
    flags.enumerate().map(|(place, flag)| flag.display_order(place)).collect()
}

pub(crate) fn flags_of<T: Args>() -> Vec<Arg> {
    T::augment_args(Command::new("")).get_arguments().cloned().collect()
}

/// The first of these flags that was typed. The environment is for all commands, so a variable may have no effect.
pub(crate) fn typed_flag(
    typed: &ArgMatches,
    flags: impl IntoIterator<Item = Arg>,
) -> Option<String> {
    let is_typed =
        |flag: &Arg| typed.value_source(flag.get_id().as_str()) == Some(ValueSource::CommandLine);
    let flag = flags.into_iter().find(is_typed)?;
    flag.get_long().map(|name| format!("--{name}"))
}

/// That nothing is written.
#[derive(Args)]
pub(super) struct DryRunFlag {
    /// Report what would be done, or why it would fail; write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// That an output is replaced.
#[derive(Args)]
pub(super) struct OverwriteFlag {
    /// Replace an output that was made from other inputs or parameters
    #[arg(long)]
    pub(super) overwrite: bool,
}

/// By which others watch a job.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TelemetryFlags {
    /// When the job ends, however it ends, write its metrics to this file, a textfile for the node exporter of Prometheus.
    /// Give each job a file of its own, with a name that ends in .prom
    #[arg(long, value_name = "FILE", env = "DUPSIEVE_METRICS_FILE")]
    pub(crate) metrics_file: Option<PathBuf>,
}

/// Whether a day that lies ahead is meant.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ConfirmDay {
    /// The day is meant, though it lies more than a week after today and after the newest day of the store; or the days that
    /// leave are meant, though none stays
    #[arg(long)]
    confirm_day: bool,
}

impl ConfirmDay {
    /// Does this check, which is given the day that it is, unless what it would refuse is meant.
    pub(crate) fn check(self, check: impl FnOnce(Day) -> Result<()>) -> Result<()> {
        if self.confirm_day { Ok(()) } else { check(Day::today()) }
    }
}
