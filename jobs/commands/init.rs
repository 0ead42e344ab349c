//! `dupsieve init`: looks at the pages of a crawl and writes a configuration for it. What was seen is one object: `file.txt` draws the
//! configuration of it, with the reasons in comments, and `found.txt` what is said to the user.

pub(crate) mod layout;
mod pages;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::document::{Fields, Format, Inputs, PlaceIds, Survey};
use dupsieve::error::{At, Named};
use dupsieve::join::Preset;
use dupsieve::output::{PackedFile, STDOUT};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::commands::{examples, places, shell};
use crate::flags::{DryRun, GlobalFlags, Output, Overwrite, shared};
use crate::outcome::{Summary, answer};
use layout::Layout;
use pages::Pages;

const FILE: &str = include_str!("init/file.txt");
const FOUND: &str = include_str!("init/found.txt");

const EXAMPLES: &str = "
# Propose a configuration for the pages below a folder
dupsieve init --input crawl/
# Write an example to be filled in
dupsieve init --output daily.toml";

/// Look at your pages and write a configuration for them, with the reasons
#[derive(Args, Debug)]
#[command(args = shared(&[DryRun, Overwrite]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Files, folders, globs or addresses (s3://BUCKET/...) with pages of one day or of several; without them an example is written, to be filled in
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
    /// The file to write, or - for standard output
    #[arg(long, value_name = "FILE", default_value = "dupsieve.toml")]
    output: Output,
    /// File format, if names and bytes do not show it; as in `fingerprint` [default: auto]
    #[arg(long, env = "DUPSIEVE_FORMAT")]
    format: Option<Format>,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let Arguments { input, output, format } = arguments;
    let output = &output.here()?;
    if input.is_empty() {
        write(output, &example(), global)?;
        return Ok(Summary::new()
            .path("output", output)
            .say("an example: say in it where your pages are, or give them with --input")
            .say(next(output, "--date 2026-11-21")));
    }
    let inputs = Inputs::find(input, format.unwrap_or_default())?;
    if inputs.files().is_empty() {
        let first = input.first().map_or(Path::new(""), PathBuf::as_path);
        return Err(Error::new(Kind::Missing, "no file with pages was found")
            .at(first)
            .help("give files, or a folder that has some, as --input; --format says what they are where their names do not"));
    }
    if let Some(ready) = inputs.files().iter().find(|file| !file.format().has_texts()) {
        let what = "these files hold no texts, so nothing can be proposed";
        return Err(Error::new(Kind::Usage, what)
            .at(ready.path())
            .found(ready.format())
            .help("`dupsieve fingerprint` reads them as they are"));
    }
    let survey = Survey::of(&inputs, |path| layout::day_in(path).map(|day| day.to_string()))?;
    let one_sort = one_sort(&inputs);
    // Flags that name fields are of other commands.
    let advised = |error: Error| match error.remedy().settings.is_empty() {
        true => error,
        false => error.help(&one_sort),
    };
    let fields = survey.proposal().map_err(advised)?;
    check_same_fields(&inputs, &survey, &one_sort)?;
    let pages = Pages::sample(&inputs, &fields).map_err(advised)?;
    let given: Vec<String> =
        input.iter().map(|path| places::shown_input(&path.to_string_lossy())).collect();
    let layout = Layout::of(inputs.files().iter().map(|file| file.path()));
    let formats = inputs.formats();
    let seen = json!({
        "is_corpus": layout.is_none(),
        "given": given,
        "layout": layout.as_ref().map(|Layout { patterns, days, left_out }| {
            json!({
                "patterns": patterns,
                "days": days.len(),
                "ranges": layout::ranges(days),
                "left_out": left_out,
            })
        }),
        "fields": (survey.records > 0).then(|| fields_seen(&fields, &survey)),
        "has_times": fields.order.is_some() || formats.keys().eq([&Format::Warc]),
        "format": format.map(|format| format.to_string()),
        "formats": formats.iter().map(|(it, files)| format!("{it}: {files}")).collect::<Vec<_>>(),
        "sample": pages.seen(),
        "one_sort": one_sort,
        "first": shell::word(&inputs.files()[0].path().named()),
        "preset": Preset::default().to_string(),
    });
    write(output, &answer::drawn(&seen, FILE), global)?;
    let summary = Summary::new()
        .count("files", inputs.files().len() as u64)
        .count("sampled", pages.pages.len() as u64)
        .count("unreadable", pages.bad)
        .path("output", output)
        .say_lines(&answer::drawn(&seen, FOUND));
    let next = if layout.is_none() { next_of_corpus(output, &given) } else { next(output, "") };
    Ok(summary.say(format!("written: {}", output.named())).say(next))
}

