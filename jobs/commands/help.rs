//! Help: examples below each command, and the flags that every command takes in one place.

use clap::Command;

use crate::outcome::exit::CODES;

/// The command that shows the flags that every command takes.
pub(crate) const FLAGS: &str = "flags";

/// The text below the list of commands.
const CLOSING: &str = "\
`dupsieve help COMMAND` explains a command and shows examples.
`dupsieve help flags` shows the flags that every command takes.";

/// The text below each command.
const OF_COMMAND: &str = "`dupsieve help flags` shows the flags that every command takes.";

/// Examples of a command as its help shows them. An example is what it does, and the command line.
pub(crate) fn examples(examples: &[(&str, &str)]) -> String {
    let shown = |(what, line): &(&str, &str)| format!("  # {what}\n  {line}\n");
    format!("Examples:\n{}\n", examples.iter().map(shown).collect::<String>())
}

/// The command line `root` with the text below each help. The flags that every command takes, which it inherits, are shown by
/// `dupsieve help flags` only.
pub(crate) fn completed(root: Command) -> Command {
    let root = root.mut_args(|flag| flag.hide(true)).after_help(format!("{CLOSING}\n\n{CODES}"));
    root.mut_subcommands(below)
}

/// The command, and those below it, with the text below its flags.
fn below(command: Command) -> Command {
    if command.get_name() == FLAGS {
        return command;
    }
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command.after_help(format!("{examples}{OF_COMMAND}")).mut_subcommands(below)
}
