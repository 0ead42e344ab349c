//! How near two pages are, as the keep rule takes it.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// How near two pages are, the nearest first.
pub(crate) trait Distance:
    Copy + Ord + Send + Sync + Debug + Serialize + DeserializeOwned
{
    /// That of a page and its copy.
    const SAME: Self;
    /// Stands for a kept group; no two pages are as far apart.
    const KEPT: Self;
    /// Stands for a dropped group that no kept group of the batch is near to, likewise.
    const ALONE: Self;
}

/// The Hamming distance of fingerprints.
impl Distance for u8 {
    const SAME: u8 = 0;
    const KEPT: u8 = u8::MAX;
    const ALONE: u8 = u8::MAX - 1;
}
