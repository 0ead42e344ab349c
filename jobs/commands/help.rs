//! Help: the commands in groups, examples below each command, and the flags that every command takes in one place.
//!
//! `-h` fits a screen: it shows the beginning of each description, and leaves out flags that are rare or shared by several commands. `--help` and
//! `dupsieve help COMMAND` show all.

use clap::{Arg, Command};

use crate::flags::{COMMON, completed_by_paths};
use crate::outcome::exit::CODES;

const ERRORS: &str = include_str!("../../docs/src/wrong.md");

pub(crate) const FLAGS: &str = "flags";

/// The commands by what they are for, as `dupsieve help` shows them. All others stand in one line below.
const GROUPS: [(&str, &[&str]); 5] = [
    ("A corpus, or a crawl day by day", &["dedup", "init", "run", "passages", "contains"]),
    ("What was found", &["sample", "explain", "report", "filter", "verify"]),
    ("The store of all days", &["store", "query", "seen", "serve"]),
    ("Documents that overlap, and clusters", &["lsh", "cluster"]),
    ("Single steps, choices and checks", &["fingerprint", "compare", "evaluate", "plan", "doctor"]),
];

const CLOSING: &str = "\
`dupsieve COMMAND -h` shows the flags of a command in short.
`dupsieve help COMMAND` explains a command and its flags, with examples.
`dupsieve help flags` shows the flags that every command takes.";

const OF_COMMAND: &str = "`dupsieve help flags` shows the flags that every command takes.";

const IN_SHORT: &str = "`--help` shows all flags, with examples.";

pub(crate) const VARIABLES: &str = "\
Nearly every flag that a configuration may set has a variable too: DUPSIEVE_MAX_BAD for --max-bad.
The command line wins over variables, and these win over the configuration file.";

const EXAMPLES_IN_SHORT: usize = 2;

/// The longest default that `-h` shows, in bytes.
const LONGEST_DEFAULT: usize = 40;

/// Flags that few need.
const RARE: &str = "accept-truncated as-of boilerplate check confirm-day dedup-check design distance \
    drop-empty drop-parameters encoding exclude hashes html keep-bands keep-digests \
    keep-passages matches max-answer max-bad max-batch max-body max-connections \
    max-in-flight max-journal max-lost max-matches max-record max-repeated max-requests \
    max-text max-time max-work min-count output-format page-time permutations place-ids \
    quarantine recipe recrawled resident seed shingle similarities sketch width";

/// What the book says of a kind of error, which is below the heading of its name, or the codes of all.
pub(crate) fn of_error(kind: &str) -> Option<String> {
    if ["codes", "exit", "exit-codes"].contains(&kind) {
        return Some(format!("{CODES}\n"));
    }
    let (_, chapter) = ERRORS.split_once(&format!("\n### {kind}\n"))?;
    let end = ["\n### ", "\n## "].into_iter().filter_map(|next| chapter.find(next)).min();
    Some(format!("{kind}\n{}\n", chapter[..end.unwrap_or(chapter.len())].trim_end()))
}

pub(crate) fn line_for(command: &str) -> String {
    match command {
        "" => "dupsieve help".to_owned(),
        command => format!("dupsieve help {command}"),
    }
}

/// An error of the parser in the shape of all errors: what is wrong, facts such as what is spelt alike, and what to type.
pub(crate) fn usage_error(wrong: &str, help: &str) -> String {
    let (said, _) = wrong.split_once("\nUsage: ").unwrap_or((wrong, ""));
    let (said, _) = said.split_once("\nFor more information").unwrap_or((said, ""));
    let lines = said.lines().filter(|line| !line.is_empty()).map(|line| format!("{line}\n"));
    format!("{}help: {help}", lines.collect::<String>())
}

/// Examples of a command as its help shows them: each a line break and `# `, what it does, and below it the command line.
pub(crate) fn examples(examples: &str) -> String {
    format!("Examples:{}\n\n", examples.replace('\n', "\n  "))
}

