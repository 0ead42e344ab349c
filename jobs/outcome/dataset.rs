//! What a job reads and writes, as its events name it.

use std::path::{self, Path};

use dupsieve::results::ResultReader;
use dupsieve::storage::{Address, shown};
use serde::{Deserialize, Serialize};

/// A file, a folder or an object that a job reads or writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Dataset {
    /// Where it is: an absolute path, a pattern of paths, or an address.
    pub(super) place: String,
    /// How many rows were written, if that is known.
    pub(super) rows: Option<u64>,
    /// How many bytes were written, if that is known.
    pub(super) bytes: Option<u64>,
    /// Its columns, if it is a table.
    pub(super) columns: Vec<String>,
}

impl Dataset {
    /// What is at `path`, which may be an address or a pattern.
    pub(crate) fn at(path: &Path) -> Dataset {
        let named = path.to_string_lossy();
        let place = match Address::of(path) {
            Ok(Some(address)) => address.to_string(),
            _ if named.contains("://") => named.into_owned(),
            _ => path::absolute(path).unwrap_or(path.to_owned()).display().to_string(),
        };
        Dataset { place, ..Dataset::default() }
    }

    /// It with the rows and bytes that were written.
    pub(crate) fn written(self, rows: u64, bytes: Option<u64>) -> Dataset {
        Dataset { rows: Some(rows), bytes, ..self }
    }

    /// The table with its columns.
    pub(super) fn with_columns(self) -> Dataset {
        let table = ResultReader::open(self.place.as_ref()).ok();
        let columns = table.and_then(|table| table.columns().map(<[String]>::to_vec));
        Dataset { columns: columns.unwrap_or_default(), ..self }
    }

    /// Replaces `from` by `to` in its place.
    pub(super) fn moved(&mut self, from: &str, to: &str) {
        self.place = self.place.replace(from, to);
    }

    /// Whether the two are in one place.
    pub(super) fn is_at_the_place_of(&self, other: &Dataset) -> bool {
        self.place == other.place
    }

    /// Its namespace and its name, by the rules of OpenLineage.
    pub(super) fn name(&self) -> (String, String) {
        let place = shown(&self.place);
        let Some((scheme, rest)) = place.split_once("://") else {
            return ("file".to_owned(), place);
        };
        match (scheme, rest.split_once('/')) {
            ("file", _) => ("file".to_owned(), rest.to_owned()),
            (_, Some((bucket, key))) => (format!("{scheme}://{bucket}"), key.to_owned()),
            (_, None) => (place, "/".to_owned()),
        }
    }

    /// Its address, without characters that no address may have.
    pub(super) fn address(&self) -> String {
        let place = shown(&self.place);
        let (start, rest) = match place.split_once("://") {
            Some((scheme, rest)) => (format!("{scheme}://"), rest),
            None => ("file://".to_owned(), place.as_str()),
        };
        let stays = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~:@".contains(&byte);
        rest.bytes().fold(start, |address, byte| match stays(byte) {
            true => format!("{address}{}", char::from(byte)),
            false => format!("{address}%{byte:02X}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_namespace_a_name_and_an_address() {
        for (place, name, address) in [
            ("/in/*.gz", ("file", "/in/*.gz"), "file:///in/%2A.gz"),
            ("s3://pages/day 1/", ("s3://pages", "day 1"), "s3://pages/day%201"),
            ("file:///in/a", ("file", "/in/a"), "file:///in/a"),
        ] {
            let dataset = Dataset::at(Path::new(place));
            let found = dataset.name();
            assert_eq!((found.0.as_str(), found.1.as_str()), name);
            assert_eq!(dataset.address(), address);
        }
    }
}
