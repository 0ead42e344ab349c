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
use super::record::{Content, Document};
use super::time::{self, Time};
use crate::error::Shown;

/// Parses one object. Of a key that comes twice the last value counts.
pub(super) fn parse<'a>(line: &'a str, fields: &Fields) -> Result<Document<'a>, Reason> {
    let mut found = [const { Value::Absent }; 3];
    let mut json = serde_json::Deserializer::from_str(line);
    json.deserialize_map(Walk { wanted: fields.names(), found: &mut found })
        .and_then(|()| json.end())
        .map_err(|error| broken(&error))?;
    let [id, text, when] = found;
    Ok(Document {
        id: id.id().map_err(|wrong| wrong.reason(&fields.id, "--id-field", line))?,
        time: when.time()?,
        content: Content::Text(
            text.text().map_err(|wrong| wrong.reason(&fields.text, "--text-field", line))?,
        ),
        record: line.as_bytes(),
    })
}

/// The names of the first fields of an object, for a message.
fn fields_found(line: &str) -> String {
    let mut names = Names(Vec::new(), "");
    // The names before an error are enough.
    let _ = serde_json::Deserializer::from_str(line).deserialize_map(&mut names);
    let Names(names, more) = names;
    if names.is_empty() { "none".to_owned() } else { names.join(", ") + more }
}

impl Document<'_> {
    /// The names of the first fields of its record, for a message, if the record is a JSON object.
    pub(crate) fn fields_found(&self) -> String {
        fields_found(str::from_utf8(self.record).unwrap_or_default())
    }
}

/// The names of the first fields of an object, and `, ...` if there are more.
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
            self.0.push(Shown(&name).to_string().trim_matches('"').to_owned());
            object.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// What is wrong with a required field.
enum Wrong {
    Absent,
    Null,
    Other(&'static str),
}

impl Wrong {
    /// The reason for the field `name`; `flag` is the option that chooses it.
    fn reason(self, name: &str, flag: &str, line: &str) -> Reason {
        match self {
            Wrong::Absent => {
                let found = fields_found(line);
                Reason::with(
                    format!("no field `{}`", name.escape_debug()),
                    format_args!("; fields found: {found}; see {flag}"),
                )
            }
            Wrong::Null => format!("the field `{}` is null", name.escape_debug()).into(),
            Wrong::Other(what) => what.into(),
        }
    }
}

fn broken(error: &serde_json::Error) -> Reason {
    use serde_json::error::Category;
    match error.classify() {
        Category::Data => "not a JSON object".into(),
        Category::Eof => "the JSON ends too early".into(),
        Category::Syntax | Category::Io => {
            Reason::with("broken JSON", format_args!(" at byte {} of the line", error.column()))
        }
    }
}

/// The value of a field that is read.
enum Value<'a> {
    Absent,
    Null,
    Text(Cow<'a, str>),
    Integer(i128),
    Float(f64),
    Other,
}

impl<'a> Value<'a> {
    fn id(self) -> Result<Cow<'a, str>, Wrong> {
        match self {
            Value::Text(id) => Ok(id),
            Value::Integer(id) => Ok(Cow::Owned(id.to_string())),
            Value::Absent => Err(Wrong::Absent),
            Value::Null => Err(Wrong::Null),
            Value::Float(_) | Value::Other => {
                Err(Wrong::Other("the id is neither a string nor an integer of 64 bits"))
            }
        }
    }

    fn text(self) -> Result<Cow<'a, str>, Wrong> {
        match self {
            Value::Text(text) => Ok(text),
            Value::Absent => Err(Wrong::Absent),
            Value::Null => Err(Wrong::Null),
            Value::Integer(_) | Value::Float(_) | Value::Other => {
                Err(Wrong::Other("the text is not a string"))
            }
        }
    }

    fn time(self) -> Result<Time, Reason> {
        match self {
            Value::Text(text) => time::parse(&text),
            Value::Integer(number) => time::parse(&number.to_string()),
            Value::Float(number) => time::parse(&number.to_string()),
            Value::Absent => Ok(Time::NoField),
            Value::Null => Ok(Time::Empty),
            Value::Other => Err("the time is neither a string nor a number".into()),
        }
    }
}

