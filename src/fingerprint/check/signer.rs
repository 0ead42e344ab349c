//! The maker of signatures that the rest of the program holds.

use super::maker::Maker;
use crate::error::Result;
use crate::fingerprint::page_time::{PageClock, PageTime};

/// Makes the signatures of one check. It holds buffers, so each worker has its own.
#[derive(Debug)]
pub struct Signer {
    clock: PageClock,
    prepared: String,
    maker: Box<dyn Maker>,
}

impl Signer {
    pub(super) fn new(maker: impl Maker + 'static) -> Signer {
        let clock = PageClock::new(PageTime::default());
        Signer { clock, prepared: String::new(), maker: Box::new(maker) }
    }

    /// Allows each page this much time.
    pub fn allow(self, time: PageTime) -> Signer {
        Signer { clock: PageClock::new(time), ..self }
    }

    /// Appends the signature of `text`, [`Check::bytes`](super::Check::bytes) long; all zeros if it has no
    /// feature.
    ///
    /// Fails with [`Kind::BadData`](crate::error::Kind::BadData) if the page takes longer than it is
    /// [allowed](Signer::allow).
    pub fn sign(&mut self, text: &str, signature: &mut Vec<u8>) -> Result<()> {
        self.clock.start(text);
        self.maker.sign(text, &mut self.clock, &mut self.prepared, signature);
        self.clock.finish()
    }
}
