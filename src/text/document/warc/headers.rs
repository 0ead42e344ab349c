//! Lines of `Name: value`, as WARC and HTTP have them, and a response of HTTP. The lines are not trusted: lines without a colon are
//! passed over, and lines may end in LF alone. A line that begins with white space goes on with the line before.

use std::iter;

use memchr::{memchr, memchr_iter, memmem};

#[derive(Clone, Copy, Debug)]
pub(super) struct Headers<'a>(pub(super) &'a [u8]);

impl<'a> Headers<'a> {
    pub(super) fn get(self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    pub(super) fn all(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.lines().filter_map(move |line| {
            let (key, value) = line.split_at(memchr(b':', line)?);
            let is_same = key.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            is_same.then(|| value[1..].trim_ascii())
        })
    }

    /// The lines with their ends, each with those that go on with it.
    pub(super) fn lines(self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.0;
        iter::from_fn(move || rest.split_off(..line_bytes(rest)).filter(|it| !it.is_empty()))
    }
}

fn line_bytes(bytes: &[u8]) -> usize {
    let mut ends = memchr_iter(b'\n', bytes).map(|at| at + 1);
    let goes_on = |end: usize| matches!(bytes.get(end), Some(b' ' | b'\t'));
    ends.find(|&end| !goes_on(end)).unwrap_or(bytes.len())
}

pub(super) fn head_bytes(bytes: &[u8]) -> Option<usize> {
    let crlf = memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4);
    let lf = memmem::find(&bytes[..crlf.unwrap_or(bytes.len())], b"\n\n").map(|at| at + 2);
    lf.or(crlf)
}

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
