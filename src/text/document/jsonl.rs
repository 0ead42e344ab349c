//! Parses a line of JSON and keeps only the fields that are read.
//!
//! The parser walks the object once. Values that do not lead to a field are skipped and never built,
//! however deep they are nested. A string without escapes is borrowed, not copied. For the field
//! `meta.url` of `{"meta": {"id": 7, "url": "a"}}`, the walk goes into `meta` looking for `url`, skips
//! `id`, and finds `url`.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::fields::Fields;
use super::order_field::OrderField;
use super::order_key::OrderKey;
use super::reason::Reason;
use super::record::{Content, Document};
use super::vector::{self, MOST_COMPONENTS};
use crate::error::Excerpt;

/// Parses one object with a text. Of a key that comes twice the last value counts.
pub(super) fn parse<'a>(line: &'a str, fields: &Fields) -> Result<Document<'a>, Reason> {
    document(line, fields, false, |text| text.text().map(Content::Text))
}

pub(super) fn vector<'a>(line: &'a str, fields: &Fields) -> Result<Document<'a>, Reason> {
    document(line, fields, true, |vector| vector.vector().map(Content::Vector))
}

fn document<'a>(
    line: &'a str,
    fields: &Fields,
    vectors: bool,
    content: impl FnOnce(Value<'a>) -> Result<Content<'a>, Wrong>,
) -> Result<Document<'a>, Reason> {
    let mut found = [const { Value::Absent }; 4];
    let mut json = serde_json::Deserializer::from_str(line);
    json.deserialize_map(Walk { wanted: fields.names(), vectors, found: &mut found })
        .and_then(|()| json.end())
        .map_err(|error| broken(&error))?;
    let [id, text, order, key] = found;
    let id = match id {
        Value::Absent | Value::Null if fields.place_ids.fill() => Cow::Borrowed(""),
        id => id.id().map_err(|wrong| wrong.reason(&fields.id, line))?,
    };
    let key = match &fields.key {
        Some(field) => key.key_value().map_err(|wrong| wrong.reason(field, line))?,
        None => None,
    };
    let order = fields.order.as_ref().map_or(Ok(OrderKey::NoField), |field| order.key(field))?;
    let content = content(text).map_err(|wrong| wrong.reason(&fields.text, line))?;
    Ok(Document { key, order, ..Document::of(id, content, line.as_bytes()) })
}

fn fields_found(line: &str) -> String {
    let mut names = Names(Vec::new(), "");
    // The names before an error are enough.
    let _ = serde_json::Deserializer::from_str(line).deserialize_map(&mut names);
    let Names(names, more) = names;
    if names.is_empty() { "none".to_owned() } else { names.join(", ") + more }
}

impl Document<'_> {
    pub fn fields_found(&self) -> String {
        fields_found(str::from_utf8(self.record).unwrap_or_default())
    }
}

