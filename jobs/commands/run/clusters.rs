//! The clusters of a day: those of the day that entered the store before it, and the matches of the day itself.
//!
//! The days of a store are a chain, in the order in which they entered it. For example, 20 came late, and the run
//! of 21 died before it had made its clusters:
//!
//! ```text
//! chain            18 -> 19 -> 21 -> 20
//! clusters         18    19
//! to make for 20               21    20      those that are missing on the way are made first
//! ```
//!
//! Where no earlier day has clusters, those of a day are made from the matches of the whole chain. Either way
//! they are the same.

use dupsieve::clusters::Method;
use dupsieve::flow::Processes;
use dupsieve::peers::Topology;
use dupsieve::report::{ClusterReport, Made, Report};
use dupsieve::store::{Day, Entry, Store, Version};
use dupsieve::{Error, Kind, Result};

use super::days::{DayPlan, STAGED};
use crate::commands::cluster;
use crate::commands::cluster::{
    Input, PREVIOUS, Request, cluster_pages, in_process_0, matches_of, state, sums,
};
use crate::flags::{ClustersSettings, GlobalFlags};
use crate::outcome::{Summary, counted};

/// Makes the clusters of `day`, if the file asks for clusters. Every process of the job calls this; process 0
/// finds the chain by `find`.
pub(super) fn make<'a>(
    plan: &DayPlan<'_>,
    processes: &mut Processes,
    day: Day,
    global: &GlobalFlags,
    find: impl FnOnce() -> Result<Chain<'a>>,
) -> Result<Summary> {
    let unchanged = Summary::new().already_done();
    let Some(settings) = plan.config.clusters else { return Ok(unchanged) };
    let made = in_process_0(processes, |topology| {
        let made = find()?.make(settings, topology, global)?;
        log_day(day, &made);
        Ok(made)
    })?;
    let is_new = made.leader().is_some_and(|made| !made.is_already_done());
    Ok(if is_new { unchanged.changed() } else { unchanged })
}

/// Whether the clusters of a day are there as they would be made, or not asked for.
pub(super) fn stand(plan: &DayPlan<'_>, day: Day) -> Result<bool> {
    let Some(settings) = plan.config.clusters else { return Ok(true) };
    if !plan.is_held(day) {
        return Ok(false);
    }
    let chain = Chain::up_to(plan, day)?;
    Ok(chain.standing(chain.days.len() - 1, settings.method)?.is_some())
}

fn log_day(day: Day, made: &Summary) {
    let [members, clusters] = ["members", "clusters"].map(|name| made.counted(name));
    let changes = match made.counted("changes") {
        0 => String::new(),
        changes => format!("; {}", counted(changes, "change(s)")),
    };
    let found = [counted(members, "page(s)"), counted(clusters, "cluster(s)")].join(" in ");
    tracing::info!("{day}  {found}{changes}");
}

/// The days up to one of them, in the order in which they entered the store.
pub(super) struct Chain<'a> {
    plan: &'a DayPlan<'a>,
    days: Vec<Day>,
    /// Those of them that are being made again: their outputs are staged.
    redone: &'a [Day],
}

