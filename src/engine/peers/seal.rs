//! Two processes prove to each other that they know the secret, and agree on the keys of one connection.
//!
//! It is the handshake NNpsk0 of the Noise protocol framework (Perrin, revision 34), as `snow` implements it.
//! Both sides make a key for this connection alone, and mix both keys with the secret.
//!
//! - Without the secret, nobody can read the first message or answer it.
//! - A recorded connection cannot be repeated, because the other side's key is new.
//! - With a secret learnt later, nobody can read a recorded connection.

use std::io::{self, ErrorKind};
use std::net::TcpStream;

use snow::{Builder, HandshakeState, StatelessTransportState};

use super::secret::Secret;
use super::wait::Wait;
use super::wire::{self, MAGIC};

const PROTOCOL: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
pub(super) const TAG: usize = 16;
/// At least the length of each message of the handshake.
const HANDSHAKE: usize = 128;

pub(super) struct Seal(StatelessTransportState);

impl Seal {
    pub(super) fn call(socket: &TcpStream, secret: &Secret, wait: &mut Wait) -> io::Result<Seal> {
        let mut handshake = builder(secret)?.build_initiator().map_err(failed)?;
        say(&mut handshake, socket, wait)?;
        let answer = wire::receive(socket, wait).map_err(|cause| match cause.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => stranger(
                "it hung up at the greeting: its secret, or its version of dupsieve, may be another",
            ),
            _ => cause,
        })?;
        if answer.is_empty() {
            return Err(io::Error::new(ErrorKind::ResourceBusy, "it had too many callers"));
        }
        hear(&mut handshake, &answer)?;
        Seal::of(handshake)
    }

    /// The called side of the handshake. The caller has proved that it knows the secret only when its next
    /// message can be opened.
    pub(super) fn answer(socket: &TcpStream, secret: &Secret, wait: &mut Wait) -> io::Result<Seal> {
        let mut handshake = builder(secret)?.build_responder().map_err(failed)?;
        hear(&mut handshake, &wire::receive(socket, wait)?)?;
        say(&mut handshake, socket, wait)?;
        Seal::of(handshake)
    }

    fn of(handshake: HandshakeState) -> io::Result<Seal> {
        handshake.into_stateless_transport_mode().map(Seal).map_err(failed)
    }

    /// Seals `plain` under this number and appends it to `sealed`. Each direction has its own numbers.
    pub(super) fn seal(&self, number: u64, plain: &[u8], sealed: &mut Vec<u8>) -> io::Result<()> {
        let start = sealed.len();
        sealed.resize(start + plain.len() + TAG, 0);
        self.0.write_message(number, plain, &mut sealed[start..]).map_err(failed)?;
        Ok(())
    }

    /// Opens what was `sealed` under this number, into `plain`.
    pub(super) fn open(&self, number: u64, sealed: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        plain.resize(sealed.len().saturating_sub(TAG), 0);
        let altered = |_| io::Error::new(ErrorKind::InvalidData, "it was altered on its way");
        self.0.read_message(number, sealed, plain).map_err(altered)?;
        Ok(())
    }
}

fn builder(secret: &Secret) -> io::Result<Builder<'_>> {
    let builder = Builder::new(PROTOCOL.parse().map_err(failed)?);
    builder.prologue(&MAGIC).and_then(|builder| builder.psk(0, secret.key())).map_err(failed)
}

fn say(handshake: &mut HandshakeState, socket: &TcpStream, wait: &mut Wait) -> io::Result<()> {
    let mut message = [0; HANDSHAKE];
    let length = handshake.write_message(&[], &mut message).map_err(failed)?;
    wire::send(socket, &message[..length], wait)
}

fn hear(handshake: &mut HandshakeState, message: &[u8]) -> io::Result<()> {
    let said = handshake.read_message(message, &mut [0; HANDSHAKE]);
    said.map(drop).map_err(|_| stranger("it does not know the secret"))
}

fn stranger(what: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, what)
}

fn failed(cause: snow::Error) -> io::Error {
    io::Error::other(format!("the handshake failed: {cause}"))
}
