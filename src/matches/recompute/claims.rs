//! What the rows of matches.tsv claim, against the fingerprints and signatures of the pages they name.
//!
//! The claims are sorted by the page that they name as existing, and looked up in that order: in the
//! batch by one pass over its ids, in the store by one pass over the segments for as many claims as the
//! memory allows.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Recompute, wrong_row};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::batch::allocated;
use crate::matches::group_key::{Mark, MarkReader};
use crate::matches::lines::Lines;
use crate::matches::{Against, Batch};
use crate::runs::{Record, Sorter};
use crate::store::{Dated, Day, KeyRange, RowDays};

/// About how many bytes a claim takes while it is looked up, beside its id.
const CLAIM_BYTES: usize = 160;

/// A row of the matches. Ordered by the page that it names as existing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Claim {
    against: Against,
    existing: String,
    /// The row of the new page in the [`Batch`].
    new: u32,
    distance: u32,
    /// The column of the check, where there is one.
    check: Option<String>,
    line: u64,
}

impl Record for Claim {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.existing) + 16
    }
}

/// matches.tsv, read along with the verdicts.
pub(super) struct Matches<'a> {
    of: &'a Recompute<'a>,
    lines: Lines,
    /// The row that comes next, as id of the new page and claim; its own row is not known yet.
    next: Option<(String, Claim)>,
}

impl<'a> Matches<'a> {
    pub(super) fn open(of: &'a Recompute<'a>) -> Result<Matches<'a>> {
        let mut lines = Lines::open(of.output.join("matches.tsv"))?;
        lines.next()?;
        let mut matches = Matches { of, lines, next: None };
        matches.advance()?;
        Ok(matches)
    }

    /// Takes the claims on the page of this id, which stands in this row, and says how many there are.
    /// Asked for ids that ascend.
    pub(super) fn of(&mut self, id: &str, row: u32, claims: &mut Sorter<Claim>) -> Result<u64> {
        let mut count = 0;
        while let Some((_, claim)) = self.next.take_if(|(new, _)| *new == id) {
            claims.push(Claim { new: row, ..claim })?;
            count += 1;
            self.advance()?;
        }
        match &self.next {
            Some((new, claim)) if new.as_str() < id => Err(self.stranger(claim)),
            _ => Ok(count),
        }
    }

    /// Fails if a row is left when every page of the batch has been asked for.
    pub(super) fn expect_end(&self) -> Result<()> {
        self.next.as_ref().map_or(Ok(()), |(_, claim)| Err(self.stranger(claim)))
    }

    fn stranger(&self, claim: &Claim) -> Error {
        let what = "the new page is no page of the batch that has a fingerprint";
        wrong_row(self.of.output, claim.line, what)
    }

    fn advance(&mut self) -> Result<()> {
        let Some(line) = self.lines.next()? else {
            self.next = None;
            return Ok(());
        };
        let mut fields = line.split('\t').map(str::to_owned);
        let [new, existing, distance, against] =
            [(); 4].map(|()| fields.next().unwrap_or_default());
        let (check, line) = (fields.next(), self.lines.number());
        let (Ok(distance), Ok(against)) = (distance.parse(), against_of(&against)) else {
            return Err(wrong_row(self.of.output, line, "not a distance and a day or `batch`"));
        };
        self.next = Some((new, Claim { against, existing, new: 0, distance, check, line }));
        Ok(())
    }
}

fn against_of(text: &str) -> Result<Against> {
    match text {
        "batch" => Ok(Against::Batch),
        day => day.parse().map(Against::Day),
    }
}

/// Looks up all that is claimed, and gives the number of claims.
pub(super) fn check<F: Fingerprint>(
    of: &Recompute<'_>,
    batch: &Batch,
    fingerprints: &[F],
    rows: &[u32],
    claims: Sorter<Claim>,
) -> Result<u64> {
    let mut check = Check { of, batch, fingerprints, checked: 0 };
    let mut claims = claims.sorted()?.peekable();
    loop {
        let (mut held, mut bytes) = (Vec::new(), 0);
        let fits = |bytes: usize| bytes < of.memory_bytes.max(1 << 20);
        while let Some(claim) = claims.next_if(|claim| {
            fits(bytes) && !matches!(claim, Ok(Claim { against: Against::Batch, .. }))
        }) {
            let claim = claim?;
            bytes += CLAIM_BYTES + claim.existing.len();
            held.push(claim);
        }
        match held.is_empty() {
            true => break,
            false => check.in_store(&held)?,
        }
    }
    check.in_batch(claims, rows)?;
    Ok(check.checked)
}

struct Check<'a, F> {
    of: &'a Recompute<'a>,
    batch: &'a Batch,
    /// The distinct fingerprints of the batch.
    fingerprints: &'a [F],
    checked: u64,
}