fn example() -> String {
    let usual = Fields::default();
    let fields = json!({ "id": usual.id, "text": usual.text });
    let given = ["crawl/{date}/*.jsonl.zst"];
    let preset = Preset::default().to_string();
    answer::drawn(&json!({ "given": given, "fields": fields, "preset": preset }), FILE)
}

fn fields_seen(fields: &Fields, survey: &Survey) -> Value {
    let Fields { id, text, order, html, encoding, place_ids, .. } = fields;
    json!({
        "id": (*place_ids != PlaceIds::All).then_some(id),
        "text": text,
        "time": order.as_ref().map(|order| &order.name),
        "html": html,
        "encoding": encoding.map(|encoding| encoding.to_string()),
        "all": survey.fields.keys().collect::<Vec<_>>(),
    })
}

/// Fails if some files have the fields and others have none: `run` refuses a field that a file cannot have.
fn check_same_fields(inputs: &Inputs, survey: &Survey, one_sort: &str) -> Result<()> {
    let without = inputs.files().iter().find(|file| !file.format().has_text_field());
    let Some(without) = without.filter(|_| survey.records > 0) else { return Ok(()) };
    let names = survey.fields.keys().map(String::as_str).take(5).collect::<Vec<_>>().join(", ");
    Err(Error::new(Kind::Usage, "some files have fields, and others have none")
        .at(without.path())
        .expected(format_args!("fields, as other files have: {names}"))
        .found(without.format())
        .help(one_sort))
}

/// What to type where the files have not the same fields: the files of the ending that has the most bytes, of all days.
fn one_sort(inputs: &Inputs) -> String {
    let mut sorts: BTreeMap<String, u64> = BTreeMap::new();
    for file in inputs.files() {
        let ending = layout::ending(&file.path().named()).to_owned();
        *sorts.entry(ending).or_default() += Inputs::one(file).bytes();
    }
    let (most, _) = sorts.into_iter().max_by_key(|(_, bytes)| *bytes).unwrap_or_default();
    let paths = inputs.files().iter().map(|file| file.path());
    let mut of_most = paths.filter(|path| path.named().ends_with(&most));
    let patterns = match Layout::of(of_most.clone()) {
        Some(layout) => layout.globs(),
        None => {
            let first = of_most.next().unwrap_or(Path::new(""));
            vec![first.with_file_name(format!("*{most}")).named()]
        }
    };
    let named: Vec<String> = patterns.iter().map(|it| shell::word(it)).collect();
    format!(
        "name files of one sort, which have the same fields: dupsieve init --input {}; each sort needs a configuration of its own",
        named.join(" ")
    )
}

fn next(output: &Path, date: &str) -> String {
    let line = format!("dupsieve run {} {date}", shell::word(&output.named()));
    format!("next: read it, then {} --dry-run, then without --dry-run", line.trim_end())
}

fn next_of_corpus(output: &Path, given: &[String]) -> String {
    let inputs: Vec<String> = given.iter().map(|input| shell::quoted(input)).collect();
    format!(
        "next: read it, then dupsieve dedup --config {} --input {} --output found --kept kept",
        shell::word(&output.named()),
        inputs.join(" ")
    )
}

fn write(output: &Path, text: &str, global: &GlobalFlags) -> Result<()> {
    if output == Path::new(STDOUT) {
        return io::stdout().write_all(text.as_bytes()).at("stdout");
    }
    if global.dry_run {
        return Ok(());
    }
    let mut file = PackedFile::create(output)?;
    file.line(text.trim_end().as_bytes())?;
    file.finish(global.overwrite)?;
    Ok(())
}
