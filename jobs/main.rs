//! The program: parses the command line, runs the command, prints its summary and exits with its code.

mod commands;
mod flags;
mod outcome;
mod processes;

use dupsieve::Result;
use dupsieve::step::{self, Step};
use tracing::level_filters::LevelFilter;

use commands::command_line::CommandLine;
use flags::LogFormat;
use outcome::{Summary, abort, exit, identity, log, metrics_file};
use processes::{child, signals, stall, supervisor};

/// With the allocator of musl, threads wait for each other.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    identity::lead();
    exit::catch_panics();
    // Before anything else, so that the process ends properly from its first moment on.
    if let Err(error) = begin() {
        exit::end(Err(error));
    }
    let mut line = CommandLine::read();
    let global = &line.global;
    let level = match (global.quiet, global.verbose) {
        (true, _) => LevelFilter::WARN,
        (false, true) => LevelFilter::DEBUG,
        (false, false) => LevelFilter::INFO,
    };
    log::start(level, global.log_format == LogFormat::Json);
    abort::prepare();
    let completed = line.complete();
    identity::set_process(line.global.number());
    step::begin(Step::Starting);
    // A wrong configuration is told too.
    let global = &line.global;
    let told = match &global.telemetry.metrics_file {
        Some(file) if global.speaks_for_job() && !global.dry_run => {
            metrics_file::write_at_end(file)
        }
        _ => Ok(()),
    };
    exit::end(completed.and(told).and_then(|()| run(&line)))
}

/// Makes sure that the process ends with one exit code, whatever happens to it, and from the end of this on with one summary.
fn begin() -> Result<()> {
    signals::end_if_aborted()?;
    exit::prepare()?;
    signals::listen()
}

/// Runs the command in this process or, with `--processes`, in children that this process supervises.
fn run(line: &CommandLine) -> Result<Summary> {
    line.mount()?;
    let global = &line.global;
    if let Some(processes) = global.to_supervise() {
        supervisor::supervise(processes, &global.machines);
    }
    if global.child.is_some() {
        child::die_with_parent();
    }
    stall::end_when_stalled(global.longest_stall())?;
    line.run()
}
