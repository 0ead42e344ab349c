//! `report.json` of a join: what the output was made from, and the proof that it is complete.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parameters::Parameters;
use crate::error::{At, Error, Kind, Result};
use crate::join::Proof;
use crate::matches::Outcome;
use crate::output::{SUCCESS, Staging, Sum};
use crate::store::{Day, Digest, RecordCounts};

/// The report of a join.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// The version of dupsieve that made it.
    pub dupsieve: String,
    /// The day of the batch, if `run` made the output.
    #[serde(default)]
    pub day: Option<Day>,
    /// The recipe of the fingerprints, part by part. Reports of older builds do not have it.
    #[serde(default)]
    pub recipe: Value,
    /// A run with the same parameters finds its output done.
    pub parameters: Parameters,
    /// The version of the store that was read.
    pub store_version: Option<u64>,
    /// How many records the batch was made from, and what became of them.
    pub batch: RecordCounts,
    /// Pages found, kept and dropped.
    pub outcome: Outcome,
    /// The proof that nothing was left out.
    pub probe: Proof,
    /// How it was run: the one part that differs from run to run.
    pub run: Value,
}

impl Report {
    /// The name of the file.
    const NAME: &str = "report.json";

    /// The key in `run` of the seal: the digest of the text of the report, with zeros in place of the seal.
    const SEAL: &str = "xxh3";
    const UNSEALED: Digest = Digest(0);

    /// Writes the report into an output that is being built.
    pub fn write(&mut self, staging: &Staging) -> Result<()> {
        self.run[Report::SEAL] = Report::UNSEALED.to_string().into();
        let text = serde_json::to_string_pretty(self).expect("a report is plain data") + "\n";
        let seal = Digest::of(text.as_bytes()).to_string();
        let sealed = replace_last(&text, &Report::UNSEALED.to_string(), &seal);
        let mut file = staging.create(Report::NAME)?;
        file.write(|out| out.write_all(sealed.as_bytes()))?;
        file.finish().map(drop)
    }

    /// Reads the report of the output at `output`; none if there is no whole output.
    ///
    /// # Errors
    /// [`Kind::BadData`] if the report has been changed since it was written.
    pub fn read(output: &Path) -> Result<Option<Report>> {
        let path = output.join(Report::NAME);
        if !output.join(SUCCESS).exists() || !path.exists() {
            return Ok(None);
        }
        let text = String::from_utf8(fs::read(&path).at(&path)?)
            .map_err(|_| damaged("the report is not UTF-8").at(&path))?;
        let mut report: Report =
            serde_json::from_str(&text).map_err(|cause| damaged(&cause.to_string()).at(&path))?;
        let seal = report.run[Report::SEAL].as_str().unwrap_or("none");
        let unsealed = replace_last(&text, seal, &Report::UNSEALED.to_string());
        let found = Digest::of(unsealed.as_bytes()).to_string();
        if found != seal {
            let error = damaged("the report has been changed since it was written").at(&path);
            return Err(error.expected(seal).found(found));
        }
        if report.is_old() {
            // Old reports have the counts of the records as JSON here.
            report.parameters.insert("records".to_owned(), records(&report.batch));
        }
        Ok(Some(report))
    }

    /// Fails if a file of the output has been removed or changed since it was written.
    pub fn check_files(&self, output: &Path) -> Result<()> {
        for (name, sum) in &self.outcome.files {
            let path = output.join(name);
            let found = match fs::metadata(&path) {
                Ok(file) if file.len() == sum.bytes => Sum::of(&path)?.to_string(),
                Ok(file) => format!("{} bytes", file.len()),
                Err(_) => "none".to_owned(),
            };
            if found != sum.to_string() {
                let error = damaged("the file has been changed since it was written").at(&path);
                return Err(error.expected(sum).found(found));
            }
        }
        Ok(())
    }

    /// Whether an old build wrote it, which did not record the recipe.
    pub fn is_old(&self) -> bool {
        self.recipe.is_null()
    }
}

/// The counts of the records that a batch was made from, as a parameter.
pub fn records(counts: &RecordCounts) -> String {
    let RecordCounts { read, fingerprinted, empty, repeated, quarantined, blank, truncated } =
        counts;
    format!(
        "{read} read, {fingerprinted} fingerprinted, {empty} empty, {repeated} repeated, \
         {quarantined} quarantined, {blank} blank, {truncated} truncated"
    )
}

/// The text with its last `old` replaced. The seal comes last in a report; the same text may occur earlier by
/// chance.
fn replace_last(text: &str, old: &str, new: &str) -> String {
    match text.rfind(old) {
        Some(at) => [&text[..at], new, &text[at + old.len()..]].concat(),
        None => text.to_owned(),
    }
}

/// The error for a damaged output.
fn damaged(what: &str) -> Error {
    Error::new(Kind::BadData, what).help("the output is damaged: make it again with --overwrite")
}
