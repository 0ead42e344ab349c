//! The command line: parses it, fills in settings from the environment and a file, and runs the command.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use dupsieve::output::STDOUT;
use dupsieve::{Error, Kind, Result};

use crate::commands::cluster;
use crate::commands::compare;
use crate::commands::completions;
use crate::commands::dedup;
use crate::commands::doctor;
use crate::commands::evaluate;
use crate::commands::explain;
use crate::commands::filter;
use crate::commands::fingerprint;
use crate::commands::generate;
use crate::commands::help;
use crate::commands::init;
use crate::commands::inspect;
use crate::commands::lsh;
use crate::commands::man;
use crate::commands::places;
use crate::commands::plan;
use crate::commands::query;
use crate::commands::report;
use crate::commands::run;
use crate::commands::sample;
use crate::commands::schema;
use crate::commands::seen;
#[cfg(feature = "serve")]
use crate::commands::serve;
use crate::commands::store;
use crate::commands::verify;
use crate::commands::version;
use crate::commands::weights;
use crate::flags::cluster::ClusterSettings;
use crate::flags::config::Config;
use crate::flags::global::GlobalFlags;
use crate::flags::telemetry::TelemetryFlags;
use crate::outcome::exit::{self, Audience};
use crate::outcome::identity;
use crate::outcome::summary::{Summary, SummaryLine};

/// Finds the near-duplicates in a web crawl, exactly: among the pages of a day, and against all pages
/// of earlier days.
#[derive(Debug, Parser)]
#[command(name = "dupsieve", version, long_version = version::details(), max_term_width = 100)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: GlobalFlags,
}

/// The commands that answer a question. They print nothing but the answer to stdout.
const ANSWERS: [&str; 16] = [
    "query",
    "seen",
    "inspect",
    "plan",
    "explain",
    "compare",
    "sample",
    "evaluate",
    "lsh plan",
    "report",
    "completions",
    "doctor",
    "schema",
    "store list",
    "store log",
    help::FLAGS,
];

/// The commands.
#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Arguments),
    Run(run::Arguments),
    Fingerprint(fingerprint::Arguments),
    Dedup(dedup::Arguments),
    Cluster(cluster::Arguments),
    Lsh(Box<lsh::Arguments>),
    Filter(filter::Arguments),
    Generate(generate::Arguments),
    Inspect(inspect::Arguments),
    Plan(plan::Arguments),
    Query(Box<query::Arguments>),
    Seen(seen::Arguments),
    #[cfg(feature = "serve")]
    Serve(serve::Arguments),
    Store(store::Arguments),
    Verify(verify::Arguments),
    Compare(compare::Arguments),
    Explain(explain::Arguments),
    Sample(sample::Arguments),
    Report(report::Arguments),
    Evaluate(evaluate::Arguments),
    Weights(weights::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    Schema(schema::Arguments),
    /// Show the flags that every command takes
    #[command(override_usage = "dupsieve COMMAND [FLAGS]")]
    Flags(GlobalFlags),
}

impl Command {
    /// Whether the command makes and changes no output and no store.
    fn only_reads(&self) -> bool {
        match self {
            Command::Store(store) => store.only_reads(),
            command => matches!(
                command,
                Command::Inspect(_)
                    | Command::Plan(_)
                    | Command::Query(_)
                    | Command::Seen(_)
                    | Command::Verify(_)
                    | Command::Compare(_)
                    | Command::Explain(_)
                    | Command::Sample(_)
            ),
        }
    }
}

