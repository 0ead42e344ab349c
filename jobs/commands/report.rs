//! `dupsieve report`: the figures of many days, and which days are odd.

use clap::Args;
use dupsieve::Result;
use dupsieve::output::PackedFile;
use dupsieve::report::History;
use serde_json::json;

use crate::commands::examples;
use crate::flags::{GlobalFlags, Output, Outputs, Overwrite, shared};
use crate::outcome::{Summary, answer};

const EXAMPLES: &str = "
# Show the figures of all days
dupsieve report out
# Draw them into a page for a browser
dupsieve report out --output days.html";

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
    let (days, text) = (&history.days[..], history.contained_text);
    if !global.json {
        let object = json!({ "days": days, "all": text });
        return answer::print(&object, include_str!("report.txt"), false);
    }
    days.iter().for_each(|day| println!("{}", json!(day)));
    if let Some(text) = text {
        println!("{}", json!({ "all": text }));
    }
    Ok(Summary::new())
}
