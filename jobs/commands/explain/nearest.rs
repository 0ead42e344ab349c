//! The page that is nearest to a kept page: the first that could have stood in its place.

use std::path::PathBuf;

use dupsieve::rooms::fingerprint::{Fingerprint, Width};
use dupsieve::rooms::report::{Nearest, Report};
use dupsieve::rooms::store::{Dated, KeyRange, Segment, Store};
use dupsieve::{Kind, Result};

use crate::flags::place::Place;

/// Of the pages that the page `id` of an output was compared with, the one whose fingerprint differs in the fewest bits: of several
/// the first of the store, then of the batch. None if there is none, or the batch or the store is not where it was.
pub(super) fn nearest(report: &Report, id: &str) -> Result<Option<Nearest>> {
    let Some(batch) = input(report, "batch")? else { return Ok(None) };
    let batch = Segment::open(batch)?;
    let store = match (input(report, "store")?, report.store_version) {
        (Some(store), Some(version)) => match Store::open(store)?.at(Some(version)) {
            Err(error) if error.kind() == Kind::Missing => Vec::new(),
            version => version?.dated()?,
        },
        _ => Vec::new(),
    };
    match batch.width() {
        Width::W64 => among::<u64>(&batch, store, id),
        Width::W128 => among::<u128>(&batch, store, id),
    }
}

/// The path of an input, if it still exists.
fn input(report: &Report, name: &str) -> Result<Option<PathBuf>> {
    let named = report.run["inputs"][name].as_str();
    let path = named.map(|it| Place::from(it).here()).transpose()?;
    Ok(path.filter(|path| path.exists()))
}

fn among<F: Fingerprint>(batch: &Segment, store: Vec<Dated>, id: &str) -> Result<Option<Nearest>> {
    let Some((own, fingerprint)) = row_of::<F>(batch, id)? else { return Ok(None) };
    let mut nearest: Option<Nearest> = None;
    let batch = Dated::new(batch.clone(), None);
    for (at, dated) in store.iter().chain([&batch]).enumerate() {
        let is_batch = at == store.len();
        let segment = dated.segment();
        let (mut ids, mut shown) = (segment.ids(), dated.shown());
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut run = Vec::new();
        while let Some(first) = scan.next(&mut run)? {
            for (row, other) in (first..).zip(&run) {
                let distance = fingerprint.distance(*other);
                let is_nearer = nearest.as_ref().is_none_or(|it| distance < it.distance);
                if !is_nearer || is_batch && row == own || !shown.get(row)? {
                    continue;
                }
                let against = match is_batch {
                    true => "batch".to_owned(),
                    false => dated.days().get(row)?.to_string(),
                };
                nearest = Some(Nearest { id: ids.get(row)?.to_owned(), distance, against });
            }
        }
    }
    Ok(nearest)
}

/// The row of the page with that id, and its fingerprint.
fn row_of<F: Fingerprint>(segment: &Segment, id: &str) -> Result<Option<(u64, F)>> {
    let (mut ids, mut scan) = (segment.ids(), segment.scan::<F>(KeyRange::all()));
    let mut run = Vec::new();
    while let Some(first) = scan.next(&mut run)? {
        for (row, fingerprint) in (first..).zip(&run) {
            if ids.get(row)? == id {
                return Ok(Some((row, *fingerprint)));
            }
        }
    }
    Ok(None)
}
