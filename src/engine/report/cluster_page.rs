//! `report.html` of a clustering: its report, drawn for people.

use std::path::Path;

use serde::Serialize;

use super::bar::{Bar, bars};
use super::html;
use crate::clusters::{Clusters, SizeRange};

/// What `clusters.html` draws, beside the report itself.
#[derive(Serialize)]
struct ClusterPage<'a, R> {
    report: R,
    found: &'a Clusters,
    /// The last day, or the name of the output if no day is known.
    name: String,
    place: String,
    sizes: Vec<Bar>,
    listed: bool,
    changes: &'a str,
}

/// Draws the `report` of the output at `place`, which has `found` these clusters of these days.
pub(super) fn drawn(
    report: impl Serialize,
    found: &Clusters,
    days: &[String],
    place: &Path,
) -> String {
    let folder = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy();
    let day = days.last().filter(|day| !day.is_empty());
    let page = ClusterPage {
        report,
        found,
        name: day.cloned().unwrap_or_else(|| folder.into_owned()),
        place: place.to_string_lossy().into_owned(),
        sizes: bars(found.sizes.iter().map(sized).collect(), found.clusters.into()),
        listed: found.file_of("clusters").is_some(),
        changes: found.file_of("changes").unwrap_or_default(),
    };
    html::page("clusters.html", page)
}

fn sized(range: &SizeRange) -> (String, &'static str, u128) {
    let SizeRange { from, to, clusters } = *range;
    let name = if from == to { from.to_string() } else { format!("{from} to {to}") };
    (name, "", u128::from(clusters))
}
