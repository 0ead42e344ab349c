//! The key of a page: what makes two pages two versions of one page, whatever their texts.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use super::surt::surt;
use crate::error::{Error, Kind};

/// Longer addresses are nobody's: browsers and crawlers cut them off.
const MOST_CANONICAL_BYTES: usize = 2048;

/// What the key of a page is made of: its id, or the value of a field, as it is or as a SURT. It is written `url` or `surt`, and of a field
/// `field:NAME` or `surt:NAME`.
///
/// ```
/// use dupsieve_text::document::PageKey;
///
/// let [url, surt, field]: [PageKey; 3] = ["url".parse()?, "surt".parse()?, "field:isbn".parse()?];
/// assert_eq!(surt.of("http://www.example.com/a?c&b", None), "com,example)/a?b&c");
/// assert_eq!(url.of("http://example.com/", None), "http://example.com/");
/// assert_eq!(field.of("page-17", Some("978-3-16")), "978-3-16");
/// # Ok::<(), dupsieve_base::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageKey {
    field: Option<String>,
    /// The parameters that are left out of a SURT; none if the key is the value as it is.
    dropped: Option<Vec<String>>,
}

impl PageKey {
    pub const FORMS: &'static str = "url, surt, field:NAME or surt:NAME";

    /// The key by these rules, if this version knows them.
    pub(crate) fn by(rules: &str, dropped: Vec<String>, field: Option<String>) -> Option<PageKey> {
        let keys = [None, Some(dropped)].map(|dropped| PageKey { field: field.clone(), dropped });
        keys.into_iter().find(|key| key.rules() == rules)
    }

    pub fn dropping(self, names: &[String]) -> Result<PageKey, Error> {
        if self.dropped.is_none() {
            return Err(Error::new(Kind::Usage, "parameters are dropped from SURTs alone")
                .setting("key surt"));
        }
        let mut dropped: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        dropped.sort();
        dropped.dedup();
        Ok(PageKey { dropped: Some(dropped), ..self })
    }

    /// The version of its rules. Increased by hand with every change of a key.
    pub fn rules(&self) -> &'static str {
        match self.dropped {
            None => "url",
            Some(_) => "surt-1",
        }
    }

    pub fn dropped(&self) -> &[String] {
        self.dropped.as_deref().unwrap_or_default()
    }

    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// The key of the page `id`, whose field has this `value`. A page without a value has the key of its id, and what is no URL is its own SURT.
    pub fn of<'a>(&self, id: &'a str, value: Option<&'a str>) -> Cow<'a, str> {
        let value = value.unwrap_or(id);
        let surt = self.dropped.as_ref().and_then(|dropped| surt(value, dropped));
        surt.map_or(Cow::Borrowed(value), Cow::Owned)
    }

    /// The address that the page `id` names by `rel=canonical`, if its key is another one than that of the page. It is resolved against the
    /// address of the page.
    pub fn canonical(&self, id: &str, value: Option<&str>, named: &str) -> Option<String> {
        let base = value.and_then(|value| Url::parse(value).ok()).or_else(|| Url::parse(id).ok());
        let url = Url::options().base_url(base.as_ref()).parse(named).ok()?;
        let is_address = url.has_host() && url.as_str().len() <= MOST_CANONICAL_BYTES;
        let is_other = self.of(url.as_str(), None) != self.of(id, value);
        (is_address && is_other).then(|| url.into())
    }

    pub fn hash(&self, id: &str, value: Option<&str>) -> u128 {
        xxh3_128(self.of(id, value).as_bytes())
    }
}

impl fmt::Display for PageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.field, &self.dropped) {
            (None, None) => f.write_str("url"),
            (None, Some(_)) => f.write_str("surt"),
            (Some(field), None) => write!(f, "field:{field}"),
            (Some(field), Some(_)) => write!(f, "surt:{field}"),
        }
    }
}

impl FromStr for PageKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<PageKey, Error> {
        let (kind, field) = match text.split_once(':') {
            Some((kind, field)) => (kind, Some(field.to_owned())),
            None => (text, None),
        };
        let dropped = match (kind, &field) {
            ("url", None) => None,
            ("field", Some(name)) if !name.is_empty() => None,
            ("surt", None) => Some(Vec::new()),
            ("surt", Some(name)) if !name.is_empty() => Some(Vec::new()),
            _ => {
                let error = Error::new(Kind::Usage, "no such key");
                return Err(error.expected(PageKey::FORMS).found(text));
            }
        };
        Ok(PageKey { field, dropped })
    }
}
