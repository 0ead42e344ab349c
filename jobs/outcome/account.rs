//! What a job has done, beyond its summary: how long each step took, why records could not be read. The parts are noted
//! while the job runs, so that a job that fails has them too.

use std::collections::BTreeMap;
use std::sync::Mutex;

use dupsieve::matches::Lost;
use dupsieve::object_storage::Bill;
use dupsieve::parallel::lock;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::identity;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Account {
    pub(crate) steps: BTreeMap<String, f64>,
    pub(crate) bad: BTreeMap<String, u64>,
    pub(crate) input_bytes: u64,
    pub(crate) requests: Bill,
    /// How much text goes with the dropped pages, where the join tells; of several days the most.
    pub(crate) lost: Option<Lost>,
}

static NOTED: Mutex<Option<Account>> = Mutex::new(None);

/// What other processes asked object stores for, each so far, and what was told of all of it.
static BILLS: Mutex<(BTreeMap<u32, Bill>, Option<Bill>)> = Mutex::new((BTreeMap::new(), None));

fn note(change: impl FnOnce(&mut Account)) {
    let mut noted = lock(&NOTED);
    change(noted.get_or_insert_default());
}

pub(crate) fn note_bytes(bytes: u64) {
    note(|account| account.input_bytes += bytes);
}

pub(crate) fn note_bill(process: u32, so_far: Bill) {
    lock(&BILLS).0.insert(process, so_far);
}

fn bill() -> Bill {
    let others = lock(&BILLS).0.clone();
    others.into_values().fold(Bill::so_far(), Bill::plus)
}

/// The part `run` of a report, with what object stores were asked for since the last report, or since the start, if anything: what
/// the output has cost until now.
pub(crate) fn with_bill(mut run: Value) -> Value {
    let now = bill();
    let told = lock(&BILLS).1.replace(now);
    let bill = now.since(told.unwrap_or_default());
    if !bill.is_empty() {
        run["requests"] = json!(bill);
    }
    run
}

pub(crate) fn note_bad<'a>(reasons: impl Iterator<Item = (&'a str, u64)>) {
    note(|account| {
        for (reason, count) in reasons {
            *account.bad.entry(reason.to_owned()).or_default() += count;
        }
    });
}

pub(crate) fn note_lost(lost: Lost) {
    note(|account| {
        let Lost { share, over_tenth, .. } = account.lost.unwrap_or(lost);
        account.lost = Some(Lost {
            share: share.max(lost.share),
            over_tenth: over_tenth.max(lost.over_tenth),
            ..lost
        });
    });
}

pub(crate) fn so_far() -> Account {
    let noted = lock(&NOTED).clone();
    let times = identity::clock().times().into_iter();
    let steps = times.map(|(step, time)| (step.name().to_owned(), time.as_secs_f64())).collect();
    Account { steps, requests: bill(), ..noted.unwrap_or_default() }
}
