//! A sealed connection to one other process: messages before a dataflow, the engine's bytes during it.
//!
//! Everything is sent in records: a length, then a kind and up to 32 KiB of data, sealed. Records are numbered
//! in each direction. If one is changed, left out, repeated or moved, the run ends.
//!
//! There are five kinds: data; a pulse, which says that the process lives and how many steps of work it has
//! done; the end, without which a connection counts as lost; a claim of work; and what is granted. A thread of its own sends the
//! pulses. So a process that sends none for a long time is not merely busy: it was killed, frozen or cut off.
//!
//! A claim is granted by whoever reads at the other end, at once. Who reads at this end hands the grant to the thread that waits
//! for it. Nobody who reads waits for a grant, so no two ends wait for each other.
//!
//! An example: the three bytes `abc` become a record of 24 bytes, 4 for the length 20, then 1 for the kind, 3
//! for the data and 16 for the seal.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, Weak, mpsc};
use std::thread;
use std::time::Duration;

use bincode::Options;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::seal::{Seal, TAG};
use super::secret::Secret;
use super::wait::Wait;
use super::wire;
use crate::parallel::lock;
use crate::progress::{self, Activity};
use crate::work_queues::{Ask, Queues, WorkQueues};
use crate::{Error, Kind, Result};

const RECORD: usize = 32 << 10;
const AHEAD: usize = 2 * RECORD;
const PULSE: Duration = Duration::from_secs(2);
/// At least so many pulses are sent in the time that a peer may be silent.
const PULSES: u32 = 4;

const DATA: u8 = 0;
const ALIVE: u8 = 1;
const END: u8 = 2;
const CLAIM: u8 = 3;
const GRANT: u8 = 4;

/// One end of a connection. Clones are the same end.
#[derive(Clone)]
pub(crate) struct Link(Arc<Ends>);

struct Ends {
    socket: TcpStream,
    seal: Seal,
    peer: OnceLock<String>,
    sending: Mutex<Sending>,
    receiving: Mutex<Receiving>,
    silence: OnceLock<Duration>,
    queues: OnceLock<Arc<Queues>>,
    /// What the other end grants to the thread that waits for it.
    granted: Mutex<mpsc::Receiver<io::Result<Range<u64>>>>,
}

#[derive(Default)]
struct Sending {
    records: u64,
    ended: bool,
    plain: Vec<u8>,
    sealed: Vec<u8>,
}

struct Receiving {
    reader: BufReader<TcpStream>,
    records: u64,
    ended: bool,
    sealed: Vec<u8>,
    plain: Vec<u8>,
    /// Where the part of it begins that was not read yet.
    at: usize,
    /// How many steps the other process had done at its last pulse.
    heard: u64,
    /// Where grants go; none when the connection is lost.
    grants: Option<mpsc::Sender<io::Result<Range<u64>>>>,
}

impl Link {
    pub(super) fn call(socket: TcpStream, secret: &Secret, wait: &mut Wait) -> io::Result<Link> {
        wire::set_up(&socket)?;
        let seal = Seal::call(&socket, secret, wait)?;
        Link::new(socket, seal)
    }

    pub(super) fn answer(socket: TcpStream, secret: &Secret, wait: &mut Wait) -> io::Result<Link> {
        wire::set_up(&socket)?;
        let seal = Seal::answer(&socket, secret, wait)?;
        Link::new(socket, seal)
    }

    fn new(socket: TcpStream, seal: Seal) -> io::Result<Link> {
        let (grants, granted) = mpsc::channel();
        let receiving = Mutex::new(Receiving {
            reader: BufReader::with_capacity(AHEAD, socket.try_clone()?),
            records: 0,
            ended: false,
            sealed: Vec::new(),
            plain: Vec::new(),
            at: 0,
            heard: 0,
            grants: Some(grants),
        });
        Ok(Link(Arc::new(Ends {
            socket,
            seal,
            peer: OnceLock::new(),
            sending: Mutex::default(),
            receiving,
            silence: OnceLock::new(),
            queues: OnceLock::new(),
            granted: Mutex::new(granted),
        })))
    }

