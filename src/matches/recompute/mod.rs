//! An output recomputed from the batch and the store that it was made from.
//!
//! The [audit](super::Audit) has shown that the files of the output agree with each other. What they
//! agree on may still be wrong, so two things are recomputed here:
//!
//! - *Every row of matches.tsv* ([`claims`]): both pages are looked up by their ids, and their distance,
//!   class and check computed from the fingerprints and signatures found there.
//! - *The verdicts of a sample of the batch* ([`anew`]): the sampled pages are joined again with the store and with the
//!   batch. A page is rightly kept if no page of the store and no kept page is near. It is rightly
//!   dropped if one of the store, or a kept one that comes before it in keep order, is near, and the verdict names the nearest.
//!   Where this holds for every page, the verdicts are those of the keep rule: by induction in keep order.
//!
//! An example: a match `b a 0` is deleted and `b` called kept. All files may agree, but when `b` is
//! joined anew, the kept page `a` is near.

mod anew;
mod claims;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::lines::Lines;
use crate::matches::{Batch, Confirm, Detail, KeepOrder, groups};
use crate::progress::{self, Activity};
use crate::runs::Sorter;
use crate::store::{Dated, Segment};
use anew::{Anew, Expected};
use claims::Claim;

/// What to do about an output that is not what its inputs give.
const HELP: &str =
    "the output is not what its batch and store give: make it again with --overwrite";

/// No row of a group is kept.
const NONE: u32 = u32::MAX;

/// An output to be recomputed, which the [audit](super::Audit) has passed.
#[derive(Debug)]
pub struct Recompute<'a> {
    /// Its folder.
    pub output: &'a Path,
    /// The batch it was made from.
    pub batch: &'a Segment,
    /// The segments of the store it was made from.
    pub store: &'a [Dated],
    /// What matches were confirmed by, if by anything.
    pub confirm: Option<Confirm>,
    /// The largest distance that counts as near.
    pub distance: u32,
    /// Which page of several near ones was kept.
    pub keep: KeepOrder,
    /// Which matches were written.
    pub detail: Detail,
    /// How many pages are joined anew at least. [`u64::MAX`] for all of them.
    pub sample: u64,
    /// Which ones, where it is not all.
    pub seed: u64,
    /// A place for spilled runs.
    pub spill: &'a Path,
    /// Memory that each of three sorts, the tables of the sample, and what is looked up at once may use, in bytes.
    pub memory_bytes: usize,
}

/// What was recomputed and found right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recomputed {
    /// Rows of matches.tsv: all of them.
    pub rows: u64,
    /// Pages of the batch that were joined anew.
    pub pages: u64,
}

/// A line of verdicts.tsv on a page that has a fingerprint.
struct Verdict {
    /// The place of its id in the order of ids.
    rank: u32,
    id: String,
    kept: bool,
    /// What it is dropped in favour of, as the file has it: id, distance, and against what.
    named: [String; 3],
}

/// The verdicts in the order of the file, which is that of the ids.
struct Verdicts {
    lines: Lines,
    rank: u32,
}