/// For each field the rest of its name from here on: empty if this value is the field, `None` if the
/// field is not in this value.
type Wanted<'f> = [Option<&'f str>; 3];

/// Looks for the fields in one value.
struct Walk<'f, 'v, 'a> {
    wanted: Wanted<'f>,
    found: &'v mut [Value<'a>; 3],
}

impl<'a> Walk<'_, '_, 'a> {
    /// Keeps the value if it is one of the fields.
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
        self.keep(Value::Other);
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
        let Walk { wanted, found } = self;
        Walk { wanted, found }.keep(Value::Other);
        while let Some(wanted) = object.next_key_seed(Key(wanted))? {
            for field in (0..wanted.len()).filter(|&field| wanted[field].is_some()) {
                found[field] = Value::Absent;
            }
            if wanted == [None; 3] {
                object.next_value::<IgnoredAny>()?;
            } else {
                object.next_value_seed(Walk { wanted, found })?;
            }
        }
        Ok(())
    }
}

/// Reads a key and returns what to look for in its value.
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
mod tests {
    use super::*;

    fn with_time() -> Fields {
        Fields { time: Some("meta.time".into()), ..Fields::default() }
    }

    fn read(line: &str) -> (String, String, Option<i64>) {
        let page = parse(line, &with_time()).unwrap();
        match page.content {
            Content::Text(text) => (page.id.into_owned(), text.into_owned(), page.time.seconds()),
            other => panic!("{other:?}"),
        }
    }

    fn reason(line: &str) -> String {
        parse(line, &with_time()).unwrap_err().to_string()
    }

    #[test]
    fn the_fields_wanted_are_found_among_others() {
        let line =
            r#" {"x": [1, {"id": 0}], "text": "页", "meta": {"id": 2, "time": 5}, "id": "a"} "#;
        assert_eq!(read(line), ("a".into(), "页".into(), Some(5)));
    }

