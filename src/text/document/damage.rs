//! What of a file could not be read, and was left out because the user accepts that.

use serde::{Deserialize, Serialize};

/// The places of a file where its packed data is damaged or ends too early.
///
/// Of a file of a thousand gzip members, one of which is broken, everything else is read:
/// `at: 853, places: 1, unread: 41`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Damage {
    pub file: u32,
    /// The byte on disk where the first of them was found.
    pub at: u64,
    pub places: u64,
    /// The bytes on disk from where the damage was found to the next member or frame, or to the end of the file.
    pub unread: u64,
}

impl Damage {
    pub(super) fn new(at: u64, unread: u64) -> Damage {
        Damage { file: 0, at, places: 1, unread }
    }

    pub(super) fn and(self, next: Damage) -> Damage {
        Damage { places: self.places + next.places, unread: self.unread + next.unread, ..self }
    }
}
