//! What a configuration file says about each day: its inputs, its output and its store.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{self, Path, PathBuf};

use dupsieve::error::{At, Named};
use dupsieve::fingerprint::Width;
use dupsieve::matches::replacements_in;
use dupsieve::output::{self, Lock};
use dupsieve::passages::Cut;
use dupsieve::report::{self, Made, Report};
use dupsieve::results::ResultFormat;
use dupsieve::store::{Day, Entry, NewDay, RecordCounts, Replacements, Retention, Segment, Store};
use dupsieve::{Error, Kind, Result};

use crate::commands::filter::Kept;
use crate::commands::init::layout;
use crate::commands::store::{expire_days, keep_up, log_expiry};
use crate::commands::{PageSource, StoreAt, dedup, fingerprint, making, places, shell};
use crate::flags::{Add, Config, GlobalFlags, Place, Replaced, StoreSettings};
use crate::outcome::{counted, tally};

const MOST_RANGES: usize = 8;
/// The folder, in the output of a day, for outputs that are made again.
pub(crate) const STAGED: &str = ".redo";

/// The days that a configuration file asks for. All keys that it needs are there.
pub(crate) struct DayPlan<'a> {
    pub(crate) config: &'a Config,
    /// The file, as it was named on the command line.
    file: &'a Path,
    output: &'a str,
    pub(crate) store: PathBuf,
    /// The days to run, each once, in the order in which they are first named.
    pub(crate) days: Vec<Day>,
}

