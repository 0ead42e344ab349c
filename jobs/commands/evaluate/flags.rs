//! The flags of `evaluate --sweep`.

use clap::Args;

use crate::commands::pages::PageFlags;
use crate::flags::settings::RecipeChoice;

/// The flags of a sweep.
#[derive(Args, Debug)]
pub(super) struct SweepFlags {
    /// With --sweep: judge these recipes beside the presets, each a name or a .toml file, instead of the
    /// usual ones
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "sweep")]
    pub(super) recipe: Vec<RecipeChoice>,
    /// With --sweep: confirm pairs of the recipes by these checks of `fingerprint --signature`, each with the least
    /// similarity after a colon, such as word-minhash:0.5 (0.75 if left out)
    #[arg(long, value_name = "C[:LEAST]", num_args = 1.., requires = "sweep")]
    pub(super) check: Vec<String>,
    /// With --sweep: the distance of the recipes [default: 3]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=32))]
    pub(super) distance: Option<u32>,
    /// With --sweep, without --labels: draw this many pages [default: 1000]
    #[arg(long, value_name = "N", requires = "sweep", conflicts_with = "labels")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=4000))]
    pub(super) sample: Option<u32>,
    #[command(flatten)]
    pub(super) pages: PageFlags,
}
