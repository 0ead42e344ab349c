//! The section `[lsh]` of a configuration file: where it stands, `run` finds the pages of each day that overlap.

use dupsieve::rooms::lsh::{Bands, Confirmation};
use dupsieve::rooms::matches::{Detail, KeepOrder, Similarity};
use dupsieve::{Error, Kind, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Count, allowed, typed};

/// How `run` finds pages that overlap. The keys are flags of `lsh`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LshSettings {
    #[serde(deserialize_with = "typed")]
    #[schemars(schema_with = "allowed::number")]
    pub(crate) similarity: Option<Similarity>,
    pub(crate) bands: Option<usize>,
    pub(crate) rows: Option<usize>,
    #[serde(deserialize_with = "typed")]
    #[schemars(schema_with = "allowed::text")]
    pub(crate) confirm: Option<Confirmation>,
    #[serde(deserialize_with = "typed")]
    #[schemars(schema_with = "allowed::detail")]
    pub(crate) matches: Option<Detail>,
    #[serde(deserialize_with = "typed")]
    #[schemars(schema_with = "allowed::number")]
    pub(crate) max_matches: Option<Count>,
    #[serde(deserialize_with = "typed")]
    #[schemars(schema_with = "allowed::keep_order")]
    pub(crate) keep: Option<KeepOrder>,
}

impl LshSettings {
    /// The least similarity of a match.
    pub(crate) fn least(&self) -> Similarity {
        self.similarity.unwrap_or(Similarity::USUAL)
    }

    /// The bands that segments keep: those of `[fingerprint]`, else those of this section, else those for its similarity.
    ///
    /// Fails with [`Kind::Config`] if both sections say something, or if there is one of bands and rows only.
    pub(crate) fn keep_bands(&self, kept: Option<Bands>) -> Result<Bands> {
        let wrong = |what: &str| Err(Error::new(Kind::Config, what.to_owned()));
        match (kept, self.bands, self.rows) {
            (None, None, None) => Ok(Bands::of_sets_alike(self.least())),
            (None, Some(bands), Some(rows)) => format!("minhash-{bands}x{rows}").parse(),
            (Some(kept), None, None) => Ok(kept),
            (None, ..) => wrong("[lsh] sets one of `bands` and `rows`; set both, or none"),
            _ => wrong(
                "`keep_bands` in [fingerprint] and `bands` in [lsh] are both set; leave one out",
            ),
        }
    }
}
