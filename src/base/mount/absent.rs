//! Mounts in a build without object stores: there are none.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::object_storage::Address;

pub struct Mounts(PathBuf);

impl Mounts {
    pub fn new(cache: PathBuf) -> Mounts {
        Mounts(cache)
    }

    pub fn cache(&self) -> &Path {
        &self.0
    }

    pub fn mount(&self, address: &Address) -> Result<PathBuf> {
        Err(address.needs_feature())
    }

    pub fn mount_output(&self, address: &Address) -> Result<PathBuf> {
        Err(address.needs_feature())
    }

    pub fn publish(&self) -> Result<()> {
        Ok(())
    }

    pub fn sweep(&self) -> Result<()> {
        Ok(())
    }

    pub fn shown(&self) -> Result<String> {
        Ok(String::new())
    }

    pub fn see(&self, _: &str) -> Result<()> {
        Ok(())
    }

    pub fn is_own(&self, _: &Path) -> bool {
        false
    }

    pub fn inheritance(&self) -> Option<(&'static str, String)> {
        None
    }
}

pub fn trees_with(_: &str, address: &Address) -> Result<Vec<Address>> {
    Err(address.needs_feature())
}

pub fn try_out(address: &Address) -> Result<()> {
    Err(address.needs_feature())
}
