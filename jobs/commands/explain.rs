//! `dupsieve explain`: the verdict on a document, and two documents compared.

mod comparison;
mod nearest;

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::document::PageKey;
use dupsieve::error::Named;
use dupsieve::fingerprint::{Recipe, TextMeasure, Width};
use dupsieve::join::Preset;
use dupsieve::matches::Recrawled;
use dupsieve::store::Day;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::commands::{PageSource, examples, pages};
use crate::flags::{
    Config, FingerprintSettings, GlobalFlags, PageSettings, Place, RecipeChoice, RecipeSettings,
    parse_width,
};
use crate::outcome::{Summary, answer};
use comparison::{Analysed, compared, distance};
use dupsieve::report::{self, Made, PageVerdict, Report};
use nearest::{Asked, Other};

const EXAMPLES: &str = "
# Explain why a page was dropped or kept
dupsieve explain found ID
# The same, of a day of `run`
dupsieve explain --config configs/local.toml --date 2026-11-20 ID
# Explain the distance of any two pages
dupsieve explain --input crawl/ ID OTHER-ID";

const TEXT: &str = include_str!("explain.txt");

/// Show why a page was dropped or kept, or what two pages have in common
///
/// With an output of dedup, or with --config and --date, one id is enough: the other page is the one that the verdict names, or of a kept
/// page the one that contains most of it.
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
#[command(override_usage = "\
dupsieve explain [OPTIONS] <OUTPUT> <ID>
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
    /// Also show the similarity by this check: one of `fingerprint --sketch`, or jaccard, the share of 3-word
    /// shingles that both have, as in `compare` [default: jaccard, where verdicts do not ask for containment]
    #[arg(long, value_name = "C", num_args = 1)]
    check: Option<TextMeasure>,
    #[command(flatten)]
    pages: PageSettings,
    /// An output and the id of a page; or the ids of two pages; with --date, the id of one page
    #[arg(id = "pages_to_explain", value_name = "ID", num_args = 1..=2)]
    ids: Vec<PathBuf>,
}

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
            _ if inputs.is_empty() => Err(Error::new(Kind::Usage, "an output and an id are needed")
                .help("dupsieve explain OUTPUT ID; the ids are in its verdicts. With --config, a --date and one id are enough")),
            _ => Err(Error::new(Kind::Usage, "two ids are needed after the inputs")),
        }
    }

    /// The output that has judged a document, and the id of the document; none if two documents are named.
    fn judged(&self, config: &Config) -> Result<Option<(PathBuf, String)>> {
        let of_day = config.output.path.as_deref();
        match (self.date, of_day, &self.ids[..]) {
            (None, _, [output, id]) if self.input.is_empty() => {
                let output = Place::from(output).here()?;
                match report::folder(&output).is_dir() {
                    true => Ok(Some((output, id_text(id)?))),
                    false => Err(report::no_output(&output)),
                }
            }
            (None, ..) => Ok(None),
            (Some(day), Some(output), [id]) => {
                Ok(Some((Place::from(day.expand(output)).here()?, id_text(id)?)))
            }
            _ => {
                let what = "--date needs one id and a configuration file of `run`";
                Err(Error::new(Kind::Usage, what).help("give the file with --config"))
            }
        }
    }
}

fn id_text(id: &Path) -> Result<String> {
    let id = id.to_str().ok_or_else(|| Error::new(Kind::Usage, "the id is not UTF-8"))?;
    Ok(id.to_owned())
}

struct Judged {
    id: String,
    verdict: PageVerdict,
    /// The page that the verdict names; of a kept page the nearest one.
    other: Option<Other>,
    is_other_dropped: bool,
    key: Option<PageKey>,
    asked: Option<Asked>,
    source: PageSource,
    settings: PageSettings,
}

impl Judged {
    fn of(
        (output, id): (PathBuf, String),
        pages: &PageSettings,
        global: &GlobalFlags,
    ) -> Result<Judged> {
        if let [.., last] = &report::outputs(&output)?[..]
            && *last != output
        {
            return Err(Error::new(Kind::Usage, "this is a folder of days")
                .at(&output)
                .help(format!("name the day of the page: dupsieve explain {} ID", last.named())));
        }
        let report = Report::read(&report::folder(&output))?;
        let report = report.ok_or_else(|| report::no_output(&output))?;
        let verdict = report::verdict(&output, &id)?;
        let asked = Asked::by(&report)?;
        let other = match (verdict.word.as_str(), asked) {
            ("keep", Some(asked)) => nearest::nearest(&report, asked, &id)?,
            _ => verdict.nearest.clone().map(|page| Other { page, contains: None }),
        };
        let is_other_dropped = match &other {
            Some(Other { page, .. }) if page.against == "batch" => {
                report::verdict(&output, &page.id)?.word == "drop"
            }
            _ => false,
        };
        let (source, settings) = PageSource::of_output(&output, &[], pages, global)?;
        let key = report.key();
        Ok(Judged { id, verdict, other, is_other_dropped, key, asked, source, settings })
    }

    fn wanted(&self) -> Result<Option<[Wanted; 2]>> {
        let Some(Other { page: other, .. }) = &self.other else { return Ok(None) };
        let one = Wanted { id: self.id.clone(), inputs: self.source.inputs_of(None)? };
        let another = Wanted { id: other.id.clone(), inputs: self.source.inputs_of(Some(other))? };
        Ok(Some([one, another]))
    }

