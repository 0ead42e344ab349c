//! The flags of `evaluate --sweep`.

use std::path::PathBuf;

use clap::Args;

use super::buckets::BucketChoice;
use crate::commands::pages::PageFlags;
use crate::flags::settings::RecipeChoice;

/// The flags of a sweep.
#[derive(Args, Debug)]
pub(super) struct SweepFlags {
    /// With --sweep and --labels: file for a drawing of the scores
    #[arg(long, value_name = "FILE", requires_all = ["sweep", "labels"])]
    pub(super) svg: Option<PathBuf>,
    /// With --sweep: judge these recipes beside the presets, each a name or a .toml file, instead of the
    /// usual ones
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "sweep")]
    pub(super) recipe: Vec<RecipeChoice>,
    /// With --sweep: confirm pairs by these checks of `fingerprint --check`. With labels, the least
    /// similarity of each is chosen, and jaccard is the exact similarity that checks estimate. Without, it
    /// stands after a colon, such as word-minhash:0.5 (0.75 if left out)
    #[arg(long, value_name = "C[:LEAST]", num_args = 1.., requires = "sweep", conflicts_with = "svg")]
    pub(super) check: Vec<String>,
    /// With --sweep: judge these buckets of `lsh` too, and the first of them together with `balanced`. Each is
    /// a similarity, such as 0.8; bands and rows may follow (0.8/14x8), and what confirms (0.8:exact,
    /// 0.8:simhash:3). A family other than jaccard stands first (cosine=0.9). Then costs are shown as well
    #[arg(long, value_name = "S", num_args = 1.., requires = "sweep")]
    pub(super) buckets: Vec<BucketChoice>,
    /// With --sweep: the distance of the recipes; with labels, one is recommended for it [default: 3]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=32))]
    pub(super) distance: Option<u32>,
    /// With --sweep, without --labels: draw this many pages [default: 1000]
    #[arg(long, value_name = "N", requires = "sweep", conflicts_with = "labels")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=4000))]
    pub(super) sample: Option<u32>,
    /// With --sweep, without --labels: show the pairs of the sample that are hardest to decide, one by one,
    /// ask for each whether it is one page (y, n, s to skip, q to quit), and write the answers to this
    /// file. The same command goes on where it stopped, and asks again for what was skipped
    #[arg(long, value_name = "FILE", requires = "sweep", conflicts_with = "labels")]
    pub(super) review: Option<PathBuf>,
    #[command(flatten)]
    pub(super) pages: PageFlags,
}
