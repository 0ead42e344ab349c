//! The commands: one file each, or a file and a folder of the same name for its parts. A file has the flags
//! of its command (`Arguments`), its examples, and `run`, which does the work and returns a summary.
//!
//! Some files serve several commands: [`making`] makes outputs, [`pages`] and [`reading`] read inputs, [`searching`] looks for something in pages, [`excerpts`] reads texts again and [`difference`] shows
//! what differs between two, [`store_at`] finds the version of a store, [`near`] answers for a page, [`copies`] counts the copies of near pages, and [`shell`] quotes words of
//! proposed commands. [`help`] has what the help of all commands says,
//! and [`version`] what `--version` says.
//!
//! What a command computes belongs in the library; only flags, printing and exit codes belong here.
//!
//! Start with `command_line`, which parses the command line and calls the command. A new command is a new
//! file, its line below, and its line in `command_line`.

pub(crate) mod cluster;
pub(crate) mod command_line;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod contains;
pub(crate) mod copies;
pub(crate) mod dedup;
pub(crate) mod difference;
pub(crate) mod doctor;
pub(crate) mod evaluate;
mod excerpts;
pub(crate) mod explain;
pub(crate) mod filter;
pub(crate) mod fingerprint;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod lsh;
mod making;
pub(crate) mod man;
mod near;
pub(crate) mod pages;
pub(crate) mod passages;
mod passages_in_place;
pub(crate) mod places;
mod plan;
pub(crate) mod query;
pub(crate) mod reading;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod sample;
pub(crate) mod schema;
mod searching;
pub(crate) mod seen;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod store;
pub(crate) mod store_at;
pub(crate) mod verify;
pub(crate) mod version;
pub(crate) mod weights;

pub(crate) use help::examples;
pub(crate) use pages::PageSource;
pub(crate) use places::Destination;
pub(crate) use store_at::{StoreAt, StoreFlag};