    /// Starts to send pulses. From now on the process at the other end, `peer`, counts as lost if no pulse
    /// comes for as long as `silence`.
    pub(super) fn keep_alive(&self, peer: String, silence: Duration) -> io::Result<()> {
        let first = self.0.silence.set(silence).is_ok() && self.0.peer.set(peer).is_ok();
        assert!(first, "a connection is kept alive once");
        let ends = Arc::downgrade(&self.0);
        let pause = PULSE.min(silence / PULSES);
        thread::Builder::new().name("pulse".into()).spawn(move || beat(&ends, pause))?;
        Ok(())
    }

    pub(crate) fn deal(&self, queues: &Arc<Queues>) {
        let first = self.0.queues.set(Arc::clone(queues)).is_ok();
        assert!(first, "work is dealt from one place");
    }

    /// Shuts down one half of the connection, or both. Before the writing half is shut, the other end is told.
    pub(crate) fn shut(&self, half: Shutdown) -> io::Result<()> {
        if half != Shutdown::Read {
            self.0.send(END, &[])?;
        }
        self.0.socket.shutdown(half)
    }

    pub(crate) fn send<T: Serialize>(&self, message: &T, limit: u64) -> io::Result<()> {
        let body = codec(limit).serialize(message).map_err(io::Error::other)?;
        (&*self.0).write_all(&[&(body.len() as u64).to_le_bytes(), &body[..]].concat())
    }

    /// Receives one message. It fails if the message is longer than `limit` or, with a `wait`, takes longer.
    pub(crate) fn receive<T: DeserializeOwned>(
        &self,
        limit: u64,
        mut wait: Option<&mut Wait>,
    ) -> io::Result<T> {
        let mut length = [0; 8];
        self.0.fill(&mut length, wait.as_deref_mut())?;
        let length = u64::from_le_bytes(length);
        if length > limit {
            return Err(invalid("the message is too long"));
        }
        let mut body = vec![0; length as usize];
        self.0.fill(&mut body, wait)?;
        codec(limit).deserialize(&body).map_err(|cause| invalid(&cause.to_string()))
    }
}

fn codec(limit: u64) -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding().with_limit(limit)
}

