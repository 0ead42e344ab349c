//! Looks up all optional columns of a row at once.

use crate::error::Result;
use crate::fingerprint::Class;

use super::lookup::{Classes, Lengths, Times};
use super::open::Segment;
use super::row_bytes::{RowBytes, TextDigests};
use super::writer::Row;

/// Lengths, times, classes, signatures, band keys and digests, if the segment has them.
pub(in crate::rooms::store) struct Details {
    lengths: Option<Lengths>,
    times: Option<Times>,
    classes: Option<Classes>,
    checks: Option<RowBytes>,
    bands: Option<RowBytes>,
    digests: Option<TextDigests>,
}

impl Details {
    pub(in crate::rooms::store) fn new(segment: &Segment) -> Details {
        Details {
            lengths: segment.lengths(),
            times: segment.times(),
            classes: segment.classes(),
            checks: segment.checks(),
            bands: segment.bands(),
            digests: segment.digests(),
        }
    }

    /// The document in `row`, whose fingerprint and id are known. It has no day.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub(in crate::rooms::store) fn row<'a, F>(
        &'a mut self,
        row: u64,
        fingerprint: F,
        id: &'a str,
    ) -> Result<Row<'a, F>> {
        let Details { lengths, times, classes, checks, bands, digests } = self;
        Ok(Row {
            fingerprint,
            id,
            length: lengths.as_mut().map_or(Ok(0), |lengths| lengths.get(row))?,
            time: times.as_mut().map_or(Ok(None), |times| times.get(row))?,
            class: classes.as_mut().map_or(Ok(Class::Full), |classes| classes.get(row))?,
            day: None,
            check: checks.as_mut().map_or(Ok(&[][..]), |checks| checks.get(row))?,
            bands: bands.as_mut().map_or(Ok(&[][..]), |bands| bands.get(row))?,
            digest: digests.as_mut().map_or(Ok(0), |digests| digests.get(row))?,
        })
    }
}
