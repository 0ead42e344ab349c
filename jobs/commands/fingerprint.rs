//! `dupsieve fingerprint`: documents to a segment. They are read and fingerprinted on every worker, then
//! sorted and written by process 0.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dupsieve::document::{PageKey, Tolerance};
use dupsieve::error::Named;
use dupsieve::fingerprint::Recipe;
use dupsieve::flow::{Fingerprinting, Processes, Read};
use dupsieve::join;
use dupsieve::output::{self, Lock, beside};
use dupsieve::report::Parameters;
use dupsieve::seen::{By, Holdings};
use dupsieve::step::{self, Step};
use dupsieve::store::{
    FingerprintedDocument, Lists, RecordCounts, Segment, SegmentBuilder, SegmentOptions,
};
use dupsieve::{Error, Kind, Result};

use crate::commands::making::FromPages;
use crate::commands::reading::{ALL_PLACES, Accepted, Found, PLACE_IDS, Pages};
use crate::commands::{Destination, StoreAt, examples, making, places, reading};
use crate::flags::{FingerprintSettings, GlobalFlags, JOB, KeepField, Output, Place, shared};
use crate::outcome::{Summary, tally};
use crate::processes::machines;

/// A segment takes at least about one byte for this many bytes of its pages.
const INPUT_TO_SEGMENT: u64 = 1000;

const MAX_REPEATED: &str = "max_repeated";

const EXAMPLES: &str = "
# Read a folder of JSON Lines files
dupsieve fingerprint --input crawl/ --output day.seg
# Read other fields, and allow one bad record in a hundred
dupsieve fingerprint --input 'crawl/*.jsonl.gz' --id-field url --text-field content \\
  --max-bad 1% --output day.seg
# Make the smallest segment: fingerprints without sketches
dupsieve fingerprint --preset paper --input crawl/ --output day.seg
# Keep bands, a further source of candidates for `dedup`
dupsieve fingerprint --keep-bands minhash-14x8 --input crawl/ --output day.seg
# Keep digests, and compute nothing of pages whose text the store holds
dupsieve fingerprint --keep-digests --store store --input crawl/ --output day.seg
# Read fingerprints made by another program
dupsieve fingerprint --format fingerprints --input ready.tsv --output day.seg";

/// Make fingerprints of documents, and write them to a segment
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input. A rerun compares the contents of the
    /// files that have another size or other times than before. If a file changes while the job runs, the job fails
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// The segment to write
    #[arg(long, value_name = "FILE.seg")]
    output: Output,
    /// Take the fingerprints of pages from this store if it has exactly their text. It keeps
    /// digests (--keep-digests) and filters (`dupsieve store index --filters`). The segment is the same, byte for byte
    #[arg(long, value_name = "DIR")]
    store: Option<Place>,
    /// The version of the store to look in [default: the current one]
    #[arg(long, value_name = "VERSION", requires = "store")]
    as_of: Option<u64>,
    /// Note a field by which `dedup` chooses which page to keep, in place of the time: the number in a field, FIELD:max or
    /// FIELD:min, or FIELD:LIST, a file with the values of the field, the most trusted first [default: `keep` in the section
    /// [dedup], if it names a field]
    #[arg(long, value_name = "FIELD:max|min|LIST")]
    keep: Option<KeepField>,
    #[command(flatten)]
    settings: FingerprintSettings,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) output: PathBuf,
    /// Where the segment is in the end.
    pub(crate) destination: Destination,
    pub(crate) settings: FingerprintSettings,
    /// The field by whose values pages are kept, if there is one.
    pub(crate) keep: Option<KeepField>,
    /// The store whose pages are not computed again.
    pub(crate) known: StoreAt,
    pub(crate) other_texts: OtherTexts,
}

/// What becomes of a text whose id came before with another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OtherTexts {
    /// The record counts as repeated: a crawl may fetch a page twice, and the first text stands for the page.
    #[default]
    Repeated,
    /// The same, because the limit of repeated records was given for a corpus, whose ids are names. The limit is a part of the segment's identity
    /// then, even where it is the default.
    Allowed,
    /// No segment is made, and the summary has their number as [`OtherTexts::COUNT`].
    Counted,
}

