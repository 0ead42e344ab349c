//! The width of a fingerprint.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    W64,
    W128,
}

impl Width {
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Width::W64 => 64,
            Width::W128 => 128,
        }
    }

    pub fn of_bits(bits: u32) -> Option<Width> {
        [Width::W64, Width::W128].into_iter().find(|width| width.bits() == bits)
    }
}

impl Serialize for Width {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.bits())
    }
}

impl<'de> Deserialize<'de> for Width {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Width, D::Error> {
        let bits = u32::deserialize(deserializer)?;
        let wrong =
            || serde::de::Error::custom(format!("expected a width of 64 or 128, found {bits}"));
        Width::of_bits(bits).ok_or_else(wrong)
    }
}
