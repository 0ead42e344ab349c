//! An output that says of itself how it was made: any report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::html;
use super::parameters::Parameters;
use super::seal::damaged;
use crate::error::Result;
use crate::output::Sum;

/// The report of an output folder.
pub trait Made: Sized {
    /// Reads the report of the output at `output`; none if there is no whole output of this sort.
    ///
    /// # Errors
    /// [`Kind::BadData`](crate::Kind::BadData) if the report has been changed since it was written.
    fn read(output: &Path) -> Result<Option<Self>>;

    /// What decides the result.
    fn parameters(&self) -> &Parameters;

    /// The files of the output.
    fn files(&self) -> &BTreeMap<String, Sum>;

    /// How it was made.
    fn run(&self) -> &Value;

    /// `report.html`, the page for people, drawn from the report.
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
