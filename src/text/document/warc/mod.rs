//! Web archives: WARC, its texts (WET) and metadata (WAT), and ARC, the format before it.
//!
//! A record is a head, a block whose length the head tells, and an end of line or two. The [`WarcCutter`]
//! believes a length only if another record, or the end of the file, follows the block; if not, that one
//! record is bad, and reading goes on where the next one begins. What is in a block is looked at by the
//! workers: a response of HTTP is parsed, unpacked, decoded to characters and turned into text.

mod codings;
mod cutter;
mod head;
mod headers;
mod portion;
mod revisit;

pub(super) use cutter::WarcCutter;
pub use revisit::{Holder, Original, Payload, revisit};

#[cfg(test)]
mod tests;
