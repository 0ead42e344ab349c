//! Text that is repeated inside pages that are otherwise new: boilerplate, quotes, licences, tables.
//!
//! A window of some words (50) is repeated if the same words stood at an earlier place: in an earlier page, or earlier in its page. A passage is a
//! longest run of repeated windows. A word counts as 32 bits of its hash, and a window as 122 bits of theirs.
//!
//! - `windows`: the hash of each window, as words pass.
//!
//! Start with [`Windows`].
//!
//! ```
//! use dupsieve::rooms::passages::Windows;
//!
//! let mut windows = Windows::new(3);
//! let words = [7, 1, 2, 3, 1, 2, 3];
//! let hashes: Vec<u128> = words.iter().filter_map(|&word| windows.push(word)).collect();
//! assert_eq!(hashes.len(), 5);
//! assert_eq!(hashes[1], hashes[4]); // 1 2 3
//! assert!(hashes[..4].iter().all(|hash| hash != &hashes[4] || hash == &hashes[1]));
//! ```

mod windows;

pub use windows::Windows;
