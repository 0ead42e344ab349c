//! A response of HTTP as crawlers keep it.

use super::headers::{Headers, head_bytes};

#[derive(Clone, Copy, Debug)]
pub(super) struct Response<'a> {
    pub(super) status: u16,
    pub(super) headers: Headers<'a>,
    pub(super) body: &'a [u8],
}

impl<'a> Response<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Response<'a>> {
        if !bytes.get(..5)?.eq_ignore_ascii_case(b"HTTP/") {
            return None;
        }
        let line = bytes.split(|&byte| byte == b'\n').next()?;
        let mut words =
            line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let status = str::from_utf8(words.nth(1)?).ok()?.parse().ok()?;
        let head = head_bytes(bytes).unwrap_or(bytes.len());
        Some(Response { status, headers: Headers(&bytes[..head]), body: &bytes[head..] })
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
