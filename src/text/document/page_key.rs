//! The key of a page: what makes two pages two versions of one page, whatever their texts.

use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_128;

use super::surt::surt;
use crate::error::{Error, Kind};

/// What the key of a page is made of.
///
/// ```
/// use dupsieve_text::document::PageKey;
///
/// let surt: PageKey = "surt".parse()?;
/// assert_eq!(surt.hash("http://www.example.com/a?c&b"), surt.hash("https://example.com/a/?b&c"));
/// assert_ne!(PageKey::Url.hash("http://example.com/"), PageKey::Url.hash("http://example.com"));
/// # Ok::<(), dupsieve_base::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageKey {
    /// The id as it is.
    Url,
    /// The SURT of the id, without the parameters of these names; an id that is no URL is its own key.
    Surt { drop: Vec<String> },
}

impl PageKey {
    /// The names of all.
    pub const NAMES: [&'static str; 2] = ["url", "surt"];

    /// The same key without the parameters of these names in the query.
    ///
    /// # Errors
    /// [`Kind::Usage`] if queries are no part of it that can be changed.
    pub fn dropping(self, names: &[String]) -> Result<PageKey, Error> {
        match self {
            PageKey::Surt { .. } => {
                let mut drop: Vec<String> =
                    names.iter().map(|name| name.to_ascii_lowercase()).collect();
                drop.sort();
                drop.dedup();
                Ok(PageKey::Surt { drop })
            }
            PageKey::Url => Err(Error::new(Kind::Usage, "parameters are dropped from SURTs alone")
                .setting("key surt")),
        }
    }

    /// The version of its rules. Increased by hand with every change of a key.
    pub fn rules(&self) -> &'static str {
        match self {
            PageKey::Url => "url",
            PageKey::Surt { .. } => "surt-1",
        }
    }

    /// The names of the parameters that are dropped, in order.
    pub fn dropped(&self) -> &[String] {
        match self {
            PageKey::Url => &[],
            PageKey::Surt { drop } => drop,
        }
    }

    /// The XXH3-128 of the key of the page `id`.
    pub fn hash(&self, id: &str) -> u128 {
        let surt = match self {
            PageKey::Url => None,
            PageKey::Surt { drop } => surt(id, drop),
        };
        xxh3_128(surt.as_deref().unwrap_or(id).as_bytes())
    }
}

impl FromStr for PageKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<PageKey, Error> {
        match text {
            "url" => Ok(PageKey::Url),
            "surt" => Ok(PageKey::Surt { drop: Vec::new() }),
            _ => Err(Error::new(Kind::Usage, "no such key")
                .expected(PageKey::NAMES.join(" or "))
                .found(text)),
        }
    }
}
