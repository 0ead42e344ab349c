//! A segment that can be asked for what is near a fingerprint, with the tables of its index.

use std::ops::Range;

use super::design::{Design, Shape};
use super::table_file::TableFile;
use super::walk::{Near, Walk};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::store::{Access, KeyRange, Ranked, Segment};

/// The rows of one fingerprint of a segment, and how far that is from the one that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) distance: u8,
    /// The number of the segment in its version.
    pub(super) segment: u32,
    pub(super) rows: Range<u64>,
}

/// A segment of either width, and its tables.
pub(super) trait Shelf: Send + Sync {
    /// Adds to `found` what is within `distance` of `asked`. `segment` is its number.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    fn find(&self, asked: u128, distance: u32, segment: u32, found: &mut Vec<Found>) -> Result<()>;
}

/// Opens a segment with the tables of `design`, if they are there. Also returns whether they are.
pub(super) fn open(
    segment: &Segment,
    design: Design,
    distance: u32,
    tables: &TableFile<'_>,
    access: Access,
) -> Result<(Box<dyn Shelf>, bool)> {
    Ok(match segment.width() {
        Width::W64 => {
            let (shelf, whole) = Tables::<u64>::open(segment, design, distance, tables, access)?;
            (Box::new(shelf), whole)
        }
        Width::W128 => {
            let (shelf, whole) = Tables::<u128>::open(segment, design, distance, tables, access)?;
            (Box::new(shelf), whole)
        }
    })
}

/// The fingerprints of a segment, and its tables.
struct Tables<F> {
    primary: Ranked<F>,
    tables: Vec<(Shape, Option<Ranked<F>>)>,
}

impl<F: Fingerprint> Tables<F> {
    fn open(
        segment: &Segment,
        design: Design,
        distance: u32,
        files: &TableFile<'_>,
        access: Access,
    ) -> Result<(Tables<F>, bool)> {
        let primary = Ranked::open(segment, access)?;
        let shapes = design.shapes(F::WIDTH, distance)?;
        let mut tables = Vec::new();
        for shape in shapes {
            let table = match shape.file {
                None => None,
                Some(number) => match files.open(segment, design, number)? {
                    Some(table) => Some(Ranked::open(&table, access)?),
                    None => {
                        let shapes = Design::None.shapes(F::WIDTH, distance)?;
                        let tables = shapes.into_iter().map(|shape| (shape, None)).collect();
                        return Ok((Tables { primary, tables }, false));
                    }
                },
            };
            tables.push((shape, table));
        }
        Ok((Tables { primary, tables }, true))
    }
}

impl<F: Fingerprint> Shelf for Tables<F> {
    fn find(&self, asked: u128, distance: u32, segment: u32, found: &mut Vec<Found>) -> Result<()> {
        let asked = F::from_u128(asked);
        let mut near: Vec<Near<F>> = Vec::new();
        for (number, (Shape { permutation, reach, .. }, table)) in self.tables.iter().enumerate() {
            near.clear();
            let walk = Walk {
                table: table.as_ref().unwrap_or(&self.primary),
                asked: permutation.apply(asked),
                key_bits: reach.mask.count_ones(),
                within: reach.within,
                distance,
            };
            walk.run(&mut near)?;
            for Near { fingerprint, rows } in near.drain(..) {
                let fingerprint = permutation.undo(fingerprint);
                let difference = fingerprint ^ asked;
                // What an earlier table finds was found there.
                let covers = |(shape, _): &(Shape, _)| shape.reach.covers(difference);
                if self.tables[..=number].iter().position(covers) != Some(number) {
                    continue;
                }
                let rows = match table {
                    None => rows,
                    Some(_) => {
                        self.primary.rows(KeyRange { low: fingerprint, high: fingerprint })?
                    }
                };
                let distance = fingerprint.distance(asked) as u8;
                found.push(Found { distance, segment, rows });
            }
        }
        Ok(())
    }
}
