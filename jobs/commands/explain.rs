//! `dupsieve explain`: why two documents have the distance they have.

mod comparison;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::rooms::document::Content;
use dupsieve::rooms::error::At;
use dupsieve::rooms::fingerprint::{Recipe, TextMeasure, Width};
use dupsieve::rooms::join::Preset;
use dupsieve::rooms::store::Day;
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::help::examples;
use crate::commands::pages::{self, PageFlags, no_text};
use crate::flags::config::Config;
use crate::flags::global::GlobalFlags;
use crate::flags::place::Place;
use crate::flags::settings::{
    FingerprintSettings, PageSettings, RecipeChoice, RecipeSettings, parse_width,
};
use crate::outcome::summary::Summary;
use comparison::{Analysed, Comparison};
use dupsieve::rooms::report::{self, Nearest, PageVerdict};

const EXAMPLES: &[(&str, &str)] = &[
    (
        "Explain why a page was dropped",
        "dupsieve explain --config configs/local.toml --date 2026-11-20 ID",
    ),
    ("Explain the distance of any two pages", "dupsieve explain --input crawl/ ID OTHER-ID"),
];

/// Explain the distance of two documents by their features
///
/// With --config and --date one id is enough: the other page is the one named in the verdict of that
/// day.
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
#[command(override_usage = "\
dupsieve explain [OPTIONS] --input <PATH>... <ID> <ID>
       dupsieve explain [OPTIONS] --config <FILE> --date <YYYY-MM-DD> <ID>")]
pub(crate) struct Arguments {
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
    /// Day of `run` whose verdict names the other page; the file named with --config gives the inputs
    /// and the output
    #[arg(long, value_name = "YYYY-MM-DD", conflicts_with = "input")]
    date: Option<Day>,
    /// The recipe is that of this preset: paper or balanced [default: balanced]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_PRESET")]
    preset: Option<Preset>,
    /// Recipe: a name, or a .toml file [default: that of the preset]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Bits of a fingerprint, if the recipe allows both
    #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
    width: Option<Width>,
    /// Also show the similarity by this check: one of `fingerprint --signature`, or jaccard, the share of 3-word
    /// shingles that both have, as in `compare` [default: jaccard, where verdicts do not ask for containment]
    #[arg(long, value_name = "C", num_args = 1)]
    check: Option<TextMeasure>,
    #[command(flatten)]
    pages: PageFlags,
    /// Ids of the two documents; with --date, of one document
    #[arg(id = "pages_to_explain", value_name = "ID", num_args = 1..=2)]
    ids: Vec<PathBuf>,
}

/// A document to find, and the inputs to look in.
struct Wanted {
    id: String,
    inputs: Vec<PathBuf>,
}

impl Arguments {
    /// The two documents. After `--input PATH...` clap takes their ids for two more paths.
    fn wanted(&self) -> Result<[Wanted; 2]> {
        let (inputs, ids) = if self.ids.is_empty() {
            self.input.split_at(self.input.len().saturating_sub(2))
        } else {
            (&self.input[..], &self.ids[..])
        };
        match ids {
            [one, another] if !inputs.is_empty() => {
                let wanted = |id| Ok(Wanted { id: id_text(id)?, inputs: inputs.to_vec() });
                Ok([wanted(one)?, wanted(another)?])
            }
            _ => Err(Error::new(Kind::Usage, "two ids are needed after the inputs")
                .help("with --config and --date one id is enough")),
        }
    }

    /// The document with the given id, and the verdict of the day on it.
    fn by_verdict(&self, day: Day, config: &Config) -> Result<(Wanted, PageVerdict)> {
        let output = config.output.path.as_deref().filter(|_| !config.inputs.is_empty());
        let (Some(output), [id]) = (output, &self.ids[..]) else {
            return Err(Error::new(
                Kind::Usage,
                "--date needs one id and a configuration file of `run`",
            )
            .help("give the file with --config"));
        };
        let id = id_text(id)?;
        let output = Place::from(day.expand(output)).here()?;
        let verdict = report::verdict(&output, &id)?;
        Ok((Wanted { id, inputs: inputs_of(config, day) }, verdict))
    }
}

/// An id as text.
fn id_text(id: &Path) -> Result<String> {
    let id = id.to_str().ok_or_else(|| Error::new(Kind::Usage, "the id is not UTF-8"))?;
    Ok(id.to_owned())
}

/// The inputs of a day, as the file names them.
fn inputs_of(config: &Config, day: Day) -> Vec<PathBuf> {
    config.inputs.iter().map(|input| day.expand(input).into()).collect()
}

