//! The command line: parses it, fills in settings from the environment and a file, and runs the command.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::iter;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use dupsieve::{Error, Kind, Result};

use crate::commands::{dedup, evaluate, help, lsh, places, run, store, version};
use crate::flags::{Config, GlobalFlags, MachineSettings, Output, keep_mounts_in, mount_typed};
use crate::outcome::exit::Audience;
use crate::outcome::{Summary, SummaryLine, exit, identity};

/// Removes near-duplicate pages from crawls and text corpora
#[derive(Debug, Parser)]
#[command(name = "dupsieve", version, long_version = version::details(), max_term_width = 100)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    pub(crate) global: GlobalFlags,
    #[arg(skip)]
    typed: ArgMatches,
}

/// Declares the commands. Each has a file with its `Arguments` and with `run`. It says by what was typed for it whether
/// standard output has nothing but an answer. The last ones describe the command line.
macro_rules! commands {
    (
        about pages { $($(#[$when:meta])* $Name:ident($file:ident): $answers:expr,)* }
        about the command line { $($About:ident($of:ident): $tells:expr,)* }
    ) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$when])* $Name(Box<crate::commands::$file::Arguments>),)*
            $($About(crate::commands::$of::Arguments),)*
            /// Show the flags that every command takes
            #[command(override_usage = "dupsieve COMMAND [FLAGS]", after_help = help::VARIABLES)]
            Flags(Box<GlobalFlags>),
        }

        impl Command {
            fn run(&self, global: &GlobalFlags) -> Result<Summary> {
                match self {
                    $($(#[$when])* Command::$Name(arguments) => {
                        crate::commands::$file::run(arguments, global)
                    })*
                    $(Command::$About(arguments) => {
                        crate::commands::$of::run(arguments, command())
                    })*
                    Command::Flags(_) => show_flags(),
                }
            }
        }

        /// Whether the command that was typed prints nothing but an answer to standard output.
        fn answers(typed: &ArgMatches) -> bool {
            let Some((name, typed)) = typed.subcommand() else { return false };
            let answers: fn(&ArgMatches) -> bool = match name {
                $($(#[$when])* stringify!($file) => $answers,)*
                $(stringify!($of) => $tells,)*
                name => return name == help::FLAGS,
            };
            answers(typed)
        }
    };
}

commands! {
    about pages {
        Init(init): to_stdout,
        Run(run): never,
        Fingerprint(fingerprint): never,
        Dedup(dedup): to_stdout,
        Cluster(cluster): never,
        Lsh(lsh): |typed| lsh::answers(typed) || to_stdout(typed),
        Contains(contains): never,
        Passages(passages): never,
        Filter(filter): to_stdout,
        Generate(generate): to_stdout,
        Inspect(inspect): always,
        Plan(plan): always,
        Query(query): always,
        Seen(seen): always,
        #[cfg(feature = "serve")]
        Serve(serve): never,
        Store(store): store::answers,
        Verify(verify): never,
        Compare(compare): always,
        Explain(explain): always,
        Sample(sample): always,
        Report(report): always,
        Evaluate(evaluate): always,
        Weights(weights): never,
        Doctor(doctor): always,
    }
    about the command line {
        Completions(completions): always,
        Man(man): never,
        Schema(schema): always,
    }
}

fn always(_: &ArgMatches) -> bool {
    true
}

fn never(_: &ArgMatches) -> bool {
    false
}

/// Whether the command writes its records to standard output, where nothing else may come between them.
fn to_stdout(typed: &ArgMatches) -> bool {
    let typed = typed.subcommand().map_or(typed, |(_, below)| below);
    ["output", "kept"].into_iter().any(
        |flag| matches!(typed.try_get_one::<Output>(flag), Ok(Some(output)) if output.is_stdout()),
    )
}

