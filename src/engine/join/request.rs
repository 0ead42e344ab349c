//! A join that is asked for, and whether it can be done.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::preset::Preset;
use crate::budget::Budget;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Stamp;
use crate::matches::{Confirm, Detail, KeepOrder, MAX_MATCHES, Recrawled};
use crate::passages::LEAST_WORDS;
use crate::results::ResultFormat;
use crate::store::{Day, Digest, Segment, Version};
use crate::tables::plan::Memory;
use crate::tables::{Design, Plan, Problem, plan};

/// The batch and the store of a join, by their digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinInputs {
    /// The digest of the batch.
    pub batch: Digest,
    /// The store's version, and the digest of what it holds.
    pub store: Option<(u64, Digest)>,
    /// The digest of what was removed from it, if something was.
    pub removals: Option<Digest>,
}

/// A join that is asked for: what is joined, and how. [`Join::new`] gives the usual settings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Join {
    /// The batch.
    pub batch: Segment,
    /// The version of the store that it is joined with. Without one, the batch is joined with itself alone.
    pub store: Option<Version>,
    /// The largest number of bits in which near-duplicates differ.
    pub distance: u32,
    /// A check that confirms candidates, if one is wanted.
    pub check: Option<Confirm>,
    /// How the batch is arranged for the store.
    pub design: Design,
    /// Which of several near pages is kept.
    pub keep: KeepOrder,
    /// Which pages of one key are kept. Anything but the rule needs keys, and a check of containment.
    pub recrawled: Recrawled,
    /// The day of the batch. Its pages without a time count as crawled then; without a day, after all that the store has.
    pub day: Option<Day>,
    /// Which rows are written to matches.tsv.
    pub detail: Detail,
    /// How many rows may be written if all are asked for.
    pub max_matches: u64,
    /// The words of the passages that are listed in passages.tsv: at least [`LEAST_WORDS`]. None if no passages are asked for.
    pub passages: Option<usize>,
    /// How matches and verdicts are written.
    pub format: ResultFormat,
    /// The memory for tables and sorts.
    pub budget: Budget,
}

impl Join {
    /// A join of `batch` with `store` and with itself, with the usual settings: distance and check are
    /// those of the preset that the batch was made with, else those of [`Preset::Paper`].
    ///
    /// # Errors
    /// [`Kind::Usage`] if batch and store are of different recipes or widths.
    pub fn new(batch: Segment, store: Option<Version>) -> Result<Join> {
        check_store(store.as_ref(), &batch)?;
        let preset = Preset::of(batch.stamp()).unwrap_or(Preset::Paper);
        Ok(Join {
            keep: KeepOrder::for_segment(None, &batch)?,
            batch,
            store,
            distance: preset.distance(),
            check: preset.check(),
            design: Design::Auto,
            recrawled: Recrawled::default(),
            day: None,
            detail: Detail::default(),
            max_matches: MAX_MATCHES,
            passages: None,
            format: ResultFormat::default(),
            budget: Budget::default(),
        })
    }

    /// How many fingerprints the store holds.
    pub fn store_rows(&self) -> u64 {
        self.store.as_ref().map_or(0, Version::rows)
    }

    /// Checks that the join can be done: that the design covers the distance, and that the batch has the
    /// signatures of the check. What the design costs is known later, when fingerprints were counted.
    ///
    /// # Errors
    /// [`Kind::Usage`] if it cannot.
    pub fn check(&self) -> Result<()> {
        check_store(self.store.as_ref(), &self.batch)?;
        let stamp = self.batch.stamp();
        check_signatures(self.check, stamp)
            .and_then(|()| check_passages(self.passages, stamp))
            .and_then(|()| check_recrawled(self.recrawled, self.check, stamp))
            .map_err(|error| error.at(self.batch.path()))?;
        self.plan(&self.problem(1, 1), self.budget.itself()).map(drop)
    }

