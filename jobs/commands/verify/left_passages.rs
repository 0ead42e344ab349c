//! The passages of a day whose store has lost pages since. They are found again in what is left of it, and compared.
//!
//! A passage that comes out the same is right. What is left repeats no other windows than were repeated before, so each passage that is found again
//! lies within one of the table. And one of the table is found again where it begins, as a copy of the same place, unless the page of that place is
//! gone. For example, if `x` was removed:
//!
//! ```text
//!     table            with what is left
//! a     0..900 of y    0..400 of y        not looked at: x may have had the rest
//! a  1000..1400 of x   1000..1400 of z    not looked at: x is gone
//! b     0..400 of y    -                  wrong, for y is there
//! ```

use std::iter::Peekable;

use dupsieve::error::Named;
use dupsieve::join::Join;
use dupsieve::output::Staging;
use dupsieve::passages::{DayPassagesFound, PassageRow, PassageRows};
use dupsieve::{Error, Kind, Result};

use super::join_output::{Gone, JoinOutput, PORTION, StoreRead};
use crate::outcome::counted;

const PASSAGE: &str = "passage";

impl JoinOutput<'_> {
    /// Finds the passages of the kept pages in what is left of the store, and compares them with the table.
    pub(super) fn passages_left(
        &self,
        join: &Join,
        words: usize,
        read: &StoreRead,
        staging: &Staging,
    ) -> Result<()> {
        join.find_passages(words, &self.output.join("keep.txt"), staging, self.global.workers(1))?;
        let mut left = PassageRows::of(staging.folder())?.peekable();
        let (mut found, mut not_again) = (DayPassagesFound::default(), 0);
        let mut gone = Vec::new();
        let mut last = String::new();
        for row in PassageRows::of(self.output)? {
            let row = row?;
            found.passages += 1;
            found.words += u64::from(row.words);
            found.pages += u64::from(last != row.id);
            let within = within(&row, &mut left)?;
            not_again += u64::from(within.as_ref() != Some(&row));
            if within.is_none_or(|it| !begins_as(&it, &row)) {
                if row.against == "batch" {
                    return Err(self.is_wrong(&row.id, PASSAGE));
                }
                let PassageRow { id, of, against, .. } = row.clone();
                gone.push(Gone { id, of, against });
                self.expect_gone(&mut gone, PORTION, read, PASSAGE)?;
            }
            last = row.id;
        }
        if let Some(more) = left.next() {
            return Err(self.is_wrong(&more?.id, PASSAGE));
        }
        self.expect_gone(&mut gone, 0, read, PASSAGE)?;
        if self.report.passages != Some(found) {
            return Err(Error::new(Kind::BadData, "the report has other counts than passages.tsv")
                .at(self.output)
                .expected(format_args!("{found:?}"))
                .found(format_args!("{:?}", self.report.passages)));
        }
        let output = self.output.named();
        let again = counted(found.passages - not_again, "passage(s)");
        match not_again {
            0 => tracing::info!("{output}: all {again} came out the same, too"),
            _ => tracing::warn!(
                "{output}: {again} came out the same; {} may go by pages that are gone, and were not looked at in full",
                counted(not_again, "other(s)")
            ),
        }
        Ok(())
    }
}

/// Takes those of the passages that are left that lie within one of the table, and gives the first.
fn within(row: &PassageRow, left: &mut Peekable<PassageRows>) -> Result<Option<PassageRow>> {
    let is_within = |it: &PassageRow| it.id == row.id && row.begin <= it.begin && it.end <= row.end;
    let mut next = || left.next_if(|it| it.as_ref().map_or(true, is_within)).transpose();
    let first = next()?;
    while next()?.is_some() {}
    Ok(first)
}

fn begins_as(one: &PassageRow, other: &PassageRow) -> bool {
    let begins = |it: &PassageRow| (it.begin, it.of_begin);
    begins(one) == begins(other) && one.of == other.of && one.against == other.against
}