struct Names(Vec<String>, &'static str);

impl Names {
    const MOST: usize = 12;
}

impl<'a> Visitor<'a> for &mut Names {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(name) = object.next_key::<Cow<'_, str>>()? {
            if self.0.len() == Names::MOST {
                self.1 = ", ...";
                break;
            }
            self.0.push(Excerpt(&name).to_string().trim_matches('"').to_owned());
            object.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

enum Wrong {
    Absent,
    Null,
    Other(&'static str),
}

impl Wrong {
    fn reason(self, name: &str, line: &str) -> Reason {
        match self {
            Wrong::Absent => {
                let found = fields_found(line);
                Reason::with(
                    format!("no field `{}`", name.escape_debug()),
                    format_args!("; fields found: {found}"),
                )
            }
            Wrong::Null => format!("the field `{}` is null", name.escape_debug()).into(),
            Wrong::Other(what) => what.into(),
        }
    }
}

fn broken(error: &serde_json::Error) -> Reason {
    use serde_json::error::Category;
    let said = error.to_string();
    if said.contains("surrogate") || said.starts_with("unexpected end of hex escape") {
        let what = "half of a character: a lone surrogate, such as \\ud83d";
        return Reason::with(what, format_args!(" at byte {} of the line", error.column()));
    }
    match error.classify() {
        Category::Data => "not a JSON object".into(),
        Category::Eof => "the JSON ends too early".into(),
        Category::Syntax | Category::Io => {
            Reason::with("broken JSON", format_args!(" at byte {} of the line", error.column()))
        }
    }
}

/// Whether a number is whole, and no other whole number was rounded to it.
pub(super) fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 2_f64.powi(53)
}

enum Value<'a> {
    Absent,
    Null,
    Text(Cow<'a, str>),
    Integer(i128),
    Float(f64),
    /// The components of an array; none for one that is not a number.
    Array(Vec<Option<f64>>),
    Other,
}

impl<'a> Value<'a> {
    fn number(&self) -> Option<f64> {
        match *self {
            Value::Integer(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            _ => None,
        }
    }

    fn id(self) -> Result<Cow<'a, str>, Wrong> {
        match self {
            Value::Text(id) => Ok(id),
            Value::Integer(id) => Ok(Cow::Owned(id.to_string())),
            Value::Float(id) if is_whole(id) => Ok(Cow::Owned(format!("{:.0}", id + 0.0))),
            Value::Absent => Err(Wrong::Absent),
            Value::Null => Err(Wrong::Null),
            Value::Float(_) | Value::Array(_) | Value::Other => {
                Err(Wrong::Other("the id is neither a string nor a whole number of 64 bits"))
            }
        }
    }

    /// The value of which a key is made; none of null and of an empty text.
    fn key_value(self) -> Result<Option<Cow<'a, str>>, Wrong> {
        match self.id() {
            Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
            Err(Wrong::Null) => Ok(None),
            Err(Wrong::Other(_)) => {
                Err(Wrong::Other("the key is neither a string nor a whole number of 64 bits"))
            }
            Err(wrong) => Err(wrong),
        }
    }

    fn text(self) -> Result<Cow<'a, str>, Wrong> {
        match self {
            Value::Text(text) => Ok(text),
            Value::Absent => Err(Wrong::Absent),
            Value::Null => Err(Wrong::Null),
            Value::Integer(_) | Value::Float(_) | Value::Array(_) | Value::Other => {
                Err(Wrong::Other("the text is not a string"))
            }
        }
    }

    fn vector(self) -> Result<Vec<f64>, Wrong> {
        match self {
            Value::Array(components) => vector::checked(components).map_err(Wrong::Other),
            Value::Absent => Err(Wrong::Absent),
            Value::Null => Err(Wrong::Null),
            _ => Err(Wrong::Other("the vector is not an array")),
        }
    }

    fn key(self, of: &OrderField) -> Result<OrderKey, Reason> {
        match self {
            Value::Text(text) => of.key(&text),
            Value::Integer(number) => of.key(&number.to_string()),
            Value::Float(number) => of.key(&number.to_string()),
            Value::Absent => Ok(OrderKey::NoField),
            Value::Null => Ok(OrderKey::Empty),
            Value::Array(_) | Value::Other => of.key_of_other(),
        }
    }
}

/// For each field the rest of its name from here on: empty if this value is the field, `None` if the
/// field is not in this value.
type Wanted<'f> = [Option<&'f str>; 4];

struct Walk<'f, 'v, 'a> {
    wanted: Wanted<'f>,
    vectors: bool,
    found: &'v mut [Value<'a>; 4],
}

impl<'a> Walk<'_, '_, 'a> {
    fn keep(self, value: Value<'a>) {
        if let Some(field) = self.wanted.iter().position(|name| *name == Some("")) {
            self.found[field] = value;
        }
    }
}

impl<'a> DeserializeSeed<'a> for Walk<'_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Walk<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<(), E> {
        self.keep(Value::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.keep(Value::Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.keep(Value::Integer(number.into()));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.keep(Value::Integer(number.into()));
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.keep(Value::Float(number));
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.keep(Value::Other);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.keep(Value::Null);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<(), A::Error> {
        if self.vectors && self.wanted.contains(&Some("")) {
            let mut components = Vec::new();
            let mut found = [const { Value::Absent }; 4];
            let wanted = [Some(""), None, None, None];
            while items
                .next_element_seed(Walk { wanted, vectors: false, found: &mut found })?
                .is_some()
            {
                if components.len() <= MOST_COMPONENTS {
                    components.push(found[0].number());
                }
            }
            self.keep(Value::Array(components));
            return Ok(());
        }
        self.keep(Value::Other);
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
        let Walk { wanted, vectors, found } = self;
        Walk { wanted, vectors, found }.keep(Value::Other);
        while let Some(wanted) = object.next_key_seed(Key(wanted))? {
            for field in (0..wanted.len()).filter(|&field| wanted[field].is_some()) {
                found[field] = Value::Absent;
            }
            if wanted == [None; 4] {
                object.next_value::<IgnoredAny>()?;
            } else {
                object.next_value_seed(Walk { wanted, vectors, found })?;
            }
        }
        Ok(())
    }
}

struct Key<'f>(Wanted<'f>);

impl<'a, 'f> DeserializeSeed<'a> for Key<'f> {
    type Value = Wanted<'f>;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Wanted<'f>, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'f> Visitor<'_> for Key<'f> {
    type Value = Wanted<'f>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Wanted<'f>, E> {
        Ok(self.0.map(|name| match name?.strip_prefix(key)? {
            "" => (!key.is_empty()).then_some(""),
            rest => rest.strip_prefix('.'),
        }))
    }
}

#[cfg(test)]
mod tests;
