//! Bytes that are read by ranges.

use std::ops::Range;

use crate::error::Result;

pub trait Remote: Send + Sync {
    fn bytes(&self) -> u64;

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> Result<()>;

    /// Asks for these bytes now, which [`Remote::read_exact_at`] will be asked for soon. What fails is asked for once more then.
    fn expect(&self, _range: Range<u64>) {}
}
