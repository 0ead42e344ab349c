//! Lines of `Name: value`, as WARC and HTTP have them. They are not trusted: lines without a colon are
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
