//! `dupsieve lsh`: which documents of a batch are alike, found by buckets of locality-sensitive hashes.
//!
//! Documents are read and sketched on every worker. Process 0 then draws the verdicts; that is the library's
//! ([`dupsieve::rooms::lsh`]). Here it gets its flags, its lock and its report.

mod batch;
mod plan;
mod scheme;

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Subcommand};
use dupsieve::rooms::document::Tolerance;
use dupsieve::rooms::error::Named;
use dupsieve::rooms::fingerprint::PageTime;
use dupsieve::rooms::flow::Processes;
use dupsieve::rooms::lsh::{BucketCounts, Deduplicate, Deduplicated, SketchedDocument};
use dupsieve::rooms::matches::{Detail, KeepOrder, Outcome};
use dupsieve::rooms::output::{Listed, Lock, Staging};
use dupsieve::rooms::peers::Topology;
use dupsieve::rooms::report::{self, Made, Parameters, Report};
use dupsieve::rooms::results::ResultFormat;
use dupsieve::rooms::step::{self, Step};
use dupsieve::rooms::store::{Lists, RecordCounts};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::destination::Destination;
use crate::commands::help::examples;
use crate::commands::making::{self, FromPages, Making};
use crate::commands::pages::PageSource;
use crate::commands::places;
use crate::commands::reading::{self, Accepted, Found, Pages};
use crate::commands::store_at::StoreAt;
use crate::flags::global::GlobalFlags;
use crate::flags::place::{Output, Place};
use crate::flags::settings::{
    Count, DedupSettings, FingerprintSettings, FormatFlag, LshSettings, PageSettings,
    RecipeSettings,
};
use crate::flags::shared::{JOB, flags_of, shared, typed_flag};
use crate::outcome::account;
use crate::outcome::summary::Summary;
use crate::processes::machines;

pub(crate) use batch::{Asked as BatchAsked, make as make_batch, overlap, stands as batch_stands};
pub(crate) use scheme::{read as read_parameter, scheme_of};

use scheme::SchemeFlags;

const EXAMPLES: &[(&str, &str)] = &[
    (
        "Find pages that have 80 % of their 5-word shingles in common",
        "dupsieve lsh --input crawl/ --similarity 0.8 --output alike",
    ),
    (
        "Compare the shingles themselves, not an estimate",
        "dupsieve lsh --input crawl/ --similarity 0.7 --confirm exact --output alike",
    ),
    (
        "Compare a day with the store of the days before, if both keep their bands",
        "dupsieve lsh --batch day.seg --store store --output alike",
    ),
    (
        "Find near vectors, such as embeddings of pages",
        "dupsieve lsh --family cosine --format vectors --text-field embedding --similarity 0.95 \
                 --confirm exact --input vectors.parquet --output alike",
    ),
];

/// Find documents that overlap, by buckets of hashes such as MinHash
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    about: Option<About>,
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input
    #[arg(long, value_name = "PATH", required_unless_present = "batch", num_args = 1..)]
    input: Vec<PathBuf>,
    /// In place of documents, a segment that keeps bands, as `fingerprint --keep-bands` writes it. Its sketches, or
    /// with --confirm simhash:K its fingerprints, confirm pages that share a bucket
    #[arg(long, value_name = "FILE.seg", conflicts_with = "input")]
    batch: Option<Place>,
    /// With --batch, the store of earlier pages, which keeps the same bands. A page like one of them is dropped
    #[arg(long, value_name = "DIR")]
    store: Option<Place>,
    /// The version of the store to compare with [default: the current one]
    #[arg(long, value_name = "VERSION", requires = "store")]
    as_of: Option<u64>,
    /// The folder to write
    #[arg(long, value_name = "DIR", required = true)]
    output: Option<Output>,
    #[command(flatten)]
    scheme: SchemeFlags,
    /// Rows of matches.tsv: `best` writes one row for each dropped page, with the page its verdict
    /// names; `all` writes every pair that matches [default: best]
    #[arg(long, value_name = "all|best", env = "DUPSIEVE_MATCHES")]
    matches: Option<Detail>,
    /// Abort (exit 65) if --matches all would write more rows than this [default: 1e8]
    #[arg(long, value_name = "N", env = "DUPSIEVE_MAX_MATCHES")]
    max_matches: Option<Count>,
    /// Which of several pages that match to keep: oldest, newest, first-id or longest [default: oldest if the
    /// pages have times, else first-id]
    #[arg(long, env = "DUPSIEVE_KEEP")]
    keep: Option<KeepOrder>,
    #[command(flatten)]
    format: FormatFlag,
    /// Abort (exit 65) if more records repeat an earlier id: a number, or a share such as 5%
    /// [default: 50%]
    #[arg(long, value_name = "N|P%", env = "DUPSIEVE_MAX_REPEATED")]
    max_repeated: Option<Tolerance>,
    #[command(flatten)]
    pages: PageSettings,
}

