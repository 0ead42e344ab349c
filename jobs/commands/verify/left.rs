//! An output whose store has lost pages since: they were removed, replaced or have expired, or the version that was read was pruned. The
//! batch is joined with what is left, and the verdicts are compared.
//!
//! A verdict that comes out the same is right. Another one may come out because of pages that are gone, directly or through other pages. For
//! example, if `x` was removed:
//!
//! ```text
//!     told               with what is left
//! a   drop of x 18       keep                  not looked at: x is gone
//! b   keep               drop of a batch       not looked at: another verdict than told came out for a
//! c   drop of y 18       keep                  wrong, for y is there
//! ```

use std::collections::HashSet;
use std::path::Path;

use dupsieve::Result;
use dupsieve::error::Named;
use dupsieve::join::Join;
use dupsieve::matches::Recrawled;
use dupsieve::output::Staging;
use dupsieve::report::{self, Nearest};
use dupsieve::store::{Digest, Segment};

use super::join_output::{Gone, JoinOutput, PORTION, StoreRead};
use crate::outcome::counted;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Judged {
    pub(super) again: u64,
    /// Those whose verdict may go by pages that are gone.
    pub(super) not_again: u64,
}

impl JoinOutput<'_> {
    /// Joins the batch, if it is there, with what is left of the store, and compares the verdicts.
    pub(super) fn left_again(&self, batch: Option<&Segment>, read: &StoreRead) -> Result<Judged> {
        let Some(batch) = self.is_there(batch, Some(&read.version)) else {
            return Ok(Judged::default());
        };
        let mut join = self.join(batch, Some(&read.version))?;
        let passages = join.passages.take();
        let not_again = self.beside(|processes, site| {
            let compare = |_, staging: Staging| {
                if let Some(words) = passages {
                    self.passages_left(&join, words, read, &staging)?;
                }
                self.compare(&join, staging.folder(), read)
            };
            Ok(join.run_at(processes, site, compare)?.leader().unwrap_or_default())
        })?;
        let again = batch.rows().saturating_sub(not_again);
        let output = self.output.named();
        let same = counted(again, "page(s)");
        match not_again {
            0 => tracing::info!(
                "{output}: pages have left the store since; by what is left of it, the verdicts of all {same} came out the same"
            ),
            _ => tracing::warn!(
                "{output}: pages have left the store since; by what is left of it, the verdicts of {same} came out the same; those of {} may go by pages that are gone, and were not looked at",
                counted(not_again, "page(s)")
            ),
        }
        Ok(Judged { again, not_again })
    }

    /// Compares the verdicts with those in the folder `again`. Gives how many are others, all of which pages that are gone can explain.
    fn compare(&self, join: &Join, again: &Path, read: &StoreRead) -> Result<u64> {
        let outputs = [self.output, again];
        let by_rule = join.recrawled == Recrawled::Rule;
        let mut others = HashSet::new();
        report::each_differing(outputs, |id, _| {
            others.insert(Digest::of(id.as_bytes()));
            Ok(())
        })?;
        // Pages that are kept only because a page of the store is gone.
        let mut kept: Vec<Gone> = Vec::new();
        report::each_differing(outputs, |id, verdicts| {
            let named = verdicts.map(|verdict| verdict.nearest);
            let is_other = |named: &Nearest| {
                named.against == "batch" && others.contains(&Digest::of(named.id.as_bytes()))
            };
            if named.iter().flatten().any(is_other) {
                return Ok(());
            }
            let [told, made] = named.map(|named| named.filter(|it| it.against != "batch"));
            match (told, made) {
                // Of a crowd some are compared, so that another one is named where one of these is gone.
                (Some(_), Some(_)) => Ok(()),
                (Some(Nearest { id: of, against, .. }), None) => {
                    kept.push(Gone { id: id.to_owned(), of, against });
                    self.expect_gone(&mut kept, PORTION, read, "verdict")
                }
                // It may have been kept for the key of a page that is gone.
                (None, _) if !by_rule => Ok(()),
                (None, _) => Err(self.is_wrong(id, "verdict")),
            }
        })?;
        self.expect_gone(&mut kept, 0, read, "verdict")?;
        Ok(others.len() as u64)
    }
}
