//! How much of a file a reader of columns holds at once.

/// The records of `--max-record` that are held at once. Writers put many rows into a page before they look at its size.
const RECORDS: usize = 8;

/// The least bound: usual pages, and usual rows of a page, whatever a record may take.
const LEAST: usize = 16 << 20;

pub(in crate::rooms::document) fn held_bytes(max_record: usize) -> usize {
    max_record.saturating_mul(RECORDS).max(LEAST)
}
