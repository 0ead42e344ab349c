//! `report.json` of a search for items, and `report.html`, drawn from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::html;
use super::made::Made;
use super::parameters::Parameters;
use crate::items::ItemsFound;
use crate::output::Sum;
use crate::store::RecordCounts;

#[derive(Debug, Serialize, Deserialize)]
pub struct ItemsReport {
    /// What made it: `contains`.
    job: String,
    pub dupsieve: String,
    /// A run with the same parameters finds its output done.
    pub parameters: Parameters,
    pub pages: RecordCounts,
    pub found: ItemsFound,
    /// How it was run: the one part that differs from run to run.
    pub run: Value,
}

impl ItemsReport {
    const MADE_BY: &str = "contains";

    pub fn of(
        parameters: Parameters,
        pages: RecordCounts,
        found: ItemsFound,
        run: Value,
    ) -> ItemsReport {
        ItemsReport {
            job: ItemsReport::MADE_BY.to_owned(),
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            parameters,
            pages,
            found,
            run,
        }
    }
}

impl Made for ItemsReport {
    const JOB: Option<&str> = Some(ItemsReport::MADE_BY);

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
        let place = html::place(&self.run);
        html::page("items.html", serde_json::json!({ "report": self, "place": place }))
    }

    fn files(&self) -> &BTreeMap<String, Sum> {
        &self.found.files
    }
}
