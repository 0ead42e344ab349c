//! Pages in: which files there are, what they hold, and what of it cannot be read.
//!
//! ```text
//! Inputs -> Source (unpacked bytes) -> Batch (whole records) -- another thread --> Document, or the Reason why not
//! ```
//!
//! [`read`] does what has to be done in order, opening, unpacking and cutting; [`Batch::parse`] does
//! the rest on whichever thread has time. A record that cannot be read never stops the job: it is
//! handed on with its [`Position`] and a [`Reason`], to be quarantined and counted.

mod batch;
mod contents;
mod expand;
mod fields;
mod format;
mod id;
mod id_list;
mod inputs;
mod jsonl;
mod lines;
mod quarantine;
mod read;
mod ready;
mod reason;
mod record;
mod repeated;
mod share;
mod source;
mod time;
mod tolerance;
mod tsv;

pub use batch::Batch;
pub use contents::Contents;
pub use fields::Fields;
pub use format::Format;
pub use id::MAX_ID_BYTES;
pub use id_list::IdList;
pub use inputs::{Input, Inputs, PassedOver};
pub use quarantine::{Quarantine, Quarantined};
pub use read::{ReadOptions, Tally, read};
pub use reason::Reason;
pub use record::{Content, Document, Position};
pub use repeated::{Place, Repeated};
pub use share::Share;
pub use time::{Time, TimeKind, Times};
pub use tolerance::Tolerance;

#[cfg(test)]
mod tests;
