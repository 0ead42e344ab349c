//! The kept pages of all days of `run`, copied as they came. One id may stand for pages of several days, so each day is copied from
//! its own inputs, by its own list, into a folder of its own.

use std::path::{Path, PathBuf};

use dupsieve::rooms::document::IdList;
use dupsieve::rooms::fingerprint::Width;
use dupsieve::rooms::matches::replacements_in;
use dupsieve::rooms::report::{Made, Report};
use dupsieve::rooms::store::{Day, Replacements, Store};
use dupsieve::{Error, Kind, Result};

use super::kept::Kept;
use crate::commands::cluster::not_whole;
use crate::flags::config::Config;
use crate::flags::global::GlobalFlags;
use crate::flags::place::Place;
use crate::flags::settings::{PageSettings, Replaced};
use crate::outcome::summary::Summary;

/// Copies the kept pages of all days in the store of `config` into folders below `folder`.
pub(super) fn copy(
    config: &Config,
    settings: &PageSettings,
    folder: &Path,
    global: &GlobalFlags,
) -> Result<Summary> {
    let (Some(output), Some(store)) = (&config.output.path, &config.store.path) else {
        return Err(Error::new(Kind::Usage, "--all needs the configuration file of `run`")
            .help("give the file with --config"));
    };
    let store = Store::open(store.here()?)?;
    let days: Vec<Day> = store.at(None)?.all_entries().iter().map(|entry| entry.day).collect();
    let found =
        |day: Day| -> Result<PathBuf> { Ok(Place::from(day.expand(output)).here()?.join("dedup")) };
    let found = days.iter().map(|&day| found(day)).collect::<Result<Vec<PathBuf>>>()?;
    let mut replaced = Replacements::new(folder);
    for found in &found {
        let report = Report::read(found)?.ok_or_else(|| not_whole(found))?;
        report.check_files(found)?;
        if report.outcome.replaced.is_some() && config.store.replaced == Replaced::Hide {
            replaced.extend(replacements_in(found)?);
        }
    }
    let replaced = replaced.sorted();
    let mut total = Summary::new().already_done();
    for (day, found) in days.into_iter().zip(found) {
        let inputs: Vec<PathBuf> = config.inputs.iter().map(|it| day.expand(it).into()).collect();
        let inputs = settings.inputs(&inputs, Width::W128)?;
        let files = inputs.0.files().len() as u64;
        let kept = Kept::of(inputs, &folder.join(day.to_string()))?;
        if global.dry_run {
            total = total.plus(Summary::new().count("files", files));
            continue;
        }
        let is_removed = store.left_out_of(day)?;
        let [mut removed_pages, mut replaced_pages] = [0, 0];
        let ids = IdList::read_some(&found.join("keep.txt"), global.budget().whole(), |id| {
            let [removed, replaced] = [is_removed(id), replaced.has(id, day)];
            removed_pages += u64::from(removed);
            replaced_pages += u64::from(replaced && !removed);
            !removed && !replaced
        })?;
        let copied = kept.copy(ids, global)?;
        total = total.plus(
            copied
                .count("days", 1)
                .count("removed", removed_pages)
                .count("replaced", replaced_pages),
        );
    }
    Ok(total.path("kept", folder))
}
