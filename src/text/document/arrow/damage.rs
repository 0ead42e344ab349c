//! What is wrong with a file. Readers deep in it fail as any reader does, and the error is made here.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::catch_panic;
use crate::error::{Error, Kind, Result};

pub(super) fn damaged(what: impl fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_string())
}

pub(super) fn too_much(what: &str, most: usize) -> io::Error {
    let error =
        Error::new(Kind::BadData, format!("{what} of the Arrow file takes too much memory"))
            .expected(format_args!("at most {most} bytes"))
            .help("write the file anew without it, or allow longer records")
            .setting("max-record");
    io::Error::other(error)
}

/// Reads from the file at `path`. What unpacks is by others, and may panic on damage.
pub(super) fn trying<T>(path: &Path, work: impl FnOnce() -> io::Result<T>) -> Result<T> {
    let done = catch_panic::call(work).unwrap_or_else(|panic| Err(damaged(panic)));
    done.map_err(|cause| match Error::within(&cause) {
        Some(error) => error.clone().at(path),
        None if cause.raw_os_error().is_some() => Error::io(path, &cause),
        None => Error::new(Kind::BadData, "the Arrow file cannot be read")
            .at(path)
            .found(cause)
            .help("is it whole, and is it Arrow IPC? Arrow inside of .gz or .zst must be unpacked first"),
    })
}