impl DayPlan<'_> {
    pub(crate) fn of<'a>(config: &'a Config, file: &'a Path) -> Result<DayPlan<'a>> {
        let missing = |key: &str| {
            Error::new(Kind::Config, format!("the file does not set `{key}`"))
                .help("for days, `dupsieve init` writes a complete file; for one corpus: dupsieve dedup --config FILE --input PATH --output DIR")
        };
        let output = config.output.path.as_deref().ok_or_else(|| missing("output"))?;
        let store = config.store.path.as_ref().ok_or_else(|| missing("store"))?;
        if config.inputs.is_empty() {
            return Err(missing("inputs"));
        }
        expect_a_day("output", output)?;
        config.kept.as_deref().map_or(Ok(()), |kept| expect_a_day("kept", kept))?;
        check_cut(config)?;
        let mut met = HashSet::new();
        let named = config.dates.iter().flat_map(|range| range.days());
        let days: Vec<Day> = named.filter(|&day| met.insert(day)).collect();
        Ok(DayPlan { config, file, output, store: absolute(&store.here()?), days })
    }

    pub(crate) fn output(&self, day: Day) -> Result<PathBuf> {
        Place::from(day.expand(self.output)).here().map(|here| absolute(&here))
    }

    pub(crate) fn named_output(&self, day: Day) -> PathBuf {
        PathBuf::from(day.expand(self.output))
    }

    /// Adds to an error about missing inputs where they were looked for.
    pub(crate) fn explain_missing(&self, day: Day, error: Error) -> Error {
        let is_relative = |it: &String| Path::new(it).is_relative() && !it.contains("://");
        if error.kind() != Kind::Missing || !self.inputs(day).any(|it| is_relative(&it)) {
            return error;
        }
        let paths = self.inputs(day).map(|it| places::named_input(&it));
        error.help(format!(
            "the inputs of {day} were looked for at {}; relative paths start at the working directory",
            paths.collect::<Vec<_>>().join(", ")
        ))
    }

    pub(crate) fn inputs(&self, day: Day) -> impl Iterator<Item = String> {
        self.config.inputs.iter().map(move |input| day.expand(input))
    }

    fn paths(&self, day: Day) -> Vec<PathBuf> {
        self.inputs(day).map(PathBuf::from).collect()
    }

    /// Whether times are read with the pages of the first day that has some.
    pub(crate) fn has_times(&self) -> bool {
        let pages = &self.config.fingerprint.pages;
        let of_day = |day: &Day| pages.read_times(&self.paths(*day));
        pages.time_field.is_some() || self.days.iter().find_map(of_day).unwrap_or(false)
    }

    pub(crate) fn no_day(&self) -> Error {
        let error = Error::new(Kind::Usage, "no day is given").called("no-day").at(self.file);
        let ranges = layout::ranges(&self.days_with_inputs());
        if ranges.is_empty() {
            return error.help("give one with --date, or set dates in the file");
        }
        let file = shell::word(&self.file.named());
        let shown = &ranges[..ranges.len().min(MOST_RANGES)];
        let more = if shown.len() < ranges.len() { ", and more" } else { "" };
        error
            .found(format_args!("inputs of {}{more}", shown.join(", ")))
            .help(format_args!("dupsieve run {file} --date {}", shown.join(" --date ")))
    }

    /// The days that have inputs, by the paths of the files that the inputs find, whatever their day is. A name of a file may have another day.
    fn days_with_inputs(&self) -> BTreeSet<Day> {
        let any_day = |input: &String| {
            let two = "[0-9][0-9]";
            let any = input.replace("{date}", "{year}-{month}-{day}");
            let any = any.replace("{year}", &[two, two].concat());
            PathBuf::from(any.replace("{month}", two).replace("{day}", two))
        };
        let patterns: Vec<PathBuf> = self.config.inputs.iter().map(any_day).collect();
        let find = |paths: &[PathBuf]| self.config.fingerprint.pages.inputs(paths, Width::W128);
        let found = find(&patterns);
        let files = found.iter().flat_map(|(inputs, _)| inputs.files());
        let named: BTreeSet<Day> =
            files.flat_map(|file| file.path().ancestors().filter_map(layout::day_in)).collect();
        let has_inputs =
            |day: &Day| find(&self.paths(*day)).is_ok_and(|(inputs, _)| !inputs.files().is_empty());
        named.into_iter().filter(has_inputs).collect()
    }

    pub(crate) fn is_held(&self, day: Day) -> bool {
        let newest = Store::open(&self.store).and_then(|store| store.at(None));
        newest.is_ok_and(|version| version.entry(day).is_some())
    }

    /// Keeps the store as the section `[store]` says, after a day was added (see [`keep_up`]). Returns whether
    /// anything changed.
    pub(crate) fn keep_store(&self, global: &GlobalFlags) -> Result<bool> {
        let store = Store::open(&self.store)?;
        let StoreSettings { compact, keep_days, keep_versions, .. } = self.config.store;
        let expired = keep_days.map_or(Ok(0), |days| expire_days(&store, days))?;
        let upkeep = keep_up(&store, compact, keep_versions, global)?;
        Ok(expired + upkeep.merged + upkeep.pruned > 0)
    }

    pub(crate) fn log_expiry(&self) -> Result<()> {
        let (Some(days), Ok(store)) = (self.config.store.keep_days, Store::open(&self.store))
        else {
            return Ok(());
        };
        let version = store.at(None)?;
        let held = version.entries().last().map(|entry| entry.day);
        let newest = held.max(self.days.iter().max().copied());
        let first = newest.and_then(|newest| Retention::Days(days).first(newest));
        let expiry = first.and_then(|first| version.expiry(Retention::From(first)));
        log_expiry(expiry.as_ref(), true);
        Ok(())
    }

    pub(crate) fn redo_command(&self, day: Day) -> String {
        self.command("--redo", day)
    }

    pub(crate) fn command(&self, flag: &str, day: Day) -> String {
        format!("dupsieve run {} {flag} {day}", self.file.named())
    }

    /// The first day to make again, so that `day` is joined before all days after it: of the later days that were in the store
    /// when `day` was added, the one that was added first. None if the order is right.
    pub(crate) fn first_out_of_order(&self, day: Day) -> Result<Option<Entry>> {
        let store = Store::open(&self.store)?;
        let version = store.at(None)?;
        let Some(added_in) = version.entry(day).map(|entry| entry.added_in) else {
            return Ok(None);
        };
        let was_there = |entry: &&Entry| entry.day > day && entry.added_in < added_in;
        Ok(version.entries().iter().filter(was_there).min_by_key(|it| it.added_in).cloned())
    }

    /// The day to make again, so that all days that were run are joined in their order; none if they were.
    pub(crate) fn out_of_order(&self) -> Result<Option<Day>> {
        let mut firsts = Vec::new();
        for &day in &self.days {
            firsts.extend(self.first_out_of_order(day)?);
        }
        Ok(firsts.into_iter().min_by_key(|entry| entry.added_in).map(|entry| entry.day))
    }

    /// Advises --redo if an output cannot be made because another one exists and the store holds its
    /// day. --overwrite does not help then: that day, and all days joined after it, must leave the store.
    pub(crate) fn advise_redo(&self, day: Day, error: Error) -> Error {
        if error.kind() != Kind::Exists || !self.is_held(day) {
            return error;
        }
        error.help(format!("make {day} again, and the days after it: {}", self.redo_command(day)))
    }

    pub(crate) fn batch(&self, day: Day) -> Result<PathBuf> {
        Ok(self.output(day)?.join("batch.seg"))
    }

    pub(crate) fn found(&self, day: Day) -> Result<PathBuf> {
        Ok(self.output(day)?.join("dedup"))
    }

    pub(crate) fn clusters(&self, day: Day) -> Result<PathBuf> {
        Ok(self.output(day)?.join("clusters"))
    }

    /// The folder that the kept pages of a day are copied to; none if the file does not ask for copies.
    pub(crate) fn kept(&self, day: Day) -> Result<Option<PathBuf>> {
        let named = self.config.kept.as_ref();
        named.map(|kept| Ok(absolute(&Place::from(day.expand(kept)).here()?))).transpose()
    }

    pub(crate) fn copies(&self, day: Day) -> Result<Option<Kept>> {
        let Some(folder) = self.kept(day)? else { return Ok(None) };
        making::check_apart(&folder, [&*self.output(day)?, &self.store]).map_err(|error| {
            error.help("choose another folder as `kept`, apart from `output` and `store`")
        })?;
        let inputs = self.config.fingerprint.pages.inputs(&self.paths(day), Width::W128);
        let inputs = inputs.map_err(|error| self.explain_missing(day, error))?;
        Kept::of(inputs, &folder).map(Some)
    }

    /// How passages are cut out of the copies; none if these are as they came.
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.config.passages?.cut
    }

    /// The clusters of a day, if the file does not ask for any: it had their section before.
    pub(crate) fn unasked(&self, day: Day) -> Result<Option<PathBuf>> {
        let clusters = self.clusters(day)?;
        Ok((self.config.clusters.is_none() && clusters.exists()).then_some(clusters))
    }

    pub(crate) fn to_fingerprint(&self, day: Day) -> Result<fingerprint::Request> {
        Ok(fingerprint::Request {
            inputs: self.paths(day),
            output: self.batch(day)?,
            settings: self.config.fingerprint.clone(),
            keep: self.config.dedup.keep.as_ref().and_then(|keep| keep.field().cloned()),
            known: StoreAt::Before(self.store.clone(), day),
            ..fingerprint::Request::default()
        })
    }

    /// Leaves out of the segment of a day the pages that were removed from the store, unless the store holds the segment as it is.
    pub(crate) fn leave_out_removed(&self, day: Day) -> Result<()> {
        let store = match Store::open(&self.store) {
            Err(error) if error.kind() == Kind::Missing => return Ok(()),
            store => store?,
        };
        let batch = self.batch(day)?;
        let source = Segment::open(&batch)?.digest();
        match store.at(None)?.entry(day) {
            Some(entry) if entry.source == source => Ok(()),
            _ => self.without_removed(day, &batch, &batch).map(drop),
        }
    }

    /// Writes to `into` the segment `batch` of a day without the pages that were removed from the store. Returns the path of the
    /// segment that has none: `batch`, if there is none to leave out.
    pub(crate) fn without_removed(&self, day: Day, batch: &Path, into: &Path) -> Result<PathBuf> {
        let folder = output::parent_of(into);
        fs::create_dir_all(folder).at(folder)?;
        let _lock = Lock::on_file(into)?;
        let store = Store::open(&self.store)?;
        let pages = store.leave_out_removed(&Segment::open(batch)?, day, into)?;
        if pages == 0 {
            return Ok(batch.to_path_buf());
        }
        tracing::info!("{day} leaves out {} removed from the store", counted(pages, "page(s)"));
        Ok(into.to_path_buf())
    }

    pub(crate) fn format(&self) -> ResultFormat {
        self.config.output.format.unwrap_or_default()
    }

    /// The request to join a day with the store as it was before that day. A day that is joined already keeps the format of
    /// its tables: another one in the file is for the days to come.
    pub(crate) fn to_join(&self, day: Day) -> Result<dedup::Request> {
        let output = self.found(day)?;
        let made = Report::read(&output).ok().flatten();
        Ok(dedup::Request {
            batch: self.batch(day)?,
            store: StoreAt::Before(self.store.clone(), day),
            output,
            format: made.map_or(self.format(), |made| report::format(&made.parameters)),
            settings: self.config.dedup.clone(),
            pages: Some(PageSource::new(&self.config.inputs, &self.config.fingerprint.pages)),
            ..dedup::Request::default()
        })
    }

    /// What `take` does with what enters the store of a day that was `joined`.
    pub(crate) fn entering<T>(
        &self,
        joined: &dedup::Request,
        day: Day,
        take: impl FnOnce(&NewDay<'_>) -> Result<T>,
    ) -> Result<T> {
        let only = (self.config.add == Add::Kept).then(|| joined.output.join("keep.txt"));
        let replaced = self.replaced(&joined.output)?;
        let (segment, only, replaces) = (&joined.batch, only.as_deref(), replaced.as_ref());
        take(&NewDay { segment, day, only, replaces })
    }

    /// What the output `found` of a join says of the pages of the store that those of a day replace, and of slack; none if it says nothing. No page
    /// is replaced if they are to stay.
    fn replaced(&self, found: &Path) -> Result<Option<Replacements>> {
        let report = Report::read(found)?;
        let tells = report.is_some_and(|report| report.outcome.replaced.is_some());
        let listed = tells.then(|| replacements_in(found)).transpose()?;
        Ok(match self.config.store.replaced {
            Replaced::Hide => listed,
            Replaced::Keep => listed.map(Replacements::replacing_none),
        })
    }
}

