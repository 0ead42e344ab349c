//! `dupsieve fingerprint`: documents to a segment. They are read and fingerprinted on every worker, then
//! sorted and written by process 0.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dupsieve::rooms::document::Tolerance;
use dupsieve::rooms::error::Named;
use dupsieve::rooms::fingerprint::{PageTime, Recipe};
use dupsieve::rooms::flow::{Processes, Read, Start};
use dupsieve::rooms::join;
use dupsieve::rooms::lsh::Bands;
use dupsieve::rooms::output::{self, Lock, beside};
use dupsieve::rooms::report::{self, Parameters};
use dupsieve::rooms::seen::{By, Holdings};
use dupsieve::rooms::step::{self, Step};
use dupsieve::rooms::store::{
    FingerprintedDocument, Lists, RecordCounts, Segment, SegmentBuilder, SegmentOptions,
};
use dupsieve::{Error, Kind, Result};

use crate::commands::destination::Destination;
use crate::commands::help::examples;
use crate::commands::places;
use crate::commands::reading::{self, ALL_PLACES, Accepted, Found, Listing, PLACE_IDS, Pages};
use crate::commands::store_at::StoreAt;
use crate::flags::global::GlobalFlags;
use crate::flags::place::{Output, Place};
use crate::flags::settings::{FingerprintSettings, KeepField};
use crate::flags::shared::{JOB, shared};
use crate::outcome::failure;
use crate::outcome::summary::Summary;
use crate::processes::machines;

/// A segment takes at least about one byte for this many bytes of its pages.
const INPUT_TO_SEGMENT: u64 = 1000;

const EXAMPLES: &[(&str, &str)] = &[
    ("Read a folder of JSON Lines files", "dupsieve fingerprint --input crawl/ --output day.seg"),
    (
        "Read other fields, and allow one bad record in a hundred",
        "dupsieve fingerprint --input 'crawl/*.jsonl.gz' --id-field url --text-field content \
                 --max-bad 1% --output day.seg",
    ),
    (
        "Make the smallest segment: fingerprints without a second signature",
        "dupsieve fingerprint --preset paper --input crawl/ --output day.seg",
    ),
    (
        "Keep the bands that `lsh --batch` compares",
        "dupsieve fingerprint --keep-bands minhash-14x8 --input crawl/ --output day.seg",
    ),
    (
        "Keep digests, and compute nothing of pages whose text the store holds",
        "dupsieve fingerprint --keep-digests --store store --input crawl/ --output day.seg",
    ),
    (
        "Read fingerprints made by another program",
        "dupsieve fingerprint --format fingerprints --input ready.tsv --output day.seg",
    ),
];

/// Make fingerprints of documents, and write them to a segment
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input. A rerun compares the contents of the
    /// files, not their times. If a file changes while the job runs, the job fails
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// The segment to write
    #[arg(long, value_name = "FILE.seg")]
    output: Output,
    /// Take what this store has of pages whose text it holds, letter by letter, instead of computing it again. It keeps
    /// digests (--keep-digests) and filters (`dupsieve store index --filters`). The segment is the same, byte for byte
    #[arg(long, value_name = "DIR")]
    store: Option<Place>,
    /// The version of the store to look in [default: the current one]
    #[arg(long, value_name = "VERSION", requires = "store")]
    as_of: Option<u64>,
    /// Keep of each page what puts it in the keep order of `dedup`, in place of its time: the number in a field, FIELD:max or
    /// FIELD:min, or FIELD:LIST, a file with the values of the field, the most trusted first [default: `keep` in the section
    /// [dedup], if it names a field]
    #[arg(long, value_name = "FIELD:max|min|LIST")]
    keep: Option<KeepField>,
    #[command(flatten)]
    settings: FingerprintSettings,
}

/// A segment that is asked for.
#[derive(Clone, Debug)]
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
    /// What becomes of a text whose id came before with another text.
    pub(crate) other_texts: OtherTexts,
}

/// What becomes of a text whose id came before with another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherTexts {
    /// The record counts as repeated: a crawl may fetch a page twice, and the first text stands for the page.
    Repeated,
    /// No segment is made, and the summary has their number as [`OtherTexts::COUNT`].
    Counted,
}

impl OtherTexts {
    /// The name of their number in a summary.
    pub(crate) const COUNT: &str = "other_texts";
}

