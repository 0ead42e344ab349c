//! Which columns have the fields.

use std::path::Path;

use crate::document::fields::Fields;
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

/// What a field may be made of, and how that is said.
fn wanted(fields: &Fields, field: &str) -> (Wanted, &'static str) {
    let numbers = "text, numbers or times";
    match field {
        _ if field == fields.id => (Wanted::Number, "text, whole numbers or UUIDs"),
        _ if field == fields.text && fields.vectors => {
            (Wanted::Vector, "lists of floating-point numbers")
        }
        _ if field == fields.text => (Wanted::Text, numbers),
        _ if Some(field) == fields.key.as_deref() => (Wanted::Text, "text or whole numbers"),
        _ => (Wanted::Number, numbers),
    }
}

/// The places of the columns of the fields. `find` has that of a column of this name: none if there is no such column,
/// and an error with what it holds if the field cannot be made of that. `names` are those of the columns of the file at `path`.
pub(super) fn places<P>(
    fields: &Fields,
    path: &Path,
    names: &[String],
    find: impl Fn(&str, Wanted) -> Option<Result<P, String>>,
) -> Result<[Option<P>; 4]> {
    let place = |field: &str| {
        let (wanted, expected) = wanted(fields, field);
        match find(field, wanted) {
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
        }
    };
    fields.places(|field| find(field, Wanted::Number).is_some(), place)
}
