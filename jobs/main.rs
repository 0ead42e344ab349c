//! The one binary: parses what was typed, runs that job, prints its summary, ends with its code.

mod arguments;
mod summary;

use std::process::ExitCode;

use arguments::CommandLine;
use summary::Summary;

fn main() -> ExitCode {
    let line = match CommandLine::read() {
        Ok(line) => line,
        Err(ended) => return ended,
    };
    let outcome = line.run();
    if let Err(error) = &outcome {
        eprintln!("dupsieve: {error}");
    }
    Summary::print(line.job(), outcome)
}
