//! The members of a gzip file, the frames of a zstd file and the like, unpacked one after another. Zeros may stand between them.
//!
//! ```text
//! member | member | mem#### | member     an error at #; who reads on after it gets the last member
//! ```
//!
//! What is unpacked after damage is nonsense, and may run into the next member before it is noticed. So that one is looked for from
//! shortly before the place where the damage was noticed. Going back is limited, so that no byte is unpacked many times.

use std::io::{self, BufRead, ErrorKind, Read};

use super::codec::{Codec, HEAD_BYTES, Step, begins};
use super::frames;
use super::packed::{Damage, Packed};
use crate::output::Packing;

/// How many times the bytes of a file may be gone back over, and how many bytes in any case.
const MOST_BACK: (u64, u64) = (4, 1 << 20);

pub(super) struct Members<'a> {
    packed: Packed<'a>,
    packing: Packing,
    codec: Codec,
    window_bytes: u64,
    state: MemberState,
    start: u64,
    last: u8,
    back: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberState {
    Begins,
    Between,
    Within,
    Damaged,
    Over,
}

impl<'a> Members<'a> {
    pub(super) fn new(
        packed: Packed<'a>,
        packing: Packing,
        window_bytes: u64,
    ) -> io::Result<Members<'a>> {
        let codec = Codec::new(packing, &[], window_bytes)?;
        let state = MemberState::Begins;
        Ok(Members { packed, packing, codec, window_bytes, state, start: 0, last: 0, back: 0 })
    }

    fn begin(&mut self) -> io::Result<()> {
        while self.state == MemberState::Between && self.packed.ahead(1)?.first() == Some(&0) {
            let zeros = self.packed.ahead(1)?.iter().take_while(|&&byte| byte == 0).count();
            self.packed.consume(zeros);
        }
        self.start = self.packed.position();
        let head = self.packed.ahead(2 * HEAD_BYTES)?;
        if head.is_empty() && self.state == MemberState::Between {
            self.state = MemberState::Over;
        } else if self.state == MemberState::Begins && frames::may_be_dictionary(head) {
            let dictionary = frames::dictionary(&mut self.packed);
            self.start = self.packed.position();
            self.codec = Codec::new(self.packing, &dictionary?, self.window_bytes)?;
            self.state = MemberState::Between;
        } else {
            self.state = MemberState::Within;
            if let Err(cause) = self.codec.begin(head, self.window_bytes) {
                // What begins after damage may only look like a member.
                let is_doubtful = self.packed.known().damage.is_some();
                return Err(if is_doubtful { ErrorKind::InvalidData.into() } else { cause });
            }
        }
        Ok(())
    }

    fn unpack(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.state != MemberState::Over {
            if self.state != MemberState::Within {
                self.begin()?;
                continue;
            }
            let input = self.packed.ahead(1)?;
            let is_over = input.is_empty();
            let step = self.codec.step(input, into);
            if is_over && step.is_err() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let Step { read, written, is_end } = step?;
            self.packed.consume(read);
            if written > 0 {
                self.last = into[written - 1];
            }
            if is_end {
                self.packed.known().ends_line = self.last == b'\n';
                self.state = MemberState::Between;
            }
            match (read, written) {
                (_, 1..) => return Ok(written),
                _ if is_end => {}
                (0, 0) if is_over => return Err(ErrorKind::UnexpectedEof.into()),
                (0, 0) => return Err(ErrorKind::InvalidData.into()),
                _ => {}
            }
        }
        Ok(0)
    }

    fn pass_over(&mut self) -> io::Result<()> {
        let noticed = self.packed.position();
        let (times, bytes) = MOST_BACK;
        if self.back < times * noticed + bytes {
            self.packed.back_to(self.start + 1);
            self.back += noticed - self.packed.position();
        }
        if self.packed.position() == self.start && !self.packed.ahead(1)?.is_empty() {
            self.packed.consume(1);
        }
        self.state = loop {
            let ahead = self.packed.ahead(HEAD_BYTES)?;
            let len = ahead.len();
            match ahead.windows(HEAD_BYTES).position(|head| begins(self.packing, head)) {
                Some(passed) => {
                    self.packed.consume(passed);
                    break MemberState::Between;
                }
                None if len < HEAD_BYTES => {
                    self.packed.consume(len);
                    break MemberState::Over;
                }
                None => self.packed.consume(len - HEAD_BYTES + 1),
            }
        };
        let at = noticed.min(self.packed.position());
        let found = Damage::new(at, self.packed.position() - at);
        let mut known = self.packed.known();
        known.damage = Some(known.damage.map_or(found, |earlier| earlier.and(found)));
        Ok(())
    }
}

impl Read for Members<'_> {
    /// After an error that is damage, it reads on from the next member.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        if self.state == MemberState::Damaged {
            self.pass_over()?;
        }
        let read = self.unpack(into);
        if read.is_err() {
            self.state = MemberState::Damaged;
        }
        read
    }
}
