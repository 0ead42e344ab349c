//! A finished chunk in its file, and its pairs as they are read back.

use std::sync::Arc;

use super::chunk::Receipt;
use super::frame::{self, Holds, PAIR_BYTES};
use crate::error::{Error, Kind, Result};
use crate::frames::{FoundFrame, FrameFile};
use crate::matches::Pair;

#[derive(Clone, Debug)]
pub struct Finished {
    pub(super) receipt: Receipt,
    pub(super) file: Arc<FrameFile>,
    pub(super) start: u64,
    /// Where its receipt begins.
    pub(super) end: u64,
}

impl Finished {
    pub fn receipt(&self) -> Receipt {
        self.receipt
    }

    /// The pairs in the order in which they were appended. At most one frame of them is in memory.
    pub fn pairs(&self) -> ChunkPairs {
        ChunkPairs { chunk: self.clone(), body: Vec::new(), next: 0 }
    }
}

/// The pairs of a finished chunk. An error ends the iteration.
#[derive(Debug)]
pub struct ChunkPairs {
    /// The chunk, starting at the frame that is read next.
    chunk: Finished,
    body: Vec<u8>,
    next: usize,
}

impl ChunkPairs {
    fn read_frame(&mut self) -> Result<()> {
        let Finished { file, start, end, .. } = &mut self.chunk;
        if let FoundFrame::Frame(head) = file.read(*start, *end, &mut self.body)?
            && let Some(Holds::Pairs(_, pairs)) = Holds::read(head.tag, &self.body)
        {
            *start = head.end(*start);
            self.next = self.body.len() - pairs.len() * PAIR_BYTES;
            return Ok(());
        }
        let at = *start;
        self.body.clear();
        self.next = 0;
        *start = *end;
        Err(Error::new(Kind::Io, "a finished chunk came back damaged")
            .at(&file.path)
            .offset(at)
            .help("check the disk and try again"))
    }
}

impl Iterator for ChunkPairs {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        loop {
            if let Some(pair) = self.body[self.next..].first_chunk() {
                self.next += PAIR_BYTES;
                return Some(Ok(frame::pair(pair)));
            }
            if self.chunk.start >= self.chunk.end {
                return None;
            }
            if let Err(error) = self.read_frame() {
                return Some(Err(error));
            }
        }
    }
}
