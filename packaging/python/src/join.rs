//! A batch joined, by the rule that is asked for.

use dupsieve::rooms::budget::Budget;
use dupsieve::rooms::document::OrderField;
use dupsieve::rooms::fingerprint::Check;
use dupsieve::rooms::join;
use dupsieve::rooms::matches::{Confirm, KeepOrder};
use dupsieve::rooms::store::Version;
use dupsieve::{Error, Join, Kind, Recipe, Result, Segment};

/// What a join is asked to do otherwise than usual.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    pub(crate) distance: Option<u32>,
    /// The share of a page that the page which stays has to hold.
    pub(crate) held: Option<f64>,
    pub(crate) keep: Option<String>,
    /// By what the pages of the batch are compared: `texts` or `signatures`.
    pub(crate) compare: Option<String>,
}

impl Rule {
    /// Whether the pages of a batch by `recipe` are compared by their texts: by default, if its check tells which share of a page
    /// another page holds.
    ///
    /// # Errors
    /// [`Kind::Usage`] if they are to be, and cannot be.
    pub(crate) fn compares_texts(&self, recipe: &Recipe) -> Result<bool> {
        let can = recipe.check().is_some_and(Check::has_direction);
        match self.compare.as_deref() {
            None => Ok(can),
            Some("signatures") => Ok(false),
            Some("texts") if can => Ok(true),
            Some("texts") => {
                Err(Error::new(Kind::Usage, "the texts of the pages cannot be compared")
                    .expected("a check that tells the share held, such as held"))
            }
            Some(other) => Err(Error::new(Kind::Usage, "pages cannot be compared by this")
                .expected("texts or signatures")
                .found(other)),
        }
    }

    /// The join of a batch whose keys, if it has any, come from the column `order`.
    ///
    /// # Errors
    /// [`Kind::Usage`] if batch, store and rule do not go together.
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
        let keep = KeepOrder::for_segment(keep, &batch)?;
        let mut join = Join::new(batch, store)?;
        join.distance = self.distance.unwrap_or(join.distance);
        join.check = self.check(join.check)?;
        join.keep = keep;
        join.budget = budget;
        join::check_signatures(join.check, join.batch.stamp())?;
        Ok(join)
    }

    fn check(&self, usual: Option<Confirm>) -> Result<Option<Confirm>> {
        let Some(held) = self.held else { return Ok(usual) };
        if !(0.0..=1.0).contains(&held) {
            return Err(Error::new(Kind::Usage, "not a share")
                .expected("held from 0 to 1")
                .found(held));
        }
        match usual {
            Some(check) if check.has_direction() => Ok(Some(Confirm::new(check.check, held))),
            _ => Err(Error::new(
                Kind::Usage,
                "this preset does not tell which share of a page another one holds",
            )
            .expected("the preset balanced or thorough, if held is given")),
        }
    }
}