impl OtherTexts {
    pub(crate) const COUNT: &str = "other_texts";
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let known = match &arguments.store {
        Some(store) => StoreAt::Version(store.here()?, arguments.as_of),
        None => StoreAt::NoStore,
    };
    let file = global.config()?;
    let request = Request {
        known,
        inputs: arguments.input.clone(),
        output: arguments.output.here()?,
        keep: arguments.keep.clone().or_else(|| file.dedup.keep.as_ref()?.field().cloned()),
        settings: arguments.settings.clone().or(file.fingerprint),
        ..Request::default()
    };
    let Request { settings, keep, .. } = &request;
    let mut processes = machines::join(global, &format!("{arguments:?} {settings:?} {keep:?}"))?;
    processes.agree("check the output", || places::expect_folder(&request.output))?;
    let summary = fingerprint(&mut processes, &request, global)?;
    places::publish_job(&mut processes, global)?;
    if global.dry_run {
        return say_recipe(summary, &request.settings);
    }
    if !processes.is_leader() {
        return Ok(summary);
    }
    let [read, made, empty, repeated, bad] =
        ["read", "fingerprinted", "empty", "repeated", "quarantined"].map(|it| summary.counted(it));
    let counts = [
        (made, "fingerprinted"),
        (empty, "empty"),
        (repeated, "repeated id(s)"),
        (bad, "unreadable"),
    ];
    let output = request.output.named();
    if read == 0 {
        tracing::warn!(
            "there are no pages for {output}; if they come later, make it again with --overwrite"
        );
    }
    let unchanged = summary.find("unchanged").map(|unchanged| {
        format!("{unchanged} of them have a text that the store has, and were not computed again")
    });
    Ok(summary
        .say_if(unchanged)
        .say(tally(read, "record(s)", &counts))
        .say(format!("written: {output}"))
        .say(format!("next: dupsieve dedup --batch {output} --output DIR")))
}

/// Adds to what a dry run says by which recipe fingerprints would be made, unless all are.
pub(crate) fn say_recipe(summary: Summary, settings: &FingerprintSettings) -> Result<Summary> {
    if summary.is_already_done() {
        return Ok(summary);
    }
    Ok(summary.say(format!("fingerprints by the recipe {}", settings.chosen()?.name())))
}

pub(crate) fn fingerprint(
    processes: &mut Processes,
    request: &Request,
    global: &GlobalFlags,
) -> Result<Summary> {
    let find = |processes| Job::find(request, processes);
    making::from_pages(processes, &request.output, global, find)
}

/// Whether the file at `output` is a segment in which all documents have their places as ids, by what it says of itself.
pub(crate) fn is_by_place(output: &Path) -> bool {
    let made = Segment::open(output).ok();
    let made = made.and_then(|made| serde_json::from_str::<Parameters>(made.identity()).ok());
    made.is_some_and(|made| made.get(PLACE_IDS).is_some_and(|ids| ids.starts_with(ALL_PLACES)))
}

pub(crate) fn stands(request: &Request) -> Result<bool> {
    Ok(Job::find(request, 1)?.is_made(true).unwrap_or(false))
}

/// What was read for a segment, by its counts.
pub(crate) fn of_counts(counts: &RecordCounts) -> Summary {
    Summary::new()
        .count("read", counts.read)
        .count("fingerprinted", counts.fingerprinted)
        .count("empty", counts.empty)
        .count("repeated", counts.repeated)
        .passed_over(counts)
}

/// The error for a time and another field, of which a segment has room for one.
pub(crate) fn two_orders() -> Error {
    Error::new(Kind::Usage, "--keep names a field, and --time-field another one")
        .expected("one field that decides which page stays")
        .help("leave --time-field (`time_field`) out, or keep the oldest or newest")
}

enum Written {
    Segment(Segment),
    /// No segment, because so many records have the id of an earlier record and another text.
    OtherTexts(u64),
}

