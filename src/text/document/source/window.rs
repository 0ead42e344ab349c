//! How much memory a frame of zstd needs to be unpacked: the window to which it refers back.

use std::io;

use crate::error::{Error, Kind};

/// The first bytes of a frame.
pub(in crate::document) const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The bytes that a frame which begins with `head` refers back to; `None` if it is no frame, or one without data.
///
/// `28 b5 2f fd 04 a8`: neither a single segment nor a length, and a window of 2^(10 + 21) bytes.
pub(super) fn needed(head: &[u8]) -> Option<u64> {
    let rest = head.strip_prefix(ZSTD)?;
    let (&descriptor, rest) = rest.split_first()?;
    let is_single = descriptor & 0x20 != 0;
    let (window, rest) = match is_single {
        true => (u64::MAX, rest),
        false => {
            let (&window, rest) = rest.split_first()?;
            let base = 1_u64 << (10 + (window >> 3));
            (base + base / 8 * u64::from(window & 7), rest)
        }
    };
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let length_bytes = match descriptor >> 6 {
        0 if is_single => 1,
        0 => return Some(window),
        more => 1 << more,
    };
    let mut length = [0; 8];
    let digits = rest.get(dictionary_bytes..dictionary_bytes + length_bytes)?;
    length[..length_bytes].copy_from_slice(digits);
    let offset = if length_bytes == 2 { 256 } else { 0 };
    Some(window.min(u64::from_le_bytes(length).saturating_add(offset)))
}

pub(super) fn too_large(needed: u64, allowed: u64) -> io::Error {
    let mebibytes = |bytes: u64| format!("{} MiB", bytes.div_ceil(1 << 20));
    io::Error::other(
        Error::new(Kind::Usage, "unpacking this file needs more memory than it may take")
            .expected(format_args!("at most {}, a quarter of its memory", mebibytes(allowed)))
            .found(format_args!("{}: it was packed with a large window", mebibytes(needed)))
            .help(format_args!("allow more memory, such as {} GiB", needed.div_ceil(1 << 28)))
            .setting("memory"),
    )
}
