//! `dupsieve seen`: which of these ids, or of these texts, does a store hold?

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dupsieve::Result;
use dupsieve::document::{Tolerance, each_id};
use dupsieve::error::{At, Named};
use dupsieve::seen::{By, Holdings, Sought};
use dupsieve::store::{Day, Store, Version};
use serde_json::json;

use crate::commands::pages::no_text;
use crate::commands::{StoreFlag, examples, pages};
use crate::flags::{Config, GlobalFlags, Memory, PageSettings, Place, Workers, shared};
use crate::outcome::{Summary, terminal};

/// The bytes of ids that are read before they are looked for, if all segments have filters.
const PORTION_BYTES: usize = 1 << 20;

const EXAMPLES: &str = "
# Ask for ids, one a line
dupsieve seen --store store --ids ids.txt
# Ask which pages were read on any day, also those that were dropped
dupsieve seen --config dupsieve.toml --ids ids.txt
# Ask which pages of a crawl have a text that is held
dupsieve seen --store store --input crawl/";

/// Ask which ids or texts a store has
///
/// Prints a line for each record, in the order of the input: its id, yes or no, and the newest day under which the store
/// holds it. Records of --input are looked for by their texts, letter by letter, if the store keeps digests (`fingerprint
/// --keep-digests`); else by their ids. A page without any word has no row in a store, so it is never held; nor are pages that
/// were removed.
///
/// A store does not hold the pages that were dropped. With the --config of `run` they are looked for too, by their ids, in the outputs
/// of the days: the answer is yes, and the day that dropped the page. Without it, a warning says that they were not looked for.
///
/// With filters (`dupsieve store index DIR --filters`) a store answers at once. Without them the column of the ids, or of the
/// digests, is read from its beginning to its end, once for as many records as fit into a quarter of the memory. The
/// answers are the same.
#[derive(Args, Debug)]
#[command(args = shared(&[Workers, Memory]), after_help = examples(EXAMPLES))]
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
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Asked {
    /// File of ids, one a line, or - for standard input
    #[arg(long, value_name = "FILE")]
    ids: Option<Place>,
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input, read as `fingerprint` reads them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let store = Store::open(&arguments.store.path(global)?)?;
    let version = store.at(arguments.as_of)?;
    let holdings = Holdings::open(&store, version.clone())?;
    let by = match arguments.asked.ids.is_none() && holdings.has_texts() {
        true => By::Texts,
        false => By::Ids,
    };
    let dropped = Dropped::of(&global.config()?, &version, by)?;
    let without = holdings.without_filter(by);
    if without > 0 {
        tracing::warn!(
            "segments without filters, which are read as a whole: {without}; `dupsieve store index {} --filters` makes them",
            store.path().named()
        );
    }
    let is_quick = without == 0 && dropped.is_empty();
    let most = if is_quick { PORTION_BYTES } else { global.budget().documents() };
    let (threads, as_json) = (global.workers(1), global.json);
    let (bytes, records, has_no) = (0, Vec::new(), false);
    let mut portion =
        Portion { holdings, dropped, by, threads, as_json, most, bytes, records, has_no };
    match &arguments.asked.ids {
        Some(path) => {
            let path = path.here()?;
            let is_stdin = path == Path::new("-");
            let path = if is_stdin { Path::new("/dev/stdin") } else { &path };
            each_id(path, |_, id| portion.push(&String::from_utf8_lossy(id), 0))?;
        }
        None => {
            let file = global.config()?.fingerprint.pages;
            let mut settings = arguments.pages.over(PageSettings { time_field: None, ..file });
            settings.max_bad.get_or_insert(Tolerance::BAD);
            pages::each(&arguments.asked.input, &settings, |document| {
                let digest = match by {
                    By::Ids => 0,
                    By::Texts => {
                        let digest = document.content.text_digest();
                        digest.ok_or_else(|| no_text(&document.id))?
                    }
                };
                portion.push(&document.id, digest)
            })?;
        }
    }
    portion.answer()?;
    if portion.has_no {
        portion.dropped.warn();
    }
    Ok(Summary::new())
}

struct Portion {
    holdings: Arc<Holdings>,
    dropped: Dropped,
    by: By,
    threads: usize,
    as_json: bool,
    most: usize,
    bytes: usize,
    /// Their ids, and the digests of their texts.
    records: Vec<(String, u128)>,
    has_no: bool,
}

