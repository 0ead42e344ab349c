//! Unpacks the body of a response: chunks, gzip, deflate, Brotli and zstd, within a limit of bytes.
//!
//! Headers are not trusted. Many crawlers unpack a body and leave its headers as they were, so a body that
//! does not look like what its header says is taken as it is.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::http::Response;
use crate::document::reason::{Reason, TOO_LONG};
use crate::document::source::zstd_decoder;

/// The most codings of one body.
const MAX_CODINGS: usize = 4;

/// The body as it was before it was packed, of at most `max_bytes`.
pub(super) fn unpacked<'a>(
    response: &Response<'a>,
    max_bytes: usize,
) -> Result<Cow<'a, [u8]>, Reason> {
    let mut body = Cow::Borrowed(response.body);
    let names = response.headers.get("Transfer-Encoding").unwrap_or_default();
    if names.to_ascii_lowercase().ends_with(b"chunked") {
        body = dechunked(response.body).map_or(body, Cow::Owned);
    }
    let names = response.headers.get("Content-Encoding").unwrap_or_default().to_ascii_lowercase();
    let names: Vec<&[u8]> = names.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
    if names.len() > MAX_CODINGS {
        return Err(format!("more than {MAX_CODINGS} content encodings").into());
    }
    for name in names.iter().rev().filter(|_| !response.body.is_empty()) {
        if let Some(unpacked) = unpack(name, &body, max_bytes)? {
            body = Cow::Owned(unpacked);
        }
    }
    Ok(body)
}

/// Undoes one coding; `None` if the body does not have it.
fn unpack(name: &[u8], body: &[u8], max_bytes: usize) -> Result<Option<Vec<u8>>, Reason> {
    let is_zlib = |body: &[u8]| matches!(body, [a, b, ..] if a & 15 == 8 && (256 * u16::from(*a) + u16::from(*b)) % 31 == 0);
    let reader: Box<dyn Read + '_> = match name {
        b"gzip" | b"x-gzip" if body.starts_with(&[0x1f, 0x8b]) => {
            Box::new(MultiGzDecoder::new(body))
        }
        b"deflate" if is_zlib(body) => Box::new(ZlibDecoder::new(body)),
        b"deflate" if !is_text(body) => Box::new(DeflateDecoder::new(body)),
        b"br" if !is_text(body) => Box::new(Decompressor::new(body, 1 << 12)),
        b"zstd" if body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => {
            Box::new(zstd_decoder(body, &[]).map_err(|error| damaged(&error))?)
        }
        _ => return Ok(None),
    };
    let mut unpacked = Vec::new();
    match reader.take(max_bytes as u64 + 1).read_to_end(&mut unpacked) {
        _ if unpacked.len() > max_bytes => Err(TOO_LONG.into()),
        // A page that was cut short in transfer is shown as far as it goes.
        Err(error) if unpacked.is_empty() || error.kind() != ErrorKind::UnexpectedEof => {
            Err(damaged(&error))
        }
        _ => Ok(Some(unpacked)),
    }
}

fn damaged(error: &std::io::Error) -> Reason {
    Reason::with("the content encoding is damaged", format_args!(": {error}"))
}

/// Whether a body begins as a page does that is not packed: packed bytes are hardly ever so.
fn is_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(64)];
    start.trim_ascii_start().starts_with(b"<")
        && !start.iter().any(|byte| matches!(byte, 0..=8 | 14..=31))
}

/// The body without the lengths of its chunks; `None` if it does not begin with one. A body that breaks
/// off is taken as far as it goes.
fn dechunked(body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    let (mut len, mut rest) = chunk(body)?;
    while len > 0 {
        let (data, more) = rest.split_at(len.min(rest.len()));
        whole.extend_from_slice(data);
        let more = more.strip_prefix(b"\r\n").or(more.strip_prefix(b"\n")).unwrap_or(more);
        let Some(next) = chunk(more) else { break };
        (len, rest) = next;
    }
    Some(whole)
}

/// The length of a chunk, and what follows the line of it.
fn chunk(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let line = &bytes[..memchr::memchr(b'\n', &bytes[..bytes.len().min(256)])?];
    let digits = line.split(|&byte| byte == b';').next()?.trim_ascii();
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let len = is_hex.then(|| usize::from_str_radix(str::from_utf8(digits).ok()?, 16).ok())??;
    Some((len, &bytes[line.len() + 1..]))
}
