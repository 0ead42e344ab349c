//! `dupsieve report`: the figures of many days, and which days are odd.

use std::io::{self, Write};

use clap::Args;
use dupsieve::Result;
use dupsieve::rooms::error::At;
use dupsieve::rooms::output::PackedFile;
use dupsieve::rooms::report::{ContainedText, DayFigures, History};
use serde_json::json;

use crate::commands::help::examples;
use crate::flags::global::GlobalFlags;
use crate::flags::place::{Output, Outputs};
use crate::flags::shared::Shared::Overwrite;
use crate::flags::shared::shared;
use crate::outcome::summary::Summary;
use crate::outcome::terminal;

const EXAMPLES: &[(&str, &str)] = &[
    ("Show the figures of all days", "dupsieve report out"),
    ("Draw them into a page for a browser", "dupsieve report out --output days.html"),
];

/// Show the figures of many days, and which days are odd
#[derive(Args, Debug)]
#[command(args = shared(&[Overwrite]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Outputs of dedup or lsh, days of run, or folders of such
    #[arg(value_name = "DIR", required = true, num_args = 1..)]
    outputs: Vec<Outputs>,
    /// Draw all days into one page, which needs no network
    #[arg(long, value_name = "FILE.html")]
    output: Option<Output>,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let history = History::read(&Outputs::here(&arguments.outputs)?)?;
    if let Some(output) = &arguments.output {
        let mut file = PackedFile::create(&output.here()?)?;
        file.line(history.to_html().trim_end().as_bytes())?;
        file.finish(global.overwrite)?;
    }
    let mut out = terminal::stdout();
    if global.json {
        let mut rows = history.days().iter();
        rows.try_for_each(|day| writeln!(out, "{}", json!(day))).at("stdout")?;
        if let Some(text) = history.contained_text() {
            writeln!(out, "{}", json!({ "all": text })).at("stdout")?;
        }
    } else {
        print(history.days(), &mut out).at("stdout")?;
        history.contained_text().map_or(Ok(()), |it| writeln!(out, "{}", said(it))).at("stdout")?;
    }
    Ok(Summary::answered())
}

fn print(days: &[DayFigures], out: &mut impl Write) -> io::Result<()> {
    let width = days.iter().map(|day| day.name.len()).max().unwrap_or(0);
    let [read, kept, dropped] = ["read", "kept", "dropped"];
    let [unreadable, store, seconds] = ["unreadable", "store before", "seconds"];
    let tells = days.iter().any(|day| day.lost.is_some());
    let losses =
        if tells { format!("  {:>8}  {:>8}", "% lost", "replaced") } else { String::new() };
    writeln!(
        out,
        "{:width$}  {read:>10}  {kept:>10}  {dropped:>10}  {unreadable:>10}  {store:>12}  {seconds:>8}{losses}",
        "day"
    )?;
    for day in days {
        let DayFigures { name, read, kept, dropped, quarantined, store, seconds, .. } = day;
        let losses = if tells { losses_of(day) } else { String::new() };
        writeln!(
            out,
            "{name:width$}  {read:>10}  {kept:>10}  {dropped:>10}  {quarantined:>10}  {store:>12}  \
             {seconds:>8.2}{losses}"
        )?;
    }
    for day in days {
        day.alarms.iter().try_for_each(|alarm| writeln!(out, "odd: {}: {alarm}", day.name))?;
    }
    Ok(())
}

fn said(ContainedText { runs, containment, replaced, through_replaced }: ContainedText) -> String {
    let mut said = format!(
        "the kept pages contain about {:.2} % of all text (of {runs} shingles, each page by itself)",
        100.0 * containment
    );
    if replaced > 0 {
        said += &format!(
            "; {replaced} pages of the store were replaced, and {through_replaced} dropped pages are contained only through \
             these"
        );
    }
    said
}

/// How much text was lost on a day, in percent, and how many pages of the store its pages contain; `-` where the join does not tell.
fn losses_of(day: &DayFigures) -> String {
    let lost = day.lost.map_or("-".to_owned(), |lost| format!("{:.2}", 100.0 * lost.share));
    let replaced = day.replaced.map_or("-".to_owned(), |replaced| replaced.to_string());
    format!("  {lost:>8}  {replaced:>8}")
}
