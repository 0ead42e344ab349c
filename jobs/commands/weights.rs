//! `dupsieve weights`: in how many documents each feature, or each line, occurs.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::features::counts::{Counts, CountsWriter, Head};
use dupsieve::features::host_lines::{self, HostRecord};
use dupsieve::fingerprint::{PageTime, Recipe};
use dupsieve::flow::{Counted, Processes};
use dupsieve::join::Preset;
use dupsieve::output::{Listed, Lock};
use dupsieve::report::Parameters;
use dupsieve::runs::{Record, SortedRecords};
use dupsieve::step::{self, Step};
use dupsieve::{Error, Kind, Result};

use crate::commands::making::FromPages;
use crate::commands::reading::{Accepted, Found, Pages};
use crate::commands::{examples, making, places, reading};
use crate::flags::{
    FingerprintSettings, GlobalFlags, JOB, Output, PageSettings, RecipeChoice, RecipeSettings,
    parse_count, shared,
};
use crate::outcome::Summary;
use crate::processes::machines;

/// The fewest documents that a feature occurs in, if no other number is asked for.
const LEAST_DOCUMENTS: u64 = 2;

const EXAMPLES: &str = "
# Count how many pages contain each word
dupsieve weights --input crawl/ --output words.idf
# Learn the navigation of each host, for `fingerprint --boilerplate`
dupsieve weights --lines --by host --input crawl/ --output lines.counts";

/// Count in how many documents each word occurs, or each line: tables for recipes
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// The table to write
    #[arg(long, value_name = "FILE")]
    output: Output,
    /// Count lines, which a recipe may then drop as boilerplate, instead of features
    #[arg(long)]
    lines: bool,
    /// With --lines: find the boilerplate of each host. A line counts for the host of its page, whose id
    /// must be a URL, and the table holds the lines that many pages of the host have around content of
    /// their own
    #[arg(long, value_name = "host", requires = "lines")]
    by: Option<By>,
    /// Leave out features of fewer documents than this, and with --by host of fewer pages of the host; 1
    /// keeps all [default: 2; with --by host, 10]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    min_count: Option<u64>,
    /// Recipe whose features are counted: a name, or a .toml file [default: words]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Time limit for each MiB of a page's text. A page that takes longer is quarantined. Ordinary pages need far less
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_PAGE_TIME")]
    page_time: Option<NonZeroU32>,
    #[command(flatten)]
    pages: PageSettings,
}

/// What a line counts for.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum By {
    /// The host of its page.
    Host,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let FingerprintSettings { made, pages } = global.config()?.fingerprint;
    // What is counted does not depend on a distance or a check, so a preset says nothing here.
    // Lines are counted whole too: those of an older table count again.
    let made = RecipeSettings {
        recipe: arguments.recipe.clone().or(made.recipe),
        page_time: arguments.page_time.or(made.page_time),
        preset: Some(Preset::Paper),
        check: None,
        boilerplate: None,
        ..made
    };
    let settings = FingerprintSettings { made, pages: arguments.pages.clone().or(pages) };
    let mut processes = machines::join(global, &format!("{arguments:?} {settings:?}"))?;
    let output = &*arguments.output.here()?;
    processes.agree("check the output", || places::expect_folder(output))?;
    let made = making::from_pages(&mut processes, output, global, |processes| {
        Job::find((arguments, output), &settings, processes)
    })?;
    places::publish_job(&mut processes, global)?;
    Ok(made)
}

/// Says how many pages count for no host. A table of no host would silently do nothing.
fn check_hosts(pages: u64, without_host: u64) -> Result<()> {
    match without_host {
        0 => {}
        all if all == pages => {
            return Err(Error::new(Kind::BadData, "no page belongs to a host")
                .expected("ids that are URLs, such as https://host.example/page")
                .found(format_args!("{pages} pages whose ids are no URLs"))
                .help(
                    "name the field that holds the URL with --id-field, or leave out --by host",
                ));
        }
        some => tracing::warn!("pages whose ids are no URLs count for no host: {some}"),
    }
    Ok(())
}

struct Job {
    pages: Pages,
    recipe: Recipe,
    lines: bool,
    by: Option<By>,
    min_count: u64,
    /// What is counted, in the words of the table.
    of: String,
    page_time: PageTime,
}

/// What was counted: how often each feature or line occurs, or which lines each host has.
enum Counting {
    Features(Found<Counted>),
    Hosts(Found<HostRecord>),
}

