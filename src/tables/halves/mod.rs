//! The probe that needs no order: blocks that are at most one bit off, found in a filter.
//!
//! Divide the fingerprint into blocks, each with a limit: a pair meets in a block if it differs there in
//! at most that many bits. A pair that exceeds every limit differs in at least the sum of (limit + 1)
//! over all blocks. If that sum is above k, every pair within k meets in some block: the general
//! pigeonhole. No limit here is above 1, so the blocks are the two halves up to k = 3, which gave the
//! design its name, then thirds, and quarters for k = 6 and 7.
//!
//! | k | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//! |---|---|---|---|---|---|---|---|---|
//! | parts | 2 | 2 | 2 | 2 | 3 | 3 | 4 | 4 |
//! | limits | 0 | 0 0 | 1 0 | 1 1 | 1 1 0 | 1 1 1 | 1 1 1 0 | 1 1 1 1 |
//!
//! At k = 0 one half is enough, and at k = 2 with 128 bits the limits are 1 for the high half and 0 for the
//! low half: (1 + 1) + (0 + 1) = 3 > 2.
//!
//! The batch is the smaller side, so it pays for the enumeration. The 33 values within one bit of each of
//! its 32-bit halves are marked in a filter that is so large that few others pass, and each probed
//! fingerprint costs one look for each block. The look may go anywhere in memory, so it begins long
//! before its result is needed. For a fingerprint that passes, the 33 values within one bit of its own half
//! are looked up among those of the batch: in a small filter first, and then in a table.

mod block;
mod cost;
mod filter;
mod probe;

pub(super) use cost::cost;
pub(super) use probe::{Halves, covers};
