//! `dupsieve man`: the manual pages of all commands.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use dupsieve::Result;
use dupsieve::error::{At, Named};

use crate::commands::examples;
use crate::outcome::Summary;

const EXAMPLES: &str = "
# Write the manual pages where `man` looks for them
dupsieve man ~/.local/share/man/man1";

/// Write the manual pages of all commands, such as dupsieve-run.1
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// The folder to write them into. Files with the same names are replaced
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, command: clap::Command) -> Result<Summary> {
    let Arguments { folder } = arguments;
    fs::create_dir_all(folder).at(folder)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), folder).at(folder)?;
    Ok(Summary::new().say(format!("written to {}: to read one, man -l FILE", folder.named())))
}
