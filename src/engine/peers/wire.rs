//! Sockets, and the messages of a handshake before anything is sealed: eight bytes that name the protocol, a
//! length, and the bytes of the message. Both the length and the time to wait are bounded.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt;

use super::hosts;
use super::wait::Wait;

/// Every message of a handshake begins with this. The digit is the version of the protocol.
pub(super) const MAGIC: [u8; 8] = *b"dupsiev1";
const PROMPT: Duration = Duration::from_secs(2);
/// A peer is lost if its host does not answer for this long, even if nobody reads from it.
const SILENCE: Duration = Duration::from_secs(60);

pub(super) fn send(socket: &TcpStream, message: &[u8], wait: &mut Wait) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(io::Error::other)?;
    wait.write_whole(socket, &[&MAGIC[..], &length.to_le_bytes(), message].concat())
}

/// Reads one message of a handshake, and nothing after it.
pub(super) fn receive(mut socket: &TcpStream, wait: &mut Wait) -> io::Result<Vec<u8>> {
    let mut heading = [0; 10];
    wait.read_whole(socket, &mut socket, &mut heading)?;
    let Some(length) = heading.strip_prefix(&MAGIC) else {
        let what = "what came is not of this version of dupsieve's protocol";
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    };
    let length = u16::from_le_bytes(length.try_into().expect("two bytes"));
    let mut message = vec![0; length.into()];
    wait.read_whole(socket, &mut socket, &mut message)?;
    Ok(message)
}

/// Tells a caller that there are too many callers, by an empty message. No handshake has one.
pub(super) fn turn_away(mut socket: &TcpStream) {
    // The caller may be gone.
    let _ = socket.write_all(&[&MAGIC[..], &[0, 0]].concat());
}

/// Connects to the first address of `host` that answers soon.
pub(super) fn connect(host: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in hosts::resolve(host, PROMPT)? {
        match TcpStream::connect_timeout(&address, PROMPT) {
            Ok(socket) => return Ok(socket),
            Err(cause) => failure = cause,
        }
    }
    Err(failure)
}

/// Makes small messages leave at once, and a dead network an error.
pub(super) fn set_up(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, SILENCE / 2)?;
    sockopt::set_tcp_keepintvl(socket, SILENCE / 6)?;
    sockopt::set_tcp_keepcnt(socket, 3)?;
    #[cfg(target_os = "linux")]
    sockopt::set_tcp_user_timeout(socket, SILENCE.as_millis() as u32)?;
    Ok(())
}
