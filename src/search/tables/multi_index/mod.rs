//! Multi-index hashing: blocks of which one is nearly the same, and vectors that compare what meets there.
//!
//! Divide the fingerprint into blocks, each with a limit: a pair meets in a block if it differs there in at
//! most that many bits. If the limits t of m blocks add up to k - m + 1, a pair that exceeds all of them
//! differs in at least the sum of (t + 1), which is k + 1 bits. So every pair within k meets in some block. This
//! is multi-index hashing (Norouzi, Punjani and Fleet, CVPR 2012) with the thresholds of the general
//! pigeonhole principle (Qin et al., TKDE 2021). With four blocks:
//!
//! | k | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 |
//! |---|---|---|---|---|---|---|---|---|---|
//! | limits | 0 0 0 0 | 1 0 0 0 | 1 1 0 0 | 1 1 1 0 | 1 1 1 1 | 2 1 1 1 | 2 2 1 1 | 2 2 2 1 | 2 2 2 2 |
//!
//! The batch is sorted by each block once. A window of the store is sorted by one block after the other.
//! Then the fingerprints of the window that have the same value in the block are compared with all of the
//! batch whose value is within the limit of it: for 16 bits and a limit of 1, those of the value itself and of
//! 16 others. With a million in the batch that are 260 of it, for every fingerprint and block. Here
//! [`lanes`](crate::hamming::lanes) compares one fingerprint with 32 others at a time: where all lanes are full, a comparison costs less than
//! a tenth of a nanosecond with AVX-512, and four times as much with AVX2. Whatever fills the lanes better is compared in
//! lanes: the rows of the batch that meet a value, which are gathered, or the fingerprints of the window that have the value, which
//! are a *tile*. What may be near is then compared in full.
//!
//! An example with 8 bits, k = 1, and two blocks of 4 bits with the limit 0. The window has `1010 0111`,
//! `1010 1000` and `0001 0110`, the batch has `1010 0110`.
//!
//! | block | value | of the window | result |
//! |---|---|---|---|
//! | high | `1010` | `1010 0111`, `1010 1000` | the first is off by 1, a hit; the second by 3 |
//! | low | `0110` | `0001 0110` | off by 3 |
//!
//! Every pair is found once: it may meet in several blocks, but counts in the first. The bits before the
//! first and after the last in which the batch differs are in no block, for they would divide nothing. What differs
//! from the batch in more than k of the bits that all of it shares is left out from the start.
//!
//! A crowd that shares the value of a block is compared all with all. `cost.rs` counts how many more pairs meet
//! than if all were uniform, and [`plan`](super::plan) takes another design where that is cheaper.
//!
//! The batch meets itself without a window: the rows of each value are a tile. They are compared with each other, and with the rows of
//! larger values.
//!
//! Start with `probe.rs`; `block.rs` has the limits and the batch sorted by a block, `scan.rs` compares what meets.

mod block;
mod cost;
mod probe;
mod scan;

pub(super) use block::COVERS;
pub(super) use cost::{SELF_BYTES, cost, of_itself};
pub(super) use probe::{MultiIndex, MultiIndexScratch};
pub(super) use scan::Gathered;
