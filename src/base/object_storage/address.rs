//! Addresses of object stores: `s3://bucket/key` and the like. A path without a scheme is a path of this machine.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

const SCHEMES: [(&str, Scheme); 8] = [
    ("s3://", Scheme::S3),
    ("s3a://", Scheme::S3),
    ("gs://", Scheme::Google),
    ("az://", Scheme::Azure),
    ("abfs://", Scheme::Azure),
    ("abfss://", Scheme::Azure),
    ("https://", Scheme::Http),
    ("http://", Scheme::Http),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    S3,
    Google,
    Azure,
    Http,
}

/// A place in an object store: a bucket, and the key of an object or the beginning of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(super) scheme: Scheme,
    pub(super) bucket: String,
    key: String,
    /// With its question mark; only of a server of files. It may be a signature.
    pub(super) query: String,
}

impl Address {
    pub fn of(path: &Path) -> Result<Option<Address>> {
        let Some(text) = path.to_str() else { return Ok(None) };
        let Some(&(prefix, scheme)) = SCHEMES.iter().find(|(prefix, _)| text.starts_with(prefix))
        else {
            return Ok(None);
        };
        let rest = &text[prefix.len()..];
        let (rest, query) = match rest.find('?').filter(|_| scheme == Scheme::Http) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let address = Address {
            scheme,
            bucket: format!("{prefix}{bucket}"),
            key: key.trim_matches('/').to_owned(),
            query: query.to_owned(),
        };
        let wrong = |what: &str| Err(Error::new(Kind::Usage, what).at(address.to_string()));
        if bucket.is_empty() {
            return wrong("the address does not name a bucket or a host");
        }
        if scheme == Scheme::Http && [key, query].iter().any(|part| part.contains('#')) {
            return wrong("an address with a fragment cannot be read");
        }
        if scheme == Scheme::Http && key.to_ascii_lowercase().contains("%2f") {
            return wrong("an address with a slash within a name (%2F) cannot be read");
        }
        let is_key = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !address.key.is_empty() && !address.key.split('/').all(is_key) {
            return wrong("the address has an empty part, `.` or `..`");
        }
        Ok(Some(address))
    }

    pub fn local(path: &Path) -> Option<PathBuf> {
        path.to_str()?
            .strip_prefix("file://")
            .filter(|path| path.starts_with('/'))
            .map(PathBuf::from)
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    /// The last part of the key; of a bucket its name.
    pub fn last(&self) -> &str {
        let whole = if self.key.is_empty() { &self.bucket } else { &self.key };
        whole.rsplit('/').next().unwrap_or_default()
    }

    pub fn parent(&self) -> Option<Address> {
        if self.key.is_empty() {
            return None;
        }
        let key = self.key.rsplit_once('/').map_or("", |(above, _)| above);
        Some(self.with_key(key))
    }

    pub fn with_key(&self, key: &str) -> Address {
        Address { key: key.to_owned(), ..self.clone() }
    }

    /// Whether it can only be the address of one object: a server of files does not list them.
    pub fn is_one_object(&self) -> bool {
        self.scheme == Scheme::Http
    }

    #[cfg(feature = "object-store")]
    pub(crate) fn with_secrets(&self) -> String {
        format!("{}/{}{}", self.bucket, self.key, self.query)
    }

    /// A word of a text without what may be a secret: the user and the password of an address, and its query, which may be a
    /// signature. Other words are returned as they are.
    pub fn without_secrets(word: &str) -> String {
        let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
        let place = rest.split('?').next().unwrap_or_default();
        let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        format!("{scheme}://{host}{path}")
    }

    pub fn needs_feature(&self) -> Error {
        Error::new(Kind::Usage, "this build of dupsieve cannot reach object stores")
            .at(self.to_string())
            .help("build it with the feature `object-store`")
    }
}

impl fmt::Display for Address {
    /// The address without secrets: a user, a password, a query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host) = self.bucket.split_once("://").unwrap_or_default();
        let host = match self.scheme {
            Scheme::Http => host.rsplit_once('@').map_or(host, |(_, host)| host),
            _ => host,
        };
        let key = match self.scheme {
            // What follows may be a signature.
            Scheme::Http => self.key.split('#').next().unwrap_or_default(),
            _ => &self.key,
        };
        let slash = if key.is_empty() { "" } else { "/" };
        write!(f, "{scheme}://{host}{slash}{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::of(Path::new(text)).unwrap().unwrap()
    }

    #[test]
    fn an_address_has_a_bucket_and_a_key() {
        for (text, shown, last) in [
            ("s3://b", "s3://b", "b"),
            ("s3a://b/a/c//", "s3a://b/a/c", "c"),
            ("gs://b/x y%2F", "gs://b/x y%2F", "x y%2F"),
            ("az://c/k", "az://c/k", "k"),
            ("https://user:secret@h:8/k", "https://h:8/k", "k"),
            ("https://h/a/k?signature=b/c", "https://h/a/k", "k"),
            ("s3://b/part-?", "s3://b/part-?", "part-?"),
        ] {
            let address = address(text);
            assert_eq!((address.to_string().as_str(), address.last()), (shown, last), "{text}");
            #[cfg(feature = "object-store")]
            assert_eq!(Address::of(Path::new(&address.with_secrets())), Ok(Some(address)));
        }
        let above = address("s3://b/a/c").parent().unwrap();
        assert_eq!(
            (above.to_string(), above.parent().unwrap().to_string()),
            ("s3://b/a".into(), "s3://b".into())
        );
        assert_eq!(address("s3://b").parent(), None);
    }

    #[test]
    fn paths_of_this_machine_are_no_addresses() {
        for path in ["s3:/b", "a/s3://b", "/data", "-", "file:///data"] {
            assert_eq!(Address::of(Path::new(path)).unwrap(), None, "{path}");
        }
        assert_eq!(Address::local(Path::new("file:///data/a")), Some("/data/a".into()));
        assert_eq!(Address::local(Path::new("file://host/a")), None);
    }

    #[test]
    fn addresses_that_lead_nowhere_are_refused() {
        for wrong in ["s3://", "s3:///k", "s3://b/a//c", "s3://b/../c", "https://h/k?signature=1#f"]
        {
            let error = Address::of(Path::new(wrong)).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{wrong}");
            assert!(!error.to_string().contains("signature"), "{error}");
        }
    }
}
