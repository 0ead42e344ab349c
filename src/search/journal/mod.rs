//! Pages that a store is to remember before a day of it has them: appended to a file, and found at once.
//!
//! A crawler asks about a page and has it remembered in the same moment. Adding a segment for each would be far too
//! much, so pages go into a [`Journal`], which becomes the segment of a day once the day is over. A page is
//! acknowledged when it is on disk. Many requests share one write.
//!
//! ```text
//! turn -> part (memory)     -> frame -> file (disk) -> acknowledged, visible
//!                                         seal: this is 2026-11-22 -> segment -> store add -> forget
//! ```
//!
//! - `folder`: requests, seals, segments ([`Journal`]), and the turn of one request ([`Insertion`]).
//! - `shared`: what waits to be written, and the thread that writes it.
//! - `rewriting`: the files that are written anew.
//! - `part`, `near`: the pages of one file in memory, and which of them are near.
//! - `file`, `header`, `page_bytes`: the bytes. FORMAT.md in this folder specifies them.
//!
//! Imports `store` and `matches` and what they import. Plain threads; nothing is asynchronous.

mod file;
mod folder;
mod header;
mod near;
mod page_bytes;
mod part;
mod rewriting;
mod shared;

#[cfg(test)]
mod tests;

pub use folder::{Insertion, Journal, JournalOptions};
pub use part::Wanted;
pub use shared::Done;
