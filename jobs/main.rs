//! The one binary: parses what was typed, runs that job, prints its summary, ends with its code.

mod arguments;
mod child;
mod cluster;
mod compare;
mod config;
mod crew;
mod days;
mod dedup;
mod ending;
mod evaluate;
mod explain;
mod filter;
mod fingerprint;
mod generate;
mod held;
mod help;
mod inspect;
mod outputs;
mod packed_file;
mod pages;
mod plan;
mod progress;
mod reading;
mod redo;
mod report;
mod run;
mod sample;
mod settings;
mod signals;
mod stall;
mod store;
mod store_at;
mod summary;
mod supervisor;
mod verify;
mod weights;

use arguments::CommandLine;
use dupsieve::Result;
use summary::Summary;

fn main() {
    ending::catch_panics();
    // Before anything is read, so that it ends as it should from the first moment on.
    if let Err(error) = ending::prepare().and_then(|()| signals::listen()) {
        ending::end(Err(error));
    }
    let mut line = CommandLine::read();
    ending::end(line.settle().and_then(|()| run(&line)))
}

/// Runs the job here, or, with `--processes`, in that many processes that this one watches.
fn run(line: &CommandLine) -> Result<Summary> {
    let cluster = &line.common().cluster;
    progress::log(line.common());
    if let Some(processes) = cluster.to_supervise() {
        supervisor::supervise(processes, cluster);
    }
    if cluster.child.is_some() {
        child::die_with_parent();
    }
    stall::end_when_stalled(cluster.longest_stall())?;
    line.run()
}
