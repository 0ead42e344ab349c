//! A segment that can be asked for what is near a fingerprint, and for what shares anchors, with the tables of its index.

use std::ops::Range;

use super::anchor_table::AnchorTable;
use super::design::{IndexDesign, Shape};
use super::keeping::{Content, TableFile};
use super::walk::{Near, Walk};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::matches::{Anchored, AnchoredRows};
use crate::store::{Access, Dated, Ranked, Segment};
use crate::work::Work;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NearRows {
    pub(super) distance: u8,
    pub(super) segment: u32,
    pub(super) rows: Range<u64>,
    /// Whether they were found because they share anchors, and have one sketch.
    pub(super) by_anchors: bool,
}

pub(super) trait Shelf: Send + Sync {
    /// Adds to `found` what is within `distance` of `asked`, as far as `work` goes. `segment` is its number.
    fn find(
        &self,
        asked: u128,
        distance: u32,
        segment: u32,
        found: &mut Vec<NearRows>,
        work: &mut Work<'_>,
    ) -> Result<()>;

    /// Adds to `found` the nearest rows that share anchors with the page with this fingerprint and these `anchors`, as far as `work` goes. `segment`
    /// is the segment, and its number.
    fn find_anchored(
        &self,
        page: (u128, &[u8]),
        segment: (u32, &Dated),
        found: &mut Vec<AnchoredRows>,
        work: &mut Work<'_>,
    ) -> Result<()>;
}

/// Opens a segment with those tables of `design` that are there. Also returns whether all are.
pub(super) fn open(
    segment: &Segment,
    design: IndexDesign,
    distance: u32,
    files: &[TableFile],
    access: Access,
) -> Result<(Box<dyn Shelf>, bool)> {
    match segment.width() {
        Width::W64 => Tables::<u64>::open(segment, design, distance, files, access),
        Width::W128 => Tables::<u128>::open(segment, design, distance, files, access),
    }
}

struct Tables<F> {
    primary: Ranked<F>,
    /// Each with its file; none if it is the segment itself.
    tables: Vec<(Shape, Option<Ranked<F>>)>,
    /// Without it, all anchors of the segment are read.
    anchors: Option<AnchorTable>,
}

impl<F: Fingerprint> Tables<F> {
    fn open(
        segment: &Segment,
        design: IndexDesign,
        distance: u32,
        files: &[TableFile],
        access: Access,
    ) -> Result<(Box<dyn Shelf>, bool)> {
        let primary = Ranked::<F>::open(segment, access)?;
        let mut opened = files.iter().map(|file| file.open(segment)).collect::<Result<Vec<_>>>()?;
        let whole = opened.iter().all(Option::is_some);
        let mut anchors = None;
        if files.last().is_some_and(|file| file.content == Content::Anchors) {
            let table = opened.pop().flatten();
            let ranked = table.map(|table| Ranked::open(&table, access)).transpose()?;
            anchors = ranked.map(|ranked| AnchorTable::new(ranked, segment.rows()));
        }
        let has_tables = opened.iter().all(Option::is_some);
        let design = if has_tables { design } else { IndexDesign::None };
        let mut tables = Vec::new();
        for shape in design.shapes(F::WIDTH, distance)? {
            let table = shape.file.and_then(|number| opened[number].as_ref());
            let table = table.map(|table| Ranked::open(table, access)).transpose()?;
            tables.push((shape, table));
        }
        Ok((Box::new(Tables { primary, tables, anchors }), whole))
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
                let finds = |(shape, _): &(Shape, _)| shape.finds(difference);
                if self.tables[..=number].iter().position(finds) == Some(number) {
                    let distance = fingerprint.distance(asked) as u8;
                    found.push(NearRows { distance, segment, rows, by_anchors: false });
                }
            }
        }
        Ok(())
    }

    fn find_anchored(
        &self,
        (fingerprint, anchors): (u128, &[u8]),
        segment: (u32, &Dated),
        found: &mut Vec<AnchoredRows>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        let mut sharing = self.anchors.as_ref().map(|table| table.sharing(anchors));
        let sharing = sharing.as_mut().map(|it| it as &mut dyn Iterator<Item = _>);
        let mut fingerprint_of = |row| self.primary.get(row);
        let page = Anchored::new(F::from_u128(fingerprint), anchors);
        page.nearest(segment, &mut fingerprint_of, sharing, found, work)
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
            key_bits: self.mask.count_ones(),
            within: self.within,
            distance,
        }
    }
}
