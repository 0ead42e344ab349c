//! Lines of `Name: value`, as WARC and HTTP have them. They are not trusted: lines without a colon are
//! passed over, and lines may end in LF alone.

use memchr::{memchr, memmem};

/// The lines of a head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers<'a>(pub(super) &'a [u8]);

impl<'a> Headers<'a> {
    /// The value of the first line of this name, in any case, without white space around it.
    pub(super) fn get(self, name: &str) -> Option<&'a [u8]> {
        self.0.split(|&byte| byte == b'\n').find_map(|line| {
            let (key, value) = line.split_at(memchr(b':', line)?);
            let is_same = key.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            is_same.then(|| value[1..].trim_ascii())
        })
    }
}

/// The length of a head, its blank line included; `None` if it does not end.
pub(super) fn head_bytes(bytes: &[u8]) -> Option<usize> {
    let crlf = memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4);
    let lf = memmem::find(&bytes[..crlf.unwrap_or(bytes.len())], b"\n\n").map(|at| at + 2);
    lf.or(crlf)
}
