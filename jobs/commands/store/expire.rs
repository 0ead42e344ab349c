//! Days that are too old leave a store.

use std::num::NonZero;

use dupsieve::Result;
use dupsieve::rooms::error::Named;
use dupsieve::rooms::store::{Day, Expiry, Retention, Store};

use super::listing::summary_of;
use super::upkeep::{keep_up, or_later};
use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;

/// Lets the days expire that `retention` does not keep; then merges what is due, if it `compacts`.
pub(super) fn expire(
    store: &Store,
    retention: Retention,
    compacts: bool,
    global: &GlobalFlags,
) -> Result<Summary> {
    let (expiry, merged) = match global.dry_run {
        true => (store.at(None)?.expiry(retention), 0),
        false => {
            let expiry = store.expire(retention)?;
            // A run that died after the days had expired may have left a merge.
            (expiry, keep_up(store, compacts, None, global)?.merged)
        }
    };
    log_expiry(expiry.as_ref(), global.dry_run);
    let version = store.at(None)?;
    let is_changed = expiry.is_some() || merged > 0;
    let (days, rows) = expiry.map_or((0, 0), |expiry| (expiry.days.len() as u64, expiry.rows));
    let summary = summary_of(store, &version)
        .count("expired_days", days)
        .count("expired", rows)
        .count("merged", merged);
    Ok(if is_changed { summary } else { summary.already_done() })
}

/// Lets the days of a store expire but the last `days`, after a day was added. Returns how many have.
pub(crate) fn expire_days(store: &Store, days: NonZero<u64>) -> Result<u64> {
    let kept = Retention::Days(days);
    // A day that was confirmed itself does not say that all others may leave.
    let is_meant = store.at(None).and_then(|version| version.expect_kept(kept, Day::today()));
    let expired = is_meant.and_then(|()| store.expire(kept)).map(|expiry| {
        log_expiry(expiry.as_ref(), false);
        expiry.map_or(0, |expiry| expiry.days.len() as u64)
    });
    or_later(expired, &format!("store expire {} --keep-days {days}", store.path().named()))
}

pub(crate) fn log_expiry(expiry: Option<&Expiry>, is_dry: bool) {
    let Some(Expiry { first, days, rows }) = expiry else { return };
    let have = if is_dry { "would expire" } else { "expired" };
    let listed = match &days[..] {
        [oldest, .., newest] => format!("{} days from {oldest} to {newest}", days.len()),
        days => days.iter().map(Day::to_string).collect(),
    };
    tracing::info!("{listed} {have}, with {rows} pages; the store shows the days from {first} on");
}