impl FromPages for Job {
    const COMMAND: &'static str = "weights";
    const WHAT: &'static str = "a table of counts";
    type Found = Counting;

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = self.pages.parameters();
        parameters.insert("of".to_owned(), self.of.clone());
        // The stamp also says what the recipe leaves out of a text, such as stop words and boilerplate.
        parameters.insert("recipe".to_owned(), self.recipe.stamp().to_string());
        parameters.insert("min_count".to_owned(), self.min_count.to_string());
        parameters
    }

    fn is_ours(output: &Path) -> Result<bool> {
        Counts::stands_at(output)
    }

    fn decided(output: &Path) -> Result<Parameters> {
        Ok(serde_json::from_str(&Counts::read(output)?.head().identity).unwrap_or_default())
    }

    fn standing(&self) -> Result<Summary> {
        let output = &self.pages.output;
        let counts = Counts::read(output)?;
        let summary = Summary::new().count("documents", counts.head().documents);
        Ok(summary.count("features", counts.rows()).path("output", output))
    }

    fn read(&self, processes: &mut Processes, global: &GlobalFlags) -> Result<Counting> {
        let doing = "counting";
        match self.by {
            None => self
                .pages
                .read(processes, global, doing, |documents, processes| {
                    documents.count(processes, &self.recipe, self.lines, self.page_time)
                })
                .map(Counting::Features),
            Some(By::Host) => self
                .pages
                .read(processes, global, doing, |documents, processes| {
                    documents.count_by_host(processes, &self.recipe)
                })
                .map(Counting::Hosts),
        }
    }

    fn write(&self, found: Counting, lock: Lock, _: &GlobalFlags) -> Result<Summary> {
        match found {
            Counting::Features(found) => self.write_table(found, &lock, |counted, table| {
                each_sum(counted, |Counted { feature, documents }| match documents {
                    few if few < self.min_count => Ok(()),
                    _ => table.push(&feature, documents),
                })
                .map(|()| Summary::new())
            }),
            Counting::Hosts(found) => {
                let pages = found.read.documents;
                self.write_table(found, &lock, |records, table| {
                    let rows = |name: &str, count| table.push(name, count);
                    let without_host = host_lines::each_row(records, self.min_count, rows)?;
                    check_hosts(pages, without_host)?;
                    Ok(Summary::new().count("without_host", without_host))
                })
            }
        }
    }
}

impl Job {
    fn find(
        (arguments, output): (&Arguments, &Path),
        settings: &FingerprintSettings,
        processes: usize,
    ) -> Result<Job> {
        let recipe = settings.chosen()?;
        let of = match (arguments.lines, arguments.by) {
            (false, _) => recipe.taking(),
            (true, None) => recipe.taking_lines(),
            (true, Some(By::Host)) => recipe.taking_lines_by_host(),
        };
        let of = of.ok_or_else(|| {
            Error::new(Kind::Usage, "the features of this recipe cannot be counted")
                .expected("words, word-shingles or character-shingles")
                .found(recipe.name())
        })?;
        let &Arguments { ref input, lines, by, .. } = arguments;
        let pages = Pages::find(input, output, &settings.pages, recipe.width(), processes)?;
        let least = if by.is_some() { host_lines::LEAST_PAGES } else { LEAST_DOCUMENTS };
        let min_count = arguments.min_count.unwrap_or(least);
        let page_time = settings.made.page_time();
        Ok(Job { pages, recipe, lines, by, min_count, of, page_time })
    }

    /// Process 0 writes the table, whose rows `put` makes of what was counted.
    fn write_table<R: Record>(
        &self,
        found: Found<R>,
        lock: &Lock,
        put: impl FnOnce(SortedRecords<R>, &mut CountsWriter) -> Result<Summary>,
    ) -> Result<Summary> {
        let accepted = self.pages.accept(found, lock.fence())?;
        let decided = accepted.decided(&self.parameters());
        let counts = accepted.counts();
        let Accepted { made, read, quarantine, .. } = accepted;
        let output = &self.pages.output;
        let head = Head {
            of: self.of.clone(),
            documents: read.documents,
            min_count: self.min_count,
            identity: serde_json::to_string(&decided).expect("parameters are text"),
        };
        step::begin(Step::Writing);
        let mut table = CountsWriter::create(output, &head)?;
        table.fenced(lock.fence());
        let summary = put(made, &mut table)?;
        let has_bad = quarantine.is_some();
        quarantine.map_or(Ok(()), Listed::publish)?;
        let summary = self
            .pages
            .say_passed_over(summary.count("documents", read.documents), &counts)
            .count("features", table.finish()?)
            .path("output", output);
        reading::remove_stale(output, has_bad, false);
        Ok(self.pages.say_lists(summary, [has_bad, false]))
    }
}

/// Calls `each` with every feature once, in order, with the sum of its counts.
fn each_sum(
    counted: SortedRecords<Counted>,
    mut each: impl FnMut(Counted) -> Result<()>,
) -> Result<()> {
    let mut last: Option<Counted> = None;
    for next in counted {
        let next = next?;
        match &mut last {
            Some(last) if last.feature == next.feature => last.documents += next.documents,
            _ => last.replace(next).map_or(Ok(()), &mut each)?,
        }
    }
    last.map_or(Ok(()), each)
}
