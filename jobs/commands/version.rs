//! What `dupsieve --version` says of this build.

use std::env::consts::{ARCH, OS};

const FEATURES: [(&str, bool); 4] = [
    ("parquet", cfg!(feature = "parquet")),
    ("serve", cfg!(feature = "serve")),
    ("object-store", cfg!(feature = "object-store")),
    ("segmenter", cfg!(feature = "segmenter")),
];

/// The version, and below it what the program was built from, for which machines, and with which features. `build.rs` finds out the
/// commit.
pub(crate) fn details() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let commit = env!("DUPSIEVE_BUILT_FROM");
    let kind = if cfg!(debug_assertions) { "without optimisation" } else { "optimised" };
    let [with, without] = [true, false].map(named);
    format!(
        "{version}\ncommit: {commit}\ntarget: {ARCH}-{OS}, {kind}\nfeatures: {with}\nwithout: {without}"
    )
}

fn named(has: bool) -> String {
    let names = FEATURES.iter().filter(|(_, built)| *built == has).map(|(name, _)| *name);
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
