//! A store that answers and remembers while a crawl runs: its newest version and its journal, as one.
//!
//! ```text
//! query      journal, then store  ->  what is near, the verdict
//! remember   the same, in turn    ->  verdicts as the keep rule gives them; what is kept goes to the journal
//! commit     journal -> segment -> join -> store add -> a new version, which takes the place of these pages of the journal
//! refresh    another process made a version, or removed pages: take that up
//! ```
//!
//! A query looks at the journal first and at the version after it. A commit shows the new version first and forgets the
//! pages of the journal after it. So a page is seen in one of them at any moment; where it is seen in both, it counts
//! once.
//!
//! - `service`: the store and its journal ([`Online`]). `commits`: the days made of the journal. `gone`: the pages that go with a commit.
//! - `opened`: a version, opened once for each distance.
//! - `requests`: the JSON that clients send. `verdict`: what is near, and the verdict. `ration`: how much of it is named.
//!
//! Imports `index`, `journal`, `join`, `report` and what they import. Start with [`Online::open`].

mod commits;
mod gone;
mod opened;
mod ration;
pub mod requests;
mod service;
mod verdict;

#[cfg(test)]
mod tests;

pub use commits::Committed;
pub use gone::{Gone, GonePage};
pub use service::{Online, OnlineOptions, Remember, Told};
pub use verdict::{Found, Verdict};