impl CommandLine {
    /// Reads the command line. Help, the version and usage errors are printed, and the process ends.
    pub(crate) fn read() -> CommandLine {
        name_job();
        CommandLine::parsed().unwrap_or_else(|typed| {
            let _ = typed.print();
            if !typed.use_stderr() {
                exit::end_with(None, 0);
            }
            let what = match typed.kind() {
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    let what = "no command is given";
                    let _ = writeln!(io::stderr(), "\nerror: {what}");
                    what.to_owned()
                }
                _ => first_paragraph(&typed.to_string()),
            };
            let line = SummaryLine::of(identity::job(), Err(Error::new(Kind::Usage, what)));
            exit::end_with(Some(line), Kind::Usage.code())
        })
    }

    fn parsed() -> Result<CommandLine, clap::Error> {
        CommandLine::of(&typed(env::args_os())?)
    }

    fn of(typed: &ArgMatches) -> Result<CommandLine, clap::Error> {
        let mut line = CommandLine::from_arg_matches(typed)?;
        if !help::takes(typed, "metrics_file") {
            line.global.telemetry = TelemetryFlags::default();
        }
        Ok(line)
    }

    /// The flags that every command takes.
    pub(crate) fn global(&self) -> &GlobalFlags {
        &self.global
    }

    /// Whether several processes can run the command together.
    pub(crate) fn can_be_shared(&self) -> bool {
        match &self.command {
            Command::Lsh(arguments) => arguments.compares(),
            command => matches!(
                command,
                Command::Run(_)
                    | Command::Fingerprint(_)
                    | Command::Dedup(_)
                    | Command::Cluster(_)
                    | Command::Weights(_)
                    | Command::Doctor(_)
            ),
        }
    }

    /// Takes flags that were not given from the environment and from the configuration file, and checks
    /// that they do not contradict each other.
    pub(crate) fn complete(&mut self) -> Result<()> {
        let file = match &self.command {
            Command::Run(_) if self.global.config.is_some() => {
                return Err(Error::new(
                    Kind::Usage,
                    "`run` takes its configuration file as an argument, without --config",
                ));
            }
            Command::Run(arguments) => Config::read(&arguments.days)?,
            _ => self.global.config()?,
        };
        let can_be_shared = self.can_be_shared();
        self.global.fill(ClusterSettings::from_environment()?, can_be_shared);
        self.global.fill(file.cluster, can_be_shared);
        self.global.check(can_be_shared)
    }

    /// Mounts what the command line names by addresses, and puts the paths of mounts in their place.
    pub(crate) fn mount(&mut self) -> Result<()> {
        places::keep_in(&self.global);
        let parsed = |error: clap::Error| {
            Error::new(Kind::Internal, "a command line with mounts cannot be read").found(error)
        };
        let words: Vec<OsString> = env::args_os().collect();
        let mounted = places::mounted_words(&typed(words.clone()).map_err(parsed)?, words.clone())?;
        if mounted != words {
            let typed = typed(mounted).map_err(parsed)?;
            let line = CommandLine::of(&typed).map_err(parsed)?;
            self.command = line.command;
        }
        match &self.command {
            Command::Run(arguments) => run::mount(arguments),
            _ => places::mount_tables(&self.global.config()?),
        }
    }

    /// Runs the command.
    pub(crate) fn run(&self) -> Result<Summary> {
        let global = &self.global;
        let summary = match &self.command {
            Command::Init(arguments) => init::run(arguments, global),
            Command::Run(arguments) => run::run(arguments, global),
            Command::Fingerprint(arguments) => fingerprint::run(arguments, global),
            Command::Dedup(arguments) => dedup::run(arguments, global),
            Command::Cluster(arguments) => cluster::run(arguments, global),
            Command::Lsh(arguments) => lsh::run(arguments, global),
            Command::Filter(arguments) => filter::run(arguments, global),
            Command::Generate(arguments) => generate::run(arguments, global),
            Command::Inspect(arguments) => inspect::run(arguments, global),
            Command::Plan(arguments) => plan::run(arguments, global),
            Command::Query(arguments) => query::run(arguments, global),
            Command::Seen(arguments) => seen::run(arguments, global),
            #[cfg(feature = "serve")]
            Command::Serve(arguments) => serve::run(arguments, global),
            Command::Store(arguments) => store::run(arguments, global),
            Command::Verify(arguments) => verify::run(arguments, global),
            Command::Compare(arguments) => compare::run(arguments, global),
            Command::Explain(arguments) => explain::run(arguments, global),
            Command::Sample(arguments) => sample::run(arguments, global),
            Command::Report(arguments) => report::run(arguments, global),
            Command::Evaluate(arguments) => evaluate::run(arguments, global),
            Command::Weights(arguments) => weights::run(arguments, global),
            Command::Doctor(arguments) => doctor::run(arguments, global),
            Command::Completions(arguments) => completions::run(arguments, command()),
            Command::Man(arguments) => man::run(arguments, command()),
            Command::Schema(arguments) => schema::run(arguments, command()),
            Command::Flags(_) => show_flags(),
        }?;
        match &self.command {
            command if command.only_reads() => {}
            Command::Store(store) if store.is_purge() => places::publish_and_sweep(global)?,
            _ => places::publish(global)?,
        }
        Ok(if global.dry_run { summary.say("nothing was written (--dry-run)") } else { summary })
    }
}

