//! A segment that can be asked for what is near a fingerprint, with the tables of its index.

use std::ops::Range;

use super::design::{IndexDesign, Shape};
use super::table_file::TableFile;
use super::walk::{Near, Walk};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::store::{Access, Ranked, Segment};
use crate::work::Work;

/// The rows of one fingerprint of a segment, and the distance of this fingerprint from the
/// fingerprint that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NearRows {
    pub(super) distance: u8,
    /// The number of the segment in its version.
    pub(super) segment: u32,
    pub(super) rows: Range<u64>,
}

/// A segment of either width, and its tables.
pub(super) trait Shelf: Send + Sync {
    /// Adds to `found` what is within `distance` of `asked`, as far as `work` goes. `segment` is its number.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    fn find(
        &self,
        asked: u128,
        distance: u32,
        segment: u32,
        found: &mut Vec<NearRows>,
        work: &mut Work<'_>,
    ) -> Result<()>;
}

/// Opens a segment with the tables of `design`, as far as the files of the tables are there. Also
/// returns whether all files are there.
pub(super) fn open(
    segment: &Segment,
    design: IndexDesign,
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

struct Tables<F> {
    primary: Ranked<F>,
    /// Each with its file; none if it is the segment itself.
    tables: Vec<(Shape, Option<Ranked<F>>)>,
}

impl<F: Fingerprint> Tables<F> {
    fn open(
        segment: &Segment,
        design: IndexDesign,
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
                        let shapes = IndexDesign::None.shapes(F::WIDTH, distance)?;
                        let itself = |shape| (shape, None);
                        let tables = shapes.into_iter().map(itself).collect();
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
    fn find(
        &self,
        asked: u128,
        distance: u32,
        segment: u32,
        found: &mut Vec<NearRows>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        let asked = F::from_u128(asked);
        let mut near: Vec<Near<F>> = Vec::new();
        for (number, (shape, table)) in self.tables.iter().enumerate() {
            near.clear();
            let mut within = Vec::new();
            match table {
                None => shape.walk(&self.primary, asked, distance).run(&mut near, work)?,
                Some(table) => {
                    shape.walk(table, asked, distance).run(&mut near, work)?;
                    within.extend(near.drain(..).map(|it| it.fingerprint));
                }
            }
            self.look_up(asked, distance, shape, &within, &mut near, work)?;
            for Near { fingerprint, rows } in near.drain(..) {
                let difference = fingerprint ^ asked;
                // What an earlier table finds was found there.
                let covers = |(shape, _): &(Shape, _)| shape.reach.covers(difference);
                if self.tables[..=number].iter().position(covers) == Some(number) {
                    let distance = fingerprint.distance(asked) as u8;
                    found.push(NearRows { distance, segment, rows });
                }
            }
        }
        Ok(())
    }
}

impl<F: Fingerprint> Tables<F> {
    /// Adds to `near` what the segment has within `distance` of `asked`, with the same first bits as what was found
    /// in a table, as far as the table knows them.
    fn look_up(
        &self,
        asked: F,
        distance: u32,
        shape: &Shape,
        found: &[F],
        near: &mut Vec<Near<F>>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        if found.is_empty() {
            return Ok(());
        }
        let (width, key_bits, within) = (F::BITS, 0, distance);
        let walk = Walk { table: &self.primary, asked, width, key_bits, within, distance };
        let bits = shape.first_bits::<F>();
        let first = F::MAX << (F::BITS - bits);
        let mut beginnings: Vec<F> = found.iter().map(|&it| shape.restore(it) & first).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        beginnings.into_iter().try_for_each(|it| walk.look_up(it, bits, near, work))
    }
}

impl Shape {
    /// How a table of this shape is walked by the rank of keys.
    fn walk<'a, F: Fingerprint>(
        &self,
        table: &'a Ranked<F>,
        asked: F,
        distance: u32,
    ) -> Walk<'a, F> {
        Walk {
            table,
            asked: self.arrange(asked),
            width: F::BITS - self.cut,
            key_bits: self.reach.mask.count_ones(),
            within: self.reach.within,
            distance,
        }
    }
}