impl<F: Fingerprint> Check<'_, F> {
    /// Looks up claims on pages of the store, which come in order.
    fn in_store(&mut self, claims: &[Claim]) -> Result<()> {
        let mut wanted: HashMap<(Day, u64), Vec<u32>> = HashMap::with_capacity(claims.len());
        for (number, claim) in (0..).zip(claims) {
            if let Against::Day(day) = claim.against {
                wanted.entry((day, xxh3_64(claim.existing.as_bytes()))).or_default().push(number);
            }
        }
        let mut found = vec![false; claims.len()];
        for dated in self.of.store {
            let named = |day| claims.iter().any(|claim| claim.against == Against::Day(day));
            if !matches!(dated.days(), RowDays::All(day) if !named(day)) {
                self.in_segment(dated, claims, &wanted, &mut found)?;
            }
        }
        match found.iter().position(|found| !found) {
            None => Ok(()),
            Some(at) => Err(self
                .wrong(&claims[at], "the store holds no such page under this day")
                .found(format_args!("`{:.100}` {}", claims[at].existing, claims[at].against))),
        }
    }

    fn in_segment(
        &mut self,
        dated: &Dated,
        claims: &[Claim],
        wanted: &HashMap<(Day, u64), Vec<u32>>,
        found: &mut [bool],
    ) -> Result<()> {
        let (segment, mut days) = (dated.segment(), dated.days());
        let (mut ids, mut scan) = (segment.ids(), segment.scan::<F>(KeyRange::all()));
        let (mut marks, mut run) = (None, Vec::new());
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                let (day, id) = (days.get(row)?, ids.get(row)?);
                let Some(numbers) = wanted.get(&(day, xxh3_64(id.as_bytes()))) else { continue };
                for claim in numbers {
                    let (claim, found) = (&claims[*claim as usize], &mut found[*claim as usize]);
                    if claim.existing != id {
                        continue;
                    }
                    let mark = match self.batch.marks() {
                        None => None,
                        Some(_) => {
                            let reader = match &mut marks {
                                Some(reader) => reader,
                                none => {
                                    none.insert(MarkReader::new(segment, self.of.confirm.as_ref())?)
                                }
                            };
                            Some(reader.get(row)?)
                        }
                    };
                    self.compare(claim, fingerprint, mark)?;
                    *found = true;
                }
            }
        }
        Ok(())
    }

    /// Looks up claims on pages of the batch, which come in order, along with the verdicts.
    fn in_batch(
        &mut self,
        claims: impl Iterator<Item = Result<Claim>>,
        rows: &[u32],
    ) -> Result<()> {
        let (mut verdicts, mut next) = (self.of.verdicts()?, None);
        for claim in claims {
            let claim = claim?;
            while next.as_ref().is_none_or(|(id, _): &(String, u32)| *id < claim.existing) {
                let Some(verdict) = verdicts.next()? else { break };
                next = Some((verdict.id, verdict.rank));
            }
            let Some((_, rank)) = next.as_ref().filter(|(id, _)| *id == claim.existing) else {
                return Err(self.wrong(&claim, "the existing page is none of the batch"));
            };
            let group = self.batch.group_of(rows[*rank as usize]);
            let fingerprint = self.fingerprints[self.batch.fingerprint_of(group) as usize];
            let mark = self.batch.marks().map(|marks| self.batch.mark(marks, group));
            self.compare(&claim, fingerprint, mark)?;
        }
        Ok(())
    }

    /// Compares the new page of a claim with an existing one that was found.
    fn compare(&mut self, claim: &Claim, existing: F, mark: Option<Mark<'_>>) -> Result<()> {
        let group = self.batch.group_of(claim.new);
        let fingerprint = self.fingerprints[self.batch.fingerprint_of(group) as usize];
        let distance = fingerprint.distance(existing);
        if distance != claim.distance {
            return Err(self
                .wrong(claim, "this is not the distance of the two fingerprints")
                .expected(distance)
                .found(claim.distance));
        }
        if let Some((marks, mark)) = self.batch.marks().zip(mark) {
            let similarity = marks.compare(self.batch.mark(marks, group), mark);
            let Some(similarity) = similarity else {
                return Err(self.wrong(claim, "the two pages do not match, though they are near"));
            };
            let similarity = similarity.map(|it| it.to_string());
            if similarity != claim.check {
                return Err(self
                    .wrong(claim, "this is not the similarity of the two signatures")
                    .expected(similarity.unwrap_or_default())
                    .found(claim.check.as_deref().unwrap_or_default()));
            }
        }
        self.checked += 1;
        Ok(())
    }

    fn wrong(&self, claim: &Claim, what: &str) -> Error {
        wrong_row(self.of.output, claim.line, what)
    }
}