/// What is asked about buckets, in place of making them.
#[derive(Debug, Subcommand)]
enum About {
    Plan(Box<plan::Arguments>),
}

/// Whether the command that was typed prints nothing but an answer.
pub(crate) fn answers(typed: &ArgMatches) -> bool {
    typed.subcommand_name() == Some("plan")
}

/// What says that a typed flag has no effect: one of documents, with a batch in their place.
pub(crate) fn typed_in_vain(typed: &ArgMatches) -> Option<String> {
    let of_scheme = flags_of::<SchemeFlags>();
    let of_buckets = of_scheme
        .into_iter()
        .filter(|it| !["similarity", "confirm"].contains(&it.get_id().as_str()));
    let of_documents = of_buckets.chain(flags_of::<PageSettings>());
    let flag = typed_flag(typed, of_documents).filter(|_| typed.contains_id("batch"))?;
    Some(format!("{flag} has no effect with --batch"))
}

/// Runs `lsh`, or what stands below it.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    if let Some(About::Plan(arguments)) = &arguments.about {
        return plan::run(arguments, global);
    }
    let file = global.config()?;
    let by_field =
        file.lsh.is_none() && file.dedup.keep.as_ref().is_some_and(|it| it.field().is_some());
    let said = file.lsh.unwrap_or_else(|| said_for_both(file.dedup));
    let scheme = arguments.scheme.clone().or(&said);
    let keep = arguments.keep.or(said.keep);
    let detail = arguments.matches.or(said.matches).unwrap_or_default();
    let max_matches = arguments.max_matches.or(said.max_matches);
    let format = arguments.format.or(&file.output);
    let output = arguments.output.as_ref().expect("clap asks for it").here()?;
    if let Some(batch) = &arguments.batch {
        let store = match &arguments.store {
            Some(store) => StoreAt::Version(store.here()?, arguments.as_of),
            None => StoreAt::NoStore,
        };
        let (least, confirmation) = scheme.confirming();
        let asked = batch::Asked {
            batch: batch.here()?,
            store,
            output,
            destination: Destination::default(),
            least,
            confirmation,
            keep,
            detail,
            max_matches,
            format,
            replaces_outdated: false,
        };
        let mut processes = machines::join(global, &format!("{arguments:?} {said:?} {format}"))?;
        let summary = batch::make(&mut processes, &asked, global)?;
        places::publish_job(&mut processes, global)?;
        return Ok(closing(&processes, summary, (&asked.output, format), global));
    }
    if arguments.store.is_some() {
        return Err(needs_batch());
    }
    if by_field && keep.is_none() {
        return Err(Error::new(Kind::Usage, "`lsh --input` reads no field to keep pages by")
            .expected("a --keep of `lsh`")
            .found("`keep` in [dedup]"));
    }
    let FingerprintSettings { made, pages } = file.fingerprint;
    let made = RecipeSettings {
        max_repeated: arguments.max_repeated.or(made.max_repeated),
        ..scheme.over(made)
    };
    let asked = Asked {
        inputs: arguments.input.clone(),
        output,
        keep,
        detail,
        max_matches,
        format,
        pages: scheme.fitting(arguments.pages.clone().or(pages))?,
        made,
    };
    let Asked { pages, made, .. } = &asked;
    let settings = format!("{arguments:?} {said:?} {format} {pages:?} {made:?}");
    let mut processes = machines::join(global, &settings)?;
    let topology = *processes.topology();
    let summary = making::from_pages(&mut processes, &asked.output, global, |_| {
        Job::find(&asked, &scheme, topology, global)
    })?;
    places::publish_job(&mut processes, global)?;
    Ok(closing(&processes, summary, (&asked.output, format), global))
}

