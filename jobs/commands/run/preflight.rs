//! What would stop a day after its long part, found before any page is read: settings that do not go
//! together, a store of another recipe, outputs that were made with other settings.

use std::path::Path;

use dupsieve::fingerprint::Recipe;
use dupsieve::matches::KeepOrder;
use dupsieve::store::{Segment, Store};
use dupsieve::{Error, Kind, Result};

use super::days::Plan;
use crate::commands::dedup;
use crate::flags::common::Common;
use crate::flags::settings::{DedupSettings, FingerprintSettings};
use crate::outcome::report::{self, Parameters, Report};

/// Fails if one of the days would be refused.
pub(super) fn check(plan: &Plan<'_>, config: &Path, common: &Common) -> Result<()> {
    let (fingerprint, dedup) = (&plan.config.fingerprint, &plan.config.dedup);
    let recipe = fingerprint.recipe(fingerprint.format.unwrap_or_default())?;
    let store = match Store::open(&plan.store) {
        Ok(store) => Some(store.at(None)?),
        // The first day makes it, or completes one that was begun.
        Err(error) if error.kind() == Kind::Missing => None,
        Err(error) => return Err(error),
    };
    dedup::check_settings(dedup, store.as_ref(), &recipe, common)?;
    check_keep_order(dedup, fingerprint, &recipe)?;
    if common.overwrite {
        return Ok(());
    }
    for &day in &plan.days {
        let output = plan.output(day);
        check_batch(&output.join("batch.seg"), &recipe)
            .and_then(|()| check_output(&output.join("dedup"), dedup))
            .map_err(|error| plan.advise_redo(day, config, error))?;
    }
    Ok(())
}

/// The pages must have what they are to be kept by.
fn check_keep_order(
    dedup: &DedupSettings,
    fingerprint: &FingerprintSettings,
    recipe: &Recipe,
) -> Result<()> {
    let (lacks, help) = match dedup.keep {
        Some(KeepOrder::Oldest) if fingerprint.time_field.is_none() => {
            ("time", "name its field with --time-field")
        }
        Some(KeepOrder::Longest) if recipe.is_external() => ("length", "use first-id"),
        _ => return Ok(()),
    };
    let order = dedup.keep.map_or(String::new(), |keep| keep.to_string());
    let what = format!("--keep {order} needs the {lacks} of each page, which is not known");
    Err(Error::new(Kind::Usage, what).help(help))
}

/// A batch that stands already must be of this recipe. What else it was made from is compared when
/// its day comes.
fn check_batch(path: &Path, recipe: &Recipe) -> Result<()> {
    // A damaged one is the business of the step that makes it.
    let Ok(made) = Segment::open(path) else { return Ok(()) };
    let asked = recipe.stamp();
    let named = |stamp: &str| Parameters::from([("recipe".to_owned(), stamp.to_owned())]);
    match made.stamp() == asked.as_str() {
        true => Ok(()),
        false => Err(report::made_otherwise(path, &named(made.stamp()), &named(asked.as_str()))),
    }
}

/// An output that stands already must have been made with these settings. What it was made from is
/// compared when its day comes.
fn check_output(path: &Path, settings: &DedupSettings) -> Result<()> {
    let Ok(Some(report)) = Report::read(path) else { return Ok(()) };
    let asked = dedup::parameters(settings);
    let mut made = report.parameters;
    let known = ["distance", "matches", "check"];
    made.retain(|name, _| known.contains(&name.as_str()));
    match made == asked {
        true => Ok(()),
        false => Err(report::made_otherwise(path, &made, &asked)),
    }
}
