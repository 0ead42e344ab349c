//! Unpacks the body of a response: chunks, gzip, deflate, Brotli and zstd, within a limit of bytes.
//!
//! Headers are not trusted. Many crawlers unpack a body and leave its headers as they were, so a body that
//! does not look like what its header says is taken as it is. One that is cut off is not: a part of a page is another page.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::http::Response;
use crate::document::reason::{Reason, too_long};
use crate::document::source::zstd_decoder;

/// The most codings of one body.
const MAX_CODINGS: usize = 4;

/// How much room there is at least for what is inflated next.
const INFLATED_BYTES: usize = 32 << 10;

/// The reason for a body that ends too early for its coding or its chunks.
const CUT_OFF: &str = "the body is cut off";
/// The reason for a body with something else in place of the length of a chunk.
const NO_CHUNK: &str = "the chunks of the body are damaged";

/// The body as it was before it was packed, of at most `max_bytes`.
pub(super) fn unpacked<'a>(
    response: &Response<'a>,
    max_bytes: usize,
) -> Result<Cow<'a, [u8]>, Reason> {
    let mut body = Cow::Borrowed(response.body);
    let names = response.headers.get("Transfer-Encoding").unwrap_or_default();
    if names.to_ascii_lowercase().ends_with(b"chunked")
        && let Some(whole) = dechunked(response.body)
    {
        body = Cow::Owned(whole?);
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
    match name {
        b"gzip" | b"x-gzip" if body.starts_with(GZIP) => gunzip(body, max_bytes),
        b"deflate" if is_zlib(body) => inflate(body, true, max_bytes),
        b"deflate" if !is_text(body) => inflate(body, false, max_bytes),
        b"br" if !is_text(body) => {
            let mut unpacked = Vec::new();
            read_all(Decompressor::new(body, 1 << 12), max_bytes, &mut unpacked).map(|()| unpacked)
        }
        b"zstd" if body.starts_with(ZSTD) => {
            let reader = zstd_decoder(body, &[]).map_err(|error| damaged(&error))?;
            let mut unpacked = Vec::new();
            read_all(reader, max_bytes, &mut unpacked).map(|()| unpacked)
        }
        _ => return Ok(None),
    }
    .map(Some)
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [a, b, ..] if a & 15 == 8 && (256 * u16::from(*a) + u16::from(*b)) % 31 == 0)
}

/// Reads to the end of what `reader` unpacks. `unpacked` grows to at most `max_bytes`.
fn read_all(reader: impl Read, max_bytes: usize, unpacked: &mut Vec<u8>) -> Result<(), Reason> {
    let room = (max_bytes as u64 + 1).saturating_sub(unpacked.len() as u64);
    let read = reader.take(room).read_to_end(unpacked);
    match read {
        _ if unpacked.len() > max_bytes => Err(too_long(max_bytes)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(CUT_OFF.into()),
        Err(error) => Err(damaged(&error)),
        Ok(_) => Ok(()),
    }
}

/// The members of a gzip file, one after another. Browsers pass over what else follows them, and so does this.
fn gunzip(mut body: &[u8], max_bytes: usize) -> Result<Vec<u8>, Reason> {
    let mut unpacked = Vec::new();
    while body.starts_with(GZIP) {
        let mut member = GzDecoder::new(body);
        read_all(&mut member, max_bytes, &mut unpacked)?;
        body = member.into_inner();
    }
    Ok(unpacked)
}

/// Undoes deflate, with the head and the sum of zlib or without. The readers of the library take the end of the bytes for the
/// end of the data.
fn inflate(mut body: &[u8], zlib: bool, max_bytes: usize) -> Result<Vec<u8>, Reason> {
    let mut state = Decompress::new(zlib);
    let mut unpacked = Vec::new();
    loop {
        unpacked.reserve(INFLATED_BYTES);
        let (before, room) = (state.total_in(), unpacked.capacity());
        let status = state.decompress_vec(body, &mut unpacked, FlushDecompress::None);
        let status = status.map_err(|error| damaged(&error.into()))?;
        body = &body[(state.total_in() - before) as usize..];
        match status {
            _ if unpacked.len() > max_bytes => return Err(too_long(max_bytes)),
            Status::StreamEnd => return Ok(unpacked),
            // There is room for more, but nothing more comes.
            Status::Ok | Status::BufError if unpacked.len() < room => return Err(CUT_OFF.into()),
            Status::Ok | Status::BufError => {}
        }
    }
}

fn damaged(error: &io::Error) -> Reason {
    Reason::with("the content encoding is damaged", format_args!(": {error}"))
}

/// Whether a body begins as a page does that is not packed: packed bytes are hardly ever so.
fn is_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(64)];
    start.trim_ascii_start().starts_with(b"<")
        && !start.iter().any(|byte| matches!(byte, 0..=8 | 14..=31))
}

/// The body without the lengths of its chunks; `None` if it does not begin with one.
fn dechunked(body: &[u8]) -> Option<Result<Vec<u8>, Reason>> {
    let mut whole = Vec::new();
    let (mut len, mut rest) = chunk(body)?;
    while len > 0 {
        let Some((data, more)) = rest.split_at_checked(len) else {
            return Some(Err(CUT_OFF.into()));
        };
        whole.extend_from_slice(data);
        let more = more.strip_prefix(b"\r\n").or(more.strip_prefix(b"\n")).unwrap_or(more);
        let Some(next) = chunk(more) else {
            let is_cut = memchr::memchr(b'\n', more).is_none();
            return Some(Err(if is_cut { CUT_OFF } else { NO_CHUNK }.into()));
        };
        (len, rest) = next;
    }
    Some(Ok(whole))
}

/// The length of a chunk, and what follows the line of it.
fn chunk(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let line = &bytes[..memchr::memchr(b'\n', &bytes[..bytes.len().min(256)])?];
    let digits = line.split(|&byte| byte == b';').next()?.trim_ascii();
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let len = is_hex.then(|| usize::from_str_radix(str::from_utf8(digits).ok()?, 16).ok())??;
    Some((len, &bytes[line.len() + 1..]))
}
