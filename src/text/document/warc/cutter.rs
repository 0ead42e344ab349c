//! Takes the records of a web archive from it, in bounded memory and linear time, whatever lengths the
//! records claim. Of a file that is damaged, or ends within a record, what cannot be read is one bad record.

use memchr::memchr_iter;

use super::head::{Archive, Head, MAX_HEAD_BYTES};
use super::portion::{Cut, WarcPortion};
use crate::document::fields::ReadOptions;
use crate::document::reason::Reason;
use crate::document::record::Position;
use crate::document::records::{Cutter, Portion, Unread};
use crate::document::source::{Damage, Source};
use crate::error::{Kind, Result};

const STEP_BYTES: usize = 1 << 16;

const MAX_LINE_ENDS: usize = 64;

/// How many bytes of the block of a record that is too long are kept, to see what it is.
const KEPT_BYTES: u64 = 1 << 14;

const ENDS_WITHIN: &str = "the file ends within a record";
const FALSE_LENGTH: &str = "the record does not end where its length says";

pub(crate) struct WarcCutter<'a> {
    options: &'a ReadOptions,
    source: Source<'a>,
    archive: Option<Archive>,
    buffer: Vec<u8>,
    position: Position,
    pass_over: PassOver,
    /// Whether reading stopped early: at damage, or where the file ends within a record.
    is_cut: bool,
    damage: Option<Reason>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PassOver {
    Nothing,
    Bytes(u64),
    ToNextRecord,
}

/// A record, the place up to which it is kept, and what is passed over after it; none at the end.
type NextCut = Option<(Cut, usize, PassOver)>;

impl<'a> WarcCutter<'a> {
    pub(crate) fn new(file: u32, source: Source<'a>, options: &'a ReadOptions) -> WarcCutter<'a> {
        WarcCutter {
            options,
            source,
            archive: None,
            buffer: Vec::new(),
            position: Position { file, line: 1 },
            pass_over: PassOver::Nothing,
            is_cut: false,
            damage: None,
        }
    }

    fn fill(&mut self, len: usize) -> Result<bool> {
        if self.buffer.len() < len && !self.is_cut {
            let target = len.max(self.buffer.len() + STEP_BYTES);
            match self.source.fill(&mut self.buffer, target) {
                Err(error) if error.kind() == Kind::BadData => self.cut(Reason::from(&error)),
                filled => _ = filled?,
            }
        }
        Ok(self.buffer.len() >= len)
    }

    fn cut(&mut self, why: Reason) {
        self.is_cut = true;
        self.damage.get_or_insert(why);
    }

    fn archive(&mut self) -> Result<Option<Archive>> {
        if self.archive.is_none() && self.fill(1)? {
            self.archive = Archive::of(&self.buffer);
            if self.archive.is_none() {
                let start = String::from_utf8_lossy(&self.buffer[..self.buffer.len().min(40)]);
                self.cut(Reason::quoting("this file is no web archive", &start));
                self.buffer.clear();
            }
        }
        Ok(self.archive)
    }

    fn begin(&mut self, at: usize) -> Result<Option<usize>> {
        self.fill(at + MAX_LINE_ENDS + 1)?;
        let rest = &self.buffer[at.min(self.buffer.len())..];
        let line_ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let begin = at + line_ends.take(MAX_LINE_ENDS).count();
        Ok((begin < self.buffer.len()).then_some(begin))
    }

    fn record(&mut self, archive: Archive, at: usize) -> Result<NextCut> {
        let Some(begin) = self.begin(at)? else { return Ok(self.end()) };
        if !self.begins(archive, begin)? {
            return Ok(self.bad(archive, begin, "no record begins where one should".into()));
        }
        let Some(head_bytes) = archive.head_bytes(&self.buffer[begin..]) else {
            return self.endless_head(archive, begin);
        };
        let head = archive.head(&self.buffer[begin..begin + head_bytes]);
        let block_bytes = match head.and_then(Head::block_bytes) {
            Ok(block_bytes) => block_bytes,
            Err(reason) => return Ok(self.bad(archive, begin, reason)),
        };
        if block_bytes > self.options.max_record_bytes as u64 {
            return self.long_record(archive, begin, head_bytes, block_bytes);
        }
        let end = begin + head_bytes + block_bytes as usize;
        if !self.fill(end)? {
            return Ok(self.end_within(archive, begin));
        }
        let Some(next) = self.begin(end)? else {
            // What unpacks finds a wrong checksum after the bytes that are wrong.
            if self.damage.as_ref().is_some_and(|it| it.to_string().contains("checksum")) {
                return Ok(self.end());
            }
            self.buffer.truncate(end);
            self.buffer.extend_from_slice(archive.record_end());
            let whole = self.buffer.len();
            return Ok(Some((Cut::Whole(begin..whole), whole, PassOver::Nothing)));
        };
        if !self.begins(archive, next)? && !archive.ends_before(&self.buffer[end..]) {
            return Ok(self.bad(archive, begin, FALSE_LENGTH.into()));
        }
        let whole = next.min(end + archive.record_end().len());
        Ok(Some((Cut::Whole(begin..whole), next, PassOver::Nothing)))
    }

    /// Whether a record begins at `at` of the buffer, or may begin there and the file ends within its head.
    fn begins(&mut self, archive: Archive, at: usize) -> Result<bool> {
        let is_last = !self.fill(at + MAX_HEAD_BYTES)?;
        let rest = &self.buffer[at..];
        Ok(archive.begins(rest) || is_last && archive.may_begin(rest))
    }

    fn long_record(
        &mut self,
        archive: Archive,
        begin: usize,
        head_bytes: usize,
        block_bytes: u64,
    ) -> Result<NextCut> {
        let kept_bytes = block_bytes.min(KEPT_BYTES);
        let end = begin + head_bytes + kept_bytes as usize;
        if !self.fill(end)? {
            return Ok(self.end_within(archive, begin));
        }
        let rest = PassOver::Bytes(block_bytes - kept_bytes);
        Ok(Some((Cut::Long(begin..end), end, rest)))
    }

    /// A record whose head does not end. No other one is looked for in it, so that no byte is looked at many times.
    fn endless_head(&mut self, archive: Archive, begin: usize) -> Result<NextCut> {
        let rest = self.buffer.len() - begin;
        if rest < MAX_HEAD_BYTES {
            return Ok(self.end_within(archive, begin));
        }
        let reason = "the head of the record does not end".into();
        Ok(self.bad(archive, begin + MAX_HEAD_BYTES, reason))
    }

    fn bad(&self, archive: Archive, at: usize, reason: Reason) -> NextCut {
        let rest = &self.buffer[at..];
        Some(match next_record(archive, rest) {
            Some(next) => (Cut::Bad(reason), at + next, PassOver::Nothing),
            None => (Cut::Bad(reason), at + unfinished(rest), PassOver::ToNextRecord),
        })
    }

    fn end_within(&mut self, archive: Archive, begin: usize) -> NextCut {
        if let Some(next) = next_record(archive, &self.buffer[begin..]) {
            return Some((Cut::Bad(FALSE_LENGTH.into()), begin + next, PassOver::Nothing));
        }
        self.cut(ENDS_WITHIN.into());
        self.end()
    }

    fn end(&mut self) -> NextCut {
        let reason = self.damage.take()?;
        Some((Cut::Bad(reason), self.buffer.len(), PassOver::Nothing))
    }

    fn pass_over(&mut self, archive: Archive) -> Result<()> {
        match std::mem::replace(&mut self.pass_over, PassOver::Nothing) {
            PassOver::Nothing => Ok(()),
            PassOver::Bytes(rest) => self.pass_over_bytes(rest),
            PassOver::ToNextRecord => self.pass_to_next_record(archive),
        }
    }

    fn pass_over_bytes(&mut self, mut rest: u64) -> Result<()> {
        while rest > 0 {
            if !self.fill(1)? {
                self.cut(ENDS_WITHIN.into());
                return Ok(());
            }
            let some = rest.min(self.buffer.len() as u64);
            self.buffer.drain(..some as usize);
            rest -= some;
        }
        Ok(())
    }

    fn pass_to_next_record(&mut self, archive: Archive) -> Result<()> {
        loop {
            if let Some(next) = next_record(archive, &self.buffer) {
                self.buffer.drain(..next);
                return Ok(());
            }
            self.buffer.drain(..unfinished(&self.buffer));
            if !self.fill(self.buffer.len() + 1)? {
                self.buffer.clear();
                return Ok(());
            }
        }
    }
}

