//! `dupsieve store`: makes, changes, lists and checks a store.

mod coming_back;
mod indexing;
mod listing;
mod readmit;
mod retention;
mod upkeep;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Args, Subcommand};
use dupsieve::error::Named;
use dupsieve::index::IndexDesign;
use dupsieve::matches::replacements_at;
use dupsieve::report::{self, Made, Report};
use dupsieve::step::{self, Step};
use dupsieve::store::{Added, Codec, Day, Entry, NewDay, Retention, Store, Version, expect_come};
use dupsieve::{Error, Kind, Result};

use crate::commands::{examples, places};
use crate::flags::{
    ConfirmDay, DryRun, GlobalFlags, Memory, Outputs, Overwrite, Place, Telemetry, Workers, mounts,
    shared,
};
use crate::outcome::{Summary, identity, tally};
pub(crate) use coming_back::coming_back;
use listing::{list, log, summary_of};
use readmit::readmit;
use retention::{purge, remove};
use upkeep::{compact, expire, prune};
pub(crate) use upkeep::{expire_days, keep_up, log_expiry, show_verifying};

/// Keep the fingerprints of all pages, day by day and in versions
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    change: Change,
}

#[derive(Debug, Subcommand)]
enum Change {
    /// Make an empty store
    #[command(args = shared(&[DryRun]), after_help = examples("
# Make an empty store
dupsieve store init store"))]
    Init(Folder),
    /// Add a day; adding the same day again changes nothing. Where ten segments are of about one size, they
    /// are merged into one then, so that the store never has many
    #[command(args = shared(&[Memory, DryRun, Telemetry]), after_help = examples("
# Add the kept pages of a day
dupsieve store add store --segment day.seg --day 2026-11-21 --only found/keep.txt
# Hide the pages that these hold, too
dupsieve store add store --segment day.seg --day 2026-11-21 --only found/keep.txt \\
  --replaced found/replaced.tsv --slack found/slack.tsv"))]
    Add {
        #[command(flatten)]
        store: Folder,
        /// Segment to add
        #[arg(long, value_name = "FILE")]
        segment: Place,
        /// Day of the segment, YYYY-MM-DD
        #[arg(long, value_name = "D")]
        day: Day,
        /// Add only these ids, one a line
        #[arg(long, value_name = "ids.txt")]
        only: Option<Place>,
        /// Hide the pages of the store that these replace, from the new version on: the table `replaced` of the join that made the
        /// ids, such as out/dedup/replaced.tsv
        #[arg(long, value_name = "FILE")]
        replaced: Option<PathBuf>,
        /// Remember how much pages may lack in pages that replace them: the table `slack` of the join that made the ids. Without it, a
        /// page that was dropped can lack more than a tenth once its kept page is replaced
        #[arg(long, value_name = "FILE")]
        slack: Option<PathBuf>,
        /// Merge no segments; `store compact --tiers` does it later
        #[arg(long)]
        no_compact: bool,
        #[command(flatten)]
        confirm: ConfirmDay,
    },
    /// List the days in the store
    #[command(after_help = examples("
# List the days of a store
dupsieve store list store
# List them for a program
dupsieve store list store --json"))]
    List(Folder),
    /// Show what each version changed
    #[command(after_help = examples("
# Show what changed the store, and when
dupsieve store log store"))]
    Log(Folder),
    /// Check every byte of the segments of all versions, of the index and of the filters
    #[command(args = shared(&[Telemetry]), after_help = examples("
# Check every byte of a store
dupsieve store verify store"))]
    Verify {
        #[command(flatten)]
        store: Folder,
        /// Check only this version
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// Merge all days into one file; joins give the same results as before
    #[command(args = shared(&[Memory, DryRun, Telemetry]), after_help = examples("
# Merge the days into one file
dupsieve store compact store
# Merge only what a day's `store add` would merge
dupsieve store compact store --tiers"))]
    Compact {
        #[command(flatten)]
        store: Folder,
        /// Codec of the fingerprints: elias-fano or huffman. Merges by size choose the default codec again
        #[arg(long, value_name = "C", default_value_t)]
        codec: Codec,
        /// Merge only where ten segments are of about one size, as `store add` does
        #[arg(long, conflicts_with = "codec")]
        tiers: bool,
    },
    /// Keep an index, by which `query` finds what is near to one page at once, or filters, by which `seen` finds ids and
    /// texts. From then on `store add` and `store compact` keep them too. A run that was interrupted goes on where it
    /// stopped
    #[command(args = shared(&[Memory, DryRun, Telemetry]), after_help = examples("
# Let a store answer `query` at once
dupsieve store index store
# Let it answer `seen` at once
dupsieve store index store --filters
# Remove the index
dupsieve store index store --index none"))]
    Index {
        #[command(flatten)]
        store: Folder,
        /// Tables that are kept beside the segments. `mirror` has the fingerprints once more, their halves exchanged;
        /// 4 has the paper's 4 tables, which help up to a distance of 3; `none` removes the index. The answers are the same [default: mirror; with
        /// --filters, what the store keeps]
        #[arg(long = "index", alias = "design", value_name = "mirror|none|4")]
        design: Option<IndexDesign>,
        /// Keep filters: for the ids of the pages, and for their texts if the store keeps digests (`fingerprint
        /// --keep-digests`), some 7 bytes a page each. What is there is checked, and damaged files are made again. `--filters
        /// false` removes them
        #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        filters: Option<bool>,
    },
    /// Remove all but the newest versions, and the files that only these used. What took the place of these files
    /// is checked first. Nobody can go back to the removed versions, or join with them
    #[command(args = shared(&[DryRun, Telemetry]), after_help = examples("
# Keep the newest 30 versions
dupsieve store prune store --keep-versions 30"))]
    Prune {
        #[command(flatten)]
        store: Folder,
        /// Versions to keep, the newest among them
        #[arg(long, value_name = "N")]
        keep_versions: NonZero<u64>,
    },
    /// Remove days that are too old: a new version no longer shows them. The versions before it still do until `store
    /// prune` removes them, and `store rollback` brings the days back. Days that have expired cannot be added again
    #[command(args = shared(&[Memory, DryRun, Telemetry]), after_help = examples("
# Keep the days of the last 90 days
dupsieve store expire store --keep-days 90"))]
    Expire {
        #[command(flatten)]
        store: Folder,
        #[command(flatten)]
        age: Age,
        /// Merge no segments; `store compact --tiers` does it later
        #[arg(long)]
        no_compact: bool,
        #[command(flatten)]
        confirm: ConfirmDay,
    },
    /// List pages that were dropped as duplicates of pages that the store shows no more: these were removed, their days have
    /// expired, or with `recrawled = "newest"` the newest page of their key took their place without all of their text. Feed the listed
    /// pages to the next crawl
    #[command(args = shared(&[Memory, DryRun, Overwrite, Telemetry]), after_help = examples("
# List the pages whose kept page has gone
dupsieve store readmit store --outputs out --output readmit.txt"))]
    Readmit {
        #[command(flatten)]
        store: Folder,
        /// Finished outputs whose verdicts are read: folders of `dedup`, or of days of `run`. Those of days that the store has not are
        /// left out
        #[arg(long, value_name = "OUTPUT", num_args = 1.., required = true)]
        outputs: Vec<Outputs>,
        /// File to write the ids into, one a line, sorted
        #[arg(long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Take pages out of all versions at once, by their ids. No join finds them any more, also after `store
    /// rollback`. Their bytes stay in the files until these are merged, rewritten or pruned. If a segment of a day up to
    /// the newest in the store is added later, they stay out of it too
    #[command(args = shared(&[Workers, Memory, DryRun, Telemetry]), after_help = examples("
# Take the pages whose ids are in a file out of all versions
dupsieve store remove store --ids gone.txt"))]
    Remove {
        #[command(flatten)]
        store: Folder,
        /// Ids of the pages, one a line
        #[arg(long, value_name = "ids.txt")]
        ids: Place,
        /// Keep these pages out of segments of days up to this one, YYYY-MM-DD, which is not before the newest day in the
        /// store. A store without a day needs it. A page of a later day is a new page [default: the newest day]
        #[arg(long, value_name = "D")]
        until: Option<Day>,
    },
    /// Rewrite and prune until no byte of a removed page is left in the folder, and write a certificate into
    /// `purges`. All versions go that name a segment with removed pages; --dry-run says which. An interrupted purge
    /// goes on when it is run again
    #[command(args = shared(&[Memory, DryRun, Telemetry]), after_help = examples("
# Rewrite what holds removed pages, and prove that they are gone
dupsieve store purge store"))]
    Purge {
        #[command(flatten)]
        store: Folder,
        /// End with 75 after the step in which this time is over; the same command goes on then. A step rewrites one
        /// segment, prunes, or reads all that is left. Each run does at least one, also with 0
        #[arg(long, value_name = "SECONDS")]
        deadline: Option<u64>,
    },
    /// Go back to the contents of an earlier version. Its segments are checked first. This makes a new
    /// version and keeps the others
    #[command(args = shared(&[Memory, DryRun, Telemetry]), after_help = examples("
# Go back to the contents of version 7
dupsieve store rollback store --to 7
# Take back a day and those after it
dupsieve store rollback store --before-day 2026-11-20 --outputs out/2026-11-*"))]
    Rollback {
        #[command(flatten)]
        store: Folder,
        #[command(flatten)]
        target: Target,
        /// Outputs of the days of `run`. If the version before the day was pruned or purged, the pages that the leaving days had
        /// replaced come back by these
        #[arg(long, value_name = "OUTPUT", num_args = 1.., requires = "before_day")]
        outputs: Vec<Outputs>,
    },
}

#[derive(Args, Debug)]
struct Folder {
    /// Folder of the store
    #[arg(value_name = "DIR")]
    store: Place,
}

impl Folder {
    fn open(&self) -> Result<Store> {
        Store::open(self.store.here()?)
    }
}

/// How old the days are that leave.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Age {
    /// First day that stays, YYYY-MM-DD; it need not be in the store
    #[arg(long, value_name = "D")]
    before: Option<Day>,
    /// Days to keep, counted back from the newest day in the store, which is the first of them. Days of the calendar count
    /// that the store lacks
    #[arg(long, value_name = "N")]
    keep_days: Option<NonZero<u64>>,
}

impl Age {
    fn retention(&self) -> Retention {
        match (self.before, self.keep_days) {
            (Some(first), _) => Retention::From(first),
            (None, Some(days)) => Retention::Days(days),
            (None, None) => unreachable!("clap requires one of them"),
        }
    }
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Target {
    /// Version to go back to; `store log` lists the versions
    #[arg(long, value_name = "VERSION")]
    to: Option<u64>,
    /// Go back to the version before this day was added. Days added after it also leave the store
    #[arg(long, value_name = "D")]
    before_day: Option<Day>,
}

pub(crate) fn answers(typed: &ArgMatches) -> bool {
    matches!(typed.subcommand_name(), Some("list" | "log"))
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    step::begin(Step::Storing);
    let done = match &arguments.change {
        Change::Init(Folder { store }) => init(&store.here()?, global.dry_run),
        Change::Add { store, segment, day, only, replaced, slack, no_compact, confirm } => {
            let store = store.open()?;
            confirm.check(|today| expect_come(Some(&store.at(None)?), *day, today))?;
            let replaced = replacements_at(replaced.as_deref(), slack.as_deref())?;
            let (segment, only) = (segment.here()?, only.as_ref().map(Place::here).transpose()?);
            let (segment, only, replaces) = (&*segment, only.as_deref(), replaced.as_ref());
            add(&store, &NewDay { segment, day: *day, only, replaces }, !no_compact, global)
        }
        Change::List(store) => list(&store.open()?, global.json),
        Change::Log(store) => log(&store.open()?, global.json),
        Change::Verify { store, version } => verify(&store.open()?, *version, global),
        Change::Compact { store, codec, tiers } => {
            compact(&store.open()?, (!tiers).then_some(*codec), global)
        }
        Change::Index { store, design, filters } => {
            indexing::run(&store.open()?, *design, *filters, global)
        }
        Change::Prune { store, keep_versions } => prune(&store.open()?, *keep_versions, global),
        Change::Expire { store, age, no_compact, confirm } => {
            let store = store.open()?;
            confirm.check(|today| store.at(None)?.expect_kept(age.retention(), today))?;
            expire(&store, age.retention(), !no_compact, global)
        }
        Change::Readmit { store, outputs, output } => {
            readmit(&store.open()?, outputs, output, global)
        }
        Change::Purge { store, deadline } => {
            let purged = purge(&store.open()?, deadline.map(Duration::from_secs), global)?;
            places::publish(global)?;
            if global.dry_run { Ok(purged) } else { mounts().sweep().map(|()| purged) }
        }
        Change::Remove { store, ids, until } => {
            remove(&store.open()?, &ids.here()?, *until, global)
        }
        Change::Rollback { store, target, outputs } => {
            rollback(&store.open()?, target, outputs, global)
        }
    };
    // A dry run has no new version; it shows the counts of what it would do.
    if global.dry_run { done } else { done.map(listing::say_store) }
}

fn init(path: &Path, dry_run: bool) -> Result<Summary> {
    if dry_run {
        let would = format!("would make an empty store at {}", path.named());
        return Ok(Summary::new().path("store", path).say(would));
    }
    let (store, made) = Store::init(path)?;
    let summary = summary_of(&store, &store.at(None)?);
    Ok(if made { summary } else { summary.already_done() })
}

fn add(store: &Store, new: &NewDay<'_>, compacts: bool, global: &GlobalFlags) -> Result<Summary> {
    if global.dry_run {
        let summary = summary_of(store, &store.at(None)?);
        let would = store.would_add(new)?;
        return Ok(match would {
            true => summary.say(format!("would add {}", new.day)),
            false => summary.already_done(),
        });
    }
    identity::set_day(new.day);
    let added = store.add(new, None)?;
    let merged = keep_up(store, compacts, None, global)?.merged;
    let summary = summary_of(store, &store.at(None)?).count("merged", merged);
    // A run that died after it had added the day may have left a merge.
    let was_there = matches!(added, Added::Already(_)) && merged == 0;
    Ok(if was_there { summary.already_done() } else { summary })
}

/// Checks every segment of one version, or of all versions, and the index.
pub(crate) fn verify(store: &Store, version: Option<u64>, global: &GlobalFlags) -> Result<Summary> {
    let verification = store.verification(version)?;
    let (read, _shown) = show_verifying(verification.bytes(), global);
    verification.run(&read)?;
    let [versions, segments] = [verification.versions(), verification.files()];
    Ok(summary_of(store, &store.at(version)?)
        .say(format!(
            "undamaged: {} of {}",
            tally(segments, "segment(s)", &[]),
            tally(versions, "version(s)", &[])
        ))
        .count("versions", versions)
        .count("segments", segments)
        .count("index_files", dupsieve::index::verify(store)?)
        .count("filters", dupsieve::seen::verify(store)?))
}

/// Logs which days leave the store, checks the version it goes back to, and goes back.
fn rollback(
    store: &Store,
    target: &Target,
    outputs: &[Outputs],
    global: &GlobalFlags,
) -> Result<Summary> {
    let current = store.at(None)?;
    let (version, verification) = match (target.to, target.before_day) {
        (Some(to), _) => (store.at(Some(to))?, store.verification(Some(to))?),
        (None, Some(day)) => {
            current.joined_by(day).ok_or_else(|| not_held(store, day))?;
            let before = store.before(day)?.number();
            (store.left_of(before)?, store.verification_before(day)?)
        }
        (None, None) => unreachable!("clap requires one of them"),
    };
    log_days("leave the store", days_of_one(&current, &version));
    log_days("come back", days_of_one(&version, &current));
    warn_of_expired(store, &version)?;
    let outputs = outputs_by_day(outputs)?;
    let advice = |_| "name the outputs of the days with --outputs to bring them back".to_owned();
    let output = |day| outputs.get(&day).cloned();
    let back = coming_back(store, &current, version.number(), output, advice)?;
    let (read, _shown) = show_verifying(verification.bytes(), global);
    if global.dry_run {
        verification.run(&read)?;
        return Ok(summary_of(store, &version));
    }
    let version = match target.before_day {
        Some(day) => store.rollback_before(day, current.number(), &back, &read)?,
        None => store.rollback(version.number(), &read)?,
    };
    indexing::keep(store, global)?;
    Ok(summary_of(store, &version))
}

/// Says which days of a version have expired since they were shown last, and how they come back.
fn warn_of_expired(store: &Store, version: &Version) -> Result<()> {
    let expired = version.all_entries().iter().filter(|entry| entry.has_expired());
    let days: Vec<String> = expired.clone().map(|entry| entry.day.to_string()).collect();
    let Some(first) = expired.filter_map(|entry| entry.expired_in).min() else { return Ok(()) };
    let help = bring_back(store, first)?;
    tracing::warn!("days that have expired, and stay hidden: {}; {help}", days.join(", "));
    Ok(())
}

/// How days that expired in a version are shown again.
pub(crate) fn bring_back(store: &Store, expired_in: u64) -> Result<String> {
    let shown_in = expired_in.saturating_sub(1);
    Ok(match store.is_pruned(shown_in)? {
        true => "the versions that show them were pruned".to_owned(),
        false => format!(
            "`dupsieve store rollback {} --to {shown_in}` brings them back",
            store.path().named()
        ),
    })
}

/// The outputs of days among these, each of which may be a folder of such.
fn outputs_by_day(named: &[Outputs]) -> Result<BTreeMap<Day, PathBuf>> {
    let mut by_day = BTreeMap::new();
    for path in Outputs::here(named)? {
        for output in report::outputs(&path)? {
            let report = Report::read(&report::folder(&output))?;
            by_day.extend(report.and_then(|report| report.day).map(|day| (day, output)));
        }
    }
    Ok(by_day)
}

/// The days of `one` that `other` lacks or holds with other contents.
fn days_of_one(one: &Version, other: &Version) -> Vec<String> {
    let lacks = |entry: &&Entry| {
        let same = |it: &Entry| (it.day, it.digest) == (entry.day, entry.digest);
        !other.entries().iter().any(same)
    };
    one.entries().iter().filter(lacks).map(|entry| entry.day.to_string()).collect()
}

fn log_days(what: &str, days: Vec<String>) {
    if !days.is_empty() {
        tracing::info!("days that {what}: {}", days.join(", "));
    }
}

pub(crate) fn not_held(store: &Store, day: Day) -> Error {
    Error::new(Kind::Missing, format!("the store does not hold {day}"))
        .at(store.path())
        .help("`dupsieve store list` shows the days it holds")
}
