//! The dictionary of a zstd file. Its first frame may hold one for the others, as in web archives: a skippable frame, in which the
//! dictionary stands as it is or is itself compressed.

use std::io::{self, BufRead, Error, ErrorKind, Read};

use super::window::ZSTD;

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

pub(super) fn may_be(head: &[u8]) -> bool {
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
        return Err(Error::new(ErrorKind::InvalidData, what));
    }
    Ok(())
}
