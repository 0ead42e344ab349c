//! The pages that a store shows now, of all days of `run`, copied as they came. One id may stand for pages of several days, so each day is
//! copied from its own inputs, by its own list, into a folder of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dupsieve::document::IdList;
use dupsieve::error::{At, Named};
use dupsieve::fingerprint::Width;
use dupsieve::output::Lock;
use dupsieve::store::{Day, Entry, Store, Version};
use dupsieve::{Error, Kind, Result};

use super::copies::Copies;
use super::kept::Kept;
use crate::flags::{Config, GlobalFlags, PageSettings, Place};
use crate::outcome::{Summary, counted};

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
    let version = Store::open(store.here()?)?.at(None)?;
    let kept = |day: Day| -> Result<Kept> {
        let inputs: Vec<PathBuf> = config.inputs.iter().map(|it| day.expand(it).into()).collect();
        Kept::of(settings.inputs(&inputs, Width::W128)?, &folder.join(day.to_string()))
    };
    let list = |day: Day| -> Result<PathBuf> {
        Ok(Place::from(day.expand(output)).here()?.join("dedup/keep.txt"))
    };
    let mut total = Summary::new().already_done();
    let mut run = BTreeSet::new();
    for entry in version.entries() {
        let list = list(entry.day)?;
        if fs::exists(&list).at(&list)? {
            run.insert(entry.day);
            continue;
        }
        let pages = version.shown_of(entry);
        if pages == 0 {
            continue;
        }
        tracing::warn!(
            "{} has no output of `run`, so {} of it cannot be copied",
            entry.day,
            counted(pages, "page(s)")
        );
        total = total.plus(Summary::new().already_done().count("not_copied", pages));
    }
    if run.is_empty() && !version.entries().is_empty() {
        return Err(Error::new(Kind::Missing, "no day of the store has an output of `run`")
            .expected(output)
            .help("mount its disk, or correct `output` in the file"));
    }
    let outdated = outdated(folder, &version)?;
    if let Some(outdated) = outdated.first().filter(|_| !global.overwrite) {
        let what = "the store does not show the pages of this day any more";
        return Err(Error::new(Kind::Exists, what)
            .at(outdated)
            .help("choose another folder, or let the copies of such days leave with --overwrite"));
    }
    if global.dry_run {
        for day in run {
            total = total.plus(Summary::new().count("files", kept(day)?.files()));
        }
        let files = counted(total.counted("files"), "file(s)");
        return Ok(total.say(format!("would copy the kept pages of {files}")));
    }
    for entries in groups(&version, global.budget().whole())? {
        let days: Vec<Day> = entries.iter().map(|entry| entry.day).collect();
        let mut shown = version.shown_pages(&days)?;
        for Entry { day, only, .. } in entries.into_iter().filter(|it| run.contains(&it.day)) {
            let list = list(*day)?;
            let mut ids = IdList::of(&list, shown.remove(day).unwrap_or_default());
            if only.is_none() {
                // The store has the dropped pages of the day too.
                let memory = global.budget().whole();
                ids = IdList::read_some(&list, memory, |id| ids.place(id).is_some())?;
            }
            total = total.plus(kept(*day)?.copy(ids, None, None, global)?.count("days", 1));
        }
    }
    for outdated in &outdated {
        let _lock = Lock::beside(outdated)?;
        fs::remove_dir_all(outdated).at(outdated)?;
        total = total.changed();
    }
    let [copied, days] = ["copied", "days"].map(|name| total.counted(name));
    Ok(total
        .say(format!(
            "{} of {} in {}",
            counted(copied, "page(s)"),
            counted(days, "day(s)"),
            folder.named()
        ))
        .count("removed", version.removed_rows())
        .count("replaced", version.replaced_rows())
        .count("expired", version.expired_rows())
        .path("kept", folder))
}

/// The copies below `folder` of days that were copied before and that the version does not show.
fn outdated(folder: &Path, version: &Version) -> Result<Vec<PathBuf>> {
    let mut outdated = Vec::new();
    if !folder.exists() {
        return Ok(outdated);
    }
    for entry in fs::read_dir(folder).at(folder)? {
        let path = entry.at(folder)?.path();
        let day = path.file_name().and_then(|name| name.to_str()?.parse::<Day>().ok());
        let is_shown = |day: Day| version.entries().iter().any(|entry| entry.day == day);
        if day.is_some_and(|day| !is_shown(day)) && Copies::listed_in(&path)?.is_some() {
            outdated.push(path);
        }
    }
    outdated.sort();
    Ok(outdated)
}

/// The days that a version shows, in groups whose pages are listed in memory together: so a file of the store is read once for many days.
fn groups(version: &Version, memory_bytes: u64) -> Result<Vec<Vec<&Entry>>> {
    let most = memory_bytes / size_of::<u128>() as u64;
    let mut groups: Vec<Vec<&Entry>> = Vec::new();
    let mut room = 0;
    for entry in version.entries() {
        let pages = version.shown_of(entry);
        if pages > most {
            return Err(Error::new(Kind::Usage, "the ids of a day need too much memory")
                .expected(format_args!("at most {memory_bytes} bytes, 16 for each page"))
                .found(format_args!("{pages} pages of {}", entry.day))
                .help("allow more memory")
                .setting("memory"));
        }
        match groups.last_mut().filter(|_| pages <= room) {
            Some(group) => group.push(entry),
            None => {
                groups.push(vec![entry]);
                room = most;
            }
        }
        room -= pages;
    }
    Ok(groups)
}