/// Fails unless each day has a folder of its own by the pattern of this key.
fn expect_a_day(key: &str, pattern: &str) -> Result<()> {
    let has = |part: &str| pattern.contains(part);
    if has("{date}") || ["{year}", "{month}", "{day}"].into_iter().all(has) {
        return Ok(());
    }
    Err(Error::new(Kind::Config, "all days would have the same output")
        .expected(format_args!("{{date}}, or {{year}}, {{month}} and {{day}}, in `{key}`"))
        .found(pattern))
}

/// Fails if passages are to be cut out of copies that are not made, or whose first copy may be in a page that is not copied.
fn check_cut(config: &Config) -> Result<()> {
    if config.passages.is_none_or(|it| it.cut.is_none()) {
        return Ok(());
    }
    if config.kept.is_none() {
        let what = "nothing is copied that passages could be cut out of";
        return Err(Error::new(Kind::Config, what).help(
            "set `kept`, such as kept = \"clean/{date}\", or leave out `cut` in [passages]",
        ));
    }
    if config.add == Add::All {
        let what = "the first copy of a passage could be in a page that is dropped, and not copied";
        return Err(Error::new(Kind::Config, what)
            .help("set add = \"kept\", or leave out `cut` in [passages]"));
    }
    Ok(())
}

fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Logs what became of the pages of a day, whose join is the output `found`, and what is unusual about the day.
pub(super) fn log_day(plan: &DayPlan<'_>, day: Day, found: &Path) -> Result<()> {
    let Some(Report { batch, outcome, later_days, .. }) = Report::read(found)? else {
        return Ok(());
    };
    let RecordCounts { read, empty, repeated, quarantined, removed, .. } = batch;
    let parts = [
        (outcome.kept, "kept"),
        (outcome.duplicates(), "duplicate(s)"),
        (outcome.superseded.unwrap_or(0), "superseded"),
        (empty, "empty"),
        (repeated, "repeated id(s)"),
        (quarantined, "unreadable"),
        (removed, "removed"),
    ];
    tracing::info!("{day}  {}", tally(read, "page(s)", &parts));
    if read == 0 {
        tracing::warn!(
            "there are no pages for {day}; if they come later, run `{}`",
            plan.redo_command(day)
        );
    }
    if let Some(later) = later_days {
        let redo = plan.first_out_of_order(day)?.map(|first| plan.redo_command(first.day));
        let advice = redo.map(|redo| format!("; to put the days in order, run `{redo}`"));
        let dropped = match later.dropped {
            0 => String::new(),
            dropped => format!(": {dropped} of its pages are duplicates of pages of these days"),
        };
        tracing::warn!(
            "{day} was run after later days ({}){dropped}{}",
            later.named(),
            advice.unwrap_or_default()
        );
    }
    Ok(())
}
