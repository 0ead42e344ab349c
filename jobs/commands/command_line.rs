//! What was typed: the commands, and the flags that every job takes.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use dupsieve::{Error, Kind, Result};

use crate::commands::compare;
use crate::commands::dedup;
use crate::commands::evaluate;
use crate::commands::explain;
use crate::commands::filter;
use crate::commands::fingerprint;
use crate::commands::generate;
use crate::commands::help;
use crate::commands::inspect;
use crate::commands::plan;
use crate::commands::run;
use crate::commands::sample;
use crate::commands::store;
use crate::commands::verify;
use crate::commands::weights;
use crate::flags::cluster::ClusterSettings;
use crate::flags::common::Common;
use crate::flags::config::Config;
use crate::outcome::exit::{self, Audience};
use crate::outcome::summary::{Summary, SummaryLine};
use dupsieve::output::STDOUT;

/// Finds the near-duplicates of a crawl, exactly: among a day's pages, and against all pages held.
#[derive(Debug, Parser)]
#[command(name = "dupsieve", version, max_term_width = 100)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// The commands that answer a question: their answer is all that stands on stdout.
const ANSWERS: [&str; 9] = [
    "inspect",
    "plan",
    "explain",
    "compare",
    "sample",
    "evaluate",
    "store list",
    "store log",
    help::FLAGS,
];

/// The jobs.
#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Fingerprint(fingerprint::Arguments),
    Dedup(dedup::Arguments),
    Filter(filter::Arguments),
    Generate(generate::Arguments),
    Inspect(inspect::Arguments),
    Plan(plan::Arguments),
    Store(store::Arguments),
    Verify(verify::Arguments),
    Compare(compare::Arguments),
    Explain(explain::Arguments),
    Sample(sample::Arguments),
    Evaluate(evaluate::Arguments),
    Weights(weights::Arguments),
    /// Show the flags that every job takes
    #[command(override_usage = "dupsieve COMMAND [FLAGS]")]
    Flags(Common),
}

impl CommandLine {
    /// Reads the command line. Help, version and usage errors are printed and end the process.
    pub(crate) fn read() -> CommandLine {
        name_job();
        CommandLine::parsed().unwrap_or_else(|typed| {
            let _ = typed.print();
            if !typed.use_stderr() {
                exit::end_with(None, 0);
            }
            let what = match typed.kind() {
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    let what = "no command is named";
                    let _ = writeln!(io::stderr(), "\nerror: {what}");
                    what.to_owned()
                }
                _ => first_paragraph(&typed.to_string()),
            };
            let told = SummaryLine::of(exit::job(), Err(Error::new(Kind::Usage, what)));
            exit::end_with(Some(told), Kind::Usage.code())
        })
    }

    fn parsed() -> Result<CommandLine, clap::Error> {
        let typed = command().try_get_matches()?;
        if let Some((flag, name)) = help::idle_flag(&typed) {
            let what = format!("{flag} has no effect in `dupsieve {name}`");
            return Err(command().error(ErrorKind::ArgumentConflict, what));
        }
        CommandLine::from_arg_matches(&typed)
    }

    /// The flags that every job takes.
    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    /// Whether the job is one that several processes can share.
    pub(crate) fn can_be_shared(&self) -> bool {
        matches!(
            self.command,
            Command::Run(_) | Command::Fingerprint(_) | Command::Dedup(_) | Command::Weights(_)
        )
    }

    /// Settles from the configuration file where the job runs, as far as the flags leave it open, and
    /// checks that this goes together.
    pub(crate) fn settle(&mut self) -> Result<()> {
        let file = match &self.command {
            Command::Run(_) if self.common.config.is_some() => {
                return Err(Error::new(
                    Kind::Usage,
                    "run takes its configuration without --config",
                ));
            }
            Command::Run(arguments) => Config::read(&arguments.days)?,
            _ => self.common.config()?,
        };
        let can_be_shared = self.can_be_shared();
        self.common.fill(ClusterSettings::from_environment()?, can_be_shared);
        self.common.fill(file.cluster, can_be_shared);
        self.common.check(can_be_shared)
    }

    /// Runs the job.
    pub(crate) fn run(&self) -> Result<Summary> {
        let common = &self.common;
        let summary = match &self.command {
            Command::Run(arguments) => run::run(arguments, common),
            Command::Fingerprint(arguments) => fingerprint::run(arguments, common),
            Command::Dedup(arguments) => dedup::run(arguments, common),
            Command::Filter(arguments) => filter::run(arguments, common),
            Command::Generate(arguments) => generate::run(arguments, common),
            Command::Inspect(arguments) => inspect::run(arguments, common),
            Command::Plan(arguments) => plan::run(arguments, common),
            Command::Store(arguments) => store::run(arguments, common),
            Command::Verify(arguments) => verify::run(arguments, common),
            Command::Compare(arguments) => compare::run(arguments, common),
            Command::Explain(arguments) => explain::run(arguments, common),
            Command::Sample(arguments) => sample::run(arguments, common),
            Command::Evaluate(arguments) => evaluate::run(arguments, common),
            Command::Weights(arguments) => weights::run(arguments, common),
            Command::Flags(_) => show_flags(),
        }?;
        Ok(if common.dry_run { summary.say("nothing was written (--dry-run)") } else { summary })
    }
}

