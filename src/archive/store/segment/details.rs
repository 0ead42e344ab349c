//! The details of a row: what a segment may have of it beside its fingerprint, its id and its day, each in a column.
//!
//! A detail is a line of the list `details!` below: a field of [`Details`], the [`Column`] that has it, and the field of
//! [`SegmentOptions`] that says whether a segment has the column, or how many bytes a row has there. What writes, reads,
//! sorts and merges rows follows from the list.

use std::io::Write;
use std::ops::RangeBounds;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::{Check, Class, Recipe};

use super::block::Codec;
use super::columns::{Ending, SpooledColumn};
use super::detail::{DetailType, Kept};
use super::directory::{Column, IdKind};
use super::open::Segment;

/// The columns of a segment, and the recipe of its fingerprints.
#[derive(Clone, Debug, Default)]
pub struct SegmentOptions {
    pub ids: IdKind,
    pub codec: Codec,
    pub lengths: bool,
    /// Whether it has times, or other keys of a keep order.
    pub times: bool,
    /// The field that these keys are of, if they are not times.
    pub order: Option<String>,
    pub classes: bool,
    /// Whether it has the day of each row, as a segment of several days must.
    pub days: bool,
    /// The bytes of the signature of each row; 0 for no signatures, and [`AS_NEEDED`](crate::fingerprint::check::AS_NEEDED) where they differ.
    pub check_bytes: usize,
    pub anchors: bool,
    /// The bytes of the band keys of each row; 0 for none.
    pub band_bytes: usize,
    pub digests: bool,
    pub words: bool,
    pub passage_anchors: bool,
    pub keys: bool,
    pub declared: bool,
    pub stamp: String,
}

/// Makes what follows from a list of details.
macro_rules! details {
    ($($(#[$about:meta])* $name:ident: $Type:ty = $Column:ident if $kept:ident;)*) => {
        /// What is known of a row beside its fingerprint, its id and its day. Of these, a segment has those for which it
        /// has columns.
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct Details { $($(#[$about])* pub $name: $Type,)* }

        impl Details {
            pub(super) const NONE: &Details = &Details { $($name: <$Type as DetailType>::NONE,)* };

            pub(in crate::store) fn outside_bytes(&self) -> usize {
                0 $(+ self.$name.outside_bytes())*
            }
        }

        impl SegmentOptions {
            /// The options of a segment with the columns of `segment`, for rows of one day, with the usual codec.
            pub fn like(segment: &Segment) -> SegmentOptions {
                SegmentOptions {
                    ids: segment.id_kind(),
                    order: segment.order().map(str::to_owned),
                    stamp: segment.stamp().to_owned(),
                    $($kept: Kept::in_column(segment, Column::$Column),)*
                    ..SegmentOptions::default()
                }
            }

            /// With the columns of `other` as well. The rest is as it is here.
            pub fn or(self, other: SegmentOptions) -> SegmentOptions {
                SegmentOptions {
                    days: self.days || other.days,
                    $($kept: self.$kept.max(other.$kept),)*
                    ..self
                }
            }
        }

        pub(super) struct DetailColumns { $($name: Option<SpooledColumn>,)* }

        impl DetailColumns {
            pub(super) fn beside(path: &Path, options: &SegmentOptions) -> Result<DetailColumns> {
                Ok(DetailColumns { $($name: match usize::from(options.$kept) {
                    0 => None,
                    bytes => Some(SpooledColumn::beside(path, Column::$Column, bytes)?),
                },)* })
            }

            pub(super) fn push(&mut self, row: &Details) -> Result<()> {
                $(if let Some(column) = &mut self.$name { row.$name.write(column)?; })*
                Ok(())
            }

            pub(super) fn append_to(
                &mut self,
                ending: &mut Ending<'_, impl Write>,
                columns: impl RangeBounds<Column>,
            ) -> Result<()> {
                $(if columns.contains(&Column::$Column) { ending.append(self.$name.as_mut())?; })*
                Ok(())
            }
        }

        /// Looks up the details of rows in rising order.
        pub struct DetailLookup {
            $($name: Option<<$Type as DetailType>::Lookup>,)*
            row: Details,
        }

        impl DetailLookup {
            pub fn new(segment: &Segment) -> DetailLookup {
                DetailLookup::some(segment, |_| true)
            }

            pub fn some(segment: &Segment, wanted: impl Fn(Column) -> bool) -> DetailLookup {
                DetailLookup {
                    $($name: match wanted(Column::$Column) {
                        true => <$Type as DetailType>::lookup(segment, Column::$Column),
                        false => None,
                    },)*
                    row: Details::default(),
                }
            }

            /// The details of `row`, which the segment has. What is not looked up is as if it were not known.
            pub fn get(&mut self, row: u64) -> Result<&Details> {
                $(if let Some(lookup) = &mut self.$name { self.row.$name.read(lookup, row)?; })*
                Ok(&self.row)
            }
        }
    };
}

details! {
    /// The length of its text in UTF-8 bytes.
    length: u64 = Lengths if lengths;
    /// Its time in seconds since 1970, or its key in another order, if known (`i64::MIN` also means unknown).
    time: Option<i64> = Times if times;
    class: Class = Classes if classes;
    /// Its signature; empty if none is kept.
    check: Vec<u8> = Checks if check_bytes;
    /// The keys of its bands; empty if none are kept.
    bands: Vec<u8> = Bands if band_bytes;
    /// The XXH3-128 of its text; 0 if it is not known.
    digest: u128 = Digests if digests;
    /// Its anchors; empty if none are kept.
    anchors: Vec<u8> = Anchors if anchors;
    /// Its words and where they stand; empty if none are kept.
    words: Vec<u8> = Words if words;
    /// The anchors of its passages; empty if none are kept.
    passage_anchors: Vec<u8> = PassageAnchors if passage_anchors;
    /// The XXH3-128 of its key; 0 if it is not known.
    key: u128 = Keys if keys;
    /// What its record declares ([`Declared::to_row`](crate::document::Declared::to_row)).
    declared: Vec<u8> = Declared if declared;
}

impl SegmentOptions {
    /// Those of a segment of `recipe`, with the columns that the recipe fills: classes, signatures, digests and keys.
    pub fn of(recipe: &Recipe) -> SegmentOptions {
        SegmentOptions {
            classes: recipe.has_classes(),
            check_bytes: recipe.check().map_or(0, Check::bytes),
            anchors: recipe.check().is_some_and(Check::has_direction),
            digests: recipe.has_digests(),
            words: recipe.has_passages(),
            passage_anchors: recipe.has_passages(),
            keys: recipe.key().is_some(),
            declared: recipe.key().is_some(),
            stamp: recipe.stamp().to_string(),
            ..SegmentOptions::default()
        }
    }
}