fn encoded<T: Serialize>(what: &T) -> io::Result<Vec<u8>> {
    codec(RECORD as u64).serialize(what).map_err(io::Error::other)
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    codec(RECORD as u64).deserialize(bytes).map_err(|cause| invalid(&cause.to_string()))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// Sends pulses until the connection has ended or nobody holds it any more.
fn beat(ends: &Weak<Ends>, pause: Duration) {
    loop {
        thread::sleep(pause);
        let Some(ends) = ends.upgrade() else { return };
        let alive = progress::own_ticks().to_le_bytes();
        if ends.send(ALIVE, &alive).is_err() {
            // The reading side notices it too, and reports it.
            return;
        }
    }
}

impl Ends {
    fn send(&self, kind: u8, data: &[u8]) -> io::Result<()> {
        let mut sending = lock(&self.sending);
        let Sending { records, ended, plain, sealed } = &mut *sending;
        if *ended {
            return Err(ErrorKind::BrokenPipe.into());
        }
        *ended = kind == END;
        plain.clear();
        plain.push(kind);
        plain.extend_from_slice(data);
        sealed.clear();
        sealed.extend_from_slice(&((plain.len() + TAG) as u32).to_le_bytes());
        self.seal.seal(*records, plain, sealed)?;
        *records += 1;
        let written = self.wait().write_whole(&self.socket, sealed);
        // After a record that was written in part, no other record may follow.
        *ended |= written.is_err();
        written.map_err(|cause| self.named(&cause))
    }

    /// Receives one record, within `wait` or else within the time that the other end may be silent.
    fn receive(&self, receiving: &mut Receiving, wait: Option<&mut Wait>) -> io::Result<u8> {
        let Receiving { reader, records, sealed, plain, at, .. } = receiving;
        let mut patience = self.wait();
        let wait = wait.unwrap_or(&mut patience);
        let mut length = [0; 4];
        wait.read_whole(&self.socket, reader, &mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if !(TAG + 1..=TAG + 1 + RECORD).contains(&length) {
            return Err(invalid("it was altered on its way"));
        }
        sealed.resize(length, 0);
        wait.read_whole(&self.socket, reader, sealed)?;
        self.seal.open(*records, sealed, plain)?;
        *records += 1;
        *at = 1;
        Ok(plain[0])
    }

    /// Reads some data of the other end; none after its end.
    fn read(&self, into: &mut [u8], mut wait: Option<&mut Wait>) -> io::Result<usize> {
        let mut receiving = lock(&self.receiving);
        while receiving.at == receiving.plain.len() && !receiving.ended {
            let taken = self.receive(&mut receiving, wait.as_deref_mut());
            let taken = taken.and_then(|kind| self.take(kind, &mut receiving));
            taken.map_err(|cause| {
                // Who waits for a grant is told why none will come.
                let grants = receiving.grants.take();
                grants.map(|grants| grants.send(Err(self.named(&cause))));
                self.named(&cause)
            })?;
        }
        let Receiving { plain, at, .. } = &mut *receiving;
        let length = into.len().min(plain.len() - *at);
        into[..length].copy_from_slice(&plain[*at..*at + length]);
        *at += length;
        Ok(length)
    }

    /// Takes a record of this kind, of which data alone is left to be read.
    fn take(&self, kind: u8, receiving: &mut Receiving) -> io::Result<()> {
        let Receiving { plain, at, grants, .. } = receiving;
        if kind != DATA {
            *at = plain.len();
        }
        match kind {
            DATA => {}
            ALIVE => receiving.take_pulse(),
            END => receiving.ended = true,
            CLAIM => self.send(GRANT, &encoded(&self.granted_to(decoded(&plain[1..])?)?)?)?,
            GRANT => {
                let granted = decoded(&plain[1..]);
                // If nobody waits for it, nobody wants it.
                grants.as_ref().map(|grants| grants.send(granted));
            }
            _ => return Err(invalid("it is of no known kind")),
        }
        Ok(())
    }

    fn granted_to(&self, ask: Ask) -> io::Result<Range<u64>> {
        let queues =
            self.queues.get().ok_or_else(|| invalid("it asks for what is dealt elsewhere"));
        Ok(queues?.deal(ask))
    }

    fn fill(&self, into: &mut [u8], mut wait: Option<&mut Wait>) -> io::Result<()> {
        let mut filled = 0;
        while filled < into.len() {
            match self.read(&mut into[filled..], wait.as_deref_mut())? {
                0 => return Err(self.named(&ErrorKind::UnexpectedEof.into())),
                read => filled += read,
            }
        }
        Ok(())
    }

    fn wait(&self) -> Wait {
        self.silence.get().map_or_else(Wait::promptly, |&silence| Wait::new(silence))
    }

    /// The failure, with the name of the process that is lost.
    fn named(&self, cause: &io::Error) -> io::Error {
        let Some(peer) = self.peer.get() else {
            return io::Error::new(cause.kind(), cause.to_string());
        };
        let silence = self.silence.get().copied().unwrap_or_default().as_secs_f32();
        let what = match cause.kind() {
            ErrorKind::TimedOut => format!("{peer}, which gave no sign of life for {silence} s"),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                format!("{peer}, which is gone")
            }
            ErrorKind::InvalidData => format!("{peer}: what came from it cannot be read: {cause}"),
            _ => format!("{peer}: {cause}"),
        };
        io::Error::new(cause.kind(), what)
    }
}

impl Receiving {
    fn take_pulse(&mut self) {
        let ticks = self.plain[1..].try_into().map_or(0, u64::from_le_bytes);
        if ticks != self.heard {
            self.heard = ticks;
            progress::tick(Activity::Hearing);
        }
    }
}

impl WorkQueues for Link {
    fn claim(&self, ask: Ask) -> Result<Range<u64>> {
        // One grant is waited for at a time.
        let granted = lock(&self.0.granted);
        let asked = encoded(&ask).and_then(|ask| self.0.send(CLAIM, &ask));
        let gone = |_| self.0.named(&ErrorKind::UnexpectedEof.into());
        let granted = asked.and_then(|()| granted.recv().map_err(gone)?);
        granted.map_err(|cause| Error::new(Kind::Temporary, format!("lost {cause}")))
    }
}

impl Write for &Ends {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let record = &bytes[..bytes.len().min(RECORD)];
        self.send(DATA, record)?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Link {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into, None)
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
