//! The order of the work: read the kept pages, join the sample again, compare, check every row.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::claims::{self, Claim, ClaimReader};
use super::inputs::{Recompute, Recomputed};
use super::rejoin::{Expected, Rejoin};
use super::verdict_lines::VerdictLines;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::matches::batch::Batch;
use crate::matches::detail::Detail;
use crate::matches::distinct::distinct_fingerprints;
use crate::matches::ids::Workshop;
use crate::matches::numbers::{FingerprintIndex, Number, Row, below};
use crate::progress::{self, Activity};
use crate::runs::Sorter;

impl Recompute<'_> {
    /// Recomputes every row of the matches and the verdicts of the sample.
    ///
    /// # Errors
    /// What differs from the files is [`Kind::BadData`](crate::Kind::BadData), with its file and line.
    pub fn run(&self) -> Result<Recomputed> {
        match self.batch.width() {
            Width::W64 => self.run_at::<u64>(),
            Width::W128 => self.run_at::<u128>(),
        }
    }

    fn run_at<F: Fingerprint>(&self) -> Result<Recomputed> {
        let Recompute { spill: folder, memory_bytes, workers, .. } = *self;
        let workshop = Workshop { folder, memory_bytes, workers };
        let (batch, keys, _) = Batch::load::<F>(self.batch, self.confirm, workshop, memory_bytes)?;
        let keys = keys.as_ref();
        let rows = batch.by_rank();
        let kept = self.kept(&batch, &rows)?;
        let fingerprints: Arc<[F]> = distinct_fingerprints(self.batch)?.into();
        let leaders = batch.leaders(self.batch, self.keep, folder, memory_bytes)?;
        let rejoin = Rejoin {
            of: self,
            batch: &batch,
            keys,
            fingerprints: &fingerprints,
            kept: &kept,
            leaders,
        };
        let expected = rejoin.join(&self.sampled(&batch))?;
        let (claims, mut recomputed) = self.compare(&rejoin, &rows, &expected)?;
        recomputed.rows = claims::check(self, (&batch, keys), &fingerprints, &rows, claims)?;
        Ok(recomputed)
    }

    /// The distinct fingerprints of the sample, ascending.
    fn sampled(&self, batch: &Batch) -> Vec<FingerprintIndex> {
        if u64::from(batch.rows()) <= self.sample {
            return below(batch.fingerprints()).collect();
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let rows =
            rand::seq::index::sample(&mut random, batch.rows() as usize, self.sample as usize);
        let of_row = |row| batch.fingerprint_of(batch.group_of(Row::from(row as u32)));
        let sampled: BTreeSet<FingerprintIndex> = rows.into_iter().map(of_row).collect();
        sampled.into_iter().collect()
    }

    /// The row of each group that is kept, if one is. `rows` are by the rank of their id.
    fn kept(&self, batch: &Batch, rows: &[Row]) -> Result<Vec<Option<Row>>> {
        let mut kept = vec![None; batch.groups() as usize];
        let mut verdicts = VerdictLines::open(self.output)?;
        while let Some(verdict) = verdicts.next()? {
            if verdict.kept {
                let row = rows[verdict.rank.index()];
                let kept = &mut kept[batch.group_of(row).index()];
                if kept.is_some() {
                    return Err(verdicts.wrong("a second page of one fingerprint is kept"));
                }
                *kept = Some(row);
            }
        }
        Ok(kept)
    }

    /// Compares the verdicts on the sample with what is `expected`, and collects the claims of the rows
    /// of the matches.
    fn compare<F: Fingerprint>(
        &self,
        rejoin: &Rejoin<'_, F>,
        rows: &[Row],
        expected: &[Expected],
    ) -> Result<(Sorter<Claim>, Recomputed)> {
        let mut claims = Sorter::new(self.spill, self.memory_bytes);
        let mut verdicts = VerdictLines::open(self.output)?;
        let mut matches = ClaimReader::open(self)?;
        let mut ids = self.batch.ids();
        let mut recomputed = Recomputed::default();
        while let Some(verdict) = verdicts.next()? {
            progress::tick(Activity::Working);
            let row = rows[verdict.rank.index()];
            let listed = matches.take(&verdict.id, row, &mut claims)?;
            let group = rejoin.batch.group_of(row);
            let Ok(at) = expected.binary_search_by_key(&group, |it| it.group) else { continue };
            let expected = &expected[at];
            let found = (!verdict.kept).then_some(verdict.named);
            match rejoin.verdict(expected, row, &mut ids)? {
                Err(what) => return Err(verdicts.wrong(what)),
                Ok(named) if named == found => {}
                Ok(named) => {
                    let error = verdicts.wrong("this is not the verdict of the keep rule");
                    return Err(error.expected(shown(&named)).found(shown(&found)));
                }
            }
            if self.detail == Detail::All {
                let pairs = rejoin.pairs(expected, row);
                if pairs != listed.into() {
                    return Err(verdicts
                        .wrong("not all matches of this page are listed")
                        .expected(format_args!("{pairs} rows of matches.tsv"))
                        .found(listed));
                }
            }
            recomputed.pages += 1;
        }
        matches.expect_end()?;
        Ok((claims, recomputed))
    }
}

/// A verdict as the file has it.
fn shown(named: &Option<[String; 3]>) -> String {
    named.as_ref().map_or("keep".to_owned(), |named| format!("drop {}", named.join(" ")))
}
