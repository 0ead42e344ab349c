//! The commands, one file or folder each.

pub(crate) mod command_line;
pub(crate) mod compare;
pub(crate) mod dedup;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod filter;
pub(crate) mod fingerprint;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod inspect;
pub(crate) mod outputs;
pub(crate) mod pages;
pub(crate) mod plan;
pub(crate) mod reading;
pub(crate) mod run;
pub(crate) mod sample;
pub(crate) mod store;
pub(crate) mod store_at;
pub(crate) mod verify;
pub(crate) mod weights;
