//! The store and its journal, asked and added to by any number of threads.

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use serde::Deserialize;

use super::opened::{DISTANCES, Opened};
use super::ration::{ANSWER_BYTES, Ration};
use super::verdict::{Found, Verdict};
use crate::budget::Budget;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Recipe, Width};
use crate::index::LookupOptions;
use crate::journal::{Done, Insertion, Journal, JournalOptions, Wanted};
use crate::matches::{Answer, Question};
use crate::parallel::lock;
use crate::store::{FingerprintedDocument, SegmentOptions, Store, Version};
use crate::work::Work;

/// How a store is served.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OnlineOptions {
    /// The distance of the keep rule, the check, and where the bytes are.
    pub lookup: LookupOptions,
    /// The width of the fingerprints.
    pub width: Width,
    /// The columns of a segment, and the stamp of the recipe.
    pub segment: SegmentOptions,
    /// The most near pages that an answer names for one page.
    pub limit: usize,
    /// About the most bytes of near pages that it names in all; the others are counted.
    pub most_answer_bytes: usize,
    /// The bytes on disk beyond which the journal takes no more pages.
    pub most_journal_bytes: u64,
    /// The memory of a commit.
    pub budget: Budget,
    /// The threads of a commit.
    pub workers: usize,
    /// Whether a commit adds the pages, too, that another page holds.
    pub adds_dropped: bool,
    /// Whether a commit hides the pages of the store that pages of its day hold.
    pub hides_replaced: bool,
}

impl OnlineOptions {
    /// The usual options for fingerprints of `recipe`, asked for near pages by `lookup`.
    #[must_use]
    pub fn of(recipe: &Recipe, lookup: LookupOptions) -> OnlineOptions {
        OnlineOptions {
            lookup,
            width: recipe.width(),
            segment: SegmentOptions::of(recipe),
            limit: 10,
            most_answer_bytes: 1 << 20,
            most_journal_bytes: 1 << 30,
            budget: Budget::default(),
            workers: 1,
            adds_dropped: false,
            hides_replaced: true,
        }
    }
}

/// Which pages are remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// Those whose verdict is keep.
    #[default]
    Kept,
    /// All but those of a repeated id.
    All,
}

/// Answers, and the version of the store that gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The number of the version.
    pub store_version: u64,
    /// One for each page, in order.
    pub answers: Vec<Found>,
}

fn expect_room(work: &mut Work<'_>, answers: usize) -> Result<()> {
    if work.hold(ANSWER_BYTES * answers) {
        return Ok(());
    }
    Err(Error::new(Kind::Temporary, "there is no memory for what is found").help("ask again"))
}

/// A store that answers and remembers.
pub struct Online {
    pub(super) store: Store,
    pub(super) options: OnlineOptions,
    opened: ArcSwap<Opened>,
    pub(super) journal: Journal,
    /// Held by the one commit or refresh at a time.
    pub(super) changing: Mutex<()>,
}

