//! Journals that are written anew: after a write that failed, without pages that were removed from the store, and with
//! those that a day of the store does not take.
//!
//! Each is one rename of a whole file, so a journal is as it was or as it is to be.

use std::collections::HashSet;

use super::file::{JournalFile, frames};
use super::part::Part;
use super::shared::Shared;
use crate::error::{Error, Kind, Result};
use crate::output::{remove_if_there, sync_folder};
use crate::parallel::lock;
use crate::store::{Day, FingerprintedDocument, RemovalNote};

impl Shared {
    /// Makes sure that pages can be added: after a failure the file is made anew, pages that were removed from the store
    /// are forgotten, and after a seal the next file is begun. Only the holder of the turn calls this.
    pub(super) fn make_ready(&self) -> Result<()> {
        if lock(&self.queue).failed.is_some() {
            self.mend()?;
        }
        let notes = RemovalNote::all(&self.folder)?;
        if !notes.is_empty() {
            self.heed(notes)?;
        }
        self.begin_after_seal()
    }

    fn begin_after_seal(&self) -> Result<()> {
        let is_sealed = self.parts().last().is_none_or(|(_, part)| part.sealed.is_some());
        if is_sealed { self.begin_part() } else { Ok(()) }
    }

    pub(super) fn begin_part(&self) -> Result<()> {
        let number = self.parts().last().map_or(1, |(number, _)| number + 1);
        let path = self.path(number);
        *lock(&self.file) = JournalFile::create(&path, &self.header, &[], self.lock.fence())?;
        self.parts_mut().push((number, Part::of(&self.header, Vec::new(), None)));
        Ok(())
    }

    /// Waits for what is being written. If that fails, or something before it has failed, writes the last file again, from
    /// the pages that were on disk before. The failed file is not trusted any more.
    fn mend(&self) -> Result<()> {
        if self.written().failed.is_none() {
            return Ok(());
        }
        let last = self.parts().last().map(|(number, part)| {
            let pages = part.pages[..part.on_disk].to_vec();
            (*number, pages)
        });
        if let Some((number, pages)) = last {
            self.replace(number, pages, None)?;
        }
        lock(&self.queue).failed = None;
        Ok(())
    }

    /// Forgets the pages that were removed from the store. Those of a sealed day must leave first, since a note is
    /// deleted when nobody needs it any more.
    fn heed(&self, notes: Vec<RemovalNote>) -> Result<()> {
        if self.parts().iter().any(|(_, part)| part.sealed.is_some()) {
            let what = "pages were removed from the store while a day is being committed";
            return Err(Error::new(Kind::Temporary, what)
                .at(&self.folder)
                .help("try again when the day is in the store"));
        }
        self.mend()?;
        let last = self.parts().last().map(|it| it.0);
        if let Some(number) = last {
            self.leave_out(number, &notes)?;
        }
        notes.iter().try_for_each(RemovalNote::delete)
    }

    fn leave_out(&self, number: u64, notes: &[RemovalNote]) -> Result<()> {
        let is_removed = |id: &str| notes.iter().any(|note| note.names(id));
        let removed = self.pages_of(number, is_removed).len();
        if removed == 0 {
            return Ok(());
        }
        tracing::info!("forgot {removed} pages, which were removed from the store");
        self.replace(number, self.pages_of(number, |id| !is_removed(id)), None)
    }

    pub(super) fn leave_out_of(&self, day: Day) -> Result<()> {
        let notes = RemovalNote::all(&self.folder)?;
        match self.number_of(day) {
            Some(number) if !notes.is_empty() => self.leave_out(number, &notes),
            _ => Ok(()),
        }
    }

    /// Ends the seal of `day`: puts all its pages back before those that came since.
    pub(super) fn put_back(&self, day: Day) -> Result<()> {
        let Some(number) = self.number_of(day) else { return Ok(()) };
        self.end_seal(number, self.pages_of(number, |_| true))
    }

    /// Ends the seal of `day`: of its pages those stay whose id `stays`, and did not come again since. Returns how many.
    pub(super) fn put_back_some(&self, day: Day, stays: impl Fn(&str) -> bool) -> Result<u64> {
        let Some(number) = self.number_of(day) else { return Ok(0) };
        let mut pages = self.pages_of(number, stays);
        if !pages.is_empty() {
            // What came since may still fail to be written.
            self.mend()?;
            let later = |it: &&(u64, Part)| it.0 > number;
            pages.retain(|page| !self.parts().iter().filter(later).any(|it| it.1.has(&page.id)));
        }
        let staying = pages.len() as u64;
        self.end_seal(number, pages).map(|()| staying)
    }

    /// Takes away the part with this number, but for these pages of it, which are put before those that came since.
    fn end_seal(&self, number: u64, pages: Vec<FingerprintedDocument>) -> Result<()> {
        if !pages.is_empty() {
            return self.put_before_last(pages, number);
        }
        self.remove_file(number)?;
        self.parts_mut().retain(|it| it.0 != number);
        Ok(())
    }

    /// Removes the file of a part, before the part: as long as the file is there, its day is sealed.
    fn remove_file(&self, number: u64) -> Result<()> {
        // An attempt before may have removed it, and failed then.
        remove_if_there(&self.path(number))?;
        sync_folder(&self.folder)
    }

    /// Puts pages of the part with this number before those that came since, and takes that part away. A page that came
    /// since with the id of one of them is left out, as if it had come on the same day.
    fn put_before_last(&self, mut pages: Vec<FingerprintedDocument>, number: u64) -> Result<()> {
        self.mend()?;
        self.begin_after_seal()?;
        let Some(last) = self.parts().last().map(|it| it.0) else { return Ok(()) };
        let ids: HashSet<String> = pages.iter().map(|page| page.id.clone()).collect();
        let repeated = self.pages_of(last, |id| ids.contains(id)).len();
        if repeated > 0 {
            tracing::warn!("{repeated} pages have the ids of earlier ones, which stay");
        }
        pages.extend(self.pages_of(last, |id| !ids.contains(id)));
        self.replace(last, pages, Some(number))
    }

    fn pages_of(
        &self,
        number: u64,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<FingerprintedDocument> {
        let parts = self.parts();
        let part = parts.iter().find(|it| it.0 == number).map(|it| &it.1);
        let pages = part.map_or(&[][..], |part| &part.pages[..part.on_disk]);
        pages.iter().filter(|page| is_wanted(&page.id)).cloned().collect()
    }

    /// Replaces a part by these pages, first on disk; and takes away the part `gone`, whose pages they have.
    fn replace(
        &self,
        number: u64,
        pages: Vec<FingerprintedDocument>,
        gone: Option<u64>,
    ) -> Result<()> {
        let of_number = |it: &&mut (u64, Part)| it.0 == number;
        let sealed = self.parts_mut().iter_mut().find(of_number).and_then(|it| it.1.sealed);
        let frames = frames(&self.header, &pages, sealed);
        let path = self.path(number);
        let file = JournalFile::create(&path, &self.header, &frames, self.lock.fence())?;
        let new = Part::of(&self.header, pages, sealed);
        let mut parts = self.parts_mut();
        if sealed.is_none() {
            *lock(&self.file) = file;
        }
        if let Some((_, part)) = parts.iter_mut().find(of_number) {
            *part = new;
        }
        if let Some(gone) = gone {
            // Nobody looks meanwhile: the pages are in both parts.
            self.remove_file(gone)?;
            parts.retain(|it| it.0 != gone);
        }
        Ok(())
    }
}
