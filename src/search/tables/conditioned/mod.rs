//! The probe for a sorted store: the batch conditioned on the prefix of the probed fingerprints.
//!
//! The store comes in sorted runs, and so in groups that share a prefix. A fingerprint of the batch whose
//! own prefix differs from that in w bits can only match if w <= k, and then only r = k - w errors are left
//! for the bits behind the prefix. For most, none is left. Take two blocks of those bits, X and Y. By the
//! general pigeonhole, with tX + tY = r - 1, either X is within tX or Y is within tY: else they would
//! differ in (tX + 1) + (tY + 1) = r + 1 bits.
//!
//! | r | 0 | 1 | 2 | 3 | 4 | 5 |
//! |---|---|---|---|---|---|---|
//! | X within | 0 | 0 | 1 | 1 | 2 | 2 |
//! | or Y within | - | 0 | 0 | 1 | 1 | 2 |
//!
//! So each such fingerprint of the batch gives a few keys, mostly exact ones, and all of them together
//! give a bitmap that stays in the cache. A group is scanned with two bit tests for each fingerprint. The
//! few that pass are compared in full with the fingerprints that gave their keys.
//!
//! An example with 8 bits, k = 1, prefixes of 2 bits, and X and Y of 3 bits. The group has the prefix `10`.
//!
//! | batch | prefix off by | r | keys |
//! |---|---|---|---|
//! | `10 101 110` | 0 | 1 | X `101`, Y `110` |
//! | `11 000 011` | 1 | 0 | X `000` |
//! | `01 101 110` | 2 | - | none: it cannot match here |
//!
//! | group | X or Y in the bitmap | result |
//! |---|---|---|
//! | `10 000 011` | X `000` | compared with `11 000 011`: distance 1, a hit |
//! | `10 101 010` | X `101` | compared with `10 101 110`: distance 1, a hit |
//! | `10 111 011` | neither | dropped after two bit tests |
//!
//! The groups are found by walking the tree of prefixes. A [`level`] has the fingerprints of the batch
//! within reach below one prefix, ordered by the errors they have left and then by their next digit, so
//! those within reach below each child are a few buckets. The walk goes down while that is cheaper than
//! scanning ([`cost::divide`]): prefixes are long where the store is dense or the batch is crowded. What
//! is built for a prefix serves all runs at once. Many runs are gathered first ([`bag`]), so that a leaf
//! scans one slice and not a thousand.
//!
//! Every pair is found once: a probed fingerprint is in one leaf only, a fingerprint of the batch in one
//! bucket of that leaf's reach, and a pair that meets by X and by Y counts by X.
//!
//! Start with `walk.rs`, which goes down the tree; `leaf.rs` does the work at the bottom.

mod bag;
mod cost;
mod leaf;
mod level;
mod walk;

pub(super) use cost::cost;
pub(super) use level::COVERS;
pub(super) use walk::{Conditioned, Walk};