/// Runs the job as its command line asks.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let known = match &arguments.store {
        Some(store) => StoreAt::Version(store.here()?, arguments.as_of),
        None => StoreAt::NoStore,
    };
    let file = global.config()?;
    let request = Request {
        known,
        other_texts: OtherTexts::Repeated,
        inputs: arguments.input.clone(),
        output: arguments.output.here()?,
        destination: Destination::default(),
        keep: arguments.keep.clone().or_else(|| file.dedup.keep.as_ref()?.field().cloned()),
        settings: arguments.settings.clone().or(file.fingerprint),
    };
    let mut processes = machines::join(global, &format!("{request:?}"))?;
    processes.agree("check the output", || places::expect_folder(&request.output))?;
    let summary = fingerprint(&mut processes, &request, global)?;
    if !processes.is_leader() || global.dry_run {
        return Ok(summary);
    }
    let [read, made, empty, repeated, bad] =
        ["read", "fingerprinted", "empty", "repeated", "quarantined"].map(|it| summary.counted(it));
    let output = request.output.named();
    if read == 0 {
        tracing::warn!(
            "the inputs of {output} hold no page; if pages come later, make it again with --overwrite"
        );
    }
    let summary = match summary.find("unchanged") {
        Some(unchanged) => summary.say(format!(
            "{unchanged} of them have a text that the store holds, and were not computed again"
        )),
        None => summary,
    };
    Ok(summary
        .say(format!(
            "{read} records read: {made} fingerprinted, {empty} empty, {repeated} repeated, {bad} quarantined"
        ))
        .say(format!("written: {output}"))
        .say(format!("next: dupsieve dedup --batch {output} --output DIR")))
}

/// Makes one segment. Every process of the job calls this, and process 0 writes it.
pub(crate) fn fingerprint(
    processes: &mut Processes,
    request: &Request,
    global: &GlobalFlags,
) -> Result<Summary> {
    let is_leader = processes.is_leader();
    failure::reported_beside(&request.output, is_leader && !global.dry_run, || {
        make(processes, request, global)
    })
}

/// Whether the file at `output` is a segment in which all documents have their places as ids, by what it says of itself.
pub(crate) fn is_by_place(output: &Path) -> bool {
    let made = Segment::open(output).ok();
    let made = made.and_then(|made| serde_json::from_str::<Parameters>(made.identity()).ok());
    made.is_some_and(|made| made.get(PLACE_IDS).is_some_and(|ids| ids.starts_with(ALL_PLACES)))
}

/// Whether the segment that is asked for exists, whole.
pub(crate) fn stands(request: &Request) -> Result<bool> {
    let job = Job::find(request, 1)?;
    let asked = job.parameters()?;
    let made = job.standing().ok().flatten();
    let made = made.and_then(|made| serde_json::from_str::<Parameters>(made.identity()).ok());
    Ok(made.is_some_and(|made| made == asked))
}

fn make(processes: &mut Processes, request: &Request, global: &GlobalFlags) -> Result<Summary> {
    let output = request.output.named();
    let job = Job::find(request, processes.topology().processes)?;
    let start = processes.agree(&format!("fingerprint {output}"), || job.start(global))?;
    let (listing, held) = match start {
        Start::Done(summary) => return Ok(summary.leader().unwrap_or_default()),
        Start::Make(listing, held) => (listing, held),
    };
    job.pages.check_listing(&listing)?;
    let holdings = job.holdings(&request.known)?;
    let is_known = holdings.is_some();
    let found = job.fingerprint(processes, holdings, global)?;
    let summary = processes.conclude(&format!("write {output}"), held, |(lock, parameters)| {
        let unchanged = is_known.then(|| found.unchanged());
        let summary = job.write(found, &parameters, global, &lock)?;
        Ok(unchanged.into_iter().fold(summary, |it, count| it.count("unchanged", count)))
    })?;
    Ok(summary.leader().unwrap_or_default())
}

/// The error for a time and another field, of which a segment has room for one.
pub(crate) fn two_orders() -> Error {
    Error::new(Kind::Usage, "--keep names a field, and --time-field another one")
        .expected("one field that decides which page stays")
        .help("leave --time-field (`time_field`) out, or keep the oldest or newest")
}

/// What became of the documents.
enum Written {
    Segment(Segment),
    /// No segment, because so many records have the id of an earlier record and another text.
    OtherTexts(u64),
}

/// A segment to be made, with its inputs found.
struct Job {
    pages: Pages,
    recipe: Recipe,
    band_bytes: usize,
    page_time: PageTime,
    max_repeated: Option<Tolerance>,
    other_texts: OtherTexts,
}

