//! Records that are no pages, such as the requests in a WARC file, counted by what they are.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::named;

/// Why a record is no page. Such a record is not bad: the file is meant to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Skip {
    /// What a web archive says about itself: `warcinfo`, or the first record of an ARC file.
    ArchiveInfo,
    Request,
    /// A note that a page had not changed, without the page.
    Revisit,
    /// Metadata of a page, as in WAT files.
    Metadata,
    OtherType,
    /// A response of HTTP that is no success: a redirect or an error.
    Status,
    /// Another medium than HTML or text, such as an image.
    MediaType,
}

named!(pub Skip {
    ArchiveInfo = "archive_info",
    Request = "request",
    Revisit = "revisit",
    Metadata = "metadata",
    OtherType = "other_type",
    Status = "status",
    MediaType = "media_type",
} or "no such reason to skip");

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped([u64; Skip::ALL.len()]);

impl Skipped {
    pub(super) fn count(&mut self, reason: Skip) {
        self.0[reason as usize] += 1;
    }

    pub fn add(&mut self, other: Skipped) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    pub fn reasons(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = Skip::ALL.into_iter().zip(self.0);
        all.filter(|(_, count)| *count > 0).map(|(reason, count)| (reason.name(), count))
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> =
            self.reasons().map(|(name, count)| format!("{count} {name}")).collect();
        f.write_str(&told.join(", "))
    }
}

impl Serialize for Skipped {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.reasons().collect::<BTreeMap<_, _>>().serialize(out)
    }
}

impl<'a> Deserialize<'a> for Skipped {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Skipped, D::Error> {
        let mut skipped = Skipped::default();
        for (name, count) in BTreeMap::<String, u64>::deserialize(from)? {
            let reason: Skip = name.parse().map_err(D::Error::custom)?;
            skipped.0[reason as usize] = count;
        }
        Ok(skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_travel_by_name() {
        let mut skipped = Skipped::default();
        assert!(skipped.is_empty() && skipped.to_string().is_empty());
        for reason in [Skip::Revisit, Skip::Request, Skip::Revisit] {
            skipped.count(reason);
        }
        assert_eq!(skipped.to_string(), "1 request, 2 revisit");
        let json = serde_json::to_string(&skipped).unwrap();
        assert_eq!(json, r#"{"request":1,"revisit":2}"#);
        assert_eq!(serde_json::from_str::<Skipped>(&json).unwrap(), skipped);
        let bytes = bincode::serialize(&skipped).unwrap();
        assert_eq!(bincode::deserialize::<Skipped>(&bytes).unwrap(), skipped);
        skipped.add(skipped);
        assert_eq!(skipped.total(), 6);
    }
}
