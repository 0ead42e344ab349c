//! `report.json` of a clustering: what it was made from, and what it found; and `report.html`, drawn from it.

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::html::{self, bars};
use super::made::Made;
use super::parameters::Parameters;
use crate::clusters::{Clusters, Method, SizeRange};
use crate::output::Sum;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterReport {
    job: String,
    pub dupsieve: String,
    pub parameters: Parameters,
    pub method: Method,
    /// The days whose matches are in it, in order; nothing in place of one that is not known.
    pub days: Vec<String>,
    pub found: Clusters,
    /// Where components join what stars keep apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub run: Value,
}

impl ClusterReport {
    const MADE_BY: &str = "cluster";

    pub fn of(
        parameters: Parameters,
        method: Method,
        days: Vec<String>,
        found: Clusters,
        run: Value,
    ) -> ClusterReport {
        ClusterReport {
            job: ClusterReport::MADE_BY.to_owned(),
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            parameters,
            method,
            days,
            warning: warning(method, &found),
            found,
            run,
        }
    }
}

impl Made for ClusterReport {
    const JOB: Option<&str> = Some(ClusterReport::MADE_BY);

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn run(&self) -> &Value {
        &self.run
    }

    fn run_mut(&mut self) -> &mut Value {
        &mut self.run
    }

    fn drawn(&self) -> String {
        let (place, found) = (html::place(&self.run), &self.found);
        let folder = Path::new(place).file_name().unwrap_or(place.as_ref()).to_string_lossy();
        let day = self.days.last().filter(|day| !day.is_empty());
        let sizes = found.sizes.iter().map(|&SizeRange { from, to, clusters }| {
            let name = if from == to { from.to_string() } else { format!("{from} to {to}") };
            (name, "", u128::from(clusters))
        });
        let page = context! {
            report => Serde(self),
            found => Serde(found),
            name => day.cloned().unwrap_or_else(|| folder.into_owned()),
            place,
            sizes => bars(sizes.collect(), found.clusters.into()),
            listed => found.file_of("clusters").is_some(),
            changes => found.file_of("changes").unwrap_or_default(),
        };
        html::page("clusters.html", page)
    }

    fn files(&self) -> &BTreeMap<String, Sum> {
        &self.found.files
    }
}

fn warning(method: Method, found: &Clusters) -> Option<String> {
    let Clusters { stars, clusters, largest, .. } = found;
    if method == Method::Star || stars == clusters {
        return None;
    }
    let joined = largest.iter().filter(|cluster| cluster.kept > 1).take(3);
    let examples: Vec<String> = joined
        .map(|it| format!("{} ({} members of {} stars)", it.cluster, it.members, it.kept))
        .collect();
    let of_which = if examples.is_empty() { "" } else { "; among the largest: " };
    Some(format!(
        "components join what stars keep apart: {stars} stars in {clusters} clusters{of_which}{}",
        examples.join(", ")
    ))
}
