//! A connection between two processes, as the engine uses it.

use std::io::{self, ErrorKind};
use std::net::Shutdown;

use timely::communication::allocator::zero_copy::stream::Stream;

use crate::peers::Link;

/// One clone reads, another writes, both of them blocking.
impl Stream for Link {
    fn try_clone(&self) -> io::Result<Link> {
        Ok(self.clone())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        if nonblocking { Err(ErrorKind::Unsupported.into()) } else { Ok(()) }
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.shut(how)
    }
}