/// What a file without a section `[lsh]` says of matches in its section `[dedup]`.
fn said_for_both(DedupSettings { keep, matches, max_matches, .. }: DedupSettings) -> LshSettings {
    let keep = keep.and_then(|keep| keep.order());
    LshSettings { keep, matches, max_matches, ..LshSettings::default() }
}

/// The error for documents that are to be compared with a store.
fn needs_batch() -> Error {
    Error::new(Kind::Usage, "--store needs --batch, a segment with bands; --input gives documents").help(
        "make the segment with the flags of the store's segments, such as `dupsieve fingerprint --input PATH --keep-bands \
         minhash-14x8 --output batch.seg`, and then run `dupsieve lsh --batch batch.seg --store DIR --output DIR`",
    )
}

/// Adds sentences about the output, if this process has made one.
fn closing(
    processes: &Processes,
    summary: Summary,
    (output, format): (&Path, ResultFormat),
    global: &GlobalFlags,
) -> Summary {
    if !processes.is_leader() || global.dry_run {
        return summary;
    }
    making::say_verdicts(summary, "alike", output, format)
}

/// What is asked for, besides the scheme.
#[derive(Debug)]
struct Asked {
    inputs: Vec<PathBuf>,
    output: PathBuf,
    keep: Option<KeepOrder>,
    detail: Detail,
    max_matches: Option<Count>,
    format: ResultFormat,
    pages: PageSettings,
    made: RecipeSettings,
}

/// An output to be made, with its inputs found.
struct Job {
    pages: Pages,
    deduplicate: Deduplicate,
    source: PageSource,
    page_time: PageTime,
    max_repeated: Tolerance,
    topology: Topology,
}

impl Making for Job {
    fn output(&self) -> &Path {
        self.pages.output()
    }

    fn lock(&self) -> Result<Lock> {
        self.pages.lock(Lock::beside)
    }

    fn existing(&self, overwrite: bool) -> Result<Option<Summary>> {
        self.pages.announce();
        let existing = self.report_there(self.parameters(), overwrite)?;
        Ok(existing.map(|report| self.summary(&report)))
    }

    fn would(&self) -> Result<Summary> {
        scheme::announce(&self.deduplicate.scheme);
        Ok(self.pages.would(format!("would make {}", self.output().named())))
    }
}

impl FromPages for Job {
    const COMMAND: &'static str = "lsh";
    type Found = Found<SketchedDocument>;

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn read(&self, processes: &mut Processes, global: &GlobalFlags) -> Result<Self::Found> {
        self.pages.read(processes, global, "sketching", |documents, processes| {
            documents.sketch(processes, &self.deduplicate.scheme, self.page_time)
        })
    }

    /// Process 0 draws the verdicts, fails if too much is bad or repeated, and writes the output.
    fn write(&self, found: Self::Found, lock: Lock, _: &GlobalFlags) -> Result<Summary> {
        let accepted = self.pages.accept(found, lock.fence())?;
        let parameters = accepted.decided(&self.parameters());
        let Accepted { made, read, quarantine, .. } = accepted;
        step::begin(Step::Joining);
        let staging = Staging::beside(self.output(), lock)?;
        let mut list = self.pages.repeated(staging.fence());
        let Deduplicated { outcome, buckets, empty } =
            self.deduplicate
                .write(made, &staging, &mut |id, first, again| list.push(id, first, again))?;
        let repeated = list.count();
        let lists = self.pages.lists(quarantine, list, Some(self.max_repeated), read.documents)?;
        let batch = RecordCounts {
            read: read.documents + read.bad,
            fingerprinted: outcome.kept + outcome.dropped,
            empty,
            repeated,
            quarantined: read.bad,
            blank: read.blank,
            truncated: read.damaged.len() as u64,
            unread_bytes: read.unread_bytes(),
            skipped: read.skipped,
            ..RecordCounts::default()
        };
        if !batch.add_up() {
            return Err(Error::new(Kind::Internal, "records were lost").found(format!("{batch:?}")));
        }
        let mut report = self.report(parameters, batch, outcome, buckets);
        report.write(&staging, self.output())?;
        self.publish(lists, staging)?;
        Ok(self.summary(&report))
    }
}