/// The words of a command line, parsed.
fn typed(words: impl IntoIterator<Item = OsString>) -> Result<ArgMatches, clap::Error> {
    let typed = command().try_get_matches_from(words)?;
    match help::idle_flag(&typed) {
        None => Ok(typed),
        Some((flag, name)) => {
            let what = format!("{flag} has no effect in `dupsieve {name}`");
            Err(command().error(ErrorKind::ArgumentConflict, what))
        }
    }
}

/// The command line as it is parsed, and as help shows it.
fn command() -> clap::Command {
    help::with_examples(CommandLine::command())
}

/// Sets the name of the job and who reads stdout, for the end of the process. This works for wrong command
/// lines too, so that the mistake is reported to the same reader.
fn name_job() {
    let typed = command().ignore_errors(true).try_get_matches().unwrap_or_default();
    let (path, of_job) = help::innermost(&typed);
    let is_typed = |flag: &str| env::args_os().any(|word| word == flag);
    let answers = ANSWERS.contains(&path.as_str()) || writes_to_stdout(&path, of_job);
    let audience = if is_typed("--child") {
        Audience::Supervisor
    } else {
        Audience::of_job(answers, is_typed("--json"))
    };
    identity::set_job(typed.subcommand_name().unwrap_or("dupsieve"));
    exit::set_audience(audience);
}

fn show_flags() -> Result<Summary> {
    let mut command = command();
    command.build();
    if let Some(flags) = command.find_subcommand_mut(help::FLAGS) {
        print!("{}", flags.render_long_help());
    }
    Ok(Summary::answered())
}

/// Whether the command writes its records to standard output, where nothing else may come between them.
fn writes_to_stdout(path: &str, of_job: &ArgMatches) -> bool {
    let output = of_job.try_get_one::<PathBuf>("output");
    (path == "filter" || path == "init" || path.starts_with("generate "))
        && matches!(output, Ok(Some(path)) if path == Path::new(STDOUT))
}

/// The first paragraph of a usage error, in one line.
fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Checks what clap checks in debug builds only, and that everything has a description.
    fn check(command: &clap::Command) {
        let mut ids = BTreeSet::new();
        let mut longs = BTreeSet::new();
        for flag in command.get_arguments() {
            let name = format!("{} {}", command.get_name(), flag.get_id());
            assert!(ids.insert(flag.get_id().as_str()), "{name} is there twice");
            assert!(
                flag.get_long().is_none_or(|long| longs.insert(long)),
                "{name} has the name of another flag"
            );
            assert!(flag.get_help().is_some(), "{name} has no description");
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_flag_has_its_own_name_and_a_description() {
        let mut command = command();
        command.build();
        check(&command);
    }

    #[test]
    fn a_usage_error_names_what_is_missing() {
        let typed = CommandLine::try_parse_from(["dupsieve", "dedup"]).unwrap_err();
        let what = first_paragraph(&typed.to_string());
        assert!(what.starts_with("the following") && what.contains("--batch"), "{what}");
    }

    /// The commands that do something, each with those above it.
    fn leaves(command: &clap::Command, above: &str, found: &mut Vec<String>) {
        for command in command.get_subcommands() {
            let path = format!("{above}{}", command.get_name());
            leaves(command, &format!("{path} "), found);
            if !command.is_subcommand_required_set() {
                found.push(path);
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
    fn ids_of_pages_are_not_taken_for_addresses() {
        let id = "https://a.example/page";
        for line in [
            format!("dupsieve explain --date 2026-11-19 {id}"),
            format!("dupsieve explain --input a.jsonl -- {id} {id}"),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let typed = typed(words.clone()).unwrap();
            assert_eq!(places::mounted_words(&typed, words.clone()), Ok(words), "{line}");
        }
    }

    #[test]
    fn flags_are_limited_to_commands_that_exist() {
        let mut command = command();
        command.build();
        for (id, commands) in help::LIMITED {
            assert!(command.get_arguments().any(|flag| flag.get_id() == id), "{id}");
            for path in commands.iter().filter(|it| cfg!(feature = "serve") || **it != "serve") {
                let of_path = path.split(' ').try_fold(&command, |at, it| at.find_subcommand(it));
                assert!(of_path.is_some(), "{path}");
            }
        }
    }
}
