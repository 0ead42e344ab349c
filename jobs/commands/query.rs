//! `dupsieve query`: what is near to these pages in a store, page by page.

mod answering;
pub(crate) mod recipe;
mod stream;

use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dupsieve::Result;
use dupsieve::document::{Format, Tolerance};
use dupsieve::error::At;
use dupsieve::fingerprint::{Width, hex, of_hex};
use dupsieve::index::{Asker, Lookup};
use dupsieve::matches::Question;
use dupsieve::report::Copies;
use dupsieve::store::Store;
use dupsieve::work::Work;

use crate::commands::copies::CopiesFlag;
use crate::commands::near::LookupFlags;
use crate::commands::{StoreFlag, examples, near};
use crate::flags::{
    FingerprintSettings, GlobalFlags, PageSettings, RecipeChoice, RecipeSettings, Workers,
    parse_count, shared,
};
use crate::outcome::{Summary, terminal};
use answering::Answering;
use stream::Stream;

/// The largest number of near pages that an answer names, unless another one is given.
const LIMIT: u64 = 1000;

const EXAMPLES: &str = "
# Ask for pages by their fingerprints
dupsieve query --store store --fingerprint 0x0123456789abcdef
# Ask for a text
dupsieve query --store store --text-file page.txt
# Ask for all pages of a crawl, as they come
dupsieve query --store store --input - --format jsonl";

/// Find the pages of a store that are near to given pages or texts
///
/// Prints a line of JSON for each page, in the order of the input: its id, the version of the store that
/// answers, the near pages with their ids, days and distances, the nearest first, and the verdict that `dedup`
/// would give to that page alone: keep, drop, or empty for a text without words. `more` says how many near pages
/// are not listed. A store with an index (`dupsieve store index`) answers fastest.
///
/// Texts get their fingerprints by the recipe of the store. What is within the distance, or shares an anchor, is confirmed as
/// `dedup` does: by the check of the store's preset, and by the class of the text. Of a ready-made fingerprint no text is
/// known, so all that is within the distance is near.
#[derive(Args, Debug)]
#[command(args = shared(&[Workers]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreFlag,
    /// Ask this version of the store [default: the newest]
    #[arg(long, value_name = "VERSION")]
    as_of: Option<u64>,
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    pages: PageSettings,
    #[command(flatten)]
    copies: CopiesFlag,
    #[command(flatten)]
    lookup: LookupFlags,
    /// Name at most this many near pages of each page, and count the others
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = parse_count)]
    limit: u64,
    /// Most steps of work for a page. A step is a fingerprint or a page that is looked at; then what was found so far is
    /// answered (`cut`) [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_work: Option<u64>,
    /// Recipe of the store, if it has none of the usual names: a .toml file
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// List the records that could not be read in this file
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// Time limit for each MiB of a page's text; a page that takes longer is bad [default: 60]
    #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_PAGE_TIME")]
    page_time: Option<NonZeroU32>,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Asked {
    /// Fingerprints in hex, with or without 0x
    #[arg(long, value_name = "HEX", num_args = 1..)]
    fingerprint: Vec<String>,
    /// Files of one text each, or - for standard input
    #[arg(long = "text-file", alias = "text", value_name = "FILE", num_args = 1..)]
    text: Vec<PathBuf>,
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input, read as `fingerprint` reads them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let store = Store::open(&arguments.store.path(global)?)?;
    let version = store.at(arguments.as_of)?;
    let counter = arguments.copies.counter(global)?;
    let counted = counter.map(|counter| counter.count(&version, None)).transpose()?.flatten();
    let copies = counted.map(|counted| counted.copies);
    let options = arguments.lookup.options(None, version.stamp());
    let lookup = Lookup::open(&store, version, options.map_err(|error| error.at(store.path()))?)?;
    if lookup.without_index() > 0 {
        let count = lookup.without_index();
        tracing::warn!(
            "segments without their index, which are slower to ask: {count}; `dupsieve store index` makes it"
        );
    }
    match &arguments.asked.fingerprint[..] {
        [] => arguments.ask_pages(&store, (&lookup, copies.as_ref()), global)?,
        fingerprints => {
            arguments.ask_fingerprints((&lookup, copies.as_ref()), fingerprints)?;
        }
    }
    Ok(Summary::new())
}

impl Arguments {
    fn work(&self) -> Work<'static> {
        self.max_work.map_or(Work::unbounded(), Work::of)
    }

    fn limit(&self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    fn ask_fingerprints(
        &self,
        (lookup, copies): (&Arc<Lookup>, Option<&Copies>),
        fingerprints: &[String],
    ) -> Result<()> {
        let width = lookup.width().unwrap_or(Width::W64);
        let asked = fingerprints.iter().map(|text| of_hex(text, width));
        let asked = asked.collect::<Result<Vec<u128>>>()?;
        let mut asker = Asker::new(lookup);
        let mut out = terminal::stdout();
        for fingerprint in asked {
            let question = Question { fingerprint, page: None };
            let answer = asker.ask(&question, self.limit(), &mut self.work())?;
            let id = hex(fingerprint, width);
            let answer = near::Answer::of(&id, (lookup, copies), Some(&answer));
            out.write_all(answer.to_line().as_bytes()).at("stdout")?;
        }
        out.flush().at("stdout")
    }

    fn ask_pages(
        &self,
        store: &Store,
        (lookup, copies): (&Arc<Lookup>, Option<&Copies>),
        global: &GlobalFlags,
    ) -> Result<()> {
        let FingerprintSettings { made, pages } = self.settings(global)?;
        let recipe = match lookup.version().stamp() {
            Some(stamp) => {
                recipe::of(stamp, &made, &pages).map_err(|error| error.at(store.path()))?
            }
            None => made.recipe(&pages)?,
        };
        let asked = if self.asked.text.is_empty() { &self.asked.input } else { &self.asked.text };
        let (inputs, options) = pages.inputs(asked, recipe.width())?;
        let answering = Answering {
            lookup,
            copies,
            recipe: &recipe,
            page_time: made.page_time(),
            limit: self.limit(),
            max_work: self.max_work,
        };
        let max_bad = pages.max_bad.unwrap_or(Tolerance::BAD);
        let quarantine = self.quarantine.as_deref();
        Stream { inputs: &inputs, options: &options, max_bad, quarantine }
            .answer(&answering, global.workers(1))
    }

    fn settings(&self, global: &GlobalFlags) -> Result<FingerprintSettings> {
        let is_text = !self.asked.text.is_empty();
        let FingerprintSettings { made, pages } = global.config()?.fingerprint;
        let pages = PageSettings { time_field: None, ..pages };
        // A file of one text has no fields, whatever the pages of the configuration have.
        let pages = match is_text {
            true => PageSettings { id_field: None, text_field: None, html: None, ..pages },
            false => pages,
        };
        let mut pages = self.pages.clone().or(pages);
        if is_text {
            pages.format = Some(Format::Text);
        }
        let made = RecipeSettings {
            preset: made.preset,
            recipe: self.recipe.clone().or(made.recipe),
            width: made.width,
            boilerplate: self.lookup.boilerplate.clone().or(made.boilerplate),
            page_time: self.page_time.or(made.page_time),
            ..RecipeSettings::default()
        };
        Ok(FingerprintSettings { made, pages })
    }
}
