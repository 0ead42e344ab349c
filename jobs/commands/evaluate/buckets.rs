//! Buckets as methods of a sweep: what `--buckets` asks for.

use std::str::FromStr;

use dupsieve::evaluate::{Method, Near};
use dupsieve::fingerprint::Width;
use dupsieve::lsh::{Banding, Confirmation, Permutations, Scheme, Shingle, Space};
use dupsieve::matches::Similarity;
use dupsieve::{Error, Kind, Result};

/// How many hashes are divided into bands, unless they are given, as in `lsh`.
const HASHES: usize = 112;

/// Buckets that are asked for: `[FAMILY=]S[/BxR][:CONFIRM]`.
#[derive(Clone, Debug)]
pub(super) struct BucketChoice {
    scheme: Scheme,
    /// Whether bands and rows were given.
    has_banding: bool,
}

impl FromStr for BucketChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<BucketChoice> {
        let wrong = |error: Error| {
            error.help(
                "buckets are written S, S/BxR or S:CONFIRM, such as 0.8, 0.8/14x8 or 0.8:exact",
            )
        };
        parse(text).map_err(wrong)
    }
}

fn parse(text: &str) -> Result<BucketChoice> {
    let (space, rest) = match text.split_once('=') {
        Some((space, rest)) => (space.parse()?, rest),
        None => (Space::Jaccard, text),
    };
    if space == Space::Euclidean {
        return Err(Error::new(Kind::Usage, "texts have no euclidean distance").found(text));
    }
    let (rest, confirmation) = match rest.split_once(':') {
        Some((rest, confirm)) => (rest, confirm.parse()?),
        None => (rest, Confirmation::Signature),
    };
    let (similarity, banding) = match rest.split_once('/') {
        Some((similarity, banding)) => (similarity, Some(parse_banding(banding)?)),
        None => (rest, None),
    };
    let least: Similarity = similarity.parse()?;
    let scheme = Scheme {
        space,
        permutations: Permutations::Many,
        shingle: Shingle::Words(5),
        width: Width::W64,
        vectors: false,
        banding: Banding { bands: 1, rows: 1 },
        least,
        confirmation,
        seed: 0,
    };
    let best = || Banding::best(HASHES, least.number(), |it| scheme.collision(it));
    let scheme = Scheme { banding: banding.unwrap_or_else(best), ..scheme };
    scheme.check()?;
    Ok(BucketChoice { scheme, has_banding: banding.is_some() })
}

fn parse_banding(text: &str) -> Result<Banding> {
    let number = |text: &str| text.parse().ok();
    let parts = text.split_once('x');
    let banding = parts
        .and_then(|(bands, rows)| Some(Banding { bands: number(bands)?, rows: number(rows)? }));
    banding.ok_or_else(|| {
        Error::new(Kind::Usage, "these are no bands and rows").expected("such as 14x8").found(text)
    })
}

impl BucketChoice {
    /// The method by these buckets.
    pub(super) fn method(&self, name: String) -> Method {
        Method { name, near: None, buckets: Some(self.scheme.clone()) }
    }

    /// The method that finds what `other` finds by fingerprints, or these buckets.
    pub(super) fn beside(&self, other: &Method, name: &str) -> Method {
        let name = format!("{}+{name}", other.name);
        let near: Option<Near> = other.near.clone();
        Method { name, near, buckets: Some(self.scheme.clone()) }
    }

    /// The flags of `lsh` that make these buckets.
    pub(super) fn flags(&self) -> String {
        let Scheme { space, banding, least, confirmation, .. } = &self.scheme;
        let mut flags = format!("--family {space} --similarity {least} --confirm {confirmation}");
        if self.has_banding {
            flags += &format!(" --bands {} --rows {}", banding.bands, banding.rows);
        }
        flags
    }
}

/// Buckets as one phrase, for the list of methods.
pub(super) fn describe(scheme: &Scheme) -> String {
    let Scheme { space, banding, least, confirmation, .. } = scheme;
    format!("{space} buckets of {banding}; {confirmation} of at least {least}")
}
