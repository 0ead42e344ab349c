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

    /// The address of a header such as `Link: <https://a.example/x>; rel="canonical"`.
    pub(super) fn canonical(&self) -> Option<String> {
        self.headers.all("Link").find_map(|links| {
            let links = str::from_utf8(links).ok()?.split('<').skip(1);
            let link = links.filter_map(|link| link.split_once('>'));
            let (address, _) = link.into_iter().find(|(_, about)| is_canonical(about))?;
            Some(address.trim().to_owned()).filter(|address| !address.is_empty())
        })
    }
}

fn is_canonical(parameters: &str) -> bool {
    parameters.to_ascii_lowercase().split(';').any(|parameter| {
        let rel = parameter.trim().strip_prefix("rel").and_then(|it| it.trim().strip_prefix('='));
        let mut words = rel.unwrap_or_default().split(|c: char| " \t\",".contains(c));
        words.any(|word| word == "canonical")
    })
}
