//! Fingerprint blocks on their way from the disk: read a piece at a time, and each piece while the
//! one before is worked on.
//!
//! The reading ahead is done by a few threads that all scans of a process share, and past the
//! system's cache ([`super::piece`]) unless the file is in it. A join of 1e9 fingerprints (4.2 GB, none
//! of it in memory, a batch of 1e6) on two cores, in seconds, where `cat` took 6.4 to 8.9:
//!
//! | read by | all | user | system |
//! |---|---|---|---|
//! | each worker, through the cache | 10.1 - 11.6 | 13.7 - 14.4 | 3.5 - 4.9 |
//! | readers ahead, through the cache | 13.1 | 13.2 | 8.8 |
//! | each worker, past the cache | 9.6 | 11.9 | 1.0 |
//! | readers ahead, past the cache | 7.6 - 8.3 | 11.6 - 11.9 | 0.7 |

use std::mem;
use std::ops::Range;
use std::sync::OnceLock;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::error::Result;

use super::directory::Block;
use super::open::Segment;
use super::piece::Piece;

/// The bytes of a piece, unless one block is longer or another number was asked for.
const PIECE_BYTES: u64 = 2 << 20;

/// The smallest pieces that are read ahead, and past the system's cache. A pass over very many
/// segments has smaller ones, so as not to take the memory twice.
const LEAST_AHEAD: u64 = 256 << 10;

/// How many threads read ahead.
const THREADS: usize = 8;

/// The bytes of consecutive fingerprint blocks of a segment.
#[derive(Debug)]
pub(crate) struct Pieces {
    segment: Segment,
    /// The blocks that have not been asked for.
    rest: Range<usize>,
    bytes: u64,
    /// Whether they are read past the system's cache; unknown before the first read.
    direct: Option<bool>,
    held: Piece,
    spare: Piece,
    coming: Option<Receiver<Result<Piece>>>,
}

/// A piece that is wanted, with memory to read it in.
struct Wanted {
    segment: Segment,
    range: Range<u64>,
    direct: bool,
    piece: Piece,
    to: Sender<Result<Piece>>,
}

impl Pieces {
    /// The pieces of `blocks`.
    pub(crate) fn new(segment: Segment, blocks: Range<usize>) -> Pieces {
        Pieces {
            segment,
            rest: blocks,
            bytes: PIECE_BYTES,
            direct: None,
            held: Piece::default(),
            spare: Piece::default(),
            coming: None,
        }
    }

    /// The same in pieces of `bytes`.
    pub(crate) fn of_bytes(self, bytes: u64) -> Pieces {
        Pieces { bytes, ..self }
    }

    /// The bytes of `block`; the blocks are asked for in order, each at least once.
    pub(crate) fn get(&mut self, block: &Block) -> Result<&[u8]> {
        if self.held.get(block.range()).is_none() {
            self.turn()?;
        }
        Ok(self.held.get(block.range()).expect("blocks are asked for in order"))
    }

    /// Goes on to the next piece, and has the one after it read meanwhile.
    fn turn(&mut self) -> Result<()> {
        if let Some(coming) = self.coming.take() {
            let piece = coming.recv().expect("a reader answers")?;
            self.spare = mem::replace(&mut self.held, piece);
            self.ask();
            return Ok(());
        }
        let Some(range) = self.cut() else { return Ok(()) };
        let (start, direct) = (range.start, self.is_direct(&range));
        self.ask();
        self.held.read(&self.segment, range, direct)?;
        if direct {
            self.segment.forget(start);
        }
        Ok(())
    }

    /// Asks a reader for the next piece, if there is one and it is worth it.
    fn ask(&mut self) {
        let Some(readers) = readers().filter(|_| self.bytes >= LEAST_AHEAD) else { return };
        let Some(range) = self.cut() else { return };
        let (direct, (to, coming)) = (self.is_direct(&range), bounded(1));
        let (segment, mut piece) = (self.segment.clone(), mem::take(&mut self.spare));
        piece.reserve(&range);
        readers.send(Wanted { segment, range, direct, piece, to }).expect("readers never end");
        self.coming = Some(coming);
    }

    /// Whether to read past the system's cache: what is large and not in it.
    fn is_direct(&mut self, next: &Range<u64>) -> bool {
        *self.direct.get_or_insert_with(|| {
            next.end - next.start >= LEAST_AHEAD && !self.segment.is_cached(next.start)
        })
    }

    /// The bytes of the next blocks, as many as are read at once.
    fn cut(&mut self) -> Option<Range<u64>> {
        let wanted = &self.segment.fingerprint_blocks().all[self.rest.clone()];
        let start = wanted.first()?.offset;
        let fit = wanted.partition_point(|block| block.range().end <= start + self.bytes).max(1);
        self.rest.start += fit;
        Some(start..wanted[fit - 1].range().end)
    }
}

/// The threads that read ahead, which start when they are first needed; none if they cannot.
fn readers() -> Option<&'static Sender<Wanted>> {
    static READERS: OnceLock<Option<Sender<Wanted>>> = OnceLock::new();
    let start = || {
        let (sender, wanted) = unbounded();
        let start = |_| {
            let wanted = wanted.clone();
            thread::Builder::new().name("reader".into()).spawn(move || read_all(&wanted)).ok()
        };
        (0..THREADS).filter_map(start).count().gt(&0).then_some(sender)
    };
    READERS.get_or_init(start).as_ref()
}

/// Reads what is wanted; who wanted it may have gone.
fn read_all(wanted: &Receiver<Wanted>) {
    for Wanted { segment, range, direct, mut piece, to } in wanted {
        let read = piece.read(&segment, range, direct);
        let _ = to.send(read.map(|()| piece));
    }
}
