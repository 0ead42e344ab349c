//! `report.json` of a search in pages, for items or for passages, and `report.html`, drawn from it.

use std::collections::BTreeMap;

use minijinja::context;
use minijinja::value::Serde;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::html;
use super::made::Made;
use super::parameters::Parameters;
use crate::items::ItemsFound;
use crate::output::Sum;
use crate::passages::PassagesFound;
use crate::store::RecordCounts;

pub trait Searched: Serialize + DeserializeOwned {
    const JOB: &str;
    const PAGE: &str;

    fn files(&self) -> &BTreeMap<String, Sum>;
}

impl Searched for ItemsFound {
    const JOB: &str = "contains";
    const PAGE: &str = "items.html";

    fn files(&self) -> &BTreeMap<String, Sum> {
        &self.files
    }
}

impl Searched for PassagesFound {
    const JOB: &str = "passages";
    const PAGE: &str = "passages.html";

    fn files(&self) -> &BTreeMap<String, Sum> {
        &self.files
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct SearchReport<F> {
    job: String,
    pub dupsieve: String,
    pub parameters: Parameters,
    pub pages: RecordCounts,
    pub found: F,
    pub run: Value,
}

impl<F: Searched> SearchReport<F> {
    pub fn of(
        parameters: Parameters,
        pages: RecordCounts,
        found: F,
        run: Value,
    ) -> SearchReport<F> {
        SearchReport {
            job: F::JOB.to_owned(),
            dupsieve: env!("CARGO_PKG_VERSION").to_owned(),
            parameters,
            pages,
            found,
            run,
        }
    }
}

impl<F: Searched> Made for SearchReport<F> {
    const JOB: Option<&str> = Some(F::JOB);

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
        html::page(F::PAGE, context! { report => Serde(self), place })
    }

    fn files(&self) -> &BTreeMap<String, Sum> {
        self.found.files()
    }
}
