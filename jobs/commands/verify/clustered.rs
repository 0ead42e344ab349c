//! Checks that the clusters of a day are whole, and that they are of the matches beside them.

use std::path::Path;

use dupsieve::rooms::report::{ClusterReport, Made, Report};
use dupsieve::{Error, Kind, Result};

use crate::commands::cluster::{self, PREVIOUS, matches_of, state, sums};
use crate::flags::global::GlobalFlags;

/// Fails if the clusters at `clusters` are damaged, if they were made from other matches than those at `found`,
/// or from other clusters of the day before than those that are there now. Clusters before that no longer exist
/// are not checked. Returns how many bytes were checked.
pub(crate) fn check(clusters: &Path, found: &Path, global: &GlobalFlags) -> Result<u64> {
    let (Some(report), Some(joined)) = (ClusterReport::read(clusters)?, Report::read(found)?)
    else {
        let what = "this is not a complete output of `cluster`";
        return Err(Error::new(Kind::BadData, what).at(clusters));
    };
    let day = joined.day.map(|day| day.to_string()).unwrap_or_default();
    if report.parameters.get(&matches_of(&day)) != Some(&sums(&joined)) {
        return Err(other(clusters, &format!("the matches of {day} that are there now")));
    }
    let before = cluster::before(&report)?;
    let made = report.parameters.get(PREVIOUS);
    if before.as_ref().is_some_and(|(_, before)| made != Some(&state(before))) {
        return Err(other(clusters, "the clusters of the day before that are there now"));
    }
    cluster::check(clusters, &report, before, global)?;
    Ok(report.files().values().map(|sum| sum.bytes).sum())
}

fn other(clusters: &Path, expected: &str) -> Error {
    Error::new(Kind::BadData, "the clusters were made from other outputs")
        .at(clusters)
        .expected(expected)
        .found("others")
        .help(
            "run the day again: clusters are made again where what they were made from has changed",
        )
}
