//! `dupsieve init`: looks at the pages of a crawl and writes a configuration for it.

mod file;
pub(crate) mod layout;
mod pages;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::rooms::document::{Fields, Format, Inputs, PlaceIds, Survey};
use dupsieve::rooms::error::{At, Named};
use dupsieve::rooms::evaluate::SampledPage;
use dupsieve::rooms::output::{PackedFile, STDOUT};
use dupsieve::{Error, Kind, Result};

use crate::commands::help::examples;
use crate::commands::{difference, places, shell};
use crate::flags::global::GlobalFlags;
use crate::flags::place::Output;
use crate::flags::shared::Shared::{DryRun, Overwrite};
use crate::flags::shared::shared;
use crate::outcome::summary::Summary;
use file::Seen;
use layout::Layout;
use pages::Pages;

/// Texts of this many characters and fewer say little: two may be near by chance.
const SHORT: u64 = 200;
/// The most lines that are shown of the difference of two pages.
const MOST_LINES: usize = 3;

const EXAMPLES: &[(&str, &str)] = &[
    ("Propose a configuration for the pages below a folder", "dupsieve init --input crawl/"),
    ("Write an example to be filled in", "dupsieve init --output daily.toml"),
];

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
        write(output, &Seen::nothing().text(), global)?;
        return Ok(Summary::new()
            .path("output", output)
            .say("an example: say in it where your pages are, or give them with --input")
            .say(next(output, "--date 2026-11-21")));
    }
    let inputs = Inputs::find(input, format.unwrap_or_default())?;
    if inputs.files().is_empty() {
        let first = input.first().map_or(Path::new(""), PathBuf::as_path);
        return Err(Error::new(Kind::Missing, "no file with pages was found").at(first));
    }
    if let Some(ready) = inputs.files().iter().find(|file| !file.format().has_texts()) {
        return Err(Error::new(
            Kind::Usage,
            "these files hold no texts, so nothing can be proposed",
        )
        .at(ready.path())
        .found(ready.format())
        .help("`dupsieve fingerprint` reads them as they are"));
    }
    let survey = Survey::of(&inputs, |path| layout::day_in(path).map(|day| day.to_string()))?;
    let fields = survey.proposal()?;
    check_same_fields(&inputs, &survey)?;
    let pages = Pages::sample(&inputs, &fields)?;
    let seen = Seen {
        given: input.iter().map(|path| places::shown_input(&path.to_string_lossy())).collect(),
        layout: Layout::of(inputs.files().iter().map(|file| file.path())),
        fields: fields.clone(),
        has_fields: survey.records > 0,
        has_times: fields.order.is_some() || inputs.formats().keys().eq([&Format::Warc]),
        format: *format,
        pages: Some(&pages),
    };
    write(output, &seen.text(), global)?;
    let mut summary = Summary::new()
        .count("files", inputs.files().len() as u64)
        .count("sampled", pages.pages.len() as u64)
        .count("unreadable", pages.bad)
        .path("output", output);
    let with_days = seen.layout.as_ref();
    for sentence in findings(&inputs, &survey, &fields, &pages, with_days) {
        summary = summary.say(sentence);
    }
    for &(one, two) in &pages.examples {
        for sentence in example(&pages.pages[one], &pages.pages[two]) {
            summary = summary.say(sentence);
        }
    }
    let next =
        if seen.is_corpus() { next_of_corpus(output, &seen.given) } else { next(output, "") };
    Ok(summary.say(format!("written: {}", output.named())).say(next))
}

/// Fails if some files have the fields and others have none: `run` refuses a field that a file cannot have.
fn check_same_fields(inputs: &Inputs, survey: &Survey) -> Result<()> {
    let without = inputs.files().iter().find(|file| !file.format().has_text_field());
    let Some(without) = without.filter(|_| survey.records > 0) else { return Ok(()) };
    let names = survey.fields.keys().map(String::as_str).take(5).collect::<Vec<_>>().join(", ");
    Err(Error::new(Kind::Usage, "some files have fields, and others have none")
        .at(without.path())
        .expected(format_args!("fields, as other files have: {names}"))
        .found(without.format())
        .help("call init for the files of each sort: each sort needs a configuration of its own"))
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

fn findings(
    inputs: &Inputs,
    survey: &Survey,
    fields: &Fields,
    pages: &Pages,
    layout: Option<&Layout>,
) -> Vec<String> {
    let formats = inputs.formats().into_iter();
    let formats: Vec<String> =
        formats.map(|(format, files)| format!("{format}: {files}")).collect();
    let mut told = vec![format!("files: {}", formats.join(", "))];
    told.push(match layout {
        Some(layout) => {
            let patterns: Vec<&str> = layout.patterns.iter().map(String::as_str).collect();
            let left_out: Vec<&str> = layout.left_out.iter().map(String::as_str).take(10).collect();
            let but = match layout.left_out.len() {
                0 => String::new(),
                1 => format!("; left out, because not all of these days have it: {}", left_out[0]),
                count => format!(
                    "; {count} patterns are left out, because not all of these days have them: {}",
                    left_out.join(", ")
                ),
            };
            format!("days: {}, as {}{but}", layout.days.len(), patterns.join(", "))
        }
        None => "days: the paths name none, so the files are one corpus".to_owned(),
    });
    if survey.records > 0 {
        let other: Vec<&str> = survey.fields.keys().map(String::as_str).take(20).collect();
        let time = fields.order.as_ref().map_or("no field", |order| &*order.name);
        let html = if fields.html { ", which is HTML" } else { "" };
        let id =
            if fields.place_ids == PlaceIds::All { "none, so FILE:RECORD" } else { &fields.id };
        told.push(format!(
            "fields: id = {id}, text = {}{html}, time = {time}; there are {}",
            fields.text,
            other.join(", ")
        ));
    }
    let count = pages.pages.len();
    let [shortest, middle, longest] = pages.characters;
    told.push(format!(
        "a sample of {count} pages: {shortest} to {longest} characters, {middle} in the middle; {} % mostly Chinese",
        100 * pages.han / count
    ));
    if middle <= SHORT {
        told.push(
            "most texts are short, so a word more or less changes much of them: look at the pairs with `dupsieve sample`"
                .to_owned(),
        );
    }
    let near: Vec<String> =
        pages.near.iter().map(|(preset, near)| format!("{near} by {preset}")).collect();
    told.push(format!("near-duplicates in the sample: {}; all pages have more", near.join(", ")));
    told.push(format!(
        "`dupsieve evaluate --sweep --input {}` measures which preset suits them",
        inputs.files()[0].path().named()
    ));
    told
}

/// A near pair, and what differs.
fn example(one: &SampledPage, two: &SampledPage) -> Vec<String> {
    let mut told = vec![format!("near: {} and {}", one.id, two.id)];
    let lines = difference::lines([&one.text, &two.text]);
    told.extend(lines.into_iter().take(MOST_LINES).map(|line| format!("  {line}")));
    told
}
