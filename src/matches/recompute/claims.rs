//! The rows of matches.tsv, checked against what is kept of the pages they name.
//!
//! Each row is a claim. Claims are sorted by the page that they name as existing, and looked up in that
//! order: in the batch by one pass over its ids, in the store by one pass over the segments for as many
//! claims as fit into memory.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::groups::{Groups, Measured};
use super::inputs::{Recompute, wrong_row};
use super::verdict_lines::VerdictLines;
use crate::error::{Error, Result};
use crate::matches::allocated::allocated;
use crate::matches::nearness::Nearness;
use crate::matches::numbers::IdRank;
use crate::matches::origin::Origin;
use crate::matches::result_columns::MATCHES;
use crate::progress::{self, Activity};
use crate::results::ResultReader;
use crate::runs::{Record, Sorter};
use crate::store::{Dated, Day, RowDays};

/// About how many bytes a claim takes while it is looked up, beside its id.
const CLAIM_BYTES: usize = 160;

/// A row of the matches. Ordered by the page that it names as existing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Claim<D> {
    origin: Origin,
    existing: String,
    /// The new page.
    new: IdRank,
    distance: D,
    /// The column of the check, if there is one.
    check: Option<String>,
    line: u64,
}

impl<D: Nearness> Record for Claim<D> {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.existing) + 16
    }
}

/// matches.tsv, read along with the verdicts.
pub(super) struct ClaimReader<D> {
    rows: ResultReader,
    /// The next row: the id of its new page, and the claim with a `new` that is not known yet.
    next: Option<(String, Claim<D>)>,
}

impl<D: Nearness> ClaimReader<D> {
    pub(super) fn open(of: &Recompute<'_>) -> Result<ClaimReader<D>> {
        let rows = ResultReader::of(of.output, MATCHES)?;
        let mut reader = ClaimReader { rows, next: None };
        reader.advance()?;
        Ok(reader)
    }

    /// Takes the claims on the page with this id and its rank, and says how many there are. Must be asked for ids
    /// in ascending order.
    pub(super) fn take(
        &mut self,
        id: &str,
        rank: IdRank,
        claims: &mut Sorter<Claim<D>>,
    ) -> Result<u64> {
        let mut count = 0;
        while let Some((_, claim)) = self.next.take_if(|(new, _)| *new == id) {
            claims.push(Claim { new: rank, ..claim })?;
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

    fn stranger(&self, claim: &Claim<D>) -> Error {
        let what = "the new page is no page of the batch that can match";
        wrong_row(self.rows.path(), claim.line, what)
    }

    fn advance(&mut self) -> Result<()> {
        let Some(line) = self.rows.next_row()? else {
            self.next = None;
            return Ok(());
        };
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let line = self.rows.number();
        let wrong = |what: &str| wrong_row(self.rows.path(), line, what);
        let [new, existing, distance, origin, check @ .., _] = &fields[..] else {
            return Err(wrong("too few columns"));
        };
        let (Some(distance), Ok(origin)) = (D::read(distance), origin.parse()) else {
            return Err(wrong(&format!("not a {} and a day or `batch`", D::COLUMN.name)));
        };
        let (existing, check) = (existing.clone(), check.first().cloned());
        let claim = Claim { origin, existing, new: IdRank::from(0), distance, check, line };
        self.next = Some((new.clone(), claim));
        Ok(())
    }
}

/// Looks up all that is claimed.
pub(super) struct Check<'a, G> {
    of: &'a Recompute<'a>,
    groups: &'a G,
    checked: u64,
}

impl<'a, G: Groups> Check<'a, G> {
    pub(super) fn new(of: &'a Recompute<'a>, groups: &'a G) -> Check<'a, G> {
        Check { of, groups, checked: 0 }
    }

    /// Checks all `claims`, and gives their number.
    pub(super) fn run(mut self, claims: Sorter<Claim<G::Distance>>) -> Result<u64> {
        let mut claims = claims.sorted()?.peekable();
        let most_bytes = self.of.memory_bytes.max(1 << 20);
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
            self.in_store(&held)?;
        }
        self.in_batch(claims)?;
        Ok(self.checked)
    }

    /// Looks up claims on pages of the store, which come in order.
    fn in_store(&mut self, claims: &[Claim<G::Distance>]) -> Result<()> {
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
        claims: &[Claim<G::Distance>],
        wanted: &HashMap<(Day, u64), Vec<u32>>,
        found: &mut [bool],
    ) -> Result<()> {
        let mut days = dated.days();
        let mut shown = dated.shown();
        let mut ids = dated.segment().ids();
        let mut rows: Option<G::Rows> = None;
        for row in 0..dated.segment().rows() {
            progress::tick(Activity::Working);
            let day = days.get(row)?;
            let id = ids.get(row)?;
            let Some(numbers) = wanted.get(&(day, xxh3_64(id.as_bytes()))) else { continue };
            if !shown.get(row)? {
                continue;
            }
            for &number in numbers {
                let claim = &claims[number as usize];
                if claim.existing != id {
                    continue;
                }
                let rows = match &mut rows {
                    Some(rows) => rows,
                    none => none.insert(self.groups.rows_of(dated)?),
                };
                let measured = self.groups.compare_row(claim.new, rows, row)?;
                self.compare(claim, measured)?;
                found[number as usize] = true;
            }
        }
        Ok(())
    }

    /// Looks up claims on pages of the batch, which come in order, along with the verdicts.
    fn in_batch(&mut self, claims: impl Iterator<Item = Result<Claim<G::Distance>>>) -> Result<()> {
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
            let measured = self.groups.compare(claim.new, *rank)?;
            self.compare(&claim, measured)?;
        }
        Ok(())
    }

    /// Compares a claim with how near the two pages are.
    fn compare(
        &mut self,
        claim: &Claim<G::Distance>,
        measured: Measured<G::Distance>,
    ) -> Result<()> {
        let (distance, check) = measured.map_err(|what| self.wrong(claim, what))?;
        if distance != claim.distance {
            let what = format!("this is not the {} of the two pages", G::Distance::COLUMN.name);
            let error = self.wrong(claim, &what);
            return Err(error.expected(distance).found(claim.distance));
        }
        let check = check.map(|it| it.to_string());
        if check != claim.check {
            return Err(self
                .wrong(claim, "this is not the similarity of the two signatures")
                .expected(check.unwrap_or_default())
                .found(claim.check.as_deref().unwrap_or_default()));
        }
        self.checked += 1;
        Ok(())
    }

    fn wrong(&self, claim: &Claim<G::Distance>, what: &str) -> Error {
        match ResultReader::path_in(self.of.output, MATCHES) {
            Ok(path) => wrong_row(&path, claim.line, what),
            Err(error) => error,
        }
    }
}
