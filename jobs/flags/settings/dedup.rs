//! The settings of a join: the section `[dedup]`.

use std::path::Path;

use clap::Args;
use dupsieve::error::Named;
use dupsieve::join::{self, Preset};
use dupsieve::matches::{Confirm, Detail, Lost, Recrawled};
use dupsieve::tables::Design;
use dupsieve::{Error, Kind, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::section::settings;
use super::{Count, Keep, Share, allowed, typed};

settings! {
    /// What decides the result of a join, and how it is computed.
    #[serde(deny_unknown_fields)]
    DedupSettings {
        /// What counts as near, `balanced` (the default for a corpus) or `paper` (faster, by fingerprints alone) [default: the preset that the batch was made with, else paper; of a
        /// corpus balanced]
        #[arg(id = "join_preset", long = "preset", value_name = "NAME", env = "DUPSIEVE_PRESET")]
        preset: Preset as "allowed::preset",
        /// Near-duplicates differ in at most this many bits; the largest k is 15 [default: that of the preset]
        #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
        distance: u32,
        /// Confirm candidates by the sketches that `fingerprint --sketch` made: the name of the check, and after a colon the least
        /// containment or similarity (if left out, 0.9 for containment and 0.75 for others), such as minhash:0.6
        /// [default: that of the preset]
        #[arg(id = "confirm", long = "check", value_name = "C[:LEAST]", env = "DUPSIEVE_CHECK")]
        check: Confirm as "allowed::text",
        /// Drop a page only if a kept page contains at least this share of it: of its 3-word shingles, from 0 to 1 [default: 0.9]
        #[arg(long, value_name = "SHARE", env = "DUPSIEVE_CONTAINMENT")]
        containment: Share as "allowed::share",
        /// End with 65 where more than this share of the text of the dropped pages is lost, from 0 to 1. The output stays, so that `sample`
        /// shows the pairs, and `run` adds nothing to the store. [default: any]
        #[arg(long, value_name = "SHARE", env = "DUPSIEVE_MAX_LOST")]
        max_lost: Share as "allowed::share",
        /// Tables that the batch is stored in: auto, conditioned, multi-index, 4, 10, 16, 20 or
        /// blocks:R,choose:C [default: auto]
        #[arg(long, env = "DUPSIEVE_DESIGN")]
        design: Design as "allowed::text",
        /// Rows of matches.tsv: `best` writes one row for each dropped page, with the page its verdict
        /// names; `all` writes every near pair [default: best]
        #[arg(long, value_name = "all|best", env = "DUPSIEVE_MATCHES")]
        matches: Detail as "allowed::detail",
        /// Abort (exit 65) if --matches all would write more rows than this [default: 1e8]
        #[arg(long, value_name = "N", env = "DUPSIEVE_MAX_MATCHES")]
        max_matches: Count as "allowed::number",
        /// Which of several near pages to keep, such as oldest or longest: oldest, newest, first-id or longest; or by a field of the pages, FIELD:max or FIELD:min
        /// (a number), or FIELD:LIST (a file with its values, the most trusted first), for which `fingerprint` needs the same --keep
        /// [default: the field that the batch was made for, else oldest if it has times, else first-id]
        #[arg(long, value_name = "ORDER", env = "DUPSIEVE_KEEP")]
        keep: Keep as "allowed::keep",
        /// Of pages of one key (--key of `fingerprint`), in the batch and the store: `rule` drops a page only if a kept page contains it; `newest` keeps
        /// the newest, whatever its text, and drops or hides the others; `keep` drops and hides no page for one of its own key
        /// [default: newest with --keep newest, else rule]
        #[arg(long, value_name = "newest|rule|keep", env = "DUPSIEVE_RECRAWLED")]
        recrawled: Recrawled as "allowed::recrawled",
        /// List in passages.tsv what kept pages repeat of earlier pages: of the store or the batch, each longest run of words of which
        /// every window of so many words (50, and at least 50) stood in an earlier page, or earlier in the page. The batch has its words
        /// (--keep-passages) [default: none; `words` in the section [passages]]
        #[arg(long, num_args = 0..=1, default_missing_value = "50", value_name = "WORDS")]
        #[arg(env = "DUPSIEVE_PASSAGES")]
        #[serde(skip)]
        passages: usize,
    }
}

impl DedupSettings {
    /// These settings for a batch with this stamp. What is not set is taken from the preset: the one that is
    /// named, else the one that the batch was made with.
    pub(crate) fn distance_and_check(&self, stamp: &str) -> (u32, Option<Confirm>) {
        let preset = self.preset.or_else(|| Preset::of(stamp)).unwrap_or(Preset::Paper);
        let check = self.check.or(preset.check()).map(|check| match self.containment {
            Some(Share(least)) if check.has_direction() => {
                Confirm::new(check.fitting(stamp).check, least)
            }
            _ => check.fitting(stamp),
        });
        (self.distance.unwrap_or(preset.distance()), check)
    }

    pub(crate) fn recrawled(&self, stamp: &str) -> Recrawled {
        let (_, check) = self.distance_and_check(stamp);
        let keep = match self.keep {
            Some(Keep::Order(order)) => Some(order),
            _ => None,
        };
        join::recrawled(self.recrawled, keep, check, stamp)
    }

    /// Fails if a limit is given for what is contained or lost, and the check of a batch with this stamp does not tell that.
    pub(crate) fn check_limits(&self, stamp: &str) -> Result<()> {
        let (_, check) = self.distance_and_check(stamp);
        let limits = [("containment", self.containment), ("max-lost", self.max_lost)];
        let limit = limits.iter().find(|(_, share)| share.is_some());
        let Some((limit, _)) = limit.filter(|_| !check.is_some_and(|it| it.has_direction())) else {
            return Ok(());
        };
        let what = format!(
            "this check does not say how much of a page another one contains, for which --{limit} sets a limit"
        );
        Err(Error::new(Kind::Usage, what)
            .expected("the check containment")
            .found(check.map_or("no check".to_owned(), |check| check.to_string())))
    }

    /// Fails if more was `lost` in the output at `path` than is allowed.
    pub(crate) fn expect_lost(&self, lost: Option<Lost>, path: &Path) -> Result<()> {
        let (Some(Share(most)), Some(lost)) = (self.max_lost, lost) else { return Ok(()) };
        if lost.share <= most {
            return Ok(());
        }
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        Err(Error::new(Kind::BadData, "too much text is lost with the dropped pages").called("too-much-lost")
            .at(path)
            .expected(format_args!("at most {} of it", percent(most)))
            .found(percent(lost.share))
            .help(format!(
                "`dupsieve sample {}` shows the worst pairs; ask for more with --containment, or allow more with --max-lost",
                path.named()
            )))
    }
}