impl Job {
    fn find(request: &Request, processes: usize) -> Result<Job> {
        let settings = &request.settings;
        let made = &settings.made;
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
        if matches!(request.known, StoreAt::Version(..)) && !recipe.has_digests() {
            return Err(Error::new(Kind::Usage, "--store needs the digests of texts")
                .help("add --keep-digests; the store must keep them too"));
        }
        let page_time = made.page_time();
        let max_repeated = made.max_repeated;
        let band_bytes = made.keep_bands.as_ref().map_or(0, Bands::bytes);
        let other_texts = request.other_texts;
        Ok(Job { pages, recipe, band_bytes, page_time, max_repeated, other_texts })
    }

    /// Process 0 takes the lock and checks whether the segment has to be made.
    fn start(&self, global: &GlobalFlags) -> Result<Start<Listing, (Lock, Parameters), Summary>> {
        let output = self.pages.output();
        let lock = (!global.dry_run).then(|| Lock::on_file(output)).transpose()?;
        lock.as_ref().map_or(Ok(()), |lock| reading::remove_unfinished(output, lock))?;
        self.pages.announce();
        let parameters = self.parameters()?;
        if self.is_done(&parameters, global.overwrite)? {
            return self.already_done().map(Start::done);
        }
        let (_, bytes) = self.pages.size();
        output::check_free_space(output::parent_of(output), bytes / INPUT_TO_SEGMENT)?;
        Ok(match lock {
            Some(lock) => Start::make(self.pages.listing(), (lock, parameters)),
            None => Start::done(self.would()),
        })
    }

    /// Whether the very segment that is asked for exists. If another one does, it must not be replaced
    /// unless `overwrite` allows it.
    fn is_done(&self, asked: &Parameters, overwrite: bool) -> Result<bool> {
        let output = self.pages.output();
        if output.is_symlink() && !output.exists()
            || output.exists() && !Segment::is_segment(output)?
        {
            return Err(output::foreign(output, "a segment"));
        }
        let made = match self.standing() {
            Ok(made) => made,
            Err(_) if overwrite => None,
            Err(damage) => {
                return Err(damage.help("make it again with --overwrite, or choose another output"));
            }
        };
        let Some(made) = made else { return Ok(false) };
        let made: Parameters = serde_json::from_str(made.identity()).unwrap_or_default();
        match asked.get("inputs") {
            Some(_) if made == *asked => Ok(true),
            _ if overwrite => Ok(false),
            Some(_) => Err(report::made_otherwise(output, &made, asked)),
            None => Err(reading::stream_again(output)),
        }
    }

    /// The segment at the output path, if there is one.
    ///
    /// # Errors
    /// [`Kind::BadData`](dupsieve::Kind::BadData) if it is damaged.
    fn standing(&self) -> Result<Option<Segment>> {
        let output = self.pages.output();
        if !output.exists() {
            return Ok(None);
        }
        let segment = Segment::open(output)?;
        segment.verify().map(|()| Some(segment))
    }

    /// The summary of a segment that exists already.
    fn already_done(&self) -> Result<Summary> {
        let output = self.pages.output();
        tracing::info!("{} is done already", output.named());
        reading::remove_stale(output, true, true);
        Ok(self.summary(&Segment::open(output)?.counts()).already_done())
    }

    fn summary(&self, counts: &RecordCounts) -> Summary {
        Summary::new()
            .count("read", counts.read)
            .count("fingerprinted", counts.fingerprinted)
            .count("empty", counts.empty)
            .count("repeated", counts.repeated)
            .count("quarantined", counts.quarantined)
            .count("blank", counts.blank)
            .count("truncated", counts.truncated)
            .skipped(counts.skipped)
            .count("passed_over", self.pages.passed_over())
            .path("output", self.pages.place())
    }

    /// What there is to do, for a dry run.
    fn would(&self) -> Summary {
        let (files, bytes) = self.pages.size();
        let output = self.pages.output().named();
        let would = format!("would make {output} by recipe {}", self.recipe.name());
        Summary::new()
            .count("files", files)
            .count("bytes", bytes)
            .count("passed_over", self.pages.passed_over())
            .say(would)
    }

    /// What decides the segment.
    fn parameters(&self) -> Result<Parameters> {
        let mut parameters = self.pages.parameters()?;
        parameters.insert("recipe".to_owned(), self.recipe.stamp().to_string());
        if let Some(limit) = self.max_repeated {
            parameters.insert("max_repeated".to_owned(), limit.to_string());
        }
        Ok(parameters)
    }

