//! An output made again: batch and store are joined once more in a folder of its own, and every file and every figure of the
//! report must come out the same.

use std::env;
use std::fmt::Display;

use dupsieve::error::{At, Named};
use dupsieve::flow::{Processes, Role};
use dupsieve::join::{self, Join, Site};
use dupsieve::matches::{KeepOrder, Outcome};
use dupsieve::output::{Lock, Staging, Sum};
use dupsieve::report::{Made, RECRAWLED, Report, format};
use dupsieve::store::{Segment, Version};
use dupsieve::{Error, Kind, Result};
use serde_json::Value;

use super::join_output::JoinOutput;

impl JoinOutput<'_> {
    /// Joins batch and store again, if both are there, and compares every file and figure. Gives how many pages were judged again: none
    /// where an input is gone, which a warning says.
    pub(super) fn again(&self, batch: Option<&Segment>, store: Option<&Version>) -> Result<u64> {
        let Some(batch) = self.is_there(batch, store) else { return Ok(0) };
        self.expect_rows_of(store)?;
        let join = self.join(batch, store)?;
        self.beside(|processes, site| {
            let joined = join.run_at(processes, site, |joined, _| Ok(joined))?.leader();
            let Some(joined) = joined else { return Ok(()) };
            self.expect_same("lost", &self.report.lost, &joined.outcome.lost)?;
            self.expect_same("passages", &self.report.passages, &joined.passages)?;
            // Into how many chunks a join is cut depends on the memory.
            let told = self.report.probe.map(|probe| probe.pairs);
            self.expect_same("pairs", &told, &told.map(|_| joined.proof.pairs))?;
            self.expect_outcome(&joined.outcome)
        })?;
        Ok(batch.rows())
    }

    /// Fails unless the report says how many fingerprints the store has that was read.
    fn expect_rows_of(&self, store: Option<&Version>) -> Result<()> {
        let rows = store.map_or(0, Version::rows);
        match self.report.probe {
            Some(probe) if probe.store_fingerprints != rows => {
                Err(self.differs("store", "store_fingerprints", rows, probe.store_fingerprints))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn join(&self, batch: &Segment, store: Option<&Version>) -> Result<Join> {
        let mut join = Join::new(batch.clone(), store.cloned())?;
        join.distance = self.parameter("distance")?;
        join.check = self.find("check")?;
        join.keep = KeepOrder::recorded(&self.parameter::<String>("keep")?)?;
        join.recrawled = self.find(RECRAWLED)?.unwrap_or_default();
        join.day = self.report.day;
        join.detail = self.parameter("matches")?;
        join.passages = self.find("passages")?;
        join.max_matches = u64::MAX;
        join.format = format(&self.report.parameters);
        join.budget = self.global.budget();
        Ok(join)
    }

    pub(super) fn beside<T>(
        &self,
        make: impl FnOnce(&mut Processes, Site<'_>) -> Result<T>,
    ) -> Result<T> {
        let folder = tempfile::tempdir().at(env::temp_dir())?;
        let output = folder.path().join("again");
        let staging = Staging::beside(&output, Lock::beside(&output)?)?;
        let mut processes = Processes::alone(self.global.workers(1));
        let site = Site {
            output: &output,
            build: join::build()?,
            itself_bytes: self.global.budget().itself(),
            staging: Role::Leader(staging),
            watch: &join::unwatched,
        };
        make(&mut processes, site)
    }

    fn expect_outcome(&self, again: &Outcome) -> Result<()> {
        for (name, sum) in &again.files {
            let path = self.output.join(name);
            if self.report.files().get(name) != Some(sum) {
                let found = self.report.files().get(name);
                let found = found.map_or("nothing".to_owned(), Sum::to_string);
                return Err(self.differs_from_again(name, sum, &found).at(path));
            }
        }
        let [again, told] = [again, &self.report.outcome].map(serde_json::to_value);
        let (Ok(Value::Object(again)), Ok(Value::Object(told))) = (again, told) else {
            return Err(Error::new(Kind::Internal, "the counts of a join are no table"));
        };
        let names = again.keys().chain(told.keys());
        let differs = names.into_iter().find(|name| again.get(*name) != told.get(*name));
        differs.map_or(Ok(()), |name| {
            let of = |table: &serde_json::Map<String, Value>| {
                table.get(name).map_or("nothing".to_owned(), Value::to_string)
            };
            Err(self.differs_from_again(name, of(&again), &of(&told)))
        })
    }

    fn expect_same(
        &self,
        name: &str,
        told: &impl serde::Serialize,
        again: &impl serde::Serialize,
    ) -> Result<()> {
        let value = |result: serde_json::Result<Value>| result.unwrap_or_default();
        let [told, again] = [serde_json::to_value(told), serde_json::to_value(again)].map(value);
        if told == again {
            Ok(())
        } else {
            Err(self.differs_from_again(name, again, &told.to_string()))
        }
    }

    fn differs_from_again(&self, name: &str, expected: impl Display, found: &str) -> Error {
        Error::new(Kind::BadData, format!("made again, the output has another `{name}`"))
            .at(self.output.join(Report::NAME))
            .expected(expected)
            .found(found)
            .help(format!("make {} again with --overwrite", self.output.named()))
    }
}
