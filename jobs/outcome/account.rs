//! What a job has done, beyond its summary: how long each step took, why records could not be read, what it read and wrote. The parts are noted
//! while the job runs, so that a job that fails has them too.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dupsieve::matches::Outcome;
use dupsieve::output::Sum;
use dupsieve::step;
use serde::{Deserialize, Serialize};

use super::dataset::Dataset;

/// What a job has done.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Account {
    /// The seconds of each step.
    pub(crate) steps: BTreeMap<String, f64>,
    /// How many records could not be read, by reason.
    pub(crate) bad: BTreeMap<String, u64>,
    /// The bytes of the inputs that were read.
    pub(crate) input_bytes: u64,
    /// What was read, each once.
    pub(crate) inputs: Vec<Dataset>,
    /// What was written, each once, as it was last.
    pub(crate) outputs: Vec<Dataset>,
}

static NOTED: Mutex<Option<Account>> = Mutex::new(None);

/// Notes something.
fn note(change: impl FnOnce(&mut Account)) {
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    change(noted.get_or_insert_default());
}

/// Notes that inputs of so many bytes were read.
pub(crate) fn note_bytes(bytes: u64) {
    note(|account| account.input_bytes += bytes);
}

/// Notes what was read.
pub(crate) fn note_input(dataset: Dataset) {
    note(|account| put(&mut account.inputs, dataset));
}

/// Notes what was written.
pub(crate) fn note_output(dataset: Dataset) {
    note(|account| put(&mut account.outputs, dataset));
}

/// Notes the tables of an output: their names, the rows of each, and the files they are in.
pub(crate) fn note_tables(output: &Path, files: &BTreeMap<String, Sum>, tables: &[(&str, u64)]) {
    for &(table, rows) in tables {
        let is_table = |name: &&String| name.split('.').next() == Some(table);
        if let Some(name) = files.keys().find(is_table) {
            let written = Dataset::at(&output.join(name)).written(rows, Some(files[name].bytes));
            note_output(written.with_columns());
        }
    }
}

/// Notes the tables of a join.
pub(crate) fn note_join(output: &Path, outcome: &Outcome) {
    let Outcome { kept, dropped, matches, files, .. } = outcome;
    note_tables(output, files, &[("verdicts", kept + dropped), ("matches", *matches)]);
}

/// Notes that what was written below `from` is below `to` now.
pub(crate) fn note_moved(from: &str, to: &str) {
    note(|account| account.outputs.iter_mut().for_each(|dataset| dataset.moved(from, to)));
}

/// Adds a dataset, or replaces an earlier one of the same place.
fn put(all: &mut Vec<Dataset>, dataset: Dataset) {
    all.retain(|other| !other.is_at_the_place_of(&dataset));
    all.push(dataset);
}

/// Notes how many records could not be read, by reason.
pub(crate) fn note_bad<'a>(reasons: impl Iterator<Item = (&'a str, u64)>) {
    note(|account| {
        for (reason, count) in reasons {
            *account.bad.entry(reason.to_owned()).or_default() += count;
        }
    });
}

/// What this process has done so far.
pub(crate) fn so_far() -> Account {
    let noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let times = step::times().into_iter();
    let steps = times.map(|(step, time)| (step.name().to_owned(), time.as_secs_f64())).collect();
    Account { steps, ..noted.unwrap_or_default() }
}