    /// What the store holds of the version that is `known`; none if it cannot be asked for texts. A store that was named
    /// must be of the recipe.
    fn holdings(&self, known: &StoreAt) -> Result<Option<Arc<Holdings>>> {
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
            tracing::warn!(
                "segments without filters, whose pages are computed again: {without}; `dupsieve store index {} --filters` makes them",
                store.path().named()
            );
        }
        Ok(Some(holdings))
    }

    fn fingerprint(
        &self,
        processes: &mut Processes,
        holdings: Option<Arc<Holdings>>,
        global: &GlobalFlags,
    ) -> Result<Found<FingerprintedDocument>> {
        self.pages.read(processes, global, "fingerprinting", |documents, processes| {
            documents.fingerprint(processes, &self.recipe, self.page_time, holdings)
        })
    }

    /// Process 0 sorts what was made, fails if too much of it is bad, and writes the rest.
    fn write(
        &self,
        found: Found<FingerprintedDocument>,
        parameters: &Parameters,
        global: &GlobalFlags,
        lock: &Lock,
    ) -> Result<Summary> {
        let accepted = self.pages.accept(found, lock.fence())?;
        let Read { order, only_boilerplate, fallbacks, .. } = accepted.read;
        let identity = serde_json::to_string(parameters).expect("parameters are text");
        let segment = match self.write_rows(accepted, &identity, global.budget().rows(), lock)? {
            Written::Segment(segment) => segment,
            Written::OtherTexts(count) => return Ok(Summary::new().count(OtherTexts::COUNT, count)),
        };
        let output = self.pages.output();
        let has_quarantine = segment.quarantine().is_some();
        let has_repeated = segment.repeated().is_some();
        reading::remove_stale(output, has_quarantine, has_repeated);
        let mut summary = self.summary(&segment.counts());
        let place = self.pages.place();
        if has_quarantine {
            summary = summary.path("quarantine", &beside(place, output::QUARANTINE));
        }
        if has_repeated {
            summary = summary.path("repeated", &beside(place, output::REPEATED));
        }
        if self.recipe.boilerplate().is_some() {
            summary = summary.count("only_boilerplate", only_boilerplate);
        }
        if self.recipe.has_main_text() {
            summary = summary.count("without_main_text", fallbacks);
        }
        match self.pages.kept_by() {
            Some(_) => {
                let [known, unknown] = [order.known(), order.unknown()];
                summary = summary.count("ordered", known).count("unordered", unknown);
            }
            None if self.pages.has_order() => summary = summary.count("times", order.known()),
            None => {}
        }
        Ok(summary)
    }

    fn write_rows(
        &self,
        accepted: Accepted<FingerprintedDocument>,
        identity: &str,
        memory_bytes: usize,
        lock: &Lock,
    ) -> Result<Written> {
        let Accepted { made, read, quarantine } = accepted;
        let documents = read.documents;
        let counts = RecordCounts {
            read: read.documents + read.bad,
            quarantined: read.bad,
            blank: read.blank,
            truncated: read.truncated,
            skipped: read.skipped,
            ..RecordCounts::default()
        };
        let mut list = self.pages.repeated(lock.fence());
        let mut take = |id: &str, first, again| list.push(id, first, again);
        let output = self.pages.output();
        let width = self.recipe.width();
        let options = self.options();
        let builder =
            SegmentBuilder::of(made, width, output, options, counts, memory_bytes, &mut take)?;
        let repeated = list.count();
        let same = list.same();
        let lists = Lists { quarantine, repeated: list.finish()? };
        let limit = self.max_repeated.unwrap_or(Tolerance::REPEATED);
        if self.other_texts == OtherTexts::Counted {
            if repeated > same {
                self.pages.publish_failed(lists)?;
                return Ok(Written::OtherTexts(repeated - same));
            }
        } else if limit.exceeded(repeated, documents) {
            let path = self.pages.publish_failed(lists)?;
            let error = reading::too_many_repeated(limit, (repeated, same), documents);
            return Err(error.at(path));
        }
        if repeated > 0 {
            let path = beside(self.pages.place(), output::REPEATED);
            tracing::warn!(
                "ids that came before: {repeated}, with the same text: {same}; they are listed in {}",
                path.named()
            );
        }
        step::begin(Step::Writing);
        builder.write(identity, lists, lock).map(Written::Segment)
    }

    fn options(&self) -> SegmentOptions {
        let mut options = SegmentOptions::of(&self.recipe);
        options.lengths = !self.recipe.is_external();
        options.times = self.pages.has_order();
        options.order = self.pages.kept_by().map(ToString::to_string);
        options.band_bytes = self.band_bytes;
        options
    }
}
