//! JSON whose objects stand in an array or over several lines, made into JSON Lines as it is read, so that no other part knows of it.
//!
//! ```text
//! [{"id": 1,              {"id": 1,  "text": "a"}
//!   "text": "a"},   ->    {"id": 2, "text": "b"}
//!  {"id": 2, "text": "b"}]
//! ```
//!
//! Brackets, commas and white space between objects are left out. Anything else there becomes a line of its own, which is a bad record.

use std::io::{self, Error, ErrorKind, Read};

const RAW_BYTES: usize = 1 << 15;

pub(super) const NOT_CLOSED: &str = "an object or an array is not closed";

pub(super) struct JsonLines<R> {
    raw: R,
    bytes: Vec<u8>,
    lines: Vec<u8>,
    given: usize,
    state: JsonState,
    /// How many brackets are open, if no damage came before.
    open: Option<i64>,
    is_over: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonState {
    Between,
    Other,
    Object { depth: u64 },
    Text { depth: u64, is_escaped: bool },
}

impl<R: Read> JsonLines<R> {
    pub(super) fn new(raw: R) -> JsonLines<R> {
        JsonLines {
            raw,
            bytes: vec![0; RAW_BYTES],
            lines: Vec::new(),
            given: 0,
            state: JsonState::Between,
            open: Some(0),
            is_over: false,
        }
    }

    fn make(&mut self) -> io::Result<()> {
        self.lines.clear();
        self.given = 0;
        match self.raw.read(&mut self.bytes) {
            Ok(0) if !self.is_over => {
                self.is_over = true;
                let is_within =
                    matches!(self.state, JsonState::Object { .. } | JsonState::Text { .. });
                if is_within || self.open.is_some_and(|open| open > 0) {
                    return Err(Error::new(ErrorKind::UnexpectedEof, NOT_CLOSED));
                }
            }
            Ok(read) => (0..read).for_each(|at| self.take(self.bytes[at])),
            Err(cause) => {
                // What follows may begin anywhere.
                (self.state, self.open) = (JsonState::Between, None);
                return Err(cause);
            }
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) {
        let is_between = matches!(self.state, JsonState::Between | JsonState::Other);
        let is_mark = matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b']');
        if self.state == JsonState::Other && (is_mark || byte == b'{') {
            self.lines.push(b'\n');
        }
        self.state = match (self.state, byte) {
            (JsonState::Between | JsonState::Other, b'{') => JsonState::Object { depth: 1 },
            (JsonState::Between | JsonState::Other, _) if is_mark => {
                let change = i64::from(byte == b'[') - i64::from(byte == b']');
                self.open = self.open.map(|open| open + change);
                JsonState::Between
            }
            (JsonState::Between, 0xef | 0xbb | 0xbf) => JsonState::Between,
            (JsonState::Between | JsonState::Other, _) => JsonState::Other,
            (JsonState::Object { depth }, b'{') => JsonState::Object { depth: depth + 1 },
            (JsonState::Object { depth: 1 }, b'}') => JsonState::Between,
            (JsonState::Object { depth }, b'}') => JsonState::Object { depth: depth - 1 },
            (JsonState::Object { depth }, b'"') => JsonState::Text { depth, is_escaped: false },
            (JsonState::Text { depth, is_escaped: false }, b'"') => JsonState::Object { depth },
            (JsonState::Text { depth, is_escaped }, _) => {
                JsonState::Text { depth, is_escaped: !is_escaped && byte == b'\\' }
            }
            (within, _) => within,
        };
        match (is_between, self.state) {
            (true, JsonState::Between) => {}
            (false, JsonState::Between) => self.lines.extend([byte, b'\n']),
            _ if matches!(byte, b'\r' | b'\n') => self.lines.push(b' '),
            _ => self.lines.push(byte),
        }
    }
}

impl<R: Read> Read for JsonLines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.lines.len() && !self.is_over && !into.is_empty() {
            self.make()?;
        }
        let read = (&self.lines[self.given..]).read(into)?;
        self.given += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(json: &str) -> (String, bool) {
        let mut lines = String::new();
        let read = JsonLines::new(json.as_bytes()).read_to_string(&mut lines);
        (lines, read.is_ok())
    }

    #[test]
    fn each_object_is_a_line() {
        // An end of line is `␤`, and one of Windows `␍␤`.
        for line in include_str!("json_lines.tsv").lines() {
            let line = line.replace('␍', "\r").replace('␤', "\n").replace('␂', "\u{feff}");
            let (json, expected) = line.split_once('\t').unwrap();
            assert_eq!(lines(json), (expected.to_owned(), true), "{json}");
        }
    }

    #[test]
    fn what_is_not_closed_is_an_error() {
        for json in ["[{}", "[{}, ", "{\"a\": [1", "{\"a\": \"}", "[{\"a\": \"\\\"}]"] {
            let (lines, is_whole) = lines(json);
            assert!(!is_whole && lines.len() <= json.len(), "{json}: {lines}");
        }
    }
}
