//! The settings of a join.

use clap::Args;
use dupsieve::matches::{Confirm, Detail, KeepOrder};
use dupsieve::tables::Design;
use serde::Deserialize;

use super::{Count, typed};

/// What decides the result of a join, and how it is found.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DedupSettings {
    /// The most bits in which near-duplicates differ, at most 15 [default: 3]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    pub(crate) distance: Option<u32>,
    /// Confirm what is within k by the signatures that `fingerprint --check` made: the name of that
    /// check and after a colon the least similarity, .75 if none is said: minhash:0.6
    /// [default: no check]. The signatures are held in memory beside --memory; `dupsieve plan --check C`
    /// says how many bytes a page that is
    #[arg(id = "confirm", long = "check", value_name = "C[:LEAST]", env = "DUPSIEVE_CHECK")]
    #[serde(deserialize_with = "typed")]
    pub(crate) check: Option<Confirm>,
    /// How the batch is arranged: auto, conditioned, halves, high-low, 4, 10, 16, 20 or blocks:R,choose:C
    /// [default: auto]
    #[arg(long, env = "DUPSIEVE_DESIGN")]
    #[serde(deserialize_with = "typed")]
    pub(crate) design: Option<Design>,
    /// Rows of matches.tsv: best writes one for each dropped page, the one its verdict names; all
    /// writes every near pair [default: best]
    #[arg(long, value_name = "all|best", env = "DUPSIEVE_MATCHES")]
    #[serde(deserialize_with = "typed")]
    pub(crate) matches: Option<Detail>,
    /// The most rows that `--matches all` may write; more end the job with 65 [default: 1e8]
    #[arg(long, value_name = "N", env = "DUPSIEVE_MAX_MATCHES")]
    #[serde(deserialize_with = "typed")]
    pub(crate) max_matches: Option<Count>,
    /// Which of several near pages is kept: oldest, first-id or longest [default: oldest where the
    /// batch has times, else first-id]
    #[arg(long, env = "DUPSIEVE_KEEP")]
    #[serde(deserialize_with = "typed")]
    pub(crate) keep: Option<KeepOrder>,
}

impl DedupSettings {
    /// These settings, and where they are silent those of a file.
    pub(crate) fn or(self, file: DedupSettings) -> DedupSettings {
        DedupSettings {
            distance: self.distance.or(file.distance),
            check: self.check.or(file.check),
            design: self.design.or(file.design),
            matches: self.matches.or(file.matches),
            max_matches: self.max_matches.or(file.max_matches),
            keep: self.keep.or(file.keep),
        }
    }
}