impl<'a> Chain<'a> {
    pub(super) fn up_to(plan: &'a DayPlan<'a>, day: Day) -> Result<Chain<'a>> {
        let current = Store::open(&plan.store)?.at(None)?;
        let mut days = in_order(&current);
        let last = days.iter().position(|&it| it == day).ok_or_else(|| {
            Error::new(Kind::Temporary, format!("{day} has left the store meanwhile"))
        })?;
        days.truncate(last + 1);
        Ok(Chain { plan, days, redone: &[] })
    }

    /// The days of `base`, and after them those that are being made again.
    pub(super) fn redone(plan: &'a DayPlan<'a>, base: &Version, redone: &'a [Day]) -> Chain<'a> {
        let days = in_order(base).into_iter().chain(redone.iter().copied()).collect();
        Chain { plan, days, redone }
    }

    fn make(
        &self,
        settings: ClustersSettings,
        topology: Topology,
        global: &GlobalFlags,
    ) -> Result<Summary> {
        let method = settings.method;
        let last = self.days.len() - 1;
        let output = self.clusters(last)?.path;
        match self.standing(last, method) {
            Ok(None) => {}
            Ok(Some(report)) => match cluster::done(&report, &output) {
                Err(error) if global.overwrite && error.kind() == Kind::BadData => {}
                done => return done,
            },
            Err(error) if global.overwrite && error.kind() == Kind::BadData => {}
            Err(error) => return Err(error),
        }
        let mut first = last;
        while first > 0 && self.standing(first - 1, method)?.is_none() {
            first -= 1;
        }
        if first == 0 {
            let request = self.request(settings, 0, last)?;
            return cluster_pages(topology, &request, global);
        }
        let mut made = Summary::new();
        for at in first..=last {
            let request = self.request(settings, at, at)?;
            made = cluster_pages(topology, &request, global)?;
        }
        Ok(made)
    }

    /// The request for clusters from the matches of the days `from` to `to` and, unless `from` is the first day,
    /// the clusters before these.
    fn request(&self, settings: ClustersSettings, from: usize, to: usize) -> Result<Request> {
        let matches = (from..=to).map(|at| self.joined(at)).collect::<Result<Vec<Input>>>()?;
        for Input { path, day, .. } in &matches {
            if !path.exists() {
                let day = day.map(|day| day.to_string()).unwrap_or_default();
                let what = format!("the clusters need the matches of {day}, which the store holds");
                let help = "restore the output of that day, or leave the section [clusters] out";
                return Err(Error::new(Kind::Missing, what).at(path).help(help));
            }
        }
        let Input { path: output, place, .. } = self.clusters(to)?;
        Ok(Request {
            matches,
            output,
            place,
            method: Some(settings.method),
            previous: from.checked_sub(1).map(|before| self.clusters(before)).transpose()?,
            removed: None,
            writes_lists: settings.lists,
            format: self.plan.format(),
            replaces_outdated: true,
        })
    }

    /// The report of the clusters of a day, if they are as they would be made now. Outputs that were moved away
    /// since are not compared.
    fn standing(&self, at: usize, method: Method) -> Result<Option<ClusterReport>> {
        let Some(report) = ClusterReport::read(&self.clusters(at)?.path)? else { return Ok(None) };
        let mut days: Vec<String> = self.days[..=at].iter().map(Day::to_string).collect();
        days.sort();
        if report.method != method || report.days != days {
            return Ok(None);
        }
        for (at, day) in self.days[..=at].iter().enumerate() {
            let Some(made) = report.parameters.get(&matches_of(day)) else { continue };
            let joined = Report::read(&self.joined(at)?.path)?;
            if joined.is_some_and(|joined| sums(&joined) != *made) {
                return Ok(None);
            }
        }
        if let (Some(made), Some(before)) = (report.parameters.get(PREVIOUS), at.checked_sub(1)) {
            let before = ClusterReport::read(&self.clusters(before)?.path)?;
            if before.is_some_and(|before| state(&before) != *made) {
                return Ok(None);
            }
        }
        Ok(Some(report))
    }

    fn joined(&self, at: usize) -> Result<Input> {
        self.output(at, "dedup")
    }

    fn clusters(&self, at: usize) -> Result<Input> {
        self.output(at, "clusters")
    }

    fn output(&self, at: usize, name: &str) -> Result<Input> {
        let day = self.days[at];
        let output = self.plan.output(day)?;
        let place = output.join(name);
        let is_staged = self.redone.contains(&day);
        let path = if is_staged { output.join(STAGED).join(name) } else { place.clone() };
        Ok(Input { path, place, day: Some(day) })
    }
}

/// The days of a version, in the order in which they entered the store. Clusters also have the days that have expired
/// since.
fn in_order(version: &Version) -> Vec<Day> {
    let mut entries: Vec<&Entry> = version.all_entries().iter().collect();
    entries.sort_by_key(|entry| entry.added_in);
    entries.into_iter().map(|entry| entry.day).collect()
}
