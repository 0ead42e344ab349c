//! An output that says of itself how it was made: any report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::html;
use super::parameters::Parameters;
use super::seal::{self, damaged};
use crate::error::{At, Result};
use crate::output::{SUCCESS, Staging, Sum};
use crate::results::ResultReader;

/// What any report says: the job that made it, if that was no join.
#[derive(Deserialize)]
struct OfJob {
    job: Option<String>,
}

pub trait Made: Serialize + DeserializeOwned {
    const NAME: &str = "report.json";
    /// The job that made the output, as its report names the job.
    const JOB: Option<&str>;

    /// Reads the report of the output at `output`; none if there is no whole output of this sort.
    fn read(output: &Path) -> Result<Option<Self>> {
        let path = output.join(Self::NAME);
        if !output.join(SUCCESS).exists() || !path.exists() {
            return Ok(None);
        }
        let text = String::from_utf8(fs::read(&path).at(&path)?)
            .map_err(|_| damaged("the report is not UTF-8").at(&path))?;
        let bad = |cause: serde_json::Error| damaged(&cause.to_string()).at(&path);
        let of: OfJob = serde_json::from_str(&text).map_err(bad)?;
        if of.job.as_deref() != Self::JOB {
            return Ok(None);
        }
        let report: Self = serde_json::from_str(&text).map_err(bad)?;
        seal::check(&text, report.run(), &path)?;
        Ok(Some(report))
    }

    /// Writes the report into an output that is being built, and `report.html`, which shows it to people. The output is at
    /// `place` in the end.
    fn write(&mut self, staging: &Staging, place: &Path) -> Result<()> {
        seal::prepare(self.run_mut());
        html::prepare(self.run_mut(), place);
        html::write(&self.drawn(), self.run_mut(), staging)?;
        let mut file = staging.create(Self::NAME)?;
        file.write(|out| out.write_all(seal::sealed(self).as_bytes()))?;
        file.finish().map(drop)
    }

    fn parameters(&self) -> &Parameters;

    fn files(&self) -> &BTreeMap<String, Sum>;

    fn run(&self) -> &Value;

    fn run_mut(&mut self) -> &mut Value;

    fn drawn(&self) -> String;

    /// Fails if `report.html` has been changed since it was written.
    fn check_page(&self, output: &Path) -> Result<()> {
        html::check(output, self.run())
    }

    /// Fails if `report.html` is not what the report says, drawn again.
    fn check_drawing(&self, output: &Path) -> Result<()> {
        html::check_drawing(output, self.run(), || self.drawn())
    }

    /// Fails if a file of the output has been removed or changed since it was written.
    fn check_files(&self, output: &Path) -> Result<()> {
        for (name, sum) in self.files() {
            let path = output.join(name);
            // In another format, a table of the same name could be read in the place of this one.
            ResultReader::path_in(output, name.split('.').next().unwrap_or_default())?;
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
}
