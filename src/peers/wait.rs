//! Waiting on a socket, for a time as this process lives it.
//!
//! A process that was stopped, or whose machine slept, must not take the time it missed for the
//! silence of others. So it waits in slices, and a slice counts for no more than its length.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest time that is waited in one go.
const SLICE: Duration = Duration::from_millis(500);
/// How long an exchange may take that should take no time at all.
const PROMPT: Duration = Duration::from_secs(2);

/// The time that is left to wait.
#[derive(Debug)]
pub(crate) struct Wait {
    left: Duration,
}

impl Wait {
    /// Waits for so long in all.
    pub(super) fn new(left: Duration) -> Wait {
        Wait { left }
    }

    /// Waits as long as an exchange should take that takes no time at all.
    pub(super) fn promptly() -> Wait {
        Wait::new(PROMPT)
    }

    /// Fills `bytes`, however slowly they trickle in.
    pub(super) fn read_whole(
        &mut self,
        socket: &TcpStream,
        reader: &mut impl Read,
        bytes: &mut [u8],
    ) -> io::Result<()> {
        let mut filled = 0;
        while filled < bytes.len() {
            let left = self.slice()?;
            socket.set_read_timeout(Some(left))?;
            match self.spend(|| reader.read(&mut bytes[filled..]))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Some(read) => filled += read,
                None => {}
            }
        }
        Ok(())
    }

    /// Writes all of `bytes`, however slowly they are taken.
    pub(super) fn write_whole(&mut self, mut socket: &TcpStream, bytes: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            let left = self.slice()?;
            socket.set_write_timeout(Some(left))?;
            match self.spend(|| socket.write(&bytes[written..]))? {
                Some(0) => return Err(ErrorKind::WriteZero.into()),
                Some(more) => written += more,
                None => {}
            }
        }
        Ok(())
    }

    fn slice(&self) -> io::Result<Duration> {
        match self.left.is_zero() {
            true => Err(ErrorKind::TimedOut.into()),
            false => Ok(self.left.min(SLICE)),
        }
    }

    /// Does what may wait for a slice; nothing comes of it when it waited in vain.
    fn spend(&mut self, act: impl FnOnce() -> io::Result<usize>) -> io::Result<Option<usize>> {
        let began = Instant::now();
        let done = act();
        self.left = self.left.saturating_sub(began.elapsed().min(SLICE));
        match done {
            Ok(done) => Ok(Some(done)),
            Err(cause)
                if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(None)
            }
            Err(cause) => Err(cause),
        }
    }
}
