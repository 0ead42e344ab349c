//! The share of a text that another text holds.

/// How much of a text another text holds, estimated from their signatures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldShare {
    /// The share of the runs of the text, from 0 to 1.
    pub held: f64,
    /// The standard error of the share.
    pub error: f64,
}