struct Job<'a> {
    request: &'a Request,
    pages: Pages,
    recipe: Recipe,
}

impl FromPages for Job<'_> {
    const COMMAND: &'static str = "fingerprint";
    const WHAT: &'static str = "a segment";
    /// What was made, and how many pages the store holds, if the store was asked.
    type Found = (Found<FingerprintedDocument>, Option<u64>);

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = self.pages.parameters();
        parameters.insert("recipe".to_owned(), self.recipe.stamp().to_string());
        if let Some(limit) = self.max_repeated() {
            parameters.insert(MAX_REPEATED.to_owned(), limit.to_string());
        }
        parameters
    }

    fn is_ours(output: &Path) -> Result<bool> {
        Segment::is_segment(output)
    }

    fn decided(output: &Path) -> Result<Parameters> {
        let segment = Segment::open(output)?;
        segment.verify()?;
        Ok(serde_json::from_str(segment.identity()).unwrap_or_default())
    }

    fn standing(&self) -> Result<Summary> {
        Ok(self.summary(&Segment::open(&self.pages.output)?.counts()))
    }

    fn would_make(&self) -> Result<Summary> {
        let output = &self.pages.output;
        let (_, bytes) = self.pages.size();
        output::check_free_space(output::parent_of(output), bytes / INPUT_TO_SEGMENT)?;
        let would = self.pages.would(format!("would make {}", output.named()));
        Ok(would.count("passed_over", self.pages.passed_over()))
    }

    fn read(&self, processes: &mut Processes, global: &GlobalFlags) -> Result<Self::Found> {
        let holdings = self.holdings()?;
        let is_known = holdings.is_some();
        let page_time = self.request.settings.made.page_time();
        let key = self.pages.key(&format!("{:?} {page_time:?}", self.parameters()))?;
        let found =
            self.pages.read(processes, global, "fingerprinting", |documents, processes| {
                let documents = documents.kept_beside(&self.pages.output, key);
                documents.fingerprint(processes, &self.recipe, page_time, holdings)
            })?;
        let unchanged = is_known.then_some(found.read.unchanged);
        Ok((found, unchanged))
    }

    /// Process 0 sorts what was made, fails if too much of it is bad, and writes the rest.
    fn write(
        &self,
        (found, unchanged): Self::Found,
        lock: Lock,
        global: &GlobalFlags,
    ) -> Result<Summary> {
        let accepted = self.pages.accept(found, lock.fence())?;
        let Read { order, only_boilerplate, .. } = accepted.read;
        let segment = match self.write_rows(accepted, global.budget().rows(), &lock)? {
            Written::Segment(segment) => segment,
            Written::OtherTexts(count) => return Ok(Summary::new().count(OtherTexts::COUNT, count)),
        };
        let has = [segment.quarantine().is_some(), segment.repeated().is_some()];
        reading::remove_stale(&self.pages.output, has[0], has[1]);
        output::remove_leftovers(&self.pages.output, &lock)?;
        let is_kept_by = self.pages.kept_by().is_some();
        let has_times = self.pages.has_order() && !is_kept_by;
        let drops_lines = self.recipe.boilerplate().is_some();
        let summary = self.pages.say_lists(self.summary(&segment.counts()), has);
        Ok(summary
            .count_some("only_boilerplate", drops_lines.then_some(only_boilerplate))
            .count_some("ordered", is_kept_by.then(|| order.known()))
            .count_some("unordered", is_kept_by.then(|| order.unknown()))
            .count_some("times", has_times.then(|| order.known()))
            .count_some("unchanged", unchanged))
    }
}

