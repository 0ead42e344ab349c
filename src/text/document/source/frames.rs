//! What the frames of a zstd file say of themselves: the window to which one refers back, which is the memory that it needs to be unpacked; and the
//! dictionary that the first may hold for the others, as in web archives: a skippable frame, in which the dictionary stands as it is or is itself
//! compressed.

use std::io::{self, BufRead, ErrorKind, Read};

use crate::error::{Error, Kind};

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

/// The most memory that a small frame may ask for, as a power of two: 128 MiB, the default of `zstd`.
const WINDOW_LOG_MAX: u32 = 27;

/// How a frame with a dictionary begins. Four bytes with its length follow.
const DICTIONARY_FRAME: &[u8] = &[0x5d, 0x2a, 0x4d, 0x18];

const DICTIONARY: &[u8] = &[0x37, 0xa4, 0x30, 0xec];

const MAX_DICTIONARY_BYTES: u64 = 16 << 20;

pub(in crate::document) fn decoder<R: BufRead>(
    packed: R,
    dictionary: &[u8],
) -> io::Result<zstd::Decoder<'static, R>> {
    let mut frames = zstd::Decoder::with_dictionary(packed, dictionary)?;
    frames.window_log_max(WINDOW_LOG_MAX)?;
    Ok(frames)
}

pub(super) fn may_be_dictionary(head: &[u8]) -> bool {
    head.starts_with(DICTIONARY_FRAME)
}

/// The dictionary at the beginning, which is taken from `packed`; no bytes if the frame there holds something else.
pub(super) fn dictionary(packed: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = [0; 8];
    packed.read_exact(&mut head)?;
    let length = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
    let (mut packed, mut content) = (packed.take(length), Vec::new());
    packed.by_ref().take(4).read_to_end(&mut content)?;
    let has_dictionary = content.starts_with(DICTIONARY) || content.starts_with(ZSTD);
    match has_dictionary {
        true => at_most(&mut packed, &mut content)?,
        // Anything may stand in such a frame, for whoever knows it.
        false => drop(io::copy(&mut packed, &mut io::sink())?),
    }
    if packed.limit() > 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    if !has_dictionary {
        return Ok(Vec::new());
    }
    if content.starts_with(DICTIONARY) {
        return Ok(content);
    }
    let mut unpacked = Vec::new();
    at_most(decoder(&content[..], &[])?, &mut unpacked)?;
    Ok(unpacked)
}

fn at_most(from: impl Read, into: &mut Vec<u8>) -> io::Result<()> {
    from.take(MAX_DICTIONARY_BYTES + 1).read_to_end(into)?;
    if into.len() as u64 > MAX_DICTIONARY_BYTES {
        let what = format!("a dictionary of more than {MAX_DICTIONARY_BYTES} bytes");
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    }
    Ok(())
}
