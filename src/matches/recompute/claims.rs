//! The rows of matches.tsv, checked against the fingerprints and signatures of the pages they name.
//!
//! Each row is a claim. Claims are sorted by the page that they name as existing, and looked up in that
//! order: in the batch by one pass over its ids, in the store by one pass over the segments for as many
//! claims as fit into memory.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::inputs::{Recompute, wrong_row};
use super::verdict_lines::VerdictLines;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::allocated::allocated;
use crate::matches::batch::Batch;
use crate::matches::group_key::{GroupKeyReader, GroupKeys};
use crate::matches::lines::Lines;
use crate::matches::numbers::{IdRank, Number, Row};
use crate::matches::origin::Origin;
use crate::matches::similarity::Similarity;
use crate::runs::{Record, Sorter};
use crate::store::{Dated, Day, KeyRange, RowDays};

/// About how many bytes a claim takes while it is looked up, beside its id.
const CLAIM_BYTES: usize = 160;

/// A row of the matches. Ordered by the page that it names as existing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Claim {
    origin: Origin,
    existing: String,
    /// The new page.
    new: Row,
    distance: u32,
    /// The column of the check, if there is one.
    check: Option<String>,
    line: u64,
}

impl Record for Claim {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.existing) + 16
    }
}

/// matches.tsv, read along with the verdicts.
pub(super) struct ClaimReader<'a> {
    of: &'a Recompute<'a>,
    lines: Lines,
    /// The next row: the id of its new page, and the claim with a `new` that is not known yet.
    next: Option<(String, Claim)>,
}

impl<'a> ClaimReader<'a> {
    pub(super) fn open(of: &'a Recompute<'a>) -> Result<ClaimReader<'a>> {
        let mut lines = Lines::open(of.output.join("matches.tsv"))?;
        lines.next()?;
        let mut reader = ClaimReader { of, lines, next: None };
        reader.advance()?;
        Ok(reader)
    }

    /// Takes the claims on the page with this id, which is this row, and says how many there are. Must be
    /// asked for ids in ascending order.
    pub(super) fn take(&mut self, id: &str, row: Row, claims: &mut Sorter<Claim>) -> Result<u64> {
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
        let [new, existing, distance, origin] = [(); 4].map(|()| fields.next().unwrap_or_default());
        let check = fields.next();
        let line = self.lines.number();
        let (Ok(distance), Ok(origin)) = (distance.parse(), origin.parse()) else {
            return Err(wrong_row(self.of.output, line, "not a distance and a day or `batch`"));
        };
        let claim = Claim { origin, existing, new: Row::from(0), distance, check, line };
        self.next = Some((new, claim));
        Ok(())
    }
}

/// Looks up all that is claimed, and gives the number of claims. `rows` are by the rank of their id.
pub(super) fn check<F: Fingerprint>(
    of: &Recompute<'_>,
    (batch, keys): (&Batch, Option<&GroupKeys>),
    fingerprints: &[F],
    rows: &[Row],
    claims: Sorter<Claim>,
) -> Result<u64> {
    let mut check = Check { of, batch, keys, fingerprints, checked: 0 };
    let mut claims = claims.sorted()?.peekable();
    let most_bytes = of.memory_bytes.max(1 << 20);
    loop {
        let mut held = Vec::new();
        let mut bytes = 0;
        while let Some(claim) = claims.next_if(|claim| {
            bytes < most_bytes && !matches!(claim, Ok(Claim { origin: Origin::Batch, .. }))
        }) {
            let claim = claim?;
            bytes += CLAIM_BYTES + claim.existing.len();
            held.push(claim);
        }
        if held.is_empty() {
            break;
        }
        check.in_store(&held)?;
    }
    check.in_batch(claims, rows)?;
    Ok(check.checked)
}

struct Check<'a, F> {
    of: &'a Recompute<'a>,
    batch: &'a Batch,
    keys: Option<&'a GroupKeys>,
    /// The distinct fingerprints of the batch.
    fingerprints: &'a [F],
    checked: u64,
}