/// Runs `explain`.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let config = global.config()?;
    let (wanted, verdict) = match arguments.date {
        None => (arguments.wanted()?, None),
        Some(day) => {
            let (wanted, verdict) = arguments.by_verdict(day, &config)?;
            let Some(Nearest { id, against, .. }) = &verdict.nearest else {
                return print_undropped(&wanted.id, &verdict, global.json);
            };
            // `batch` is the same day.
            let inputs = inputs_of(&config, against.parse().unwrap_or(day));
            ([wanted, Wanted { id: id.clone(), inputs }], Some(verdict))
        }
    };
    let mut dedup = config.dedup;
    dedup.preset = arguments.preset.or(dedup.preset).or(config.fingerprint.made.preset);
    let FingerprintSettings { made, pages } = config.fingerprint;
    let pages = arguments.pages.over(pages);
    let made = RecipeSettings {
        preset: arguments.preset.or(made.preset),
        recipe: arguments.recipe.clone().or(made.recipe),
        width: arguments.width.or(made.width),
        boilerplate: made.boilerplate,
        ..RecipeSettings::default()
    };
    let recipe = made.recipe(&pages)?;
    let documents = analyse(&wanted, &pages, &recipe)?;
    let (_, confirm) = dedup.distance_and_check(recipe.stamp().as_str());
    let comparison = Comparison::of(documents, &recipe, arguments.check, confirm)?;
    if let Some(PageVerdict { nearest: Some(nearest), .. }) = &verdict
        && nearest.distance != comparison.distance()
    {
        tracing::warn!(
            "the verdict gives a distance of {} bits: the recipe or the pages have changed since then",
            nearest.distance
        );
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let printed = if global.json {
        let mut object = comparison.object();
        object["verdict"] = json!(verdict);
        writeln!(out, "{object}")
    } else {
        describe_verdict(verdict.as_ref(), &mut out).and_then(|()| comparison.describe(&mut out))
    };
    printed.and_then(|()| out.flush()).at("stdout")?;
    Ok(Summary::answered())
}

/// Prints the verdict on a page that was not dropped.
fn print_undropped(id: &str, verdict: &PageVerdict, as_json: bool) -> Result<Summary> {
    match (as_json, verdict.word.as_str()) {
        (true, _) => println!("{}", json!({ "id": id, "verdict": verdict })),
        (false, "empty") => {
            println!(
                "{id}: empty; it has no feature, so it has no fingerprint and was not compared"
            )
        }
        (false, word) => println!("{id}: {word}; no other page can stand for it"),
    }
    Ok(Summary::answered())
}

/// Finds the two documents and their features. Of several documents with the same id it takes the first.
fn analyse(
    wanted: &[Wanted; 2],
    settings: &PageSettings,
    recipe: &Recipe,
) -> Result<[Analysed; 2]> {
    let mut sketcher = recipe.sketcher()?;
    let mut boilerplate = recipe.boilerplate();
    let mut found = [None, None];
    let same = wanted[0].inputs == wanted[1].inputs;
    for inputs in wanted.iter().take(if same { 1 } else { 2 }).map(|wanted| &wanted.inputs) {
        pages::each(inputs, settings, |document| {
            for (wanted, found) in wanted.iter().zip(&mut found) {
                if found.is_some() || wanted.id != document.id || wanted.inputs != *inputs {
                    continue;
                }
                let id = &wanted.id;
                let Content::Text(whole) = &document.content else { return Err(no_text(id)) };
                let text = match &mut boilerplate {
                    Some(boilerplate) => boilerplate.drop_from(id, whole).text,
                    None => whole,
                };
                let (fingerprint, class) = sketcher.page(text)?.ok_or_else(|| {
                    Error::new(Kind::BadData, "the document has no feature").found(id)
                })?;
                let features = sketcher.weighted(text)?;
                let dropped_bytes = whole.len() - text.len();
                let [id, text] = [id, text].map(str::to_owned);
                *found = Some(Analysed { id, fingerprint, class, features, text, dropped_bytes });
            }
            Ok(())
        })?;
    }
    match found {
        [Some(one), Some(another)] => Ok([one, another]),
        [one, _] => {
            let id = &wanted[usize::from(one.is_some())].id;
            Err(Error::new(Kind::Missing, "the inputs have no document with this id").expected(id))
        }
    }
}

fn describe_verdict(verdict: Option<&PageVerdict>, out: &mut impl Write) -> io::Result<()> {
    let Some(PageVerdict { word, nearest: Some(nearest) }) = verdict else { return Ok(()) };
    let Nearest { id, distance, against } = nearest;
    let held = match against.as_str() {
        "batch" => "a kept page of the same day".to_owned(),
        day => format!("a page that the store holds since {day}"),
    };
    writeln!(out, "verdict   {word}: {distance} bits from {id}, {held}")
}
