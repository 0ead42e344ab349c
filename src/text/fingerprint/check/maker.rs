//! What makes the signatures of one check: a file for each beside this one, and a [`Signer`] that the rest of the program has.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::features::normalise::{Case, Digits, Markup, Normalise, WhiteSpace};
use crate::features::shingles;
use crate::fingerprint::page_time::{PageClock, PageTime};

pub(super) trait Maker: fmt::Debug + Send + Sync {
    /// Appends the signature of `text`; all zeros if the text has no feature.
    fn sign(&mut self, text: &str, signing: Signing<'_>);
}

pub(super) struct Signing<'a> {
    /// The time of the page: each feature is a step.
    pub(super) clock: &'a mut PageClock,
    pub(super) buffer: &'a mut String,
    pub(super) signature: &'a mut Vec<u8>,
    pub(super) anchors: &'a mut Vec<u8>,
}

impl Signing<'_> {
    /// Calls `take` with the hash of each run of so many characters of a text.
    pub(super) fn each_run(&mut self, text: &str, length: usize, mut take: impl FnMut(u64)) {
        NORMALISE.apply(text, self.buffer);
        shingles::characters(self.buffer, length, |run| {
            if self.clock.step() {
                take(xxh3_64(run.as_bytes()));
            }
        });
    }
}

/// Makes the signatures of one check. It holds buffers, so each worker has its own.
#[derive(Debug)]
pub struct Signer {
    clock: PageClock,
    buffer: String,
    anchors: Vec<u8>,
    maker: Box<dyn Maker>,
}

impl Signer {
    pub(super) fn new(maker: impl Maker + 'static) -> Signer {
        let clock = PageClock::new(PageTime::default());
        Signer { clock, buffer: String::new(), anchors: Vec::new(), maker: Box::new(maker) }
    }

    pub fn allow(self, time: PageTime) -> Signer {
        Signer { clock: PageClock::new(time), ..self }
    }

    /// Appends the signature of `text`, [`Check::bytes`](super::Check::bytes) long.
    pub fn sign(&mut self, text: &str, signature: &mut Vec<u8>) -> Result<()> {
        let Signer { clock, buffer, anchors, maker } = self;
        clock.start(text);
        anchors.clear();
        maker.sign(text, Signing { clock, buffer, signature, anchors });
        clock.finish()
    }

    /// The anchors of the text that was signed last; none if the check has none.
    pub fn anchors(&self) -> &[u8] {
        &self.anchors
    }
}

pub const NORMALISE: Normalise = Normalise {
    nfkc: true,
    case: Case::Fold,
    digits: Digits::Keep,
    white_space: WhiteSpace::Collapse,
    markup: Markup::Keep,
};

/// For runs of words. Numbers change where the page does not, and the addresses in markup are no text.
pub const NORMALISE_WORDS: Normalise =
    Normalise { digits: Digits::Drop, markup: Markup::Drop, ..NORMALISE };
