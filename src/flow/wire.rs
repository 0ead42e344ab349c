//! Messages on a socket before the engine has it: eight bytes that say who speaks, a length, and
//! bincode, bounded in size and in time. Nothing is read beyond the message.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use bincode::Options;
use rustix::net::sockopt;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What every message begins with; the digit is the version of this protocol.
const MAGIC: [u8; 8] = *b"dupsiev1";
/// How long one connection attempt or one write may take.
const PROMPT: Duration = Duration::from_secs(2);
/// A peer whose host answers nothing for this long is lost: the connection then fails.
const SILENCE: Duration = Duration::from_secs(60);

fn codec(limit: u64) -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding().with_limit(limit)
}

/// The bytes of `message`, which may be `limit` long beside the heading.
pub(super) fn encode<T: Serialize>(message: &T, limit: u64) -> io::Result<Vec<u8>> {
    let body = codec(limit).serialize(message).map_err(io::Error::other)?;
    Ok([&MAGIC[..], &(body.len() as u64).to_le_bytes(), &body].concat())
}

/// Writes one message.
pub(super) fn send<T: Serialize>(
    socket: &mut TcpStream,
    message: &T,
    limit: u64,
) -> io::Result<()> {
    socket.write_all(&encode(message, limit)?)
}

/// Reads one message, refusing one that is longer than `limit` or not whole by the `deadline`.
pub(super) fn receive<T: DeserializeOwned>(
    socket: &mut TcpStream,
    limit: u64,
    deadline: Instant,
) -> io::Result<T> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut heading = [0; 16];
    read_whole(socket, &mut heading, deadline)?;
    let (magic, length) = heading.split_at(8);
    if magic != MAGIC {
        return Err(wrong("what came is not of this version of dupsieve's protocol"));
    }
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
    if length > limit {
        return Err(wrong("the message is too long"));
    }
    let mut body = vec![0; length as usize];
    read_whole(socket, &mut body, deadline)?;
    codec(limit).deserialize(&body).map_err(|cause| wrong(&cause.to_string()))
}

/// Fills `bytes` by the `deadline`, however slowly they trickle in.
fn read_whole(socket: &mut TcpStream, bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
        }
        socket.set_read_timeout(Some(left))?;
        match socket.read(&mut bytes[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

/// Connects to the first address of `host` that answers, promptly.
pub(super) fn connect(host: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PROMPT) {
            Ok(socket) => return Ok(socket),
            Err(cause) => failure = cause,
        }
    }
    Err(failure)
}

/// The deadline of an exchange that should take no time at all.
pub(super) fn promptly() -> Instant {
    Instant::now() + PROMPT
}

/// Small messages leave at once, writes fail promptly, and a dead network becomes an error.
pub(super) fn set_up(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_write_timeout(Some(PROMPT))?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, SILENCE / 2)?;
    sockopt::set_tcp_keepintvl(socket, SILENCE / 6)?;
    sockopt::set_tcp_keepcnt(socket, 3)?;
    #[cfg(target_os = "linux")]
    sockopt::set_tcp_user_timeout(socket, SILENCE.as_millis() as u32)?;
    Ok(())
}

/// Takes the time limits off: the engine's threads read and write without any.
pub(super) fn hand_over(socket: &TcpStream) -> io::Result<()> {
    socket.set_read_timeout(None)?;
    socket.set_write_timeout(None)
}
