//! Mounts in a build without object stores: there are none.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::storage::Address;

/// Fails, because this build cannot reach object stores.
///
/// # Errors
/// Always [`Kind::Usage`](crate::Kind::Usage).
pub fn mount(address: &Address, _: &Path) -> Result<PathBuf> {
    Err(address.needs_feature())
}

/// Fails, because this build cannot reach object stores.
///
/// # Errors
/// Always [`Kind::Usage`](crate::Kind::Usage).
pub fn mount_output(address: &Address, _: &Path) -> Result<PathBuf> {
    Err(address.needs_feature())
}

/// Fails, because this build cannot reach object stores.
///
/// # Errors
/// Always [`Kind::Usage`](crate::Kind::Usage).
pub fn trees_with(_: &str, address: &Address) -> Result<Vec<Address>> {
    Err(address.needs_feature())
}

/// Fails, because this build cannot reach object stores.
///
/// # Errors
/// Always [`Kind::Usage`](crate::Kind::Usage).
pub fn try_out(address: &Address) -> Result<()> {
    Err(address.needs_feature())
}

/// Does nothing, because nothing is mounted.
///
/// # Errors
/// None.
pub fn publish() -> Result<()> {
    Ok(())
}

/// Does nothing, because nothing is mounted.
///
/// # Errors
/// None.
pub fn sweep() -> Result<()> {
    Ok(())
}

/// Nothing, because nothing is mounted.
///
/// # Errors
/// None.
pub fn shown() -> Result<String> {
    Ok(String::new())
}

/// Does nothing, because nothing is mounted.
///
/// # Errors
/// None.
pub fn see(_: &str) -> Result<()> {
    Ok(())
}

/// Says no, because nothing is mounted.
pub fn is_own(_: &Path) -> bool {
    false
}

/// Nothing, because nothing is mounted.
pub fn inheritance() -> Option<(&'static str, String)> {
    None
}

/// Does nothing, because nothing is mounted.
pub fn unmount() {}
