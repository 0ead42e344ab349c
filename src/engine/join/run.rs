//! The steps of a join: all processes find pairs and confirm them, then process 0 proves that none is missing and writes
//! the verdicts.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::find::{Figures, FoundPairs, make_room, spill_folder};
use super::proof::Proof;
use super::request::Join;
use super::site::{Site, build, unwatched};
use crate::error::{Error, Kind, Named, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::flow::{self, Processes, Role};
use crate::matches::{ByKey, ConfirmedPairs, Finalize, Groups, InKeepOrder, KEEP, Outcome};
use crate::output::{self, Lock, Staging, Sum};
use crate::passages::{DayPassages, DayPassagesFound, KeptPages, NamedPassage};
use crate::peers::Topology;
use crate::runs::{SortSpace, Sorter};
use crate::step::{self, Step};
use crate::store::Version;

/// The groups of a batch, their order if it is known already, and the pairs of these that match. The pairs are in process 0.
struct Matching {
    groups: Arc<Groups>,
    order: Option<InKeepOrder>,
    by_key: ByKey,
    pairs: ConfirmedPairs,
}

/// In process 0, a join whose output is not committed yet.
type Uncommitted = Role<(Joined, Staging)>;

/// A finished join.
#[derive(Clone, Debug)]
pub struct Joined {
    /// What was found and written.
    pub outcome: Outcome,
    /// The passages that were found, if they were asked for.
    pub passages: Option<DayPassagesFound>,
    /// The proof that nothing was left out.
    pub proof: Proof,
    /// How it was done.
    pub figures: Figures,
}

impl Join {
    /// Does the join and makes the folder `output`, which must not exist yet: matches.tsv, verdicts.tsv,
    /// keep.txt and drop.txt. All processes of the job call this; process 0 writes the folder and gets
    /// the result.
    ///
    /// A run that is killed leaves no output. The next run of the same join takes over its finished chunks.
    ///
    /// # Errors
    /// As [`Join::check`]; [`Kind::Exists`] if the output exists; [`Kind::Temporary`] if another run makes
    /// it; [`Kind::BadData`] if there are too many matches or an input is damaged; [`Kind::Io`] if the disk
    /// is full.
    pub fn run(&self, processes: &mut Processes, output: &Path) -> Result<Role<Joined>> {
        let begin = || {
            self.check()?;
            let lock = Lock::beside(output)?;
            if output.exists() || output.is_symlink() {
                return Err(Error::new(Kind::Exists, "the output exists")
                    .at(output)
                    .help("choose another output, or move this one away"));
            }
            let staging = Staging::beside(output, lock)?;
            let (fence, itself_bytes) = (staging.fence().clone(), self.budget.itself());
            Ok((self.inputs(), fence, build()?, itself_bytes, Role::Leader(staging)))
        };
        let step = format!("join {}", output.named());
        let (inputs, fence, build, itself_bytes, staging) = processes.agree(&step, begin)?;
        let _lock = (!processes.is_leader()).then(|| Lock::shared(fence));
        self.check_inputs(&inputs)?;
        let site = Site { output, build, itself_bytes, staging, watch: &unwatched };
        self.run_at(processes, site, |joined, staging| staging.commit().map(|()| joined))
    }

    /// Does the join at a `site` that is prepared. In process 0, `finish` gets the result and the output; it
    /// commits the output, and may write more files into it before.
    ///
    /// # Errors
    /// As [`Join::run`], and those of `finish`.
    pub fn run_at<S>(
        &self,
        processes: &mut Processes,
        site: Site<'_>,
        finish: impl FnOnce(Joined, Staging) -> Result<S>,
    ) -> Result<Role<S>> {
        match self.batch.width() {
            Width::W64 => self.run_in::<u64, S>(processes, site, finish),
            Width::W128 => self.run_in::<u128, S>(processes, site, finish),
        }
    }

    /// As [`Join::run_at`], with fingerprints of one width.
    fn run_in<F: Fingerprint, S>(
        &self,
        processes: &mut Processes,
        site: Site<'_>,
        finish: impl FnOnce(Joined, Staging) -> Result<S>,
    ) -> Result<Role<S>> {
        let workers = processes.topology().workers;
        let folder = spill_folder(site.output, &site.staging);
        let space = SortSpace { folder: &folder, memory_bytes: self.budget.finalize() };
        let groups = self.groups::<F>(workers, space)?;
        let store = self.store.as_ref().map_or(Ok(Vec::new()), Version::dated)?;
        let (by_key, store) = ByKey::of((&self.batch, self.day), store, self.recrawled, space)?;
        let order = self.orders().then(|| {
            let (groups, ids) = ((Arc::clone(&groups), &by_key), (self.budget.ids(), workers));
            InKeepOrder::load(&self.batch, groups, self.keep, self.check, ids, space)
        });
        let order = order.transpose()?;
        let mut found = self.find::<F>(processes, &site, store, order.as_ref())?;
        let pairs = self
            .confirm(processes, &site, &mut found, &groups, order.as_ref())
            .map_err(|error| make_room(site.output, &found.ledger, error))?;
        let ledger = found.ledger.clone();
        let matching = Matching { groups, order, by_key, pairs };
        let Site { output, staging, .. } = site;
        let step = format!("finalize {}", output.named());
        let held = processes.conclude(&step, staging, |staging| {
            staging.check()?;
            Ok((self.prove_and_write::<F>(found, matching, output, &staging, workers)?, staging))
        })?;
        let (held, passages) = match self.passages {
            None => (held, None),
            Some(words) => self.passages_of_all(processes, words, output, held)?,
        };
        let done = processes.conclude(&step, held, |(mut joined, staging)| {
            if let Some(passages) = passages {
                let (found, file) =
                    DayPassagesFound::write(passages.sorted()?, self.format, &staging)?;
                joined.passages = Some(found);
                joined.outcome.files.extend([file]);
            }
            finish(joined, staging)
        })?;
        ledger.remove()?;
        Ok(done)
    }

    /// Finds the passages of the kept pages: every process those of a range of their ids. Process 0 has them then.
    fn passages_of_all(
        &self,
        processes: &mut Processes,
        words: usize,
        output: &Path,
        held: Uncommitted,
    ) -> Result<(Uncommitted, Option<Sorter<NamedPassage>>)> {
        let step = format!("passages {}", output.named());
        let parent = output::parent_of(output);
        let (kept, count, held) = processes.agree(&step, || match held {
            Role::Leader((joined, staging)) => {
                let kept = staging.folder().strip_prefix(parent).unwrap_or(staging.folder());
                Ok((kept.join(KEEP), joined.outcome.kept, Role::Leader((joined, staging))))
            }
            Role::Follower => Err(Error::new(Kind::Internal, "only process 0 decides")),
        })?;
        let &Topology { processes: all, process, workers } = processes.topology();
        let bound = |process: usize| count * process as u64 / all as u64;
        let numbers = bound(process)..bound(process + 1);
        let passages = self.passages_of(words, &parent.join(kept), &numbers, parent, workers)?;
        let found = flow::find_passages(processes, passages)?;
        Ok((held, processes.is_leader().then_some(found)))
    }

    /// The passages, of so many words, of the pages of these `numbers` in the list at `kept`: those that stood earlier, in the store or in the batch.
    fn passages_of(
        &self,
        words: usize,
        kept: &Path,
        numbers: &Range<u64>,
        folder: &Path,
        workers: usize,
    ) -> Result<DayPassages> {
        Ok(DayPassages {
            store: self.store.clone(),
            batch: self.batch.clone(),
            kept: KeptPages::read(kept, numbers, self.budget.whole())?,
            words,
            folder: folder.to_path_buf(),
            workers,
            memory_bytes: self.budget.passages(),
        })
    }

    fn prove_and_write<F: Fingerprint>(
        &self,
        found: FoundPairs,
        Matching { groups, order, by_key, pairs }: Matching,
        output: &Path,
        staging: &Staging,
        workers: usize,
    ) -> Result<Joined> {
        let FoundPairs { chunks, repeated, receipts, store, figures, .. } = found;
        let proof = Proof::of(chunks, self.store_rows(), &receipts, output)?.without(repeated);
        let slack = self.store.as_ref().map(Version::slack).transpose()?.unwrap_or_default();
        let finalize = Finalize {
            terms: &self.terms(&store, workers),
            slack: &slack,
            keep: self.keep,
            ids_bytes: self.budget.ids(),
            format: self.format,
        };
        step::begin(Step::Writing);
        let outcome = finalize.write::<F>(groups, (order, by_key), pairs, staging)?;
        Ok(Joined { outcome, passages: None, proof, figures })
    }

    /// Writes the passages, of so many words, of the pages that the list at `kept` names, found by this process alone.
    ///
    /// # Errors
    /// Those of the disk, and [`Kind::BadData`] for damage.
    pub fn find_passages(
        &self,
        words: usize,
        kept: &Path,
        staging: &Staging,
        workers: usize,
    ) -> Result<(DayPassagesFound, (String, Sum))> {
        let passages = self.passages_of(words, kept, &(0..u64::MAX), staging.folder(), workers)?;
        DayPassagesFound::write(passages.find()?, self.format, staging)
    }
}