    /// What of the nearest page keeps it from standing in the place of a kept page.
    fn why_not(&self, Other { page, contains }: &Other) -> String {
        let Some(asked) = self.asked else { return "it was not compared".to_owned() };
        match (asked.least(), contains) {
            _ if self.is_other_dropped => "it was dropped itself".to_owned(),
            (Some(least), Some(contains)) if *contains < least => {
                format!("it contains {contains:.4} of this page; {least} is asked")
            }
            (Some(_), None) => {
                format!("it is more than {} bits away, and shares no anchor", asked.distance)
            }
            (None, _) if page.distance > asked.distance => {
                format!("it is more than {} bits away", asked.distance)
            }
            (Some(_), Some(contains)) if asked.recrawled != Recrawled::Rule => {
                format!("it contains {contains:.4} of this page")
            }
            _ if page.against == "batch" => "this page was taken first".to_owned(),
            _ => "it was not among the candidates that were compared".to_owned(),
        }
    }

    fn add_to(&self, object: &mut Value) {
        object["verdict"] = json!(self.verdict);
        object["nearest"] = json!(self.other);
        object["recrawled"] = json!(self.asked.map(|asked| asked.recrawled.to_string()));
        object["why_not"] = json!(self.other.as_ref().map(|other| self.why_not(other)));
    }

    fn print_alone(&self, as_json: bool) -> Result<Summary> {
        let mut object = json!({ "id": self.id });
        self.add_to(&mut object);
        answer::print(&object, TEXT, as_json)
    }
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let config = global.config()?;
    let judged = arguments.judged(&config)?;
    let judged = judged.map(|of| Judged::of(of, &arguments.pages, global)).transpose()?;
    let wanted = match &judged {
        None => arguments.wanted()?,
        Some(judged) => match judged.wanted()? {
            Some(wanted) => wanted,
            None => return judged.print_alone(global.json),
        },
    };
    let mut dedup = config.dedup;
    dedup.preset = arguments.preset.or(dedup.preset).or(config.fingerprint.made.preset);
    let FingerprintSettings { made, pages } = config.fingerprint;
    let pages = match &judged {
        Some(judged) => judged.settings.clone(),
        None => arguments.pages.over(pages),
    };
    let key = judged.as_ref().map_or(made.key.clone(), |judged| judged.key.clone());
    let made = RecipeSettings {
        preset: arguments.preset.or(made.preset),
        recipe: arguments.recipe.clone().or(made.recipe),
        width: arguments.width.or(made.width),
        boilerplate: made.boilerplate,
        ..RecipeSettings::default()
    };
    let recipe = made.recipe(&pages)?;
    let documents = match (analyse(&wanted, &pages, (&recipe, key.as_ref())), &judged) {
        // The pages of earlier days have often been deleted.
        (Err(error), Some(judged)) if error.kind() == Kind::Missing => {
            tracing::warn!("{error}");
            return judged.print_alone(global.json);
        }
        (documents, _) => documents?,
    };
    let confirm = match judged.as_ref().and_then(|judged| judged.asked) {
        Some(asked) => asked.confirm,
        None => dedup.distance_and_check(recipe.stamp().as_str()).1,
    };
    if let Some(Judged { other: Some(Other { page: other, .. }), .. }) = &judged
        && other.distance != distance(&documents)
    {
        tracing::warn!(
            "the output gives a distance of {} bits: the recipe or the pages have changed since then",
            other.distance
        );
    }
    let mut object = compared(&documents, &recipe, arguments.check, confirm)?;
    match &judged {
        Some(judged) => judged.add_to(&mut object),
        None => (object["verdict"], object["nearest"]) = (Value::Null, Value::Null),
    }
    answer::print(&object, TEXT, global.json)
}

/// Finds the two documents and their features. Of several documents with the same id it takes the first.
fn analyse(
    wanted: &[Wanted; 2],
    settings: &PageSettings,
    (recipe, key): (&Recipe, Option<&PageKey>),
) -> Result<[Analysed; 2]> {
    // Values of other fields are not read.
    let key = key.filter(|key| key.field().is_none());
    let mut sketcher = recipe.sketcher()?;
    let mut boilerplate = recipe.boilerplate();
    let mut found = [None, None];
    let same = wanted[0].inputs == wanted[1].inputs;
    for inputs in wanted.iter().take(if same { 1 } else { 2 }).map(|wanted| &wanted.inputs) {
        let is_of = |it: &&Wanted| it.inputs == *inputs;
        let ids = wanted.iter().filter(is_of).map(|it| it.id.clone()).collect();
        pages::find_texts(inputs, settings, ids, |id, whole| {
            let text = match &mut boilerplate {
                Some(boilerplate) => boilerplate.drop_from(id, whole).text,
                None => whole,
            };
            let (fingerprint, class) = sketcher.page(text)?.ok_or_else(|| {
                Error::new(Kind::BadData, "the document has no word to compare").found(id)
            })?;
            let features = sketcher.weighted(text)?;
            let dropped_bytes = whole.len() - text.len();
            let key = key.map(|key| key.of(id, None).into_owned());
            let [id, text] = [id, text].map(str::to_owned);
            let analysed = Analysed { id, key, fingerprint, class, features, text, dropped_bytes };
            for (wanted, found) in wanted.iter().zip(&mut found) {
                if wanted.id == analysed.id && wanted.inputs == *inputs {
                    *found = Some(analysed.clone());
                }
            }
            Ok(())
        })?;
    }
    match found {
        [Some(one), Some(another)] => Ok([one, another]),
        [one, _] => {
            let id = &wanted[usize::from(one.is_some())].id;
            Err(Error::new(Kind::Missing, "the inputs have no document with this id")
                .expected(id)
                .help("give an id as the files have it; a place, such as a.jsonl:1, needs --place-ids all"))
        }
    }
}
