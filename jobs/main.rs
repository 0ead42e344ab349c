//! The one binary: parses what was typed, runs that job, prints its summary, ends with its code.

mod commands;
mod flags;
mod outcome;
mod processes;

use dupsieve::Result;

use commands::command_line::CommandLine;
use flags::common::LogFormat;
use outcome::summary::Summary;
use outcome::{exit, progress};
use processes::{child, signals, stall, supervisor};

fn main() {
    exit::catch_panics();
    // Before anything is read, so that it ends as it should from the first moment on.
    if let Err(error) = exit::prepare().and_then(|()| signals::listen()) {
        exit::end(Err(error));
    }
    let mut line = CommandLine::read();
    exit::end(line.settle().and_then(|()| run(&line)))
}

/// Runs the job here, or, with `--processes`, in that many processes that this one watches.
fn run(line: &CommandLine) -> Result<Summary> {
    let cluster = &line.common().cluster;
    progress::log(line.common().quiet, line.common().log_format == LogFormat::Json);
    if let Some(processes) = cluster.to_supervise() {
        supervisor::supervise(processes, cluster);
    }
    if cluster.child.is_some() {
        child::die_with_parent();
    }
    stall::end_when_stalled(cluster.longest_stall())?;
    line.run()
}
