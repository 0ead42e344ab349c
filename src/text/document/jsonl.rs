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
use super::reason::Reason;
use super::record::Document;
use super::value::{self, MOST_COMPONENTS, Value};
use crate::error::Excerpt;

/// Parses one object with a text, or with a vector. Of a key that comes twice the last value counts.
pub(super) fn parse<'a>(
    line: &'a str,
    fields: &Fields,
    vectors: bool,
) -> Result<Document<'a>, Reason> {
    let mut found = [const { Value::Absent }; 4];
    let mut json = serde_json::Deserializer::from_str(line);
    json.deserialize_map(Walk { wanted: fields.names(), vectors, found: &mut found })
        .and_then(|()| json.end())
        .map_err(|error| broken(&error))?;
    match &mut found[1] {
        Value::Absent | Value::Null | Value::Bad(_) | Value::Vector(_) => {}
        other if vectors => *other = Value::Bad("the vector is not an array".into()),
        Value::Text(_) => {}
        other => *other = Value::Other,
    }
    let names = || format!("; fields found: {}", fields_found(line));
    value::document(found, fields, line.as_bytes(), names)
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

/// For each field the rest of its name from here on: empty if this value is it, `None` if it is not in this value.
type Wanted<'f> = [Option<&'f str>; 4];

struct Walk<'f, 'v, 'a> {
    wanted: Wanted<'f>,
    vectors: bool,
    found: &'v mut [Value<'a>; 4],
}

impl<'a> Walk<'_, '_, 'a> {
    fn keep<E>(self, value: Value<'a>) -> Result<(), E> {
        if let Some(field) = self.wanted.iter().position(|name| *name == Some("")) {
            self.found[field] = value;
        }
        Ok(())
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
        self.keep(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.keep(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.keep(Value::Integer(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.keep(Value::Integer(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.keep(Value::Float(number))
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.keep(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.keep(Value::Null)
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
                    components.push(match found[0] {
                        Value::Integer(number) => Some(number as f64),
                        Value::Float(number) => Some(number),
                        _ => None,
                    });
                }
            }
            return self.keep(Value::of_components(components));
        }
        self.keep::<A::Error>(Value::Other)?;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
        let Walk { wanted, vectors, found } = self;
        Walk { wanted, vectors, found }.keep::<A::Error>(Value::Other)?;
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