    /// About how long the join will take on so many threads, by the cost model. It counts every page of the
    /// batch as a fingerprint of its own.
    ///
    /// # Errors
    /// As [`Join::check`].
    pub fn expected_time(&self, threads: u64) -> Result<Duration> {
        let problem = self.problem(self.batch.rows(), threads);
        let Plan { chosen, itself, .. } = self.plan(&problem, self.budget.itself())?;
        let store = self.store.as_ref().map_or(0.0, |_| chosen.seconds);
        Ok(Duration::from_secs_f64((store + itself.seconds) / threads as f64))
    }

    /// The join of a batch of `groups` distinct fingerprints with the store, by so many workers, as if both were
    /// uniform.
    pub(super) fn problem(&self, groups: u64, workers: u64) -> Problem {
        Problem::uniform(groups, self.store_rows(), self.distance, self.batch.width(), workers)
    }

    /// Chooses how the join is done: as asked for, or by the cheapest design that covers the distance.
    /// The batch and itself take `itself_bytes`.
    pub(super) fn plan(&self, problem: &Problem, itself_bytes: u64) -> Result<Plan> {
        let memory = Memory { store: self.budget.tables(), itself: itself_bytes };
        let plan = plan::choose(self.design, problem, memory)?;
        tracing::debug!("{}", plan.why);
        Ok(plan)
    }

    /// What is joined, by its digests: all processes of a join must see the same.
    pub fn inputs(&self) -> JoinInputs {
        let store = self.store.as_ref();
        JoinInputs {
            batch: self.batch.digest(),
            store: store.map(|store| (store.number(), store.digest())),
            removals: store.and_then(Version::removals),
        }
    }

    /// Checks that these are the inputs that process 0 sees.
    pub fn check_inputs(&self, expected: &JoinInputs) -> Result<()> {
        let found = self.inputs();
        if found == *expected {
            return Ok(());
        }
        Err(Error::new(Kind::Missing, "this process sees another batch or store than process 0")
            .at(self.batch.path())
            .expected(format_args!("{expected:?}"))
            .found(format_args!("{found:?}"))
            .help("put batch and store where all hosts see the same"))
    }

    /// Whether pages are met in keep order: whole pages are compared.
    pub(super) fn orders(&self) -> bool {
        self.check.is_some_and(|confirm| confirm.check.is_whole())
    }

    /// Whether something besides the distance decides what matches.
    pub(super) fn confirms(&self) -> bool {
        self.check.is_some() || self.batch.classes().is_some()
    }
}

/// Checks that `store` is empty or of the recipe and width of `batch`.
fn check_store(store: Option<&Version>, batch: &Segment) -> Result<()> {
    check_recipe(store, batch.stamp()).map_err(|error| error.at(batch.path()))?;
    let Some(version) = store else { return Ok(()) };
    let Some(held) = version.width().filter(|held| *held != batch.width()) else { return Ok(()) };
    // A manifest that contradicts its segments is damaged, and that is said first.
    version.segments()?;
    Err(Error::new(Kind::Usage, "batch and store are of different widths")
        .at(batch.path())
        .expected(format_args!("{} bits", held.bits()))
        .found(format_args!("{} bits", batch.width().bits())))
}

/// Checks that `store` is empty or of the recipe with this stamp.
pub fn check_recipe(store: Option<&Version>, stamp: &str) -> Result<()> {
    store.and_then(Version::stamp).map_or(Ok(()), |held| check_stamps(held, stamp))
}

