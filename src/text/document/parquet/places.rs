//! Which columns have the fields.

use std::path::Path;

use crate::document::fields::Fields;
use crate::document::order_field::OrderField;
use crate::error::{Error, Kind, Result};

const SHOWN: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Texts, whole numbers and times.
    Text,
    /// Those, and numbers with a fraction.
    Number,
    /// Lists of numbers with a fraction.
    Vector,
}

#[derive(Clone, Debug)]
pub(super) struct OfFields<P> {
    /// None: every row gets its place as the id.
    pub(super) id: Option<P>,
    pub(super) text: P,
    pub(super) order: Option<P>,
    pub(super) key: Option<P>,
}

impl<P> OfFields<P> {
    /// The places of the columns of these fields. `find` has that of a column of this name: none if there is no such column,
    /// and an error with what it holds if the field cannot be made of that. `names` are those of the columns of the file at `path`.
    pub(super) fn find(
        fields: &Fields,
        path: &Path,
        names: &[String],
        find: impl Fn(&str, Wanted) -> Option<Result<P, String>>,
    ) -> Result<OfFields<P>> {
        let place = |field: &str, wanted: Wanted, expected: &str| match find(field, wanted) {
            Some(Ok(place)) => Ok(place),
            Some(Err(found)) => {
                Err(Error::new(Kind::BadData, "a column cannot be read as a field")
                    .at(path)
                    .expected(format!("{expected} in {field:?}"))
                    .found(found))
            }
            None => {
                let shown = names[..names.len().min(SHOWN)].join(", ");
                let more = if names.len() > SHOWN { ", ..." } else { "" };
                let error = Error::new(Kind::BadData, "the file lacks a column").at(path);
                let error = error.expected(format!("{field:?}")).found(format!("{shown}{more}"));
                Err(fields.missing(field, error))
            }
        };
        let numbers = "text, numbers or times";
        let text = match fields.vectors {
            false => place(&fields.text, Wanted::Text, numbers),
            true => place(&fields.text, Wanted::Vector, "lists of floating-point numbers"),
        }?;
        let order = fields.order.as_ref().map(|OrderField { name, .. }| name);
        let order = order.map(|name| place(name, Wanted::Number, numbers)).transpose()?;
        let key = fields.key.as_ref();
        let key = key.map(|name| place(name, Wanted::Text, "text or whole numbers")).transpose()?;
        let place_ids = fields.place_ids;
        let may_lack = || place_ids.fill() && find(&fields.id, Wanted::Number).is_none();
        let has_ids = place_ids.reads_ids() && !may_lack();
        let id = || place(&fields.id, Wanted::Number, "text, whole numbers or UUIDs");
        Ok(OfFields { id: has_ids.then(id).transpose()?, text, order, key })
    }

    pub(super) fn map<Q, E>(
        &self,
        mut make: impl FnMut(&P) -> std::result::Result<Q, E>,
    ) -> std::result::Result<OfFields<Q>, E> {
        Ok(OfFields {
            id: self.id.as_ref().map(&mut make).transpose()?,
            text: make(&self.text)?,
            order: self.order.as_ref().map(&mut make).transpose()?,
            key: self.key.as_ref().map(&mut make).transpose()?,
        })
    }
}
