//! A batch joined, by the rule that is asked for.

use dupsieve::rooms::budget::Budget;
use dupsieve::rooms::document::OrderField;
use dupsieve::rooms::join;
use dupsieve::rooms::matches::{Confirm, KeepOrder};
use dupsieve::rooms::store::Version;
use dupsieve::{Error, Join, Kind, Result, Segment};

#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    pub(crate) distance: Option<u32>,
    /// The share of a page that a kept page has to contain.
    pub(crate) containment: Option<f64>,
    pub(crate) keep: Option<String>,
    /// Which pages of one key stay.
    pub(crate) recrawled: Option<String>,
}

impl Rule {
    /// The join of a batch whose keys, if it has any, come from the column `order`.
    pub(crate) fn join(
        &self,
        batch: Segment,
        store: Option<Version>,
        order: Option<&OrderField>,
        budget: Budget,
    ) -> Result<Join> {
        let by_column = order.is_some_and(|field| !field.is_time());
        let keep = match &self.keep {
            Some(name) if !by_column => Some(name.parse::<KeepOrder>()?),
            _ => None,
        };
        let recrawled = self.recrawled.as_deref().map(str::parse).transpose()?;
        let (asked, keep) = (keep, KeepOrder::for_segment(keep, &batch)?);
        let mut join = Join::new(batch, store)?;
        join.distance = self.distance.unwrap_or(join.distance);
        join.check = self.check(join.check)?;
        join.keep = keep;
        join.recrawled = join::recrawled(recrawled, asked, join.check, join.batch.stamp());
        join.budget = budget;
        join::check_signatures(join.check, join.batch.stamp())?;
        Ok(join)
    }

    fn check(&self, usual: Option<Confirm>) -> Result<Option<Confirm>> {
        let Some(least) = self.containment else { return Ok(usual) };
        if !(0.0..=1.0).contains(&least) {
            return Err(Error::new(Kind::Usage, "not a share")
                .expected("containment from 0 to 1")
                .found(least));
        }
        match usual {
            Some(check) if check.has_direction() => Ok(Some(Confirm::new(check.check, least))),
            _ => Err(Error::new(
                Kind::Usage,
                "this preset does not say how much of a page another one contains",
            )
            .expected("the preset balanced, if containment is given")),
        }
    }
}
