//! What is typed and what stands in configuration files.

pub(crate) mod cluster;
pub(crate) mod common;
pub(crate) mod config;
pub(crate) mod settings;
