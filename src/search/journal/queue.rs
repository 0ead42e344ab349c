//! What waits to be written: the pages of many requests, which become one frame.

use crate::error::{Error, Result};

pub type Done = Box<dyn FnOnce(Result<()>) + Send>;

#[derive(Default)]
pub(super) struct Queue {
    pub(super) frame: WaitingFrame,
    pub(super) is_writing: bool,
    pub(super) is_closing: bool,
    pub(super) failed: Option<Error>,
}

#[derive(Default)]
pub(super) struct WaitingFrame {
    pub(super) body: Vec<u8>,
    pub(super) pages: u32,
    pub(super) waiting: Vec<Done>,
}

impl Queue {
    pub(super) fn is_busy(&self) -> bool {
        self.is_writing || self.frame.pages > 0
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("pages", &self.frame.pages).finish_non_exhaustive()
    }
}