    #[test]
    fn a_string_without_escapes_is_borrowed() {
        let page = parse(r#"{"id": "a", "text": "plain"}"#, &with_time()).unwrap();
        assert!(matches!(page.content, Content::Text(Cow::Borrowed("plain"))));
        assert!(matches!(page.id, Cow::Borrowed("a")));
        let escaped = read(r#"{"id": "a", "text": "\u9875\n\ud83d\ude00"}"#);
        assert_eq!(escaped.1, "页\n😀");
    }

    #[test]
    fn integer_ids_become_their_decimal_text() {
        for id in ["0", "-9223372036854775808", "18446744073709551615"] {
            assert_eq!(read(&format!(r#"{{"id": {id}, "text": ""}}"#)).0, id);
        }
        for id in ["18446744073709551616", "1.0", "1e3", "true", "[]", "{}", r#"{"": "a"}"#] {
            let reason = reason(&format!(r#"{{"id": {id}, "text": ""}}"#));
            assert_eq!(reason, "the id is neither a string nor an integer of 64 bits");
        }
    }

    #[test]
    fn a_dotted_name_is_a_path_or_a_key() {
        let fields = Fields { id: "a.b.c".into(), text: "a.t".into(), ..Fields::default() };
        let id = |line| parse(line, &fields).map(|page| page.id.into_owned());
        assert_eq!(id(r#"{"a": {"t": "", "b": {"c": "x"}}}"#).unwrap(), "x");
        assert_eq!(id(r#"{"a": {"t": "", "b.c": "x"}}"#).unwrap(), "x");
        assert_eq!(id(r#"{"a.b.c": "x", "a.t": ""}"#).unwrap(), "x");
        assert!(id(r#"{"a": {"t": "", "b": "x"}}"#).is_err());
        assert!(id(r#"{"a": {"t": ""}, "b": {"c": "x"}}"#).is_err());
    }

    #[test]
    fn of_a_key_met_twice_the_last_counts() {
        assert_eq!(read(r#"{"id": 1, "text": 5, "id": 2, "text": "b"}"#).0, "2");
        let line = r#"{"id": 1, "text": "", "meta": {"time": 5}, "meta": {}}"#;
        assert_eq!(read(line).2, None);
        assert_eq!(reason(r#"{"id": 1, "text": "", "id": null}"#), "the field `id` is null");
    }

    #[test]
    fn times_may_be_missing_but_not_wrong() {
        let time = |value| read(&format!(r#"{{"id": 1, "text": "", "meta": {value}}}"#)).2;
        assert_eq!(time(r#"{"time": "1970-01-01T00:01:00Z"}"#), Some(60));
        assert_eq!(time(r#"{"time": "60"}"#), Some(60));
        for missing in [r#"{"time": null}"#, r#"{"time": ""}"#, "{}", "null", "7", "[]"] {
            assert_eq!(time(missing), None, "{missing}");
        }
        for wrong in ["1e300", "true", r#""soon""#, "18446744073709551615", "{}"] {
            let line = format!(r#"{{"id": 1, "text": "", "meta": {{"time": {wrong}}}}}"#);
            assert!(reason(&line).contains("time"), "{line}");
        }
    }

    #[test]
    fn only_the_first_fields_are_told() {
        assert_eq!(fields_found("{}"), "none");
        let many: Vec<String> = (0..100).map(|n| format!(r#""f{n}": [{n}]"#)).collect();
        let found = fields_found(&format!("{{{}}}", many.join(",")));
        assert!(found.starts_with("f0, f1, ") && found.ends_with("f11, ..."), "{found}");
        let found = fields_found(&format!(r#"{{"{}\n": 1}}"#, "x".repeat(100_000)));
        assert!(found.len() < 60, "{found}");
    }

    #[test]
    fn what_is_no_object_with_the_fields_is_quarantined() {
        assert_eq!(
            reason(r#"{"text": "a", "url": {"id": 1}}"#),
            "no field `id`; fields found: text, url; see --id-field"
        );
        assert_eq!(reason(r#"{"id": "a"}"#), "no field `text`; fields found: id; see --text-field");
        assert_eq!(reason(r#"{"id": "a", "text": null}"#), "the field `text` is null");
        assert_eq!(reason(r#"{"id": "a", "text": ["a"]}"#), "the text is not a string");
        for line in ["[1]", "7", "null", r#""{}""#] {
            assert_eq!(reason(line), "not a JSON object", "{line}");
        }
        for line in [r#"{"id": "a"#, "{", r#"{"id": 1, "x": [[["#] {
            assert_eq!(reason(line), "the JSON ends too early", "{line}");
        }
        assert_eq!(reason(r#"{"id": 1, "text": ""} {}"#), "broken JSON at byte 23 of the line");
        for line in ["{]", "{'id': 1}", r#"{"id": "\ud800"}"#, "{\"id\": \"\u{1}\"}", "\u{feff}{}"]
        {
            assert!(reason(line).starts_with("broken JSON at byte"), "{line}");
        }
    }

    #[test]
    fn deep_nesting_takes_no_stack() {
        for (open, close) in [("[", "]"), (r#"{"id":"#, "}")] {
            for field in ["x", "text", "meta"] {
                let (open, close) = (open.repeat(300_000), close.repeat(300_000));
                let line = format!(r#"{{"id": 1, "text": "", "{field}": {open}0{close}}}"#);
                let read = parse(&line, &with_time());
                assert_eq!(read.is_err(), field == "text", "{field}");
                assert!(parse(&line[..200_000], &with_time()).is_err());
            }
        }
    }
}