impl CommandLine {
    /// Reads the command line. Help, the version and usage errors are printed, and the process ends.
    pub(crate) fn read() -> CommandLine {
        let named = name_job();
        show_chapter();
        let typed = typed(env::args_os());
        typed.and_then(|typed| CommandLine::of(&typed)).unwrap_or_else(|typed| {
            if !typed.use_stderr() {
                let _ = typed.print();
                exit::end_with(None, 0);
            }
            let what = match typed.kind() {
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    let _ = typed.print();
                    "no command is given".to_owned()
                }
                _ => first_paragraph(&said(&typed)),
            };
            let help = help::line_for(&named);
            let error = Error::new(Kind::Usage, what).help(&help);
            let mut line = SummaryLine::of(identity::job(), Err(error));
            // The parser knows more facts, such as what is like what was typed.
            if typed.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                line.shown = Some(help::usage_error(&said(&typed), &help));
            }
            exit::end_with(Some(line), Kind::Usage.code())
        })
    }

    fn of(typed: &ArgMatches) -> Result<CommandLine, clap::Error> {
        let line = CommandLine::from_arg_matches(typed)?;
        let whole = command();
        let (mut command, mut innermost) = (&whole, typed);
        for (name, typed) in commands_of(typed) {
            command = command.find_subcommand(name).unwrap_or(command);
            innermost = typed;
        }
        let global = line.global.with_shared(command, innermost)?;
        Ok(CommandLine { global, typed: innermost.clone(), ..line })
    }

    /// Takes flags that were not given from the environment and from the configuration file, and checks
    /// that they do not contradict each other.
    pub(crate) fn complete(&mut self) -> Result<()> {
        let file = match &self.command {
            Command::Run(_) if self.global.config.is_some() => {
                let what = "`run` takes its configuration file as an argument, without --config";
                return Err(Error::new(Kind::Usage, what));
            }
            Command::Run(arguments) => Config::read(&arguments.days)?,
            _ => self.global.config()?,
        };
        self.global.fill(MachineSettings::from_environment()?);
        self.global.fill(file.machines);
        self.global.check()
    }

    /// Mounts what the command line and the configuration name by addresses, for this process and for those that it starts. A service
    /// mounts nothing: its store is on a disk.
    pub(crate) fn mount(&self) -> Result<()> {
        keep_mounts_in(self.global.cache.clone());
        match &self.command {
            Command::Run(arguments) => run::mount(arguments)?,
            #[cfg(feature = "serve")]
            Command::Serve(_) => return Ok(()),
            _ => self.global.config()?.mount_tables()?,
        }
        mount_typed(&self.typed)
    }

    pub(crate) fn run(&self) -> Result<Summary> {
        let global = &self.global;
        let summary = self.command.run(global)?;
        if global.is_of_lone_writer() {
            places::publish(global)?;
        }
        Ok(if global.dry_run { summary.say("nothing was written (--dry-run)") } else { summary })
    }
}

/// `help KIND` shows what the book says of a kind of error, and ends the process.
fn show_chapter() {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    if let [help, kind] = &words[..]
        && help == "help"
        && let Some(chapter) = kind.to_str().and_then(help::of_error)
    {
        let _ = write!(io::stdout(), "{chapter}");
        exit::end_with(None, 0);
    }
}

fn typed(words: impl IntoIterator<Item = OsString>) -> Result<ArgMatches, clap::Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    let typed = command().try_get_matches_from(&words);
    let typed = typed.map_err(|wrong| with_tip(without_help(wrong, &words), &words))?;
    let in_vain = match typed.subcommand() {
        Some(("dedup", typed)) => dedup::typed_in_vain(typed),
        Some(("evaluate", typed)) => evaluate::typed_in_vain(typed),
        Some(("lsh", typed)) => lsh::typed_in_vain(typed),
        _ => None,
    };
    match in_vain {
        None => Ok(typed),
        Some(what) => Err(command().error(ErrorKind::ArgumentConflict, what)),
    }
}

/// The error for a command that is not there. Behind `help` it names none that is spelt alike, so it is made of the words without `help`.
fn without_help(wrong: clap::Error, words: &[OsString]) -> clap::Error {
    let is_unknown = |error: &clap::Error| error.kind() == ErrorKind::InvalidSubcommand;
    let Some(help) = words.iter().position(|word| word == "help").filter(|_| is_unknown(&wrong))
    else {
        return wrong;
    };
    let words = [&words[..help], &words[help + 1..]].concat();
    command().try_get_matches_from(words).err().filter(is_unknown).unwrap_or(wrong)
}

/// The error, with a tip where a path stands without its flag, or where `filter` got a configuration and not what to copy by it.
fn with_tip(mut wrong: clap::Error, words: &[OsString]) -> clap::Error {
    let has = |flag: &str| words.iter().any(|word| word.to_string_lossy().starts_with(flag));
    let tip = match (wrong.kind(), wrong.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word)))
            if !word.starts_with('-') && wrong.to_string().contains("--input <") =>
        {
            format!("a path follows its flag, such as '--input {word}'")
        }
        (ErrorKind::MissingRequiredArgument, _) if has("filter") && has("--config") => {
            "'--all' copies the kept pages of all days of the file given with --config".to_owned()
        }
        _ => return wrong,
    };
    wrong.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    wrong
}

