//! Which of several near pages stay: the values of `--keep`.

use std::str::FromStr;
use std::sync::Arc;

use dupsieve::document::{OrderBy, OrderField, OrderedValues};
use dupsieve::fingerprint::Recipe;
use dupsieve::matches::KeepOrder;
use dupsieve::store::Segment;
use dupsieve::{Error, Kind, Result};

use crate::flags::place::Place;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Order(KeepOrder),
    Field(KeepField),
}

/// A field of the pages by whose values they are kept: `FIELD:max`, `FIELD:min` or `FIELD:LIST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeepField {
    name: String,
    by: FieldBy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldBy {
    Least,
    Greatest,
    List(Place),
}

impl Keep {
    pub(crate) fn field(&self) -> Option<&KeepField> {
        match self {
            Keep::Field(field) => Some(field),
            Keep::Order(_) => None,
        }
    }

    pub(crate) fn order(&self) -> Option<KeepOrder> {
        match self {
            Keep::Order(order) => Some(*order),
            Keep::Field(_) => None,
        }
    }

    /// Fails if pages are to be kept by a time or a length that will not be known of them.
    pub(crate) fn expect_known(&self, has_times: impl Fn() -> bool, recipe: &Recipe) -> Result<()> {
        let Keep::Order(order) = self else { return Ok(()) };
        let (lacks, help) = match order {
            KeepOrder::Oldest | KeepOrder::Newest if !has_times() => {
                ("time", "name its field with --time-field")
            }
            KeepOrder::Longest if recipe.is_external() => ("length", "use first-id"),
            _ => return Ok(()),
        };
        let what = format!("--keep {order} needs the {lacks} of each page, which is not known");
        Err(Error::new(Kind::Usage, what).help(help))
    }

    pub(crate) fn of_batch(asked: Option<&Keep>, batch: &Segment) -> Result<KeepOrder> {
        let Some(Keep::Field(field)) = asked else {
            return KeepOrder::for_segment(asked.and_then(Keep::order), batch);
        };
        let expected = field.read()?.to_string();
        if batch.order() == Some(&*expected) {
            return Ok(KeepOrder::Field);
        }
        Err(Error::new(Kind::Usage, "the batch was not made for this --keep")
            .at(batch.path())
            .expected(expected)
            .found(batch.order().unwrap_or("no keys of a field"))
            .help("give `dupsieve fingerprint` the same --keep"))
    }
}

impl KeepField {
    pub(crate) fn read(&self) -> Result<OrderField> {
        let by = match &self.by {
            FieldBy::Least => OrderBy::Least,
            FieldBy::Greatest => OrderBy::Greatest,
            FieldBy::List(list) => OrderBy::Listed(Arc::new(OrderedValues::read(&list.here()?)?)),
        };
        Ok(OrderField { name: self.name.clone(), by })
    }
}

/// How an order by a field is written.
const BY_FIELD: &str =
    "FIELD:max, FIELD:min or FIELD:LIST, where LIST is a file of values, the most trusted first";

impl FromStr for Keep {
    type Err = Error;

    fn from_str(text: &str) -> Result<Keep> {
        if text.contains(':') {
            text.parse().map(Keep::Field)
        } else {
            let order = text.parse().map(Keep::Order);
            order.map_err(|error: Error| {
                error.help(format!("a field of the pages can order them too: {BY_FIELD}"))
            })
        }
    }
}

impl FromStr for KeepField {
    type Err = Error;

    fn from_str(text: &str) -> Result<KeepField> {
        match text.split_once(':') {
            Some((name, by)) if !name.is_empty() && !by.is_empty() => Ok(KeepField {
                name: name.to_owned(),
                by: match by {
                    "min" => FieldBy::Least,
                    "max" => FieldBy::Greatest,
                    list => FieldBy::List(list.into()),
                },
            }),
            _ => Err(Error::new(Kind::Usage, "this names no field to keep pages by")
                .expected(BY_FIELD)
                .found(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_a_name_or_a_field() {
        let keep = |text: &str| text.parse::<Keep>().unwrap();
        assert_eq!(keep("longest").order(), Some(KeepOrder::Longest));
        let by = |text| keep(text).field().map(|it| (it.name.clone(), it.by.clone())).unwrap();
        assert_eq!(by("meta.score:max"), ("meta.score".into(), FieldBy::Greatest));
        assert_eq!(by("score:min"), ("score".into(), FieldBy::Least));
        assert_eq!(by("host:./max"), ("host".into(), FieldBy::List("./max".into())));
        for wrong in ["", "best", "score:", ":max"] {
            assert_eq!(wrong.parse::<Keep>().unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
    }
}
