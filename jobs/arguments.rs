//! What was typed: the commands, and the flags that every job takes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dupsieve::{Error, Result};

use crate::summary::Summary;

/// Finds the near-duplicates of a crawl, exactly: among a day's pages, and against all pages held.
#[derive(Debug, Parser)]
#[command(name = "dupsieve", version, max_term_width = 100)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// The flags that every job takes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Every job")]
pub(crate) struct Common {
    /// Threads in each process [default: cores / local processes]
    #[arg(long, global = true, value_name = "N", env = "DUPSIEVE_WORKERS")]
    pub(crate) workers: Option<usize>,
    /// Work beside the output and report what would be done, without doing it
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Replace an output made from other inputs or parameters
    #[arg(long, global = true)]
    pub(crate) overwrite: bool,
    /// How log lines on stderr look
    #[arg(long, global = true, value_enum, default_value_t, env = "DUPSIEVE_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// No progress and no log lines but warnings and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Memory that sorts and tables may use, such as 2GiB
    #[arg(long, global = true, value_name = "SIZE", env = "DUPSIEVE_MEMORY")]
    pub(crate) memory: Option<String>,
    /// Flags for this job from a configuration file, below the command line and the environment
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The jobs.
#[derive(Debug, Subcommand)]
enum Command {}

impl CommandLine {
    /// Reads the command line; help and version are printed to stdout, usage errors to stderr.
    pub(crate) fn read() -> Result<CommandLine, ExitCode> {
        CommandLine::try_parse().map_err(|typed| {
            let _ = typed.print();
            match typed.use_stderr() {
                false => ExitCode::SUCCESS,
                true => {
                    let what = typed.to_string().lines().next().unwrap_or_default().to_owned();
                    Summary::print("dupsieve", Err(Error::new(dupsieve::Kind::Usage, what)))
                }
            }
        })
    }

    /// The name of the job that was asked for.
    pub(crate) fn job(&self) -> &'static str {
        match self.command {}
    }

    /// Runs the job.
    pub(crate) fn run(&self) -> Result<Summary> {
        let _ = &self.common;
        match self.command {}
    }
}