/// The command line `root` with its commands in groups, and with the text below each help. The flags that every command takes,
/// which it inherits, are shown by `dupsieve help flags` only.
pub(crate) fn completed(root: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{after-help}}",
        in_groups(&root)
    );
    root.mut_args(|flag| flag.hide(true))
        .help_template(template)
        .after_help(CLOSING)
        .after_long_help(format!("{CLOSING}\n\n{CODES}"))
        .mut_subcommands(below)
}

fn in_groups(root: &Command) -> String {
    let line = |name: &&str| {
        let command = root.find_subcommand(name)?;
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        Some(format!("  {name:<12} {about}\n"))
    };
    let group = |(heading, names): &(&str, &[&str])| {
        format!("{heading}:\n{}\n", names.iter().filter_map(line).collect::<String>())
    };
    let is_shown = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let names = root.get_subcommands().map(Command::get_name);
    let others: Vec<&str> = names.filter(|name| !is_shown(name)).collect();
    format!("{}Also: {}", GROUPS.iter().map(group).collect::<String>(), others.join(", "))
}

fn below(command: Command) -> Command {
    if command.get_name() == FLAGS {
        return command;
    }
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = if examples.is_empty() { 0 } else { 1 + 2 * EXAMPLES_IN_SHORT };
    let first: String = examples.trim_end().split_inclusive('\n').take(lines).collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let whole = command.get_long_about().map_or(about.clone(), ToString::to_string);
    command
        .about(first_sentence(&about))
        .long_about(whole)
        .mut_args(in_short)
        .after_help(format!("{}\n\n{IN_SHORT}", first.trim_end()).trim_start().to_owned())
        .after_long_help(format!("{examples}{OF_COMMAND}"))
        .mut_subcommands(below)
}

/// The flag with the beginning of its description for `-h`, which leaves out flags that are rare or that several commands share.
fn in_short(flag: Arg) -> Arg {
    let flag = completed_by_paths(flag).hide_env(true);
    let is_rare = flag.get_long().is_some_and(|name| RARE.split(' ').any(|rare| rare == name));
    let is_common = is_rare || flag.get_help_heading() == Some(COMMON);
    let Some(whole) = flag.get_help().map(ToString::to_string) else { return flag };
    let whole = flag.get_long_help().map_or(whole.clone(), ToString::to_string);
    flag.help(first_sentence(&whole)).long_help(whole).hide_short_help(is_common)
}

/// The first sentence of a description up to a colon or semicolon, and its default if that is short.
fn first_sentence(whole: &str) -> String {
    let default = whole.rfind(" [default").filter(|_| whole.ends_with(']'));
    let (text, default) = whole.split_at(default.unwrap_or(whole.len()));
    let begins = |rest: &str| rest.starts_with(|it: char| it.is_uppercase() || it == '`');
    let mut ends = text.match_indices(". ").map(|(at, _)| at);
    let end = ends.find(|at| begins(&text[at + 2..])).unwrap_or(text.len());
    // A colon in brackets or in code ends nothing.
    let is_outside = |at: &usize| {
        let before = &text[..*at];
        !before.contains('[') && before.matches('`').count() % 2 == 0
    };
    let mut colons = text.match_indices([':', ';']).map(|(at, _)| at);
    let colon = colons.find(|at| text[at + 1..].starts_with(' ') && is_outside(at));
    let default = if default.len() > LONGEST_DEFAULT { "" } else { default };
    format!("{}{default}", &text[..end.min(colon.unwrap_or(end))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_followed_by_the_default() {
        for (whole, short) in [
            ("The folder to write", "The folder to write"),
            (
                "Bits, e.g. 64. If the recipe allows both [default: 64]",
                "Bits, e.g. 64 [default: 64]",
            ),
            ("Keep the first. `last` keeps the last", "Keep the first"),
            (
                "The text [default: text], or else [default: vector]",
                "The text [default: text], or else [default: vector]",
            ),
            ("As `Authorization: Bearer`; others fail", "As `Authorization: Bearer`"),
            ("File format: tsv or csv; or lines [default: auto]", "File format [default: auto]"),
            (
                "A share such as 0.5. [default: that of the file. Or none]",
                "A share such as 0.5. [default: that of the file. Or none]",
            ),
        ] {
            assert_eq!(first_sentence(whole), short);
        }
    }
}
