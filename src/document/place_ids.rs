//! Which records get their places as ids.

use crate::error::named;

/// Which records get their places as ids: the path of the file below the input folder, a colon, and the line or the number of
/// the record, such as `news/part-3.jsonl:17`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaceIds {
    Missing,
    /// None: a record without an id cannot be read.
    #[default]
    Never,
    All,
}

named!(pub PlaceIds { Missing = "true", Never = "false", All = "all" } or "no such choice of records");

impl PlaceIds {
    pub(super) fn fill(self) -> bool {
        self != PlaceIds::Never
    }

    pub(super) fn reads_ids(self) -> bool {
        self != PlaceIds::All
    }
}