impl Online {
    /// Opens the newest version of `store` and its journal. What a commit has left undone is done.
    pub fn open(store: Store, options: OnlineOptions) -> Result<Online> {
        let journal = Journal::open(
            store.path(),
            JournalOptions {
                width: options.width,
                segment: options.segment.clone(),
                most_bytes: options.most_journal_bytes,
            },
        )?;
        let opened = ArcSwap::from_pointee(Opened::newest(&store, options.lookup)?);
        let online = Online { store, options, opened, journal, changing: Mutex::default() };
        online.check_recipe(&online.opened.load().version)?;
        Ok(online)
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// How it is served.
    pub fn options(&self) -> &OnlineOptions {
        &self.options
    }

    /// The version that answers.
    pub fn version(&self) -> Version {
        self.opened.load().version.clone()
    }

    /// The pages that are remembered and in no day of the store.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// What is near to each of `questions`, as far as `work` goes; nothing to one without a fingerprint.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a distance over 15; damage of the store is [`Kind::BadData`]; [`Kind::Temporary`] if there is no room for
    /// what is found.
    pub fn query(
        &self,
        questions: &[Option<Question<'_>>],
        distance: u32,
        work: &mut Work<'_>,
    ) -> Result<Told> {
        if distance as usize >= DISTANCES {
            return Err(Error::new(Kind::Usage, "the distance is too large to be asked for")
                .expected(format_args!("at most {}", DISTANCES - 1))
                .found(distance));
        }
        let limit = self.options.limit;
        let mut ration = self.ration();
        let count = questions.len();
        expect_room(work, count)?;
        let mut remembered = |(after, question): (usize, &Option<Question<'_>>)| {
            let Some(question) = question else { return Answer::default() };
            work.begin(count + after);
            let wanted = self.wanted(question, distance);
            let mut found = self.journal.near(&wanted, limit, work);
            found.more += ration.cut(&mut found.near, |page| &page.id, work);
            found
        };
        let remembered: Vec<_> = (0..count).rev().zip(questions).map(&mut remembered).collect();
        let opened = self.opened.load();
        let held = opened.ask(questions, distance, limit, &mut self.ration(), (work, 0))?;
        expect_room(work, 0)?;
        let found =
            questions.iter().zip(remembered).zip(held).map(|((question, remembered), held)| {
                question.map_or(Found::EMPTY, |_| Found::of(remembered, held, limit))
            });
        Ok(Told { store_version: opened.version.number(), answers: found.collect() })
    }

    /// Judges pages one after the other, as the keep rule does, and remembers those that `which` says. Each is compared
    /// with the pages remembered before it, those of this call among them. `done` is called once what was remembered is
    /// on disk; the answers are to be told only then. A page is not kept if `work` is over before its verdict is known.
    pub fn remember(
        &self,
        pages: &[FingerprintedDocument],
        which: Remember,
        done: Done,
        work: &mut Work<'_>,
    ) -> Result<Told> {
        let questions: Vec<Option<Question<'_>>> = pages.iter().map(question).collect();
        let (distance, limit) = (self.options.lookup.distance, self.options.limit);
        expect_room(work, pages.len())?;
        loop {
            let opened = self.opened.load_full();
            let mut ration = self.ration();
            let others = (&mut *work, pages.len());
            let held = opened.ask(&questions, distance, limit, &mut self.ration(), others)?;
            expect_room(work, 0)?;
            let mut insertion = self.journal.turn()?;
            // Pages may have gone from the journal to a version that was not asked.
            if !Arc::ptr_eq(&opened, &self.opened.load()) {
                continue;
            }
            let asked = (0..pages.len()).rev().zip(pages).zip(&questions).zip(held);
            let answers = asked.map(|(((after, page), question), held)| {
                work.begin(after);
                let mut found =
                    self.judge(&mut insertion, page, question.as_ref(), held, which, work);
                found.more += ration.cut(&mut found.near, |page| &page.id, work);
                found
            });
            let told = Told { store_version: opened.version.number(), answers: answers.collect() };
            return insertion.finish(done).map(|()| told);
        }
    }

    fn judge(
        &self,
        insertion: &mut Insertion<'_>,
        page: &FingerprintedDocument,
        question: Option<&Question<'_>>,
        held: Answer,
        which: Remember,
        work: &mut Work<'_>,
    ) -> Found {
        let limit = self.options.limit;
        let mut found = question.map_or(Found::EMPTY, |question| {
            let wanted = self.wanted(question, self.options.lookup.distance);
            Found::of(insertion.near(&wanted, limit, work), held, limit)
        });
        if insertion.has(&page.id) {
            found.verdict = Verdict::Repeated;
        } else if which == Remember::All || found.verdict == Verdict::Keep {
            insertion.add(page.clone());
        }
        found
    }

    fn ration(&self) -> Ration {
        Ration::new(self.options.most_answer_bytes)
    }

    fn wanted<'a>(&self, question: &Question<'a>, distance: u32) -> Wanted<'a> {
        Wanted { question: *question, distance, check: self.options.lookup.check }
    }

    /// Takes up the newest version, if another process has made one or has removed pages. Returns whether it has.
    pub fn refresh(&self) -> Result<bool> {
        let _changing = lock(&self.changing);
        self.journal.leave_out_removed()?;
        self.take_up()
    }

    /// Takes up the newest version, if there is another one or pages were removed; whoever calls holds `changing`.
    pub(super) fn take_up(&self) -> Result<bool> {
        // Removed pages are hidden without a new version.
        let identity = |version: &Version| (version.number(), version.removals());
        if identity(&self.store.at(None)?) == identity(&self.opened.load().version) {
            return Ok(false);
        }
        let opened = Opened::newest(&self.store, self.options.lookup)?;
        self.check_recipe(&opened.version)?;
        self.opened.store(Arc::new(opened));
        Ok(true)
    }

    fn check_recipe(&self, version: &Version) -> Result<()> {
        let stamp = &self.options.segment.stamp;
        match version.stamp() {
            Some(held) if held != stamp => {
                Err(Error::new(Kind::Exists, "the store has pages of another recipe now")
                    .at(self.store.path())
                    .expected(stamp)
                    .found(held))
            }
            _ => Ok(()),
        }
    }
}

fn question(page: &FingerprintedDocument) -> Option<Question<'_>> {
    let fingerprint = page.fingerprint?;
    Some(Question { fingerprint, page: Some(&page.details) })
}