impl Job {
    fn find(
        asked: &Asked,
        scheme: &SchemeFlags,
        topology: Topology,
        global: &GlobalFlags,
    ) -> Result<Job> {
        let Asked { inputs, output, pages: settings, made, .. } = asked;
        let scheme = scheme.scheme(settings, made.width)?;
        let pages = Pages::find(inputs, output, settings, scheme.width, topology.processes)?;
        let keep = KeepOrder::for_documents(asked.keep, pages.has_order(), pages.are_texts())?;
        let named: Vec<String> = inputs.iter().map(|path| path.named()).collect();
        let mut deduplicate = Deduplicate::new(scheme, global.budget());
        deduplicate.keep = keep;
        deduplicate.detail = asked.detail;
        deduplicate.max_matches =
            asked.max_matches.map_or(deduplicate.max_matches, |Count(count)| count);
        deduplicate.format = asked.format;
        deduplicate.workers = topology.workers;
        Ok(Job {
            pages,
            deduplicate,
            source: PageSource::new(&named, settings),
            page_time: made.page_time(),
            max_repeated: made.max_repeated.unwrap_or(Tolerance::REPEATED),
            topology,
        })
    }

    /// The report of the output that is asked for, if that output is there.
    fn report_there(&self, mut asked: Parameters, overwrite: bool) -> Result<Option<Report>> {
        let output = self.output();
        if !self.pages.has_stream() {
            let made = Report::read(output).ok().flatten();
            let made = made.map(|report| report.parameters).unwrap_or_default();
            let asked = self.pages.with_inputs(&asked, &made)?;
            return report::existing(output, &asked, |_| false, overwrite);
        }
        // What was read from a stream is never done already.
        asked.insert(reading::INPUTS.to_owned(), "a stream".to_owned());
        match report::existing(output, &asked, |_| overwrite, overwrite) {
            Err(error) if error.kind() == Kind::Exists && Report::read(output)?.is_some() => {
                Err(reading::stream_again(output))
            }
            existing => existing,
        }
    }

    /// What decides the result, but for the contents of the inputs.
    fn parameters(&self) -> Parameters {
        let Deduplicate { scheme, keep, detail, format, .. } = &self.deduplicate;
        let mut parameters = self.pages.parameters();
        let named = [("keep", keep.to_string()), ("matches", detail.to_string())];
        let named = named.into_iter().chain(scheme::parameters(scheme));
        parameters.extend(named.map(|(name, value)| (name.to_owned(), value)));
        parameters.extend(report::format_parameter(*format));
        parameters
    }

    fn report(
        &self,
        parameters: Parameters,
        batch: RecordCounts,
        outcome: Outcome,
        buckets: BucketCounts,
    ) -> Report {
        Report {
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            recipe: json!(parameters),
            parameters,
            batch,
            outcome,
            buckets: Some(buckets),
            run: account::with_bill(json!({
                "inputs": { PageSource::NAME: self.source },
                "workers": self.topology.workers,
                "processes": self.topology.processes,
            })),
            ..Report::default()
        }
    }

    /// Puts the output and the lists beside it into their places.
    fn publish(&self, lists: Lists, staging: Staging) -> Result<()> {
        let Lists { quarantine, repeated } = lists;
        let has = [quarantine.is_some(), repeated.is_some()];
        staging.check()?;
        quarantine.map_or(Ok(()), Listed::publish)?;
        repeated.map_or(Ok(()), Listed::publish)?;
        staging.commit()?;
        reading::remove_stale(self.output(), has[0], has[1]);
        Ok(())
    }

    fn summary(&self, report: &Report) -> Summary {
        let Report { batch, buckets, .. } = report;
        let mut summary = Summary::of_join(report, self.output())
            .count("read", batch.read)
            .count("repeated", batch.repeated)
            .count("quarantined", batch.quarantined)
            .count("blank", batch.blank)
            .truncated(batch.truncated, batch.unread_bytes)
            .skipped(batch.skipped)
            .count("passed_over", self.pages.passed_over());
        if let Some(buckets) = buckets {
            summary = summary
                .count("groups", buckets.groups)
                .count("candidates", buckets.candidates)
                .count("looked_up", buckets.looked_up)
                .count("hot_buckets", buckets.hot);
        }
        self.pages.say_lists(summary, [batch.quarantined > 0, batch.repeated > 0])
    }
}
