//! Mounts in a build without object stores: there are none.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::storage::Address;

/// No mounts, and the folder that they would be below.
pub struct Mounts(PathBuf);

impl Mounts {
    pub fn new(cache: PathBuf) -> Mounts {
        Mounts(cache)
    }

    /// The folder that mounts would be below.
    pub fn cache(&self) -> &Path {
        &self.0
    }

    /// Fails, because this build cannot reach object stores.
    pub fn mount(&self, address: &Address) -> Result<PathBuf> {
        Err(address.needs_feature())
    }

    /// Fails, because this build cannot reach object stores.
    pub fn mount_output(&self, address: &Address) -> Result<PathBuf> {
        Err(address.needs_feature())
    }

    /// Does nothing, because nothing is mounted.
    pub fn publish(&self) -> Result<()> {
        Ok(())
    }

    /// Does nothing, because nothing is mounted.
    pub fn sweep(&self) -> Result<()> {
        Ok(())
    }

    /// Nothing, because nothing is mounted.
    pub fn shown(&self) -> Result<String> {
        Ok(String::new())
    }

    /// Does nothing, because nothing is mounted.
    pub fn see(&self, _: &str) -> Result<()> {
        Ok(())
    }

    /// Says no, because nothing is mounted.
    pub fn is_own(&self, _: &Path) -> bool {
        false
    }

    /// Nothing, because nothing is mounted.
    pub fn inheritance(&self) -> Option<(&'static str, String)> {
        None
    }
}

/// Fails, because this build cannot reach object stores.
pub fn trees_with(_: &str, address: &Address) -> Result<Vec<Address>> {
    Err(address.needs_feature())
}

/// Fails, because this build cannot reach object stores.
pub fn try_out(address: &Address) -> Result<()> {
    Err(address.needs_feature())
}
