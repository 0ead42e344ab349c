//! The page that is nearest to a kept page: the first that could have stood in its place.
//!
//! Where verdicts ask for containment that is the candidate that contains most of it. Candidates are the pages that the join
//! compares: those within k bits, and those that share an anchor. The sketches say how much each contains. If there is no candidate,
//! it is the page whose fingerprint differs in the fewest bits.

use std::cmp::Reverse;
use std::collections::HashSet;

use dupsieve::fingerprint::{Check, Fingerprint, Width};
use dupsieve::matches::{Confirm, Recrawled, anchors_of};
use dupsieve::report::{Nearest, RECRAWLED, Report};
use dupsieve::store::{Dated, KeyRange, RowBytes, Segment, Store};
use dupsieve::{Kind, Result};
use serde::Serialize;

use crate::commands::places;

#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// In at most so many bits their fingerprints differ.
    pub(super) distance: u32,
    pub(super) confirm: Option<Confirm>,
    pub(super) recrawled: Recrawled,
}

impl Asked {
    pub(super) fn by(report: &Report) -> Result<Option<Asked>> {
        let parameter = |name| report.parameters.get(name);
        let Some(distance) = parameter("distance").and_then(|it| it.parse().ok()) else {
            return Ok(None);
        };
        let confirm = parameter("check").map(|check| check.parse()).transpose()?;
        let recrawled = parameter(RECRAWLED).map(|it| it.parse()).transpose()?.unwrap_or_default();
        Ok(Some(Asked { distance, confirm, recrawled }))
    }

    /// The share of a page that a kept page must contain for it to be dropped, if verdicts ask for it.
    pub(super) fn least(&self) -> Option<f64> {
        self.confirm.filter(Confirm::has_direction).map(|confirm| confirm.least)
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Other {
    #[serde(flatten)]
    pub(super) page: Nearest,
    /// The share of the page to explain that this one contains, by their sketches; none if they were not compared.
    pub(super) contains: Option<f64>,
}

struct Page<F> {
    row: u64,
    fingerprint: F,
    sketch: Option<Sketch>,
}

struct Sketch {
    check: Check,
    bytes: Vec<u8>,
    anchors: HashSet<u64>,
}

/// Of the pages that the page `id` of an output was compared with, the nearest one: of several the first of the store, then of the
/// batch. None if there is none, or the batch is not where it was. Pages that have left the store since are not looked at.
pub(super) fn nearest(report: &Report, asked: Asked, id: &str) -> Result<Option<Other>> {
    let Some(batch) = places::input_of(&report.run, "batch")? else { return Ok(None) };
    let batch = Segment::open(batch)?;
    let store = match (places::input_of(&report.run, "store")?, report.store_version) {
        (Some(store), Some(version)) => match Store::open(store)?.left_of(version) {
            Err(error) if error.kind() == Kind::Missing => Vec::new(),
            version => version?.dated()?,
        },
        _ => Vec::new(),
    };
    match batch.width() {
        Width::W64 => among::<u64>(&batch, store, asked, id),
        Width::W128 => among::<u128>(&batch, store, asked, id),
    }
}

fn among<F: Fingerprint>(
    batch: &Segment,
    store: Vec<Dated>,
    Asked { distance: most, confirm, .. }: Asked,
    id: &str,
) -> Result<Option<Other>> {
    let check = confirm.map(|it| it.check).filter(|check| check.has_direction());
    let Some(page) = Page::<F>::of(batch, check, id)? else { return Ok(None) };
    let mut nearest: Option<Other> = None;
    let batch = Dated::new(batch.clone(), None);
    for (at, dated) in store.iter().chain([&batch]).enumerate() {
        let is_batch = at == store.len();
        let segment = dated.segment();
        let (mut ids, mut shown) = (segment.ids(), dated.shown());
        let mut columns = segment.anchors().zip(segment.checks());
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut run = Vec::new();
        while let Some(first) = scan.next(&mut run)? {
            for (row, other) in (first..).zip(&run) {
                if is_batch && row == page.row || !shown.get(row)? {
                    continue;
                }
                let distance = page.fingerprint.distance(*other);
                let contains = match (&page.sketch, &mut columns) {
                    (Some(sketch), Some(columns)) => {
                        sketch.contained_in(row, columns, distance <= most)?
                    }
                    _ => None,
                };
                let is_nearer = |it: &Other| {
                    let nearness = |contains, distance| (contains, Reverse(distance));
                    nearness(contains, distance) > nearness(it.contains, it.page.distance)
                };
                if nearest.as_ref().is_some_and(|it| !is_nearer(it)) {
                    continue;
                }
                let against = match is_batch {
                    true => "batch".to_owned(),
                    false => dated.days().get(row)?.to_string(),
                };
                let page = Nearest { id: ids.get(row)?.to_owned(), distance, against };
                nearest = Some(Other { page, contains });
            }
        }
    }
    Ok(nearest)
}

impl<F: Fingerprint> Page<F> {
    fn of(segment: &Segment, check: Option<Check>, id: &str) -> Result<Option<Page<F>>> {
        let (mut ids, mut scan) = (segment.ids(), segment.scan::<F>(KeyRange::all()));
        let mut run = Vec::new();
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                if ids.get(row)? == id {
                    let sketch = Sketch::of(segment, check, row)?;
                    return Ok(Some(Page { row, fingerprint, sketch }));
                }
            }
        }
        Ok(None)
    }
}

impl Sketch {
    /// That of a row; none without a check.
    fn of(segment: &Segment, check: Option<Check>, row: u64) -> Result<Option<Sketch>> {
        let columns = segment.anchors().zip(segment.checks());
        let Some((check, (mut anchors, mut sketches))) = check.zip(columns) else {
            return Ok(None);
        };
        let (bytes, anchors) =
            (sketches.get(row)?.to_vec(), anchors_of(anchors.get(row)?).collect());
        Ok(Some(Sketch { check, bytes, anchors }))
    }

    /// The share of this page that the one in `row` contains, if that one `is_near` or shares an anchor.
    fn contained_in(
        &self,
        row: u64,
        (anchors, sketches): &mut (RowBytes, RowBytes),
        is_near: bool,
    ) -> Result<Option<f64>> {
        if !is_near && !anchors_of(anchors.get(row)?).any(|it| self.anchors.contains(&it)) {
            return Ok(None);
        }
        let contained = self.check.containment(&self.bytes, sketches.get(row)?);
        Ok(contained.map(|[of_this, _]| of_this.share()))
    }
}