/// The commands that were typed, each with what was typed for it, and below the one before it.
fn commands_of(typed: &ArgMatches) -> impl Iterator<Item = (&str, &ArgMatches)> {
    iter::successors(typed.subcommand(), |(_, typed)| typed.subcommand())
}

fn command() -> clap::Command {
    help::completed(CommandLine::command())
}

/// The words of a command, such as `store list`.
fn words_of(typed: &ArgMatches) -> String {
    commands_of(typed).map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

/// Sets the name of the job and who reads stdout, for the end of the process, and gives the words of the command. This works for wrong
/// command lines too, so that the mistake is reported to the same reader.
fn name_job() -> String {
    let typed = command().ignore_errors(true).try_get_matches().unwrap_or_default();
    let is_typed = |flag: &str| env::args_os().any(|word| word == flag);
    let audience = if is_typed("--child") {
        Audience::Supervisor
    } else {
        Audience::of_job(answers(&typed), is_typed("--json"))
    };
    identity::set_job(typed.subcommand_name().unwrap_or("dupsieve"));
    exit::set_audience(audience);
    words_of(&typed)
}

fn show_flags() -> Result<Summary> {
    let mut command = command();
    command.build();
    if let Some(flags) = command.find_subcommand_mut(help::FLAGS) {
        print!("{}", flags.render_long_help());
    }
    Ok(Summary::new())
}

/// What the parser says, without the words of the standard library for 0.
fn said(wrong: &clap::Error) -> String {
    wrong.to_string().replace("number would be zero for non-zero type", "at least 1 is needed")
}

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
    fn a_usage_error_has_the_shape_of_all_errors_and_says_what_to_type() {
        for (line, told) in [
            ("dedup", "--batch"),
            ("dedup --inptu a", "--input"),
            ("seen a --store b", "'--input a'"),
            ("filter --config a --output b", "'--all'"),
            ("dedup --batch a --output b --drop-empty --kept c", "has no effect with --batch"),
            ("store prune a --keep-versions 0", "at least 1"),
        ] {
            let words = ["dupsieve"].into_iter().chain(line.split(' '));
            let wrong = said(&typed(words.map(OsString::from)).unwrap_err());
            let said = help::usage_error(&wrong, "dupsieve help dedup");
            let facts = said
                .strip_prefix("error: ")
                .and_then(|it| it.strip_suffix("help: dupsieve help dedup"));
            let facts = facts.unwrap_or_else(|| panic!("{said}"));
            assert!(facts.lines().skip(1).all(|fact| fact.starts_with("  ")), "{said}");
            assert!(said.contains(told) && !said.contains("Usage"), "{said}");
            assert!(said.starts_with(&format!("error: {:.9}", first_paragraph(&wrong))), "{said}");
        }
    }

    /// Checks that each command that does something has examples, which can be typed. `above` are the commands above these.
    fn check_examples(commands: &clap::Command, above: &str) {
        for command in
            commands.get_subcommands().filter(|it| !["help", help::FLAGS].contains(&it.get_name()))
        {
            let path = format!("{above} {}", command.get_name());
            check_examples(command, &path);
            let text = command.get_after_long_help().unwrap().to_string();
            let fits = |line: &str| !line.starts_with("  dupsieve ") || line.len() <= 98;
            assert!(text.lines().all(fits), "{path}: help would break an example: {text}");
            let text = text.replace(" \\\n    ", " ");
            let examples: Vec<&str> =
                text.lines().filter_map(|line| line.strip_prefix("  dupsieve ")).collect();
            assert_eq!(examples.is_empty(), command.is_subcommand_required_set(), "{path}");
            for line in examples {
                let words = format!("dupsieve {}", line.replace('\'', ""));
                let typed = typed(words.split_whitespace().map(OsString::from));
                let typed = typed.unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
                assert_eq!(format!("dupsieve {}", words_of(&typed)), path, "{line}");
            }
        }
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed() {
        check_examples(&command(), "dupsieve");
    }

    const SCREEN: usize = 40;

    fn check_short_help(command: &mut clap::Command, path: &str) {
        let text = command.render_help().to_string();
        let lines = text.lines().count();
        assert!(lines <= SCREEN, "{path} -h has {lines} lines\n{text}");
        for below in command.get_subcommands_mut() {
            let path = format!("{path} {}", below.get_name());
            check_short_help(below, &path);
        }
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut command = command();
        command.build();
        check_short_help(&mut command, "dupsieve");
    }
}