impl Job<'_> {
    fn find(request: &Request, processes: usize) -> Result<Job<'_>> {
        let settings = &request.settings;
        let recipe = settings.chosen()?;
        let width = recipe.width();
        let pages =
            Pages::find(&request.inputs, &request.output, &settings.pages, width, processes)?
                .moved_to(request.destination.of(&request.output));
        let pages = match &request.keep {
            Some(_) if settings.pages.time_field.is_some() => return Err(two_orders()),
            Some(field) => pages.ordered_by(field.read()?)?,
            None => pages,
        };
        let pages = match recipe.key().and_then(PageKey::field) {
            Some(field) => pages.keyed_by(field)?,
            None => pages,
        };
        if matches!(request.known, StoreAt::Version(..)) && !recipe.has_digests() {
            return Err(Error::new(Kind::Usage, "--store needs the digests of texts")
                .help("add --keep-digests; the store must keep them too"));
        }
        Ok(Job { request, pages, recipe })
    }

    /// The limit of repeated records, where it is a part of the identity.
    fn max_repeated(&self) -> Option<Tolerance> {
        let is_named = self.request.other_texts == OtherTexts::Allowed;
        let limit = self.request.settings.made.max_repeated;
        limit.filter(|limit| is_named || *limit != Tolerance::REPEATED)
    }

    fn summary(&self, counts: &RecordCounts) -> Summary {
        let summary = of_counts(counts).count("passed_over", self.pages.passed_over());
        summary.path("output", &self.pages.place)
    }

    /// What the store holds of the version that is known; none if it cannot be asked for texts. A store that was named
    /// must be of the recipe.
    fn holdings(&self) -> Result<Option<Arc<Holdings>>> {
        let known = &self.request.known;
        if !self.recipe.has_digests() {
            return Ok(None);
        }
        let Some((store, version)) = known.held()? else { return Ok(None) };
        join::check_recipe(Some(&version), self.recipe.stamp().as_str())
            .map_err(|error| error.at(store.path()))?;
        let holdings = match Holdings::open(&store, version) {
            // The version that a day of `run` was joined with may have been pruned since.
            Err(error) if error.kind() == Kind::Missing && known.day().is_some() => {
                return Ok(None);
            }
            holdings => holdings?,
        };
        let without = holdings.without_filter(By::Texts);
        if without > 0 {
            tracing::debug!(
                "{without} segments have no filter, so pages that only they hold are computed again; `dupsieve store index {} --filters` makes the filters",
                store.path().named()
            );
        }
        Ok(Some(holdings))
    }

    fn write_rows(
        &self,
        accepted: Accepted<FingerprintedDocument>,
        memory_bytes: usize,
        lock: &Lock,
    ) -> Result<Written> {
        let decided = accepted.decided(&self.parameters());
        let identity = serde_json::to_string(&decided).expect("parameters are text");
        let counts = accepted.counts();
        let Accepted { made, read, quarantine, .. } = accepted;
        let documents = read.documents;
        let mut list = self.pages.repeated(lock.fence());
        let mut take = |id: &str, first, again| list.push(id, first, again);
        let output = &self.pages.output;
        let width = self.recipe.width();
        let options = self.options()?;
        let builder =
            SegmentBuilder::of(made, width, output, options, counts, memory_bytes, &mut take)?;
        let (repeated, same) = (list.count(), list.same());
        let counts_others = self.request.other_texts == OtherTexts::Counted;
        if counts_others && repeated > same {
            self.pages.publish_failed(Lists { quarantine, repeated: list.finish()? })?;
            return Ok(Written::OtherTexts(repeated - same));
        }
        let allowed = self.request.settings.made.max_repeated.unwrap_or(Tolerance::REPEATED);
        let allowed = (!counts_others).then_some(allowed);
        let lists = self.pages.lists(quarantine, list, allowed, documents)?;
        if repeated > 0 {
            let path = beside(&self.pages.place, output::REPEATED);
            tracing::warn!(
                "repeated ids: {repeated} ({same} with the same text), listed in {}",
                path.named()
            );
        }
        step::begin(Step::Writing);
        builder.write(&identity, lists, lock).map(Written::Segment)
    }

    fn options(&self) -> Result<SegmentOptions> {
        let mut options = Fingerprinting::columns(&self.recipe)?;
        options.times = self.pages.has_order();
        options.order = self.pages.kept_by().map(ToString::to_string);
        Ok(options)
    }
}
