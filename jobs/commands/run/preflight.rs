//! Checks before any page is read, for errors that would otherwise stop a day after hours: settings that
//! contradict each other, a store with another recipe, outputs that were made with other settings.

use std::path::Path;

use dupsieve::clusters::Method;
use dupsieve::error::Named;
use dupsieve::fingerprint::Recipe;
use dupsieve::matches::{Detail, Recrawled};
use dupsieve::report::{self, ClusterReport, Made, Parameters, Report};
use dupsieve::store::{Day, Segment, Store, Version, expect_come};
use dupsieve::{Error, Kind, Result};

use super::days::DayPlan;
use crate::commands::cluster::METHOD;
use crate::commands::dedup;
use crate::commands::fingerprint::two_orders;
use crate::commands::shell;
use crate::flags::{ClustersSettings, Config, DedupSettings, GlobalFlags, Keep, Replaced};

/// Fails if a day lies far ahead of `today` and of what the store holds.
pub(super) fn check_days(plan: &DayPlan<'_>, today: Day) -> Result<()> {
    let store = held(plan)?;
    plan.days.iter().try_for_each(|&day| expect_come(store.as_ref(), day, today))
}

/// The newest version of the store, which the first day makes.
fn held(plan: &DayPlan<'_>) -> Result<Option<Version>> {
    match Store::open(&plan.store) {
        Ok(store) => store.at(None).map(Some),
        Err(error) if error.kind() == Kind::Missing => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn check(plan: &DayPlan<'_>, config: &Path, global: &GlobalFlags) -> Result<()> {
    let fingerprint = &plan.config.fingerprint;
    let dedup = &plan.config.dedup;
    let recipe = fingerprint.chosen()?;
    let store = held(plan)?;
    dedup::check_settings(dedup, store.as_ref(), &recipe, global)?;
    let hides = plan.config.store.replaced == Replaced::Hide;
    if !hides && dedup.recrawled(recipe.stamp().as_str()) == Recrawled::Newest {
        let what =
            "the newest page of a key replaces the others, and replaced = \"keep\" lets them stay";
        return Err(Error::new(Kind::Usage, what)
            .at(config)
            .help("leave `replaced` out of [store]"));
    }
    if let Some(field) = dedup.keep.as_ref().and_then(Keep::field) {
        if fingerprint.pages.time_field.is_some() {
            return Err(two_orders().at(config));
        }
        field.read()?;
    }
    if let Some(keep) = &dedup.keep {
        keep.expect_known(|| plan.has_times(), &recipe)?;
    }
    if let Some(store) = &store {
        let added = plan.days.iter().filter(|day| store.entry(**day).is_none());
        added.copied().try_for_each(|day| store.expect_unexpired(day))?;
    }
    if store.is_none() {
        refuse_lost_store(plan)?;
    }
    warn_of_few_matches(plan.config, dedup);
    if global.overwrite {
        return Ok(());
    }
    for &day in &plan.days {
        let output = plan.output(day)?;
        check_batch(&output.join("batch.seg"), &recipe)
            .and_then(|()| check_output(&output.join("dedup"), dedup, &recipe))
            .map_err(|error| plan.advise_redo(day, error))?;
        check_clusters(&plan.clusters(day)?, plan.config.clusters)?;
    }
    Ok(())
}

/// Fails if a day was joined with the store, which is not there: a new one would not know which pages were removed.
fn refuse_lost_store(plan: &DayPlan<'_>) -> Result<()> {
    for &day in &plan.days {
        let joined = Report::read(&plan.found(day)?)?;
        if joined.is_some_and(|joined| {
            joined.parameters.get("store").is_some_and(|store| store != "none")
        }) {
            let what = format!("the store is not there, though {day} was joined with it");
            return Err(Error::new(Kind::Missing, what).called("no-store").at(&plan.store).help(
                format!("mount it, or correct its path; to make it anew of the days: dupsieve store init {}", shell::word(&plan.store.named())),
            ));
        }
    }
    Ok(())
}

/// Fails if the batch exists already with another recipe. Its other parameters are compared when its day is
/// run.
fn check_batch(path: &Path, recipe: &Recipe) -> Result<()> {
    // The step that makes the batch handles a damaged one.
    let Ok(made) = Segment::open(path) else { return Ok(()) };
    let asked = recipe.stamp();
    let named = |stamp: &str| Parameters::from([("recipe".to_owned(), stamp.to_owned())]);
    if made.stamp() == asked.as_str() {
        return Ok(());
    }
    Err(report::made_otherwise(path, &named(made.stamp()), &named(asked.as_str())))
}

/// Says that components join by what matches.tsv lists, which is by default one match of each dropped page.
fn warn_of_few_matches(config: &Config, dedup: &DedupSettings) {
    let has_components = config.clusters.is_some_and(|it| it.method == Method::Components);
    if has_components && dedup.matches.unwrap_or_default() != Detail::All {
        tracing::warn!(
            "components join what the listed matches connect; set matches = \"all\" in [dedup] to list all"
        );
    }
}

fn check_clusters(path: &Path, settings: Option<ClustersSettings>) -> Result<()> {
    let (Ok(Some(report)), Some(ClustersSettings { method, .. })) =
        (ClusterReport::read(path), settings)
    else {
        return Ok(());
    };
    if report.method == method {
        return Ok(());
    }
    let by = |method: Method| Parameters::from([(METHOD.to_owned(), method.to_string())]);
    Err(report::made_otherwise(path, &by(report.method), &by(method)))
}

/// Fails if the output exists already and was made with other settings. Its inputs are compared when its
/// day is run.
fn check_output(path: &Path, settings: &DedupSettings, recipe: &Recipe) -> Result<()> {
    let Ok(Some(report)) = Report::read(path) else { return Ok(()) };
    let asked = dedup::parameters(settings, recipe.stamp().as_str());
    let mut made = report.parameters;
    let known = ["distance", "matches", "check", "passages", report::RECRAWLED];
    made.retain(|name, _| known.contains(&name.as_str()));
    if made == asked {
        return Ok(());
    }
    Err(report::made_otherwise(path, &made, &asked))
}
