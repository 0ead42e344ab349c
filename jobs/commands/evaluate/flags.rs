//! The flags of `evaluate --sweep`.

use clap::Args;

use crate::commands::pages::PageFlags;

#[derive(Args, Debug)]
pub(super) struct SweepFlags {
    /// How many pages --sweep draws [default: 1000]
    #[arg(long, value_name = "N", requires = "sweep")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=4000))]
    pub(super) sample: Option<u32>,
    #[command(flatten)]
    pub(super) pages: PageFlags,
}