impl<F: Fingerprint> Check<'_, F> {
    /// Looks up claims on pages of the store, which come in order.
    fn in_store(&mut self, claims: &[Claim]) -> Result<()> {
        let mut wanted: HashMap<(Day, u64), Vec<u32>> = HashMap::with_capacity(claims.len());
        for (number, claim) in (0..).zip(claims) {
            if let Origin::Day(day) = claim.origin {
                wanted.entry((day, xxh3_64(claim.existing.as_bytes()))).or_default().push(number);
            }
        }
        let mut found = vec![false; claims.len()];
        for dated in self.of.store {
            let named = |day| claims.iter().any(|claim| claim.origin == Origin::Day(day));
            if !matches!(dated.days(), RowDays::All(day) if !named(day)) {
                self.in_segment(dated, claims, &wanted, &mut found)?;
            }
        }
        match found.iter().position(|found| !found) {
            None => Ok(()),
            Some(at) => Err(self
                .wrong(&claims[at], "the store holds no such page under this day")
                .found(format_args!("`{:.100}` {}", claims[at].existing, claims[at].origin))),
        }
    }

    fn in_segment(
        &mut self,
        dated: &Dated,
        claims: &[Claim],
        wanted: &HashMap<(Day, u64), Vec<u32>>,
        found: &mut [bool],
    ) -> Result<()> {
        let segment = dated.segment();
        let mut days = dated.days();
        let mut ids = segment.ids();
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut keys: Option<GroupKeyReader> = None;
        let mut run = Vec::new();
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                let day = days.get(row)?;
                let id = ids.get(row)?;
                let Some(numbers) = wanted.get(&(day, xxh3_64(id.as_bytes()))) else { continue };
                for &number in numbers {
                    let claim = &claims[number as usize];
                    if claim.existing != id {
                        continue;
                    }
                    let key = if self.keys.is_some() {
                        let reader = match &mut keys {
                            Some(reader) => reader,
                            none => none.insert(self.key_reader(dated)?),
                        };
                        Some(reader.get(row)?)
                    } else {
                        None
                    };
                    let alike = |(keys, key): (&GroupKeys, _)| {
                        let new = self.batch.key_row(self.batch.group_of(claim.new));
                        keys.compare_row(new, key, claim.distance)
                    };
                    let alike = self.keys.zip(key).map(alike).transpose()?;
                    self.compare(claim, fingerprint, alike)?;
                    found[number as usize] = true;
                }
            }
        }
        Ok(())
    }

    fn key_reader(&self, dated: &Dated) -> Result<GroupKeyReader> {
        GroupKeyReader::new(dated.segment(), self.of.confirm.as_ref())
    }

    /// Looks up claims on pages of the batch, which come in order, along with the verdicts.
    fn in_batch(
        &mut self,
        claims: impl Iterator<Item = Result<Claim>>,
        rows: &[Row],
    ) -> Result<()> {
        let mut verdicts = VerdictLines::open(self.of.output)?;
        let mut next: Option<(String, IdRank)> = None;
        for claim in claims {
            let claim = claim?;
            while next.as_ref().is_none_or(|(id, _)| *id < claim.existing) {
                let Some(verdict) = verdicts.next()? else { break };
                next = Some((verdict.id, verdict.rank));
            }
            let Some((_, rank)) = next.as_ref().filter(|(id, _)| *id == claim.existing) else {
                return Err(self.wrong(&claim, "the existing page is none of the batch"));
            };
            let group = self.batch.group_of(rows[rank.index()]);
            let fingerprint = self.fingerprints[self.batch.fingerprint_of(group).index()];
            let alike = |keys: &GroupKeys| {
                let [new, existing] = [self.batch.group_of(claim.new), group];
                let rows = [new, existing].map(|group| self.batch.key_row(group));
                keys.compare_rows(rows[0], rows[1], claim.distance)
            };
            self.compare(&claim, fingerprint, self.keys.map(alike).transpose()?)?;
        }
        Ok(())
    }

    /// Compares a claim with the existing page that was found. With keys, `alike` is what they say.
    fn compare(
        &mut self,
        claim: &Claim,
        existing: F,
        alike: Option<Option<Option<Similarity>>>,
    ) -> Result<()> {
        let group = self.batch.group_of(claim.new);
        let fingerprint = self.fingerprints[self.batch.fingerprint_of(group).index()];
        let distance = fingerprint.distance(existing);
        if distance != claim.distance {
            return Err(self
                .wrong(claim, "this is not the distance of the two fingerprints")
                .expected(distance)
                .found(claim.distance));
        }
        if let Some(similarity) = alike {
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
