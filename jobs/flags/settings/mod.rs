//! Settings: flags that a configuration file can set too. Each struct is read by clap from the command line
//! and by serde from the file, so that both always have the same settings.
//!
//! [`FingerprintSettings`] is the section `[fingerprint]`: how pages are read ([`PageSettings`]), and what is made of them
//! ([`RecipeSettings`]). [`DedupSettings`] is the section `[dedup]`.
//! [`OutputSettings`] is the section `[output]`, [`StoreSettings`] the section `[store]`, [`ClustersSettings`] the section `[clusters]` and
//! [`PassagesSettings`] the section `[passages]`, which only files have.
//! [`RecipeChoice`], [`Keep`], [`ByteSize`] and [`Count`] are types of values, and [`allowed`] says in a JSON schema what values may be.
//!
//! Start with `dedup`, the shorter of both sections.

pub(crate) mod allowed;
mod dedup;
mod fingerprint;
mod keep;
pub(crate) mod path_or;
mod recipe;
mod section;
mod sections;
mod values;

pub(crate) use dedup::DedupSettings;
pub(crate) use fingerprint::{FingerprintSettings, PageSettings, RecipeSettings, reads_texts};
pub(crate) use keep::{Keep, KeepField};
pub(crate) use recipe::{RecipeChoice, read_text};
pub(crate) use section::{section, settings};
pub(crate) use sections::{
    ClustersSettings, FormatFlag, OutputSettings, PassagesSettings, Replaced, StoreSettings,
};
pub(crate) use values::{ByteSize, Count, Share, parse_count, parse_width, typed};
