//! Waiting on a socket, where only the time counts in which this process ran.
//!
//! A process that was stopped, or whose machine slept, must not conclude that the others were silent. So it
//! waits in slices, and a slice counts for no more than its length. An example: 30 s are left to wait, and
//! the machine sleeps for an hour. The slice of 500 ms in which that happens leaves 29.5 s.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const SLICE: Duration = Duration::from_millis(500);
/// How long an exchange may take that needs no computation.
const PROMPT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Wait {
    left: Duration,
}

impl Wait {
    pub(super) fn new(left: Duration) -> Wait {
        Wait { left }
    }

    pub(super) fn promptly() -> Wait {
        Wait::new(PROMPT)
    }

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
        if self.left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(self.left.min(SLICE))
    }

    /// Runs `act`, which may wait for a slice; none if nothing came in that time.
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
