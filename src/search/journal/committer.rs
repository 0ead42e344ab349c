//! The thread that writes frame after frame, each with the pages of all requests that came since the one before.

use std::sync::PoisonError;

use super::queue::Queue;
use super::shared::Shared;
use crate::error::Result;
use crate::parallel::lock;

pub(super) fn run(shared: &Shared) {
    loop {
        let nothing = |queue: &mut Queue| queue.frame.waiting.is_empty() && !queue.is_closing;
        let waited = shared.work.wait_while(lock(&shared.queue), nothing);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        if queue.frame.waiting.is_empty() {
            return;
        }
        let mut frame = std::mem::take(&mut queue.frame);
        queue.is_writing = true;
        drop(queue);
        let written = write(shared, frame.pages, &frame.body);
        let mut queue = lock(&shared.queue);
        if let Err(error) = &written {
            // What came meanwhile was judged by what is lost now.
            queue.failed = Some(error.clone());
            frame.waiting.extend(std::mem::take(&mut queue.frame).waiting);
        }
        queue.is_writing = false;
        drop(queue);
        shared.rest.notify_all();
        frame.waiting.into_iter().for_each(|done| done(written.clone()));
    }
}

fn write(shared: &Shared, pages: u32, body: &[u8]) -> Result<()> {
    if pages == 0 {
        return Ok(());
    }
    lock(&shared.file).append(pages, body)?;
    if let Some((_, part)) = shared.parts_mut().last_mut() {
        part.on_disk += pages as usize;
    }
    Ok(())
}
