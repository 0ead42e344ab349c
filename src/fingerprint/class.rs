//! The class of a page: which route its text took to a fingerprint. Pages of two classes never match.

use serde::{Deserialize, Serialize};

/// The route of a text.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// All its features made the fingerprint.
    #[default]
    Full = 0,
    /// Its features were too few: its keywords alone made the fingerprint.
    Short = 1,
}