/// Checks that a store with the stamp `held` is of the recipe with the stamp `asked`.
pub fn check_stamps(held: &str, asked: &str) -> Result<()> {
    if held == asked {
        return Ok(());
    }
    if let [Some(held), Some(asked)] = [held, asked].map(Preset::of)
        && held != asked
    {
        let what =
            format!("the store was made with preset {held}, and this batch with preset {asked}");
        let error = Error::new(Kind::Usage, what)
            .help(format_args!("make the batch with preset {held}, or use another store"));
        return Err(error.setting(format!("preset {held}")));
    }
    let has_words = |stamp| Stamp::parse(stamp).is_ok_and(|stamp| stamp.has_passages());
    let key = |stamp| Stamp::parse(stamp).ok().and_then(|stamp| stamp.key());
    let (what, help) = match [held, asked].map(has_words) {
        [false, true] => (
            "the store has no words of its pages, by which passages are found",
            "leave [passages] out; or run the days from the first on with another `store` and another `output`",
        ),
        [true, false] => (
            "the store keeps the words of its pages, and this batch does not",
            "add the section [passages] to the configuration, or use another store",
        ),
        _ if key(held) != key(asked) => (
            "the store has other keys of its pages than this batch, or none",
            "give each day of a store the same `key` and `drop_parameters`, or take another store",
        ),
        _ => (
            "batch and store are of different recipes",
            "use the recipe of the store, or another store",
        ),
    };
    let [held, asked] = Stamp::differences(held, asked);
    Err(Error::new(Kind::Usage, what)
        .called("other-recipe")
        .expected(format_args!("the store's {held}"))
        .found(asked)
        .help(help))
}

/// Checks that passages of so many words can be found in a batch with this stamp.
pub fn check_passages(words: Option<usize>, stamp: &str) -> Result<()> {
    let Some(words) = words else { return Ok(()) };
    if words < LEAST_WORDS {
        return Err(Error::new(Kind::Usage, "passages so short cannot be found over days")
            .expected(format_args!("at least {LEAST_WORDS} words"))
            .found(words));
    }
    if Stamp::parse(stamp)?.has_passages() {
        return Ok(());
    }
    Err(Error::new(Kind::Usage, "the batch has no words, by which passages are found")
        .help("make it with its words")
        .job("fingerprint")
        .setting("keep-passages"))
}

/// Which pages of one key are kept, for a batch with this stamp. Who keeps the newest of near pages keeps the newest of a key, if there are keys.
pub fn recrawled(
    asked: Option<Recrawled>,
    keep: Option<KeepOrder>,
    check: Option<Confirm>,
    stamp: &str,
) -> Recrawled {
    let newest =
        keep == Some(KeepOrder::Newest) && check_recrawled(Recrawled::Newest, check, stamp).is_ok();
    asked.unwrap_or(if newest { Recrawled::Newest } else { Recrawled::Rule })
}

/// Checks that pages of one key can be told in a batch with this stamp, and that this check says how much of a page another one contains, if that is asked for.
pub fn check_recrawled(asked: Recrawled, check: Option<Confirm>, stamp: &str) -> Result<()> {
    if asked == Recrawled::Rule {
        return Ok(());
    }
    if Stamp::parse(stamp)?.key().is_none() {
        return Err(Error::new(
            Kind::Usage,
            format!("recrawled = {asked} needs keys of the pages"),
        )
        .help("make batch and store with keys")
        .job("fingerprint")
        .setting("key surt"));
    }
    if check.is_some_and(|check| check.has_direction()) {
        return Ok(());
    }
    Err(Error::new(Kind::Usage, format!("recrawled = {asked} needs the check containment"))
        .found(check.map_or("no check".to_owned(), |check| check.to_string())))
}

/// Checks that a batch with this stamp has the sketches of a check. The store is of the same recipe and
/// then has them too.
pub fn check_signatures(asked: Option<Confirm>, stamp: &str) -> Result<()> {
    let Some(Confirm { check, .. }) = asked else { return Ok(()) };
    let kept = Stamp::parse(stamp)?.check()?;
    if kept == Some(check) {
        return Ok(());
    }
    let error = Error::new(Kind::Usage, format!("the batch has no {check} sketches"))
        .found(kept.map_or("none".to_owned(), |kept| format!("those of {kept}")));
    if let Some(kept) = kept.filter(|kept| kept.is_like(check)) {
        return Err(error.help(format!(
            "sketches of one size cannot be compared as those of another; ask for {kept}, or name the check without its size"
        )));
    }
    let error = error.help("make batch and store with sketches of this check");
    Err(error.job("fingerprint").setting(format!("sketch {check}")))
}
