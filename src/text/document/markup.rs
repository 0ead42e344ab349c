//! A page of HTML in pieces: its tags and the text between them, as a browser's tokenizer cuts them.
//!
//! Comments and declarations are passed over, and attributes are left as they stand. Each byte is looked at a fixed number of times,
//! and nothing is stored. The tests hold it against the tokenizer of `html5gum`.
//!
//! `a<p class="x>y">b&amp;c<!-- d --></p>` is the text `a`, the start `p`, the text `b`, the reference `&amp;`, the text `c` and the
//! end `p`.

use memchr::{memchr, memchr_iter, memchr2};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'p> {
    Text(&'p str),
    /// What may be a character reference, such as `&amp;`.
    Reference(&'p str),
    Start(&'p str),
    End(&'p str),
}

pub(super) struct Markup<'p> {
    rest: &'p str,
    attributes: &'p str,
}

#[inline(always)]
pub(super) fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\t') | (byte == b'\n') | (byte == b'\r') | (byte == 0x0c)
}

impl<'p> Iterator for Markup<'p> {
    type Item = Piece<'p>;

    fn next(&mut self) -> Option<Piece<'p>> {
        loop {
            match *self.rest.as_bytes() {
                [] => return None,
                [b'<', first, ..] if first.is_ascii_alphabetic() => {
                    return self.tag(1).map(Piece::Start);
                }
                [b'<', b'/', first, ..] if first.is_ascii_alphabetic() => {
                    return self.tag(2).map(Piece::End);
                }
                [b'<', b'!', b'-', b'-', ..] => self.pass_comment(),
                [b'<', b'!' | b'?', ..] | [b'<', b'/', _, ..] => self.pass_over(b'>'),
                [b'&', ..] => return Some(self.reference()),
                _ => return Some(Piece::Text(self.text())),
            }
        }
    }
}

impl<'p> Markup<'p> {
    pub(super) fn of(page: &'p str) -> Markup<'p> {
        Markup { rest: page, attributes: "" }
    }

    /// Those of the last tag, as they stand there.
    pub(super) fn attributes(&self) -> &'p str {
        self.attributes
    }

    pub(super) fn rest(&mut self) -> &'p str {
        self.cut(self.rest.len())
    }

    pub(super) fn raw(&mut self, name: &str) -> &'p str {
        let bytes = self.rest.as_bytes();
        let end = memchr_iter(b'<', bytes).find(|&at| ends(&bytes[at..], name));
        self.cut(end.unwrap_or(bytes.len()))
    }

    pub(super) fn script(&mut self) -> &'p str {
        let end = script_end(self.rest.as_bytes());
        self.cut(end.unwrap_or(self.rest.len()))
    }

    fn cut(&mut self, len: usize) -> &'p str {
        let (cut, rest) = self.rest.split_at(len);
        self.rest = rest;
        cut
    }

    fn text(&mut self) -> &'p str {
        let bytes = self.rest.as_bytes();
        self.cut(memchr2(b'<', b'&', &bytes[1..]).map_or(bytes.len(), |at| at + 1))
    }

    fn reference(&mut self) -> Piece<'p> {
        let bytes = self.rest.as_bytes();
        let begin = 1 + usize::from(bytes.get(1) == Some(&b'#'));
        let end = begin + leading(&bytes[begin..], |byte| byte.is_ascii_alphanumeric());
        if end == 1 {
            return Piece::Text(self.cut(1));
        }
        Piece::Reference(self.cut(end + usize::from(bytes.get(end) == Some(&b';'))))
    }

    /// The name of a tag that is `begin` bytes from here. None if the page ends in the tag.
    fn tag(&mut self, begin: usize) -> Option<&'p str> {
        self.cut(begin);
        let name =
            leading(self.rest.as_bytes(), |byte| !matches!(byte, b'/' | b'>') && !is_space(byte));
        let name = self.cut(name);
        let begin = self.rest;
        while self.attribute() {}
        self.attributes = &begin[..begin.len() - self.rest.len()];
        let is_whole = !self.rest.is_empty();
        self.pass_over(b'>');
        is_whole.then_some(name)
    }

    fn attribute(&mut self) -> bool {
        self.pass(|byte| byte == b'/' || is_space(byte));
        if matches!(self.rest.as_bytes(), [] | [b'>', ..]) {
            return false;
        }
        // The name may begin with `=`, or with a part of a character.
        let name = leading(&self.rest.as_bytes()[1..], |byte| {
            !matches!(byte, b'/' | b'>' | b'=') && !is_space(byte)
        });
        self.cut(1 + name);
        self.pass(is_space);
        if self.rest.starts_with('=') {
            self.cut(1);
            self.value();
        }
        true
    }

    fn value(&mut self) {
        self.pass(is_space);
        match self.rest.as_bytes() {
            [quote @ (b'"' | b'\''), ..] => {
                self.cut(1);
                self.pass_over(*quote);
            }
            _ => self.pass(|byte| byte != b'>' && !is_space(byte)),
        }
    }

    /// Passes over a comment. Its first dashes may be its last.
    fn pass_comment(&mut self) {
        self.cut("<!--".len());
        let text = self.rest.as_bytes();
        let is_end = |&at: &usize| {
            let before = &text[..at];
            before.ends_with(b"--") || before.ends_with(b"--!") || matches!(before, b"" | b"-")
        };
        let end = memchr_iter(b'>', text).find(is_end);
        self.cut(end.map_or(text.len(), |at| at + 1));
    }

    fn pass_over(&mut self, byte: u8) {
        let end = memchr(byte, self.rest.as_bytes());
        self.cut(end.map_or(self.rest.len(), |at| at + 1));
    }

    fn pass(&mut self, is_so: impl Fn(u8) -> bool) {
        self.cut(leading(self.rest.as_bytes(), is_so));
    }
}

#[inline(always)]
fn leading(bytes: &[u8], is_so: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !is_so(byte)).unwrap_or(bytes.len())
}

fn begins(bytes: &[u8], mark: &[u8], name: &str) -> bool {
    let named = bytes.strip_prefix(mark).and_then(|bytes| bytes.split_at_checked(name.len()));
    named.is_some_and(|(found, rest)| {
        found.eq_ignore_ascii_case(name.as_bytes())
            && rest.first().is_some_and(|&byte| matches!(byte, b'/' | b'>') || is_space(byte))
    })
}

fn ends(bytes: &[u8], name: &str) -> bool {
    begins(bytes, b"</", name)
}

/// How a script hides what looks like its end: authors put scripts into comments, and scripts into those.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Comment,
    Script,
}

fn script_end(bytes: &[u8]) -> Option<usize> {
    let mut escape = Escape::None;
    for at in memchr::memchr2_iter(b'<', b'>', bytes) {
        let rest = &bytes[at..];
        match escape {
            Escape::None if rest.starts_with(b"<!--") => escape = Escape::Comment,
            Escape::None | Escape::Comment if ends(rest, "script") => return Some(at),
            _ if bytes[..=at].ends_with(b"-->") => escape = Escape::None,
            Escape::Comment if begins(rest, b"<", "script") => escape = Escape::Script,
            Escape::Script if ends(rest, "script") => escape = Escape::Comment,
            _ => {}
        }
    }
    None
}
