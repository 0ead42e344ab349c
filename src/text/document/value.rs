//! The values of the fields of a record, and the document that they make, in whichever format they come.

use std::borrow::Cow;

use super::fields::Fields;
use super::order_field::OrderField;
use super::order_key::{OrderKey, OrderKind};
use super::reason::Reason;
use super::record::{Content, Document};

pub(super) const MOST_COMPONENTS: usize = 1 << 16;

/// The largest size of a component of a vector. Squares of these, and sums of them, are finite.
const LARGEST: f64 = 1e100;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Absent,
    Null,
    Text(Cow<'a, str>),
    Integer(i128),
    Float(f64),
    /// A moment: seconds since 1970, rounded down, and whether its zone is known.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    Moment {
        seconds: i64,
        is_utc: bool,
    },
    /// A day: the seconds since 1970 at which it begins.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    Day(i64),
    Vector(Vec<f64>),
    /// What no field is made of.
    Other,
    Bad(Reason),
}

impl<'a> Value<'a> {
    /// A text, a number or a time, as a text. Times are seconds since 1970.
    pub(super) fn shown(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Value::Text(text) => Cow::Borrowed(text),
            Value::Integer(number) => number.to_string().into(),
            Value::Moment { seconds, .. } | Value::Day(seconds) => seconds.to_string().into(),
            Value::Float(number) => number.to_string().into(),
            _ => return None,
        })
    }

    /// The vector of these components; none stands for one that is not a number.
    pub(super) fn of_components(components: Vec<Option<f64>>) -> Value<'a> {
        if components.len() > MOST_COMPONENTS {
            return Value::Bad("the vector has more than 65536 components".into());
        }
        match components.into_iter().collect::<Option<Vec<f64>>>() {
            None => Value::Bad("a component of the vector is not a number".into()),
            Some(components) if components.iter().all(|it| it.abs() <= LARGEST) => {
                Value::Vector(components)
            }
            Some(_) => Value::Bad("a component of the vector is beyond 1e100".into()),
        }
    }

    fn text(self, field: &str, wrong: &'static str) -> Result<Cow<'a, str>, Reason> {
        match self {
            Value::Text(text) => Ok(text),
            Value::Integer(number) => Ok(number.to_string().into()),
            Value::Float(number) if is_whole(number) => Ok(format!("{:.0}", number + 0.0).into()),
            Value::Absent => Err(format!("no field `{}`", field.escape_debug()).into()),
            Value::Null => Err(format!("the field `{}` is null", field.escape_debug()).into()),
            Value::Moment { .. } | Value::Day(_) => {
                Err(Reason::with("not text", format_args!(": {field:?} is a time")))
            }
            Value::Float(_) | Value::Vector(_) | Value::Other => Err(wrong.into()),
            Value::Bad(reason) => Err(reason),
        }
    }

    fn order(self, of: &OrderField) -> Result<OrderKey, Reason> {
        match self {
            Value::Absent => Ok(OrderKey::NoField),
            Value::Null => Ok(OrderKey::Empty),
            Value::Text(text) => of.key(&text),
            Value::Integer(number) => of.key(&number.to_string()),
            Value::Float(number) => of.key(&number.to_string()),
            Value::Moment { seconds, is_utc } if of.is_time() => {
                let kind = if is_utc { OrderKind::Zoned } else { OrderKind::Unzoned };
                Ok(OrderKey::At { key: seconds, kind })
            }
            Value::Day(key) if of.is_time() => Ok(OrderKey::At { key, kind: OrderKind::Days }),
            Value::Bad(reason) => Err(reason),
            _ => of.key_of_other(),
        }
    }
}

/// Whether a number is whole, and no other whole number was rounded to it.
fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 2_f64.powi(53)
}

/// The values of a row of a table before it is read, whose fields have their columns at these places. Without a column the id is absent.
pub(super) fn unread<'a, P>(places: &[Option<P>; 4]) -> [Value<'a>; 4] {
    let id = if places[0].is_none() { Value::Absent } else { Value::Null };
    [id, Value::Null, Value::Null, Value::Null]
}

/// The document of a record with these values, in the order of [`Fields::names`]. If a field is absent, `found` says what there is.
pub(super) fn document<'a>(
    [id, text, order, key]: [Value<'a>; 4],
    fields: &Fields,
    record: &'a [u8],
    found: impl Fn() -> String,
) -> Result<Document<'a>, Reason> {
    let text_of = |value: Value<'a>, field: &str, wrong| {
        let is_absent = matches!(value, Value::Absent);
        let text = value.text(field, wrong);
        text.map_err(|it| if is_absent { Reason::with(it.what, found()) } else { it })
    };
    let lacks_id = matches!(id, Value::Absent) && fields.place_ids.reads_ids();
    let id = match id {
        Value::Absent | Value::Null if fields.place_ids.fill() => Cow::Borrowed(""),
        id => text_of(id, &fields.id, "the id is neither a string nor a whole number of 64 bits")?,
    };
    let key = match (&fields.key, key) {
        (None, _) | (_, Value::Null) => Cow::Borrowed(""),
        (Some(field), key) => {
            text_of(key, field, "the key is neither a string nor a whole number of 64 bits")?
        }
    };
    let order = fields.order.as_ref().map_or(Ok(OrderKey::NoField), |field| order.order(field))?;
    let content = match text {
        Value::Vector(vector) => Content::Vector(vector),
        text => Content::Text(text_of(text, &fields.text, "the text is not a string")?),
    };
    let key = Some(key).filter(|key| !key.is_empty());
    Ok(Document { lacks_id, key, order, ..Document::of(id, content, record) })
}
