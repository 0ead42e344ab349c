//! A version of the store, opened to be asked: once for each distance that is asked for.

use std::sync::{Arc, Mutex, OnceLock};

use super::ration::Ration;
use crate::error::Result;
use crate::index::{Asker, Lookup, LookupOptions};
use crate::matches::{Answer, Question};
use crate::parallel::lock;
use crate::store::{Access, Store, Version};
use crate::work::Work;

/// The distances that can be asked for: 0 to 15.
pub(super) const DISTANCES: usize = 16;

pub(super) struct Opened {
    store: Store,
    pub(super) version: Version,
    options: LookupOptions,
    distances: [OnceLock<Asking>; DISTANCES],
}

/// A version opened for one distance, and those who have asked it: they keep what they have read.
struct Asking {
    lookup: Arc<Lookup>,
    askers: Mutex<Vec<Asker>>,
}

impl Opened {
    pub(super) fn newest(store: &Store, options: LookupOptions) -> Result<Opened> {
        let version = store.at(None)?;
        let opened =
            Opened { store: store.clone(), version, options, distances: Default::default() };
        opened.at(options.distance)?;
        Ok(opened)
    }

    /// What is near to each of `questions`, at most `limit` pages of each, and no more than the ration of all, as far as `work`
    /// goes. After them it is needed for as many more as `others` says.
    pub(super) fn ask(
        &self,
        questions: &[Option<Question<'_>>],
        distance: u32,
        limit: usize,
        ration: &mut Ration,
        (work, others): (&mut Work<'_>, usize),
    ) -> Result<Vec<Answer>> {
        let asking = self.at(distance)?;
        let kept = lock(&asking.askers).pop();
        let mut asker = kept.unwrap_or_else(|| Asker::new(&asking.lookup));
        let mut ask = |(after, question): (usize, &Option<Question<'_>>)| {
            let Some(question) = question else { return Ok(Answer::default()) };
            work.begin(others + after);
            let mut answer = asker.ask(question, limit, work)?;
            answer.more += ration.cut(&mut answer.near, |page| &page.id, work);
            Ok(answer)
        };
        let answers = (0..questions.len()).rev().zip(questions).map(&mut ask).collect();
        lock(&asking.askers).push(asker);
        answers
    }

    fn at(&self, distance: u32) -> Result<&Asking> {
        let place = &self.distances[distance as usize % DISTANCES];
        if let Some(asking) = place.get() {
            return Ok(asking);
        }
        // What clients ask for must not fill the memory with the store once more for each distance.
        let is_usual = distance == self.options.distance;
        let access = if is_usual { self.options.access } else { Access::OnDisk };
        let options = LookupOptions { distance, access, ..self.options };
        let lookup = Lookup::open(&self.store, self.version.clone(), options)?;
        Ok(place.get_or_init(|| Asking { lookup, askers: Mutex::default() }))
    }
}
