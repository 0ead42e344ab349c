//! A search in pages, for items or for passages: an output with the tables of what was found, and a report.

use std::fmt;
use std::path::{Path, PathBuf};

use dupsieve::Result;
use dupsieve::document::PlaceIds;
use dupsieve::fingerprint::Width;
use dupsieve::flow::{Documents, Harvest, Processes, Role};
use dupsieve::output::{self, Listed, Lock, Staging};
use dupsieve::report::{self, Made, Parameters, SearchReport, Searched};
use dupsieve::results::ResultFormat;
use dupsieve::runs::{Record, SortedRecords};
use dupsieve::step::{self, Step};
use serde_json::json;

use crate::commands::filter::Kept;
use crate::commands::making::FromPages;
use crate::commands::reading::{Accepted, Found, Pages};
use crate::commands::{making, places, reading};
use crate::flags::{GlobalFlags, PageSettings};
use crate::outcome::{Summary, account};
use crate::processes::machines;

pub(crate) trait Search {
    type Made: Record;
    type Found: Searched;
    const DOING: &'static str;

    /// What decides the output beside the pages.
    fn parameters(&self) -> Vec<(&'static str, String)>;

    fn read(&self, documents: Documents, processes: &mut Processes) -> Result<Harvest<Self::Made>>;

    fn write(
        &self,
        made: SortedRecords<Self::Made>,
        format: ResultFormat,
        staging: &Staging,
        global: &GlobalFlags,
    ) -> Result<Self::Found>;
}

pub(crate) struct Asked<'a> {
    pub(crate) input: &'a [PathBuf],
    pub(crate) output: &'a Path,
    pub(crate) format: ResultFormat,
    pub(crate) pages: PageSettings,
    pub(crate) kept: Option<PathBuf>,
}

impl Asked<'_> {
    /// Searches, and copies pages by what was found: an output, and copies, that stand are not made again. Gives the summary of the search, and that
    /// of the copies if there is more to say: in process 0, and not of a dry run. `arguments` are to be the same in all processes.
    pub(crate) fn search<S: Search>(
        &self,
        arguments: &dyn fmt::Debug,
        global: &GlobalFlags,
        search: impl FnOnce(Pages) -> Result<(Pages, S)>,
        copy: impl FnOnce(&Kept) -> Result<Summary>,
    ) -> Result<(Summary, Option<Summary>)> {
        let Asked { input, output, format, pages, kept } = self;
        let mut processes = machines::join(global, &format!("{arguments:?} {pages:?} {format}"))?;
        let copies = processes.agree("check the folders", || {
            places::expect_folder(output)?;
            let Some(kept) = kept else { return Ok(Role::Leader(None)) };
            making::check_apart(kept, [*output])?;
            Ok(Role::Leader(Some(Kept::of(pages.inputs(input, Width::W128)?, kept)?)))
        })?;
        let found = making::from_pages(&mut processes, output, global, |processes| {
            let found = Pages::find(input, output, pages, Width::W128, processes)?;
            let (pages, search) = search(found)?;
            Ok(Searching { pages, search, format: *format })
        })?;
        let copied = processes.agree("copy the pages", || match copies.leader().flatten() {
            Some(copies) if !global.dry_run => copy(&copies).map(Role::Leader),
            _ => Ok(Role::Leader(Summary::new().already_done())),
        })?;
        places::publish_job(&mut processes, global)?;
        Ok((found, copied.leader().filter(|_| !global.dry_run)))
    }
}

/// How pages are read: by these flags, else by the configuration. A record without an id has its place as the id.
pub(crate) fn settings(flags: &PageSettings, global: &GlobalFlags) -> Result<PageSettings> {
    let settings = flags.clone().or(global.config()?.fingerprint.pages);
    let place_ids = settings.place_ids.or(Some(PlaceIds::Missing));
    Ok(PageSettings { place_ids, ..settings })
}

struct Searching<S> {
    pages: Pages,
    search: S,
    format: ResultFormat,
}

impl<S: Search> FromPages for Searching<S> {
    const COMMAND: &'static str = S::Found::JOB;
    const WHAT: &'static str = "a whole output of dupsieve";
    const LOCK: fn(&Path) -> Result<Lock> = Lock::beside;
    type Found = Found<S::Made>;

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn parameters(&self) -> Parameters {
        let named = self.search.parameters().into_iter();
        let named = named.map(|(name, value)| (name.to_owned(), value));
        let format = report::format_parameter(self.format);
        self.pages.parameters().into_iter().chain(named).chain(format).collect()
    }

    fn is_ours(output: &Path) -> Result<bool> {
        Ok(!matches!(SearchReport::<S::Found>::read(output), Ok(None)))
    }

    fn decided(output: &Path) -> Result<Parameters> {
        let report = read_report::<S::Found>(output)?;
        report.check_files(output)?;
        Ok(report.parameters)
    }

    fn check_replaceable(output: &Path) -> Result<()> {
        report::refuse_strangers(output, [].iter())
    }

    fn standing(&self) -> Result<Summary> {
        Ok(self.summary(&read_report(&self.pages.output)?))
    }

    fn read(&self, processes: &mut Processes, global: &GlobalFlags) -> Result<Found<S::Made>> {
        self.pages.read(processes, global, S::DOING, |documents, processes| {
            self.search.read(documents, processes)
        })
    }

    fn write(&self, found: Found<S::Made>, lock: Lock, global: &GlobalFlags) -> Result<Summary> {
        let accepted = self.pages.accept(found, lock.fence())?;
        let parameters = accepted.decided(&self.parameters());
        let pages = accepted.counts();
        let Accepted { made, quarantine, .. } = accepted;
        step::begin(Step::Writing);
        let staging = Staging::beside(&self.pages.output, lock)?;
        let found = self.search.write(made, self.format, &staging, global)?;
        let run = account::with_bill(json!({}));
        let mut report = SearchReport::of(parameters, pages, found, run);
        report.write(&staging, &self.pages.output)?;
        let has_bad = quarantine.is_some();
        staging.check()?;
        quarantine.map_or(Ok(()), Listed::publish)?;
        staging.commit()?;
        reading::remove_stale(&self.pages.output, has_bad, false);
        Ok(self.summary(&report))
    }
}

impl<S: Search> Searching<S> {
    fn summary(&self, report: &SearchReport<S::Found>) -> Summary {
        let SearchReport { pages, found, .. } = report;
        let summary = Summary::new().count("documents", pages.read - pages.quarantined);
        let summary = self.pages.say_passed_over(summary, pages);
        // Each number of what was found is a count.
        let found = json!(found);
        let counts = found.as_object().into_iter().flatten();
        let counts = counts.filter_map(|(name, value)| Some((name, value.as_u64()?)));
        let summary = counts.fold(summary, |summary, (name, count)| summary.count(name, count));
        let summary = summary.path("output", &self.pages.output);
        self.pages.say_lists(summary, [pages.quarantined > 0, false])
    }
}

fn read_report<F: Searched>(output: &Path) -> Result<SearchReport<F>> {
    let report = SearchReport::read(output)?;
    report.ok_or_else(|| output::foreign(output, "a whole output of dupsieve"))
}

/// Verifies an output of a search, of which the files alone can be checked; none if it is something else.
pub(crate) fn verify<F: Searched>(output: &Path) -> Result<Option<Summary>> {
    let Some(report) = SearchReport::<F>::read(output)? else { return Ok(None) };
    report.check_files(output)?;
    report.check_page(output)?;
    report.check_drawing(output)?;
    let bytes = report.files().values().map(|sum| sum.bytes).sum();
    Ok(Some(Summary::new().count("bytes", bytes)))
}