fn next_record(archive: Archive, bytes: &[u8]) -> Option<usize> {
    memchr_iter(b'\n', bytes).map(|at| at + 1).find(|&at| archive.begins(&bytes[at..]))
}

/// Where the last line begins, with the line end before it, which may begin a head; the end of one too long for that.
fn unfinished(bytes: &[u8]) -> usize {
    let line = memchr::memrchr(b'\n', bytes).unwrap_or(bytes.len());
    if bytes.len() - line <= MAX_HEAD_BYTES { line } else { bytes.len() }
}

impl Cutter for WarcCutter<'_> {
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>> {
        let first = self.position;
        let Some(archive) = self.archive()? else {
            let damage = self.damage.take();
            return Ok(damage.map(|why| Box::new(Unread(first, why)) as Box<dyn Portion>));
        };
        self.pass_over(archive)?;
        let mut cuts = Vec::new();
        let mut at = 0;
        while at < self.options.portion_bytes && self.pass_over == PassOver::Nothing {
            let Some((cut, next, pass_over)) = self.record(archive, at)? else { break };
            cuts.push(cut);
            self.position.line += 1;
            (at, self.pass_over) = (next, pass_over);
        }
        if cuts.is_empty() {
            return Ok(None);
        }
        let rest = self.buffer.split_off(at);
        let mut bytes = std::mem::replace(&mut self.buffer, rest);
        // A false length may have filled the buffer far beyond.
        bytes.shrink_to_fit();
        let max_bytes = self.options.max_record_bytes;
        Ok(Some(Box::new(WarcPortion { archive, first, cuts, bytes, max_bytes })))
    }

    fn source(&self) -> Option<&Source<'_>> {
        Some(&self.source)
    }

    fn damage(&self) -> Option<Damage> {
        let cut = || self.is_cut.then(|| Damage::new(self.source.position(), self.source.rest()));
        self.source.damage().or_else(cut)
    }
}
