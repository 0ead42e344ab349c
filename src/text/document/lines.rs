//! Cuts a file of lines into pieces of whole lines, in bounded memory.

use memchr::{memchr, memchr_iter, memrchr};

use super::reason::{BROKEN_OFF, Reason, too_long};
use super::record::MARK;
use super::source::{End, Source};
use crate::error::Result;

pub(super) struct Lines<'a> {
    source: Source<'a>,
    /// What was read and not yet delivered. It begins at the start of a line.
    buffer: Vec<u8>,
    line: u64,
    piece_bytes: usize,
    max_line_bytes: usize,
}

pub(super) struct Piece {
    pub(super) first_line: u64,
    /// The lines with their LFs; the last line of a file may have none.
    pub(super) lines: Result<Vec<u8>, Reason>,
}

impl<'a> Lines<'a> {
    /// Pieces have about `piece_bytes`, and no line in them is longer than `max_line_bytes`, which is at
    /// least 3. A byte order mark at the start of the file is skipped.
    pub(super) fn new(
        mut source: Source<'a>,
        piece_bytes: usize,
        max_line_bytes: usize,
    ) -> Result<Lines<'a>> {
        let max_line_bytes = max_line_bytes.max(MARK.len());
        let mut buffer = Vec::new();
        source.pass_mark(&mut buffer)?;
        Ok(Lines { buffer, ..Lines::within(source, 1, piece_bytes, max_line_bytes) })
    }

    pub(super) fn within(
        source: Source<'a>,
        line: u64,
        piece_bytes: usize,
        max_line_bytes: usize,
    ) -> Lines<'a> {
        let piece_bytes = piece_bytes.clamp(1, max_line_bytes.max(1));
        Lines { source, buffer: Vec::new(), line, piece_bytes, max_line_bytes }
    }

    pub(super) fn next(&mut self) -> Result<Option<Piece>> {
        let mut scanned = 0;
        let mut target = self.piece_bytes;
        loop {
            let end = self.source.fill(&mut self.buffer, target)?;
            let break_at = memrchr(b'\n', &self.buffer[scanned..]).map(|at| scanned + at + 1);
            scanned = self.buffer.len();
            return Ok(Some(match (break_at, end) {
                (_, Some(End::Whole)) if scanned == 0 => return Ok(None),
                (_, Some(End::Cut)) if scanned == 0 => match self.go_on()? {
                    Some(piece) => piece,
                    None => continue,
                },
                (None, _) if scanned > self.max_line_bytes => {
                    self.pass_over_line(too_long(self.max_line_bytes))?
                }
                (_, Some(End::Whole)) => self.take(scanned),
                (Some(cut), _) => self.take(cut),
                (None, Some(End::Cut)) => self.instead_of_line(BROKEN_OFF.into()),
                (None, None) => {
                    target = (2 * target).min(self.max_line_bytes.saturating_add(1));
                    continue;
                }
            }));
        }
    }

    pub(super) fn source(&self) -> &Source<'a> {
        &self.source
    }

    fn take(&mut self, len: usize) -> Piece {
        let mut rest = Vec::with_capacity(self.piece_bytes);
        rest.extend_from_slice(&self.buffer[len..]);
        self.buffer.truncate(len);
        let lines = std::mem::replace(&mut self.buffer, rest);
        let first_line = self.line;
        self.line += memchr_iter(b'\n', &lines).count() as u64;
        Piece { first_line, lines: Ok(lines) }
    }

    /// Goes on behind damage. What may be the rest of a line there is passed over, and the reason delivered in its place.
    fn go_on(&mut self) -> Result<Option<Piece>> {
        let is_line = self.source.go_on();
        self.source.fill(&mut self.buffer, 1)?;
        // Few lines of other formats begin so, and no line of JSON in another way.
        if is_line || matches!(self.buffer[..], [] | [b'{' | b'\n']) {
            return Ok(None);
        }
        self.pass_over_line(BROKEN_OFF.into()).map(Some)
    }

    fn pass_over_line(&mut self, reason: Reason) -> Result<Piece> {
        let piece = self.instead_of_line(reason);
        self.source.pass_line(&mut self.buffer, self.piece_bytes)?;
        Ok(piece)
    }

    fn instead_of_line(&mut self, reason: Reason) -> Piece {
        self.buffer = Vec::with_capacity(self.piece_bytes);
        self.line += 1;
        Piece { first_line: self.line - 1, lines: Err(reason) }
    }
}

pub(super) fn split(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (line, more) = match memchr(b'\n', rest) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None if rest.is_empty() => return None,
            None => (rest, &rest[rest.len()..]),
        };
        rest = more;
        Some(line)
    })
}
