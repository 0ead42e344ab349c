//! Commits: what is remembered becomes a day of the store, judged as `run` judges a day.
//!
//! A page is judged when the page comes, and a longer page that holds it may come later. So a commit judges the remembered pages once
//! more, as one batch, where the check tells which page holds another: the commit joins their segment with the store. The pages that the join keeps
//! enter the day, and the store hides the pages that these hold:
//!
//! ```text
//! store        a, of an earlier day
//! remembered   b, then c, which holds a and b
//! commit       c enters the day; b is a duplicate of c; a is hidden from the new version on
//! ```
//!
//! Other checks, and fingerprints alone, do not tell which of two pages is the longer one. Then all remembered pages enter.

use std::path::Path;

use super::gone::Gone;
use super::service::Online;
use crate::error::{Error, Kind, Result};
use crate::flow::Processes;
use crate::join::Join;
use crate::matches::{Confirm, replacements_in};
use crate::parallel::lock;
use crate::store::{Added, Day, Entering, Entry, Segment, expect_come};

const PUT_BACK: &str = "the pages are in the journal again: commit them to another day, or go back to the store before that day first";

const NOT_IN_IT: &str =
    "the journal has pages that are not in that day: commit them to another day";

/// What became of a commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// The number of the version that has the day, or of the newest one.
    pub store_version: u64,
    /// The fingerprints of the day.
    pub rows: u64,
    /// The pages of the day without a fingerprint.
    pub empties: u64,
    /// The pages that wait in the journal for a later day: the store has removed their ids up to this day or a later
    /// one, and they were remembered again after that.
    pub waiting: u64,
    /// Whether the store had the day before.
    pub already: bool,
    /// Whether the store has the day. It does not if nothing was remembered for it.
    pub is_held: bool,
    /// The pages that the commit left out or hid, if this call put the day into the store.
    pub gone: Gone,
}

impl Online {
    /// Makes a day of the store of what is remembered, as `run` does of these pages by their signatures; no day if that is nothing.
    /// Without a check that tells which page holds another, all of them enter the day.
    /// Questions are answered and pages remembered meanwhile; those pages belong to the next day. If it ends before
    /// the day is in the store, the next call for the day, or [`Online::finish_commits`], goes on.
    ///
    /// # Errors
    /// [`Kind::Exists`] if the store has other pages of this day, though another process may have added them just now, and
    /// [`Kind::Usage`] if days after it have expired, or if it lies ahead of `today` as by [`expect_come`]; without `today` it
    /// may. The pages are in the journal then, and in no day.
    /// [`Kind::Temporary`] if another process is changing the store.
    pub fn commit(&self, day: Day, today: Option<Day>) -> Result<Committed> {
        let _changing = lock(&self.changing);
        let is_sealed = self.journal.sealed().contains(&day);
        let mut finished = self.finish()?;
        self.take_up()?;
        let version = self.version();
        let is_held = version.entry(day).is_some();
        if is_held {
            self.journal.leave_out_removed()?;
        } else {
            version.expect_unexpired(day)?;
            today.map_or(Ok(()), |today| expect_come(Some(&version), day, today))?;
            self.journal.leave_out_removed()?;
            let waiting = self.journal.count(self.store.left_out_of(day)?);
            if self.journal.pages() == waiting {
                let store_version = version.number();
                return Ok(Committed { store_version, waiting, ..Committed::default() });
            }
            self.journal.seal(day)?;
            finished.extend(self.finish()?);
        }
        let mut committed = self.committed(day, is_held && !is_sealed)?;
        if committed.already && self.journal.pages() > committed.waiting {
            return Err(Error::new(Kind::Exists, format!("the store already has {day}"))
                .at(self.store.path())
                .help(NOT_IN_IT));
        }
        let mut finished = finished.into_iter().filter(|(finished, _)| *finished == day);
        committed.gone = finished.next().map(|(_, gone)| gone).unwrap_or_default();
        Ok(committed)
    }

    fn committed(&self, day: Day, already: bool) -> Result<Committed> {
        let waiting = self.journal.count(self.store.left_out_of(day)?);
        let version = self.version();
        let (rows, empties) = version.entry(day).map_or((0, 0), |it| (it.rows, it.empties));
        let store_version = version.number();
        let gone = Gone::default();
        Ok(Committed { store_version, rows, empties, waiting, already, is_held: true, gone })
    }

    /// Finishes commits that were begun: after a crash, or while another process changed the store. Returns how many
    /// there were.
    pub fn finish_commits(&self) -> Result<usize> {
        let _changing = lock(&self.changing);
        self.finish().map(|days| days.len())
    }

    fn finish(&self) -> Result<Vec<(Day, Gone)>> {
        let sealed = self.journal.sealed().into_iter();
        sealed.map(|day| Ok((day, self.finish_day(day)?))).collect()
    }

    /// Adds the pages that are sealed as `day` to the store. If it does not take them, as when another process has added
    /// that day, they are put back into the journal, for another day. So are those that it leaves out of this day
    /// because they were removed before they were remembered.
    fn finish_day(&self, day: Day) -> Result<Gone> {
        let scratch = self.journal.scratch()?;
        let mut gone = Gone::default();
        let make = |path: &Path, held: Option<&Entry>| {
            // Pages that were removed must not come back. Where the store has the day, it is compared.
            if held.is_none() {
                self.journal.leave_out_removed_of(day)?;
            }
            self.journal.write_segment(day, path, self.options.budget.rows())
        };
        let choose = |segment: &Segment| self.choose(segment, scratch.path(), &mut gone);
        match self.store.add_made(day, make, choose) {
            Ok(Added::New(_)) => {}
            Ok(Added::Already(_)) => tracing::info!("{day} was in the store already"),
            Err(error) if matches!(error.kind(), Kind::Exists | Kind::Usage) => {
                self.journal.unseal(day)?;
                return Err(error.help(PUT_BACK).job("store rollback").setting("before-day"));
            }
            Err(error) => return Err(error),
        }
        self.take_up()?;
        let waiting = self.journal.forget(day, self.store.left_out_of(day)?)?;
        if waiting > 0 {
            tracing::warn!(
                "{waiting} pages of {day} wait for a later day: their ids were removed up to that day or a later one"
            );
        }
        let count = gone.count();
        if count > 0 {
            tracing::info!("{day}: {count} pages go, since pages that stay hold them");
        }
        Ok(gone)
    }

    /// Chooses by a join which pages of a segment enter the store and which pages of the store they replace. `gone` tells of both kinds of pages
    /// that go.
    fn choose(&self, segment: &Segment, scratch: &Path, gone: &mut Gone) -> Result<Entering> {
        let options = &self.options;
        if !options.lookup.check.as_ref().is_some_and(Confirm::has_direction) {
            return Ok(Entering::default());
        }
        let mut join = Join::new(segment.clone(), Some(self.store.at(None)?))?;
        join.distance = options.lookup.distance;
        join.check = options.lookup.check;
        join.budget = options.budget;
        let found = scratch.join("found");
        join.run(&mut Processes::alone(options.workers), &found)?;
        *gone = Gone::of(&found, options)?;
        let listed = replacements_in(&found)?;
        let replaces = if options.hides_replaced { listed } else { listed.replacing_none() };
        let only = (!options.adds_dropped).then(|| found.join("keep.txt"));
        Ok(Entering { only, replaces: Some(replaces) })
    }
}