impl Recompute<'_> {
    /// Recomputes every row of the matches and the verdicts of the sample.
    ///
    /// # Errors
    /// What is not as it was written is [`Kind::BadData`](crate::Kind::BadData), with its file and line.
    pub fn run<F: Fingerprint>(&self) -> Result<Recomputed> {
        let (batch, _) = Batch::load::<F>(self.batch, self.confirm, self.spill, self.memory_bytes)?;
        let rows = batch.by_rank();
        let kept = self.kept(&batch, &rows)?;
        let fingerprints: Arc<[F]> = groups(self.batch)?.into();
        let leaders = batch.leaders(self.batch, self.keep, self.spill, self.memory_bytes)?;
        let anew =
            Anew { of: self, batch: &batch, fingerprints: &fingerprints, kept: &kept, leaders };
        let expected = anew.join(&self.sampled(&batch))?;
        let (claims, mut recomputed) = self.compare(&anew, &rows, &expected)?;
        recomputed.rows = claims::check(self, &batch, &fingerprints, &rows, claims)?;
        Ok(recomputed)
    }

    /// The distinct fingerprints of the sample by their numbers, ascending.
    fn sampled(&self, batch: &Batch) -> Vec<u32> {
        if u64::from(batch.rows()) <= self.sample {
            return (0..batch.fingerprints()).collect();
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let rows =
            rand::seq::index::sample(&mut random, batch.rows() as usize, self.sample as usize);
        let of_row = |row| batch.fingerprint_of(batch.group_of(row as u32));
        let sampled: BTreeSet<u32> = rows.into_iter().map(of_row).collect();
        sampled.into_iter().collect()
    }

    /// The row of each group that is kept, or [`NONE`].
    fn kept(&self, batch: &Batch, rows: &[u32]) -> Result<Vec<u32>> {
        let mut kept = vec![NONE; batch.groups() as usize];
        let mut verdicts = self.verdicts()?;
        while let Some(verdict) = verdicts.next()? {
            if verdict.kept {
                let row = rows[verdict.rank as usize];
                let kept = &mut kept[batch.group_of(row) as usize];
                if *kept != NONE {
                    return Err(verdicts
                        .lines
                        .wrong("a second page of one fingerprint is kept")
                        .help(HELP));
                }
                *kept = row;
            }
        }
        Ok(kept)
    }

    /// Compares what is told of the sample with what is `expected`, and collects what the rows of the
    /// matches claim.
    fn compare<F: Fingerprint>(
        &self,
        anew: &Anew<'_, F>,
        rows: &[u32],
        expected: &[Expected],
    ) -> Result<(Sorter<Claim>, Recomputed)> {
        let mut claims = Sorter::new(self.spill, self.memory_bytes);
        let (mut verdicts, mut matches) = (self.verdicts()?, claims::Matches::open(self)?);
        let (mut ids, mut recomputed) = (self.batch.ids(), Recomputed::default());
        while let Some(verdict) = verdicts.next()? {
            progress::tick(Activity::Working);
            let row = rows[verdict.rank as usize];
            let listed = matches.of(&verdict.id, row, &mut claims)?;
            let group = anew.batch.group_of(row);
            let Ok(at) = expected.binary_search_by_key(&group, |it| it.group) else { continue };
            let expected = &expected[at];
            let wrong = |what: &str| verdicts.lines.wrong(what).help(HELP);
            let told = (!verdict.kept).then_some(verdict.named);
            match anew.verdict(expected, row, &mut ids)? {
                Err(what) => return Err(wrong(what)),
                Ok(named) if named == told => {}
                Ok(named) => {
                    let what = "this is not the verdict of the keep rule";
                    return Err(wrong(what).expected(shown(&named)).found(shown(&told)));
                }
            }
            if self.detail == Detail::All {
                let pairs = anew.pairs(expected, row);
                if pairs != listed.into() {
                    return Err(wrong("not all matches of this page are listed")
                        .expected(format_args!("{pairs} rows of matches.tsv"))
                        .found(listed));
                }
            }
            recomputed.pages += 1;
        }
        matches.expect_end()?;
        Ok((claims, recomputed))
    }

    fn verdicts(&self) -> Result<Verdicts> {
        let mut lines = Lines::open(self.output.join("verdicts.tsv"))?;
        lines.next()?;
        Ok(Verdicts { lines, rank: 0 })
    }
}

impl Verdicts {
    fn next(&mut self) -> Result<Option<Verdict>> {
        while let Some(line) = self.lines.next()? {
            let fields: Vec<&str> = line.split('\t').collect();
            let [id, verdict, of, distance, against] = fields[..] else {
                return Err(self.lines.wrong("not five columns"));
            };
            if verdict == "empty" {
                continue;
            }
            let (id, kept) = (id.to_owned(), verdict == "keep");
            let named = [of, distance, against].map(str::to_owned);
            self.rank += 1;
            return Ok(Some(Verdict { rank: self.rank - 1, id, kept, named }));
        }
        Ok(None)
    }
}

/// A verdict as the file has it.
fn shown(named: &Option<[String; 3]>) -> String {
    named.as_ref().map_or("keep".to_owned(), |named| format!("drop {}", named.join(" ")))
}

/// What is wrong with a row of the matches.
fn wrong_row(output: &Path, line: u64, what: &str) -> Error {
    Error::new(crate::Kind::BadData, what).at(output.join("matches.tsv")).line(line).help(HELP)
}
