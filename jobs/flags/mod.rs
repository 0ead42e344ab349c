//! What the user can set: by flags, by environment variables and in configuration files.
//!
//! [`global`] has the flags that every command takes, [`shared`] those that several commands share, [`machines`] among them those that say in how many
//! processes a command runs, and [`config`] the configuration file. [`settings`] has the flags that a file can set too, and the types of
//! their values. [`place`] has the paths and addresses that flags and files name. The flags of a single command are in that command's file.
//!
//! Start with `global::GlobalFlags`.

mod config;
mod global;
mod machines;
mod place;
mod settings;
mod shared;

pub(crate) use config::{Add, Config};
pub(crate) use global::{GlobalFlags, LogFormat};
pub(crate) use machines::{Listen, MachineFlags, MachineSettings};
pub(crate) use place::{
    Output, Outputs, Place, check_output, completed_by_paths, keep_mounts_in, mount_typed, mounts,
};
pub(crate) use settings::{
    ClustersSettings, Count, DedupSettings, FingerprintSettings, FormatFlag, Keep, KeepField,
    OutputSettings, PageSettings, RecipeChoice, RecipeSettings, Replaced, Share, StoreSettings,
    parse_count, parse_width, reads_texts,
};
pub(crate) use shared::{
    COMMON, ConfirmDay, DryRun, JOB, Memory, Overwrite, Processes, Telemetry, Workers, flags_of,
    shared, typed_flag,
};
#[cfg(feature = "serve")]
pub(crate) use {machines::Seconds, settings::ByteSize, shared::Shared};
