//! Settings: flags that a configuration file can set too. Each struct is read by clap and by serde.

mod dedup;
mod fingerprint;
mod recipe;
mod text;
mod values;

pub(crate) use dedup::DedupSettings;
pub(crate) use fingerprint::FingerprintSettings;
pub(crate) use recipe::RecipeChoice;
pub(crate) use text::read_text;
pub(crate) use values::{ByteSize, Count, parse_count, parse_width, typed};