/// The command line as it is parsed, and as help shows it.
fn command() -> clap::Command {
    help::with_examples(CommandLine::command())
}

/// Tells how the process ends which job it is, and who reads stdout. A command line with a mistake is
/// understood as far as possible, so that the mistake is told to the same reader.
fn name_job() {
    let typed = command().ignore_errors(true).try_get_matches().unwrap_or_default();
    let (path, of_job) = help::innermost(&typed);
    let is_typed = |flag: &str| env::args_os().any(|word| word == flag);
    let answers = ANSWERS.contains(&path.as_str()) || writes_to_stdout(&path, of_job);
    let reader = match is_typed("--child") {
        true => Audience::Supervisor,
        false => Audience::of_job(answers, is_typed("--json")),
    };
    exit::name_job(typed.subcommand_name().unwrap_or("dupsieve"), reader);
}

fn show_flags() -> Result<Summary> {
    let mut command = command();
    command.build();
    if let Some(flags) = command.find_subcommand_mut(help::FLAGS) {
        print!("{}", flags.render_long_help());
    }
    Ok(Summary::answered())
}

/// Whether the records that a job writes go to standard output, where nothing may stand between them.
fn writes_to_stdout(path: &str, of_job: &ArgMatches) -> bool {
    let output = of_job.try_get_one::<PathBuf>("output");
    (path == "filter" || path.starts_with("generate "))
        && matches!(output, Ok(Some(path)) if path == Path::new(STDOUT))
}

/// What clap says is wrong, in one line, without the usage that follows.
fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What clap asserts of a command in debug builds alone, and that everything is described.
    fn check(command: &clap::Command) {
        let (mut ids, mut longs) = (BTreeSet::new(), BTreeSet::new());
        for flag in command.get_arguments() {
            let name = format!("{} {}", command.get_name(), flag.get_id());
            assert!(ids.insert(flag.get_id().as_str()), "{name} stands there twice");
            assert!(
                flag.get_long().is_none_or(|long| longs.insert(long)),
                "{name} has another's flag"
            );
            assert!(flag.get_help().is_some(), "{name} has no description");
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_flag_has_a_name_of_its_own_and_a_description() {
        let mut command = command();
        command.build();
        check(&command);
    }

    #[test]
    fn the_summary_names_what_is_missing() {
        let typed = CommandLine::try_parse_from(["dupsieve", "dedup"]).unwrap_err();
        let what = first_paragraph(&typed.to_string());
        assert!(what.starts_with("the following") && what.contains("--batch"), "{what}");
    }

    /// The commands that do something, each with those above it.
    fn leaves(command: &clap::Command, above: &str, found: &mut Vec<String>) {
        for command in command.get_subcommands() {
            let path = format!("{above}{}", command.get_name());
            match command.has_subcommands() {
                true => leaves(command, &format!("{path} "), found),
                false => found.push(path),
            }
        }
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed() {
        let mut paths = Vec::new();
        leaves(&command(), "", &mut paths);
        assert!(paths.len() > 12, "{paths:?}");
        for path in paths.iter().filter(|path| *path != help::FLAGS && *path != "help") {
            let examples = help::EXAMPLES.iter().find(|(command, _)| command == path);
            let (_, examples) = examples.unwrap_or_else(|| panic!("{path} has no example"));
            for (_, line) in *examples {
                let typed =
                    command().try_get_matches_from(line.replace('\'', "").split_whitespace());
                let typed = typed.unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
                assert_eq!(
                    (&help::innermost(&typed).0, help::idle_flag(&typed)),
                    (path, None),
                    "{line}"
                );
            }
        }
        for (path, _) in help::EXAMPLES {
            assert!(paths.iter().any(|found| found == path), "{path} is no command");
        }
    }

    #[test]
    fn flags_are_limited_to_commands_that_there_are() {
        let mut command = command();
        command.build();
        for (id, commands) in help::LIMITED {
            assert!(command.get_arguments().any(|flag| flag.get_id() == id), "{id}");
            for path in *commands {
                let of_path = path.split(' ').try_fold(&command, |at, it| at.find_subcommand(it));
                assert!(of_path.is_some(), "{path}");
            }
        }
    }
}
