//! The probe for a sorted store: the batch conditioned on the prefix of what is probed.
//!
//! What is probed comes in sorted runs, and so in groups that share a prefix. Of the batch only the
//! fingerprints whose own prefix is within k of that one can match, and one whose prefix uses up w of
//! the k errors has only r = k - w left for the bits behind it. Most have none left. Take two blocks of
//! those bits, X and Y. By the general pigeonhole, with tX + tY = r - 1, either X is within tX or Y is
//! within tY: else they would differ in tX + 1 + tY + 1 = r + 1 bits.
//!
//! | r | 0 | 1 | 2 | 3 | 4 | 5 |
//! |---|---|---|---|---|---|---|
//! | X within | 0 | 0 | 1 | 1 | 2 | 2 |
//! | or Y within | - | 0 | 0 | 1 | 1 | 2 |
//!
//! So each such fingerprint of the batch gives a few keys, mostly exact ones, and all of them together
//! give a bitmap that stays in the cache. A group is scanned with two bit tests for each fingerprint; the
//! few that pass are compared with the fingerprints that gave their keys, in full.
//!
//! The groups are found by walking the tree of prefixes. A [`level`] holds what of the batch is within
//! reach below one prefix, by the errors left and the next digit, so what is within reach below each
//! child lies in a few buckets. The walk goes down while that is cheaper than to scan ([`cost`]): the
//! prefix is as long as the store is dense there, and where the batch is crowded it is longer. What is
//! built for a prefix serves all runs at once, and where they are many they are gathered first ([`bag`]),
//! so that a leaf scans one slice and not a thousand.
//!
//! All this may be done with the first bits alone, and other pairs left to others: then k counts there,
//! and what meets is held against a second limit for the whole ([`Conditioned::of_high_half`]).
//!
//! Every pair is found once: a fingerprint probed is in one leaf only, a fingerprint of the batch in
//! one bucket of that leaf's reach, and a pair that meets by X and by Y counts by X.
//!
//! Start with `probe.rs`; `walk.rs` goes down the tree, `leaf.rs` does the work at the bottom.

mod arranged;
mod bag;
mod cost;
mod expense;
mod gallop;
mod leaf;
mod level;
mod masks;
mod probe;
mod shape;
mod walk;

pub(super) use arranged::Conditioned;
pub(super) use expense::{cost, memory_bytes, nanoseconds};
pub(super) use probe::covers;
pub(super) use walk::Walk;
