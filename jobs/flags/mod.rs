//! What the user can set: by flags, by environment variables and in configuration files.
//!
//! [`global`] has the flags that every command takes, [`shared`] those that several commands share, [`machines`] among them those that say in how many
//! processes a command runs, and [`config`] the configuration file. [`settings`] has the flags that a file can set too, and the types of
//! their values. [`place`] has the paths and addresses that flags and files name. The flags of a single command are in that command's file.
//!
//! Start with `global::GlobalFlags`.

pub(crate) mod config;
pub(crate) mod global;
pub(crate) mod machines;
pub(crate) mod place;
pub(crate) mod settings;
pub(crate) mod shared;
