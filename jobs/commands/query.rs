//! `dupsieve query`: what is near to these pages in a store, page by page.

mod answering;
mod line;
pub(crate) mod recipe;
mod stream;

use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dupsieve::Result;
use dupsieve::rooms::document::{Format, Tolerance};
use dupsieve::rooms::error::At;
use dupsieve::rooms::fingerprint::{Width, hex, of_hex};
use dupsieve::rooms::index::{Asker, Lookup, LookupOptions};
use dupsieve::rooms::join;
use dupsieve::rooms::matches::{Confirm, Question};
use dupsieve::rooms::report::Copies;
use dupsieve::rooms::store::{Access, Store, Version};
use dupsieve::rooms::work::Work;

use crate::commands::copies::CopiesFlag;
use crate::commands::help::examples;
use crate::commands::pages::PageFlags;
use crate::commands::store_at::StoreFlag;
use crate::flags::global::GlobalFlags;
use crate::flags::place::Place;
use crate::flags::settings::{
    ByteSize, Count, DedupSettings, FingerprintSettings, PageSettings, RecipeChoice, RecipeSettings,
};
use crate::flags::shared::Shared::Workers;
use crate::flags::shared::shared;
use crate::outcome::summary::Summary;
use crate::outcome::terminal;
use answering::Answering;
use stream::Stream;

/// The largest number of near pages that an answer names, unless another one is given.
const LIMIT: u64 = 1000;

const EXAMPLES: &[(&str, &str)] = &[
    (
        "Ask for pages by their fingerprints",
        "dupsieve query --store store --fingerprint 0x0123456789abcdef",
    ),
    ("Ask for a text", "dupsieve query --store store --text-file page.txt"),
    (
        "Ask for all pages of a crawl, as they come",
        "dupsieve query --store store --input - --format jsonl",
    ),
];

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
    pages: PageFlags,
    #[command(flatten)]
    copies: CopiesFlag,
    /// Near pages differ in at most this many bits, 15 at most [default: that of the preset that the store was made
    /// with, else 3]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    distance: Option<u32>,
    /// Confirm near texts by the sketches of this check, and after a colon the least containment or similarity, such as
    /// containment:0.95 [default: that of the preset]
    #[arg(id = "confirm", long = "check", value_name = "C[:LEAST]", env = "DUPSIEVE_CHECK")]
    check: Option<Confirm>,
    /// Name at most this many near pages of each page, and count the others
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = parse_limit)]
    limit: u64,
    /// Most steps of work for a page. A step is a fingerprint or a page that is looked at; then what was found so far is
    /// answered (`cut`) [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_limit)]
    max_work: Option<u64>,
    /// Read all fingerprints of the store and its index into memory first. For very many pages: without it the system
    /// reads what is needed, and keeps it as long as memory allows
    #[arg(long)]
    resident: bool,
    /// Recipe of the store, if it has none of the usual names: a .toml file
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Table of lines that do not count as text, if the store was made with one
    #[arg(long, value_name = "FILE", env = "DUPSIEVE_BOILERPLATE")]
    boilerplate: Option<Place>,
    /// List the records that could not be read in this file
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// End with 65 if more records are bad: a number, or a share such as 0.5%. What could be read is answered all
    /// the same [default: 1%]
    #[arg(long, value_name = "N|P%", env = "DUPSIEVE_MAX_BAD")]
    max_bad: Option<Tolerance>,
    /// Longest record, such as 64MiB; longer ones are bad [default: 64MiB]
    #[arg(long, value_name = "SIZE", env = "DUPSIEVE_MAX_RECORD")]
    max_record: Option<ByteSize>,
    /// Time limit for each MiB of a page's text; a page that takes longer is bad [default: 60]
    #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_PAGE_TIME")]
    page_time: Option<NonZeroU32>,
    /// Read what can be read of compressed files that are damaged or end early
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[arg(env = "DUPSIEVE_ACCEPT_TRUNCATED")]
    accept_truncated: Option<bool>,
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

fn parse_limit(text: &str) -> Result<u64, String> {
    text.parse::<Count>().map(|Count(limit)| limit)
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let store = Store::open(&arguments.store.path(global)?)?;
    let version = store.at(arguments.as_of)?;
    let counter = arguments.copies.counter(global)?;
    let counted = counter.map(|counter| counter.count(&version, None)).transpose()?.flatten();
    let copies = counted.map(|counted| counted.copies);
    let lookup = arguments.open(&store, version)?;
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
    Ok(Summary::answered())
}

impl Arguments {
    fn open(&self, store: &Store, version: Version) -> Result<Arc<Lookup>> {
        let settings = DedupSettings {
            distance: self.distance,
            check: self.check,
            ..DedupSettings::default()
        };
        let (distance, check) = settings.distance_and_check(version.stamp().unwrap_or_default());
        if let Some(stamp) = version.stamp() {
            join::check_signatures(check, stamp).map_err(|error| error.at(store.path()))?;
        }
        let access = if self.resident { Access::Resident } else { Access::OnDisk };
        let mut options = LookupOptions::within(distance);
        options.check = check;
        options.access = access;
        Lookup::open(store, version, options)
    }

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
            line::write(&id, (lookup, copies), Some(&answer), &mut out).at("stdout")?;
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

    /// How pages are read, and what is made of them.
    fn settings(&self, global: &GlobalFlags) -> Result<FingerprintSettings> {
        let is_text = !self.asked.text.is_empty();
        let FingerprintSettings { made, pages } = global.config()?.fingerprint;
        // A file of one text has no fields, whatever the pages of the configuration have.
        let pages = match is_text {
            true => PageSettings { id_field: None, text_field: None, html: None, ..pages },
            false => pages,
        };
        let pages = self.pages.over(pages);
        let pages = PageSettings {
            format: if is_text { Some(Format::Text) } else { pages.format },
            max_bad: self.max_bad.or(pages.max_bad),
            max_record: self.max_record.or(pages.max_record),
            accept_truncated: self.accept_truncated.or(pages.accept_truncated),
            time_field: None,
            ..pages
        };
        let made = RecipeSettings {
            preset: made.preset,
            recipe: self.recipe.clone().or(made.recipe),
            width: made.width,
            boilerplate: self.boilerplate.clone().or(made.boilerplate),
            page_time: self.page_time.or(made.page_time),
            ..RecipeSettings::default()
        };
        Ok(FingerprintSettings { made, pages })
    }
}
