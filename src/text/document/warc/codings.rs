//! Unpacks the body of a response: chunks, gzip, deflate, Brotli and zstd, within a limit of bytes.
//!
//! Headers are not trusted. Many crawlers unpack a body and leave its headers as they were, so a body that
//! does not look like what its header says is taken as it is. One that is cut off is not: a part of a page is another page.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::headers::Response;
use crate::document::reason::{Reason, too_long};
use crate::document::source::{GZIP, ZSTD, zstd_decoder};

const MAX_CODINGS: usize = 4;

const INFLATED_BYTES: usize = 32 << 10;

const CUT_OFF: &str = "the body is cut off";
const NO_CHUNK: &str = "the chunks of the body are damaged";

pub(super) fn unpacked<'a>(
    response: &Response<'a>,
    max_bytes: usize,
) -> Result<Cow<'a, [u8]>, Reason> {
    let lists = ["Content-Encoding", "Transfer-Encoding"].map(|name| response.headers.all(name));
    let names = lists.into_iter().flatten().flat_map(|list| list.split(|&byte| byte == b','));
    let mut names: Vec<Vec<u8>> = names.map(|it| it.trim_ascii().to_ascii_lowercase()).collect();
    let mut body = Cow::Borrowed(response.body);
    for _ in 0..MAX_CODINGS {
        let Some(coding) = Coding::of(&body, &mut names) else { return Ok(body) };
        body = Cow::Owned(coding.undone(&body, max_bytes)?);
    }
    match Coding::of(&body, &mut names) {
        None => Ok(body),
        Some(_) => Err(format!("more than {MAX_CODINGS} content encodings").into()),
    }
}

#[derive(Clone, Copy)]
enum Coding {
    Gzip,
    Zstd,
    Chunked,
    /// With the head and the sum of zlib, or without.
    Deflate(bool),
    Brotli,
}

impl Coding {
    /// The outermost coding of a body. Gzip and zstd are known by their first bytes. Of the other codings one that is
    /// named and looks so, which is taken from the names: the lists may have them in any order.
    fn of(body: &[u8], names: &mut Vec<Vec<u8>>) -> Option<Coding> {
        let mut take = |name: &[u8]| {
            let at = names.iter().rposition(|it| it == name)?;
            Some(names.remove(at))
        };
        match body {
            [] => None,
            _ if body.starts_with(GZIP) => Some(Coding::Gzip),
            _ if body.starts_with(ZSTD) => Some(Coding::Zstd),
            _ if chunk(body).is_some() && take(b"chunked").is_some() => Some(Coding::Chunked),
            _ if is_zlib(body) && take(b"deflate").is_some() => Some(Coding::Deflate(true)),
            _ if is_text(body) => None,
            _ if take(b"deflate").is_some() => Some(Coding::Deflate(false)),
            _ => take(b"br").map(|_| Coding::Brotli),
        }
    }

    fn undone(self, body: &[u8], max_bytes: usize) -> Result<Vec<u8>, Reason> {
        match self {
            Coding::Gzip => gunzip(body, max_bytes),
            Coding::Zstd => {
                let reader = zstd_decoder(body, &[]).map_err(|error| damaged(&error))?;
                read_all(reader, max_bytes)
            }
            Coding::Chunked => dechunked(body),
            Coding::Deflate(zlib) => inflate(body, zlib, max_bytes),
            Coding::Brotli => read_all(Decompressor::new(body, 1 << 12), max_bytes),
        }
    }
}

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [a, b, ..] if a & 15 == 8 && (256 * u16::from(*a) + u16::from(*b)) % 31 == 0)
}

fn read_all(reader: impl Read, max_bytes: usize) -> Result<Vec<u8>, Reason> {
    let mut unpacked = Vec::new();
    match reader.take(max_bytes as u64 + 1).read_to_end(&mut unpacked) {
        _ if unpacked.len() > max_bytes => Err(too_long(max_bytes)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(CUT_OFF.into()),
        Err(error) => Err(damaged(&error)),
        Ok(_) => Ok(unpacked),
    }
}

/// The members of a gzip file, one after another. Browsers pass over what else follows them, and so does this.
fn gunzip(mut body: &[u8], max_bytes: usize) -> Result<Vec<u8>, Reason> {
    let mut unpacked = Vec::new();
    while body.starts_with(GZIP) {
        let mut member = GzDecoder::new(body);
        unpacked.append(&mut read_all(&mut member, max_bytes - unpacked.len())?);
        body = member.into_inner();
    }
    Ok(unpacked)
}

/// Undoes deflate. The readers of the library take the end of the bytes for the end of the data.
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
    let is_utf8 =
        || str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
    (start.trim_ascii_start().starts_with(b"<") || is_utf8())
        && !start.iter().any(|byte| matches!(byte, 0..=8 | 14..=31))
}

fn dechunked(body: &[u8]) -> Result<Vec<u8>, Reason> {
    let mut whole = Vec::new();
    let mut rest = body;
    loop {
        let Some((len, data)) = chunk(rest) else {
            let is_cut = memchr::memchr(b'\n', rest).is_none();
            return Err(if is_cut { CUT_OFF } else { NO_CHUNK }.into());
        };
        if len == 0 {
            return Ok(whole);
        }
        let (data, more) = data.split_at_checked(len).ok_or(CUT_OFF)?;
        whole.extend_from_slice(data);
        rest = more.strip_prefix(b"\r\n").or(more.strip_prefix(b"\n")).unwrap_or(more);
    }
}

fn chunk(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let line = &bytes[..memchr::memchr(b'\n', &bytes[..bytes.len().min(256)])?];
    let digits = line.split(|&byte| byte == b';').next()?.trim_ascii();
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let len = is_hex.then(|| usize::from_str_radix(str::from_utf8(digits).ok()?, 16).ok())??;
    Some((len, &bytes[line.len() + 1..]))
}
