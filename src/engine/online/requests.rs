//! The JSON that clients send to a service.
//!
//! A body is hostile until it is read. Its lists are counted before they are held, and nothing of it is held but the
//! texts, so that reading a body takes at most about as much memory as the body once more.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::service::Remember;
use crate::document::{Content, Declared, Document, OrderKey, Position, Reason, check_id};
use crate::fingerprint::{Width, of_hex};

/// The most bytes of what serde says of a body: it may quote the body.
const MOST_SAID: usize = 300;

/// What is near to these fingerprints or pages? Give one of the two lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRequest {
    /// Near pages differ in at most this many bits [default: the distance of the service].
    pub distance: Option<u32>,
    /// Fingerprints in hex, with or without 0x.
    pub fingerprints: Option<Vec<String>>,
    /// Pages.
    pub pages: Option<Pages>,
}

/// Remember these pages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RememberRequest {
    /// Which pages are remembered [default: kept].
    #[serde(default)]
    pub remember: Remember,
    /// The pages, in keep order: of two near pages the first is kept.
    pub pages: Pages,
}

/// Pages, read so that what is wrong names the page by its number.
#[derive(Debug, Default)]
pub struct Pages(pub Vec<Page>);

/// Make a day of what is remembered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitRequest {
    /// The day, YYYY-MM-DD.
    pub day: String,
    /// Whether the day is meant, though it lies more than a week after today and after the newest day of the store.
    #[serde(default)]
    pub confirm_day: bool,
}

/// A page: its text, or its fingerprint where the store holds fingerprints made elsewhere.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The id; a number stands for its decimal text.
    pub id: Name,
    /// The text.
    pub text: Option<String>,
    /// The fingerprint in hex.
    pub fingerprint: Option<String>,
    /// The time at which it was fetched: RFC 3339, an HTTP date, or seconds or milliseconds since 1970.
    pub time: Option<Name>,
    /// The value of the field that keys are made of, where the store has keys of a field [default: the id].
    pub key: Option<Name>,
}

/// A text, or a whole number of 64 bits that stands for its decimal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Name(pub String);

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is not the JSON that is expected.
    Json(String),
    /// It has too much of something.
    TooLarge(String),
    /// One of its pages cannot be taken.
    Page(String),
}

/// Reads the body of a request, whose lists may have `most` fingerprints or pages.
pub fn read<T: DeserializeOwned>(body: &[u8], most: usize) -> Result<T, Wrong> {
    let not_json = |error: serde_json::Error| {
        let said = error.to_string();
        // Control characters would be written as six bytes each.
        let shown = said.chars().map(|it| if it.is_control() { '\u{fffd}' } else { it });
        let mut said: String = shown.take(MOST_SAID).collect();
        said.truncate(said.floor_char_boundary(MOST_SAID));
        Wrong::Json(said)
    };
    let Lists { fingerprints, pages } = serde_json::from_slice(body).map_err(not_json)?;
    let length = |list: Option<Vec<IgnoredAny>>| list.map_or(0, |list| list.len());
    let longest = length(fingerprints).max(length(pages));
    if longest > most {
        return Err(Wrong::TooLarge(format!(
            "the request has {longest} fingerprints or pages; at most {most} are taken"
        )));
    }
    serde_json::from_slice(body).map_err(not_json)
}

/// The lists of a body, of whatever; their items take no memory.
#[derive(Deserialize)]
struct Lists {
    fingerprints: Option<Vec<IgnoredAny>>,
    pages: Option<Vec<IgnoredAny>>,
}

impl<'a> Deserialize<'a> for Name {
    fn deserialize<D: Deserializer<'a>>(json: D) -> Result<Name, D::Error> {
        json.deserialize_any(NameVisitor)
    }
}

impl<'a> Deserialize<'a> for Pages {
    fn deserialize<D: Deserializer<'a>>(json: D) -> Result<Pages, D::Error> {
        json.deserialize_seq(Pages::default())
    }
}

