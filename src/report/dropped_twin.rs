//! A dropped page that a kept page is near to: the copy of a copy.
//!
//! Near is not transitive. With k = 3, `b` is dropped today in favour of `a`, 3 bits away, and leaves. Tomorrow's `c` is 2 bits
//! from `b` and 5 from `a`: it is near to nothing that stays, and it is kept.
//!
//! ```text
//! a        kept on 19
//! b        dropped on 19 in favour of a         3 bits from a
//! c        kept on 20; its twin is b            2 bits from b, 5 bits from a
//! ```

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::join_report::Report;
use super::made::Made;
use super::verdicts::{Nearest, each_drop};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Class;
use crate::matches::Confirm;
use crate::store::{Classes, Day, Fingerprints, RowBytes, Segment};

/// A page, as its segment has it.
#[derive(Clone, Debug)]
pub struct SegmentPage {
    id: String,
    day: Day,
    fingerprint: u128,
    class: Option<Class>,
    signature: Option<Vec<u8>>,
}

/// What counts as near.
#[derive(Clone, Copy, Debug)]
pub struct NearBy {
    distance: u32,
    check: Option<Confirm>,
}

/// A dropped page that is near to a kept page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DroppedTwin {
    /// Its id.
    pub id: String,
    /// Its day.
    pub day: Day,
    /// In how many bits the fingerprints of the two pages differ.
    pub distance: u32,
    /// The page in whose favour the twin was dropped.
    pub of: Nearest,
}

impl NearBy {
    /// What counts as near in the join whose output is `output`.
    ///
    /// # Errors
    /// [`Kind::Missing`] if there is no whole output.
    pub fn of(output: &Path) -> Result<NearBy> {
        let report = Report::read(output)?.ok_or_else(|| {
            Error::new(Kind::Missing, "there is no finished output of dedup here").at(output)
        })?;
        let parameter = |name: &str| report.parameters.get(name);
        let distance = parameter("distance").and_then(|text| text.parse().ok()).unwrap_or(0);
        let check = parameter("check").map(|text| text.parse()).transpose()?;
        Ok(NearBy { distance, check })
    }

    /// How many bits apart the page and row `row` are, if they are near.
    fn distance(&self, page: &SegmentPage, rows: &mut RowLookups, row: u64) -> Result<Option<u32>> {
        let distance = (page.fingerprint ^ rows.fingerprints.get(row)?).count_ones();
        let one_class = self.check.as_ref().is_none_or(Confirm::needs_one_class);
        if distance > self.distance || one_class && page.class != rows.class(row)? {
            return Ok(None);
        }
        let Some(check) = &self.check else { return Ok(Some(distance)) };
        let signatures = page.signature.as_deref().zip(rows.signature(row)?);
        let is_like = signatures.is_some_and(|(one, another)| check.confirms(one, another));
        Ok(is_like.then_some(distance))
    }
}

impl SegmentPage {
    /// The page with this id in the segment of `day`; none if the segment has no such page with a fingerprint.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`].
    pub fn find(segment: &Segment, day: Day, id: &str) -> Result<Option<SegmentPage>> {
        let mut ids = segment.ids();
        for row in 0..segment.rows() {
            if ids.get(row)? == id {
                let mut rows = RowLookups::of(segment);
                return Ok(Some(SegmentPage {
                    id: id.to_owned(),
                    day,
                    fingerprint: rows.fingerprints.get(row)?,
                    class: rows.class(row)?,
                    signature: rows.signature(row)?.map(<[u8]>::to_vec),
                }));
            }
        }
        Ok(None)
    }

    /// The nearest page that the join of `day` dropped, of those that are near and were not dropped in favour of this page. `segment` has the pages of that day, and
    /// `output` their verdicts.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`].
    pub fn dropped_twin(
        &self,
        near: &NearBy,
        (day, segment, output): (Day, &Segment, &Path),
    ) -> Result<Option<DroppedTwin>> {
        let mut rows = RowLookups::of(segment);
        let mut ids = segment.ids();
        let mut found = HashMap::new();
        for row in 0..segment.rows() {
            if let Some(distance) = near.distance(self, &mut rows, row)? {
                found.insert(ids.get(row)?.to_owned(), distance);
            }
        }
        if day == self.day {
            found.remove(&self.id);
        }
        let mut twins = Vec::new();
        if !found.is_empty() {
            each_drop(output, |id, of| {
                let is_own = day == self.day && of.id == self.id && of.against == "batch";
                let twin = |&distance| DroppedTwin { id: id.to_owned(), day, distance, of };
                twins.extend(found.get(id).filter(|_| !is_own).map(twin));
            })?;
        }
        Ok(twins.into_iter().min_by(|a, b| (a.distance, &a.id).cmp(&(b.distance, &b.id))))
    }
}

/// Looks up what decides whether rows are near.
struct RowLookups {
    fingerprints: Fingerprints,
    classes: Option<Classes>,
    signatures: Option<RowBytes>,
}

impl RowLookups {
    fn of(segment: &Segment) -> RowLookups {
        let fingerprints = segment.fingerprints();
        RowLookups { fingerprints, classes: segment.classes(), signatures: segment.checks() }
    }

    fn class(&mut self, row: u64) -> Result<Option<Class>> {
        self.classes.as_mut().map(|classes| classes.get(row)).transpose()
    }

    fn signature(&mut self, row: u64) -> Result<Option<&[u8]>> {
        self.signatures.as_mut().map(|signatures| signatures.get(row)).transpose()
    }
}
