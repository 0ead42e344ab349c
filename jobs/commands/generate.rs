//! `dupsieve generate`: random inputs to measure and to test with.

mod documents;
mod segment;

use clap::{Args, Subcommand};
use dupsieve::Result;

use crate::flags::GlobalFlags;
use crate::outcome::Summary;

/// Make random inputs to measure and to test with; the same seed gives the same inputs
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Segment(segment::Arguments),
    Documents(documents::Arguments),
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    match &arguments.what {
        What::Segment(arguments) => segment::run(arguments, global),
        What::Documents(arguments) => documents::run(arguments, global),
    }
}