impl<'a> Visitor<'a> for Pages {
    type Value = Pages;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of pages")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut pages: A) -> Result<Pages, A::Error> {
        let wrong = |number: usize, error| A::Error::custom(format_args!("page {number}: {error}"));
        while let Some(page) =
            pages.next_element().map_err(|error| wrong(self.0.len() + 1, error))?
        {
            self.0.push(page);
        }
        Ok(self)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a whole number of 64 bits")
    }

    fn visit_str<E>(self, text: &str) -> Result<Name, E> {
        Ok(Name(text.to_owned()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Name, E> {
        Ok(Name(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Name, E> {
        Ok(Name(number.to_string()))
    }
}

impl Page {
    /// The document of the page with this `number` in its request, whose fingerprint has `width` and whose text has at most
    /// so many bytes.
    pub fn into_document(
        self,
        number: usize,
        width: Width,
        most_text_bytes: usize,
    ) -> Result<(Position, Document<'static>), Wrong> {
        let wrong = |what: &dyn fmt::Display| Wrong::Page(format!("page {number}: {what}"));
        let Page { id: Name(id), text, fingerprint, time, key } = self;
        check_id(&id).map_err(|reason| wrong(&reason))?;
        let order = match time {
            None => OrderKey::NoField,
            Some(Name(time)) => time.parse().map_err(|reason: Reason| wrong(&reason))?,
        };
        let content = match (text, fingerprint) {
            (Some(text), None) if text.len() > most_text_bytes => {
                return Err(Wrong::TooLarge(format!(
                    "page {number}: the text has {} bytes; at most {most_text_bytes} are taken",
                    text.len()
                )));
            }
            (Some(text), None) => Content::Text(text.into()),
            (None, Some(fingerprint)) => {
                Content::Fingerprint(of_hex(&fingerprint, width).map_err(|error| wrong(&error))?)
            }
            _ => return Err(wrong(&"give either its text or its fingerprint")),
        };
        let position = Position { file: 0, line: number as u64 };
        let key = key.map(|Name(key)| key.into()).filter(|key: &Cow<'_, str>| !key.is_empty());
        let declared = Declared::default();
        let (id, record) = (id.into(), &b""[..]);
        Ok((position, Document { id, lacks_id: false, order, key, content, declared, record }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_texts_and_whole_numbers_as_in_lines_of_json() {
        let read = |id: &str| {
            let body = format!("{{\"pages\": [{{\"id\": {id}, \"text\": \"\"}}]}}");
            read::<RememberRequest>(body.as_bytes(), 1).map(|it| it.pages.0[0].id.0.clone())
        };
        for id in ["0", "-9223372036854775808", "9223372036854775808", "18446744073709551615"] {
            assert_eq!(read(id).as_deref(), Ok(id));
        }
        assert_eq!(read("\"a\\nb\"").as_deref(), Ok("a\nb"));
        for id in ["18446744073709551616", "1.5", "[1]", "{}", "null", "true"] {
            assert!(matches!(read(id), Err(Wrong::Json(_))), "{id}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_page_names_it() {
        let body = r#"{"pages": [{"id": 1, "text": "a"}, {"id": 2, "text": "\ud83d"}]}"#;
        let Err(Wrong::Json(said)) = read::<QueryRequest>(body.as_bytes(), 9) else { panic!("no") };
        assert!(said.starts_with("page 2: ") && said.contains("at line 1 column "), "{said}");
    }

    #[test]
    fn what_is_said_of_a_body_is_short() {
        for (name, shown) in [("字", "字字"), ("\\u0001", "\u{fffd}\u{fffd}")] {
            let body = format!("{{\"{}\": 1}}", name.repeat(1000));
            let read = read::<QueryRequest>(body.as_bytes(), 9);
            let Err(Wrong::Json(said)) = read else { panic!("no") };
            assert!(said.starts_with(&format!("unknown field `{shown}")), "{said}");
            assert!(said.len() <= MOST_SAID && !said.contains(char::is_control), "{said}");
        }
    }
}
