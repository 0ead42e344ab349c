//! `dupsieve contains`: which items of a reference set, such as test questions, stand in the pages of a corpus?
//!
//! ```text
//! found/items.tsv     each item in each page, with where it stands
//! found/counts.tsv    in how many pages each item stands
//! found/report.json   the figures; report.html for people
//! clean/              the pages without an item, as they came (with --kept)
//! ```

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dupsieve::document::{IdList, PlaceIds};
use dupsieve::error::Named;
use dupsieve::fingerprint::PageTime;
use dupsieve::flow::{Documents, Harvest, Processes};
use dupsieve::items::{ItemHit, Items, ItemsFound};
use dupsieve::output::Staging;
use dupsieve::results::{ResultFormat, ResultReader};
use dupsieve::runs::SortedRecords;
use dupsieve::{Error, Kind, Result};

use crate::commands::filter::Kept;
use crate::commands::searching::{Asked, Search};
use crate::commands::{examples, pages, searching};
use crate::flags::{
    FormatFlag, GlobalFlags, JOB, Output, PageSettings, Place, RecipeSettings, Share, shared,
};
use crate::outcome::{Summary, counted};

/// The share of its shingles by which an item is found, if no other is asked for.
const SHARE: f64 = 0.8;

const EXAMPLES: &str = "
# Find the questions of a test in a corpus, and copy the pages without any
dupsieve contains --items test.jsonl --item-field question --input corpus/ --output found \\
  --kept clean
# Look for questions and answers, each by itself
dupsieve contains --items test.jsonl --item-field question answer --input corpus/ --output found";

/// Find the items of a reference set in pages
///
/// Items are texts that should stand in no page, such as the questions of a test, leaked documents, or licences. An item stands in a page if a stretch of at most
/// one and a half times its words has at least 80 % of its 3-word shingles (--share): it is found where it was wrapped, cased or punctuated
/// anew, and where some words are others. The pages are read once, and nothing of them is kept.
///
/// An item that very many pages have may be a common phrase: report.html names the items that most pages have, and counts has all of them.
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Files, folders or globs with the items
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    items: Vec<Place>,
    /// Field with the text of an item; of several, each is an item by itself: ID#FIELD [default: text]
    #[arg(long, value_name = "FIELD", num_args = 1..)]
    item_field: Vec<String>,
    /// Field with the id of an item. One without has its place as the id, such as test.jsonl:17 [default: id]
    #[arg(long, value_name = "FIELD")]
    item_id_field: Option<String>,
    /// Share of the item's shingles that a page must have, above 0 and at most 1 [default: 0.8]
    #[arg(long, value_name = "SHARE")]
    share: Option<Share>,
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input, with the pages
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// Output folder
    #[arg(long, value_name = "DIR")]
    output: Output,
    /// Folder for copies of the pages in which no item stands, as they came: for each input file a file of the same name and format. A page with an item
    /// is left out as a whole
    #[arg(long, value_name = "DIR")]
    kept: Option<Output>,
    /// Time limit for each MiB of a page's text. A page that takes longer is quarantined. Ordinary pages need far less [default: 60]
    #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_PAGE_TIME")]
    page_time: Option<NonZeroU32>,
    #[command(flatten)]
    format: FormatFlag,
    #[command(flatten)]
    pages: PageSettings,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let config = global.config()?;
    let items = Arc::new(arguments.read_items()?);
    for id in items.without_words() {
        tracing::warn!("the item {id} has no word, so it stands in no page");
    }
    let output = &*arguments.output.here()?;
    let format = arguments.format.or(&config.output);
    let asked = Asked {
        input: &arguments.input,
        output,
        format,
        pages: searching::settings(&arguments.pages, global)?,
        kept: arguments.kept.as_ref().map(Output::here).transpose()?,
    };
    let page_time = RecipeSettings { page_time: arguments.page_time, ..Default::default() };
    let page_time = page_time.or(config.fingerprint.made).page_time();
    let search = ItemSearch { items, share: arguments.share(), page_time };
    let copy = |copies: &Kept| copies.copy_all_but(pages_with_items(output, format)?, global);
    let (found, copied) = asked.search(arguments, global, |pages| Ok((pages, search)), copy)?;
    let Some(copied) = copied else { return Ok(found) };
    let [pages, items, stand, hit] =
        ["documents", "items", "found", "pages"].map(|name| found.counted(name));
    let [items_table, counts] = ["items", "counts"].map(|table| format.file_name(table));
    let named = output.named();
    let without = arguments
        .kept
        .is_some()
        .then(|| counted(copied.counted("copied"), "page(s) without an item copied"));
    Ok(found
        .then(copied)
        .say(format!(
            "{}: {hit} with an item; {stand} of {} found",
            counted(pages, "page(s)"),
            counted(items, "item(s)")
        ))
        .say_if(without)
        .say(format!("written to {named}: {items_table}, {counts}, report.json, report.html")))
}

fn pages_with_items(output: &Path, format: ResultFormat) -> Result<IdList> {
    let mut rows = ResultReader::of(output, "items")?;
    let ids = std::iter::from_fn(|| match rows.next_row() {
        Ok(row) => row.map(|row| Ok(row.split('\t').nth(1).unwrap_or_default().to_owned())),
        Err(error) => Some(Err(error)),
    });
    IdList::of(&output.join(format.file_name("items")), Vec::new()).with(ids)
}

impl Arguments {
    fn share(&self) -> f64 {
        self.share.map_or(SHARE, |Share(share)| share)
    }

    fn read_items(&self) -> Result<Items> {
        let paths: Vec<PathBuf> = self.items.iter().map(Place::here).collect::<Result<_>>()?;
        let fields = match &self.item_field[..] {
            [] => vec![None],
            fields => fields.iter().map(|field| Some(field.clone())).collect(),
        };
        let several = fields.len() > 1;
        let mut texts = Vec::new();
        for text_field in fields {
            let name = text_field.clone().filter(|_| several);
            let settings = PageSettings {
                id_field: self.item_id_field.clone(),
                place_ids: Some(PlaceIds::Missing),
                text_field,
                ..PageSettings::default()
            };
            pages::each_text(&paths, &settings, |id, text| {
                let id = match &name {
                    Some(field) => format!("{id}#{field}"),
                    None => id.to_owned(),
                };
                texts.push((id, text.to_owned()));
                Ok(())
            })
            .map_err(|error| {
                match error.remedy().settings.iter().any(|it| it == "text-field") {
                    true => error.help("name the field with the text of an item with --item-field"),
                    false => error,
                }
            })?;
        }
        if texts.is_empty() {
            return Err(Error::new(Kind::BadData, "there is no item")
                .at(&paths[0])
                .help("name the field with the text of an item with --item-field"));
        }
        Items::new(texts, self.share())
    }
}

struct ItemSearch {
    items: Arc<Items>,
    share: f64,
    page_time: PageTime,
}

impl Search for ItemSearch {
    type Made = ItemHit;
    type Found = ItemsFound;
    const DOING: &'static str = "looking for items";

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("items", self.items.digest().to_string()), ("share", self.share.to_string())]
    }

    fn read(&self, documents: Documents, processes: &mut Processes) -> Result<Harvest<ItemHit>> {
        documents.find_items(processes, Arc::clone(&self.items), self.page_time)
    }

    fn write(
        &self,
        hits: SortedRecords<ItemHit>,
        format: ResultFormat,
        staging: &Staging,
        _: &GlobalFlags,
    ) -> Result<ItemsFound> {
        self.items.write_hits(hits, format, staging)
    }
}
