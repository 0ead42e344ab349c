//! A process of a cluster that waits for another, and callers that say anything to it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use dupsieve::flow::{Fatal, Processes};
use dupsieve::peers::{JobIdentity, Patience, Peers, Secret, Topology};
use sha2::{Digest, Sha256};
use snow::{Builder, StatelessTransportState};

const SECRET: &[u8] = b"known to the two of us";
const MAGIC: &[u8; 8] = b"dupsiev1";
/// The process hears nobody longer than this, and the fuzzer waits for more.
const PATIENCE: Duration = Duration::from_secs(5);

/// Calls the process: with an odd first byte as somebody who knows the secret and seals the other
/// bytes, else with the bytes as they are. It must hang up in time.
pub fn hear(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let mut socket = TcpStream::connect(address()).expect("the process listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket has a time-out");
    let said = match choice % 2 {
        0 => socket.write_all(bytes),
        _ => say_sealed(&mut socket, bytes),
    };
    // A process that has heard enough hangs up while the caller still speaks.
    if said.and_then(|()| socket.shutdown(Shutdown::Write)).is_ok() {
        let ended = io::copy(&mut socket, &mut io::sink());
        let late = ended.is_err_and(|cause| cause.kind() == io::ErrorKind::WouldBlock);
        assert!(!late, "the process does not hang up");
    }
}

fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        thread::spawn(move || wait(listener, address));
        address
    })
}

/// The first process of two, of which the other never comes.
fn wait(listener: TcpListener, address: SocketAddr) {
    let topology = Topology { workers: 1, processes: 2, process: 0 };
    let long = Duration::from_secs(1 << 20);
    let peers = Peers {
        hosts: vec![address.to_string(), "127.0.0.1:1".into()],
        secret: Secret::new(SECRET),
        patience: Patience { arrival: long, silence: long },
    };
    let job = JobIdentity::new("fuzz", "");
    let cluster = Processes::join(topology, listener, peers, job, Fatal::default());
    let came = cluster.and_then(|mut processes| processes.agree("a step", || Ok(())));
    assert!(came.is_err(), "a stranger was taken for the other process");
}

/// The caller's side of the protocol, with `bytes` as its first record.
fn say_sealed(socket: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    let seal = shake_hands(socket).map_err(io::Error::other)?;
    let plain = [&[0], bytes].concat();
    let mut sealed = vec![0; plain.len() + 16];
    seal.write_message(0, &plain, &mut sealed).map_err(io::Error::other)?;
    socket.write_all(&[&(sealed.len() as u32).to_le_bytes(), &sealed[..]].concat())
}

fn shake_hands(
    socket: &mut TcpStream,
) -> Result<StatelessTransportState, Box<dyn std::error::Error + Send + Sync>> {
    let key = Sha256::new_with_prefix("dupsieve secret").chain_update(SECRET).finalize().into();
    let builder = Builder::new("Noise_NNpsk0_25519_ChaChaPoly_SHA256".parse()?);
    let mut handshake = builder.prologue(MAGIC)?.psk(0, &key)?.build_initiator()?;
    let (mut message, mut heading) = ([0; 128], [0; 10]);
    let length = handshake.write_message(&[], &mut message)?;
    socket.write_all(&[&MAGIC[..], &(length as u16).to_le_bytes(), &message[..length]].concat())?;
    socket.read_exact(&mut heading)?;
    let mut answer = vec![0; u16::from_le_bytes([heading[8], heading[9]]).into()];
    socket.read_exact(&mut answer)?;
    handshake.read_message(&answer, &mut message)?;
    Ok(handshake.into_stateless_transport_mode()?)
}
