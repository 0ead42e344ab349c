//! `dupsieve completions`: a script with which a shell completes commands and flags.

use std::io::{self, Write};

use clap::Args;
use clap_complete::Shell;
use dupsieve::Result;
use dupsieve::error::At;

use crate::commands::examples;
use crate::outcome::Summary;

const EXAMPLES: &str = "
# Print the script for bash; save it in ~/.local/share/bash-completion/completions/dupsieve
dupsieve completions bash";

/// Print a script with which a shell completes commands and flags
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: clap::Command) -> Result<Summary> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "dupsieve", &mut script);
    io::stdout().write_all(&script).at("stdout")?;
    Ok(Summary::new())
}
