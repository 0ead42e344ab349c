//! The maker of signatures that the rest of the program holds.

use super::maker::{Maker, Signing};
use crate::error::Result;
use crate::fingerprint::page_time::{PageClock, PageTime};

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