impl Portion {
    fn push(&mut self, id: &str, digest: u128) -> Result<()> {
        self.bytes += 2 * size_of::<(String, u128)>() + id.len();
        self.records.push((id.to_owned(), digest));
        if self.bytes < self.most { Ok(()) } else { self.answer() }
    }

    fn answer(&mut self) -> Result<()> {
        let Portion { holdings, dropped, by, threads, as_json, bytes, records, has_no, .. } = self;
        let sought: Vec<Sought<'_>> = records.iter().map(|it| sought_of(it, *by)).collect();
        let days = holdings.newest_days(*by, &sought, *threads)?;
        let mut out = terminal::stdout();
        let ids: Vec<&str> = records.iter().map(|(id, _)| &**id).collect();
        for ((id, held), dropped) in ids.iter().zip(&days).zip(dropped.newest_days(&ids)?) {
            *has_no |= held.or(dropped).is_none();
            write_line(id, *held, dropped, *as_json, &mut out).at("stdout")?;
        }
        out.flush().at("stdout")?;
        records.clear();
        *bytes = 0;
        Ok(())
    }
}

fn sought_of((id, digest): &(String, u128), by: By) -> Sought<'_> {
    match by {
        By::Ids => Sought::Id(id),
        By::Texts => Sought::Text(*digest),
    }
}

/// Writes the line of a record: the newest day under which it is held, else the newest that has dropped it.
fn write_line(
    id: &str,
    held: Option<Day>,
    dropped: Option<Day>,
    as_json: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let day = held.or(dropped);
    if as_json {
        let mut object = json!({ "id": id, "held": held.is_some(), "day": day });
        if held.is_none() && dropped.is_some() {
            object["dropped"] = true.into();
        }
        return writeln!(out, "{object}");
    }
    match day {
        Some(day) => writeln!(out, "{id}\tyes\t{day}"),
        None => writeln!(out, "{id}\tno\t"),
    }
}

#[derive(Debug, Default)]
struct Dropped {
    /// The newest day first.
    lists: Vec<(Day, PathBuf)>,
    /// The days whose dropped pages are not looked for, the newest first.
    unread: Vec<Day>,
    /// Why not, and what to do.
    why: &'static str,
}

impl Dropped {
    /// Those of the days of `version`, where the configuration says where their outputs are. They have the ids of the pages, and not their
    /// texts.
    fn of(config: &Config, version: &Version, by: By) -> Result<Dropped> {
        let why = match (by, &config.output.path) {
            (By::Texts, _) => "they have left their ids, and not their texts",
            (By::Ids, None) => {
                "with --config and the file of `run`, they are looked for in the outputs of the days"
            }
            (By::Ids, Some(_)) => "the outputs of these days are not where the file says",
        };
        let mut dropped = Dropped { why, ..Dropped::default() };
        for entry in version.all_entries().iter().rev() {
            let output = config.output.path.as_ref().filter(|_| by == By::Ids);
            let list = output.map(|output| Place::from(entry.day.expand(output)).here());
            let list = list.transpose()?.map(|output| output.join("dedup/drop.txt"));
            match list.filter(|list| list.exists()) {
                Some(list) => dropped.lists.push((entry.day, list)),
                // A day that was added whole has dropped no page.
                None => dropped.unread.extend(entry.only.map(|_| entry.day)),
            }
        }
        Ok(dropped)
    }

    fn warn(&self) {
        if let [newest, .., oldest] | [newest @ oldest] = &self.unread[..] {
            tracing::warn!(
                "a no says nothing of the pages that the days from {oldest} to {newest} read and dropped, which the store does not have: {}",
                self.why
            );
        }
    }

    fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    fn newest_days(&self, ids: &[&str]) -> Result<Vec<Option<Day>>> {
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (place, id) in ids.iter().enumerate() {
            places.entry(id.as_bytes()).or_default().push(place);
        }
        let mut days = vec![None; ids.len()];
        for (day, list) in &self.lists {
            each_id(list, |_, id| {
                for place in places.remove(id).into_iter().flatten() {
                    days[place] = Some(*day);
                }
                Ok(())
            })?;
        }
        Ok(days)
    }
}
