//! One connection between every two processes of a cluster, made anew for each step of a run:
//! process I calls all lower ones.
//!
//! Patience is for silence: a peer that answers may come as late as its work takes it, one that
//! does not answer, or refuses, is given up after a time.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::cluster::Topology;
use super::door::{Answer, Door, Hall, Sockets, State, Step};
use super::identity::JobIdentity;
use crate::{Error, Kind, Result};

/// The pause between two rounds of calls, at first and at last.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// This process among its peers.
pub(super) struct Mesh {
    door: Arc<Door>,
    address: SocketAddr,
    hosts: Vec<String>,
    patience: Duration,
    attendant: Option<JoinHandle<()>>,
}

/// What is known of a peer that is waited for.
struct Awaited {
    sign_of_life: Instant,
    /// Why it could not be reached at last.
    trouble: String,
    /// Why it did not want us, at first: says more than that it has given up since.
    refusal: Option<String>,
}

impl Awaited {
    fn new() -> Awaited {
        Awaited { sign_of_life: Instant::now(), trouble: "no answer".into(), refusal: None }
    }
}

impl Mesh {
    /// Starts answering the calls that come to `listener`.
    pub(super) fn new(
        topology: Topology,
        listener: TcpListener,
        hosts: Vec<String>,
        job: JobIdentity,
        patience: Duration,
    ) -> io::Result<Mesh> {
        let door = Arc::new(Door::new(topology, job));
        let address = listener.local_addr()?;
        let attended = Arc::clone(&door);
        let attend = move || attended.attend(&listener);
        let attendant = Some(thread::Builder::new().name("attendant".into()).spawn(attend)?);
        Ok(Mesh { door, address, hosts, patience, attendant })
    }

    /// How long a silent peer is waited for.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Comes to the next step, which is of this name and has yet to be prepared.
    pub(super) fn begin(&self, step: &str) {
        let mut hall = self.door.hall();
        hall.step.1 = step.to_owned();
        hall.state = State::Preparing;
    }

    /// Lets the peers in and calls them until all have come. Once a round, `meanwhile` gets the
    /// sockets of those that have.
    pub(super) fn gather(&self, mut meanwhile: impl FnMut(&mut Sockets)) -> Result<()> {
        let mut peers: Vec<Awaited> = self.hosts.iter().map(|_| Awaited::new()).collect();
        let mut pause = PAUSES[0];
        self.door.hall().state = State::Open;
        loop {
            self.call_missing(&mut peers);
            let mut hall = self.door.hall();
            meanwhile(&mut hall.arrived);
            let mut missing = self.missing(&hall);
            if missing.is_empty() {
                return Ok(());
            }
            missing.retain(|&peer| peers[peer].sign_of_life.elapsed() > self.patience);
            if !missing.is_empty() {
                return Err(self.given_up(&hall.step, &missing, &peers));
            }
            self.door.wait(hall, pause);
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    /// Ends the step's gathering: lets nobody in any more and gives the sockets of those that came.
    pub(super) fn close(&self) -> Sockets {
        let mut hall = self.door.hall();
        hall.state = State::Before;
        hall.step = Step(hall.step.0 + 1, String::new());
        hall.arrived.iter_mut().map(Option::take).collect()
    }

    fn missing(&self, hall: &Hall) -> Vec<usize> {
        let me = self.door.topology.process;
        (0..self.hosts.len()).filter(|&peer| peer != me && hall.arrived[peer].is_none()).collect()
    }

    /// One round of calls, all at once, to the peers that are missing: to the lower ones to be let
    /// in, to the higher ones, if they have been silent for a while, for a sign of life.
    fn call_missing(&self, peers: &mut [Awaited]) {
        let hall = self.door.hall();
        let (missing, step) = (self.missing(&hall), &hall.step.clone());
        drop(hall);
        thread::scope(|round| {
            for (peer, awaited) in peers.iter_mut().enumerate() {
                let quiet = awaited.sign_of_life.elapsed() > self.patience / 4;
                if missing.contains(&peer) && (peer < self.door.topology.process || quiet) {
                    round.spawn(move || self.call(peer, step, awaited));
                }
            }
        });
    }

    fn call(&self, peer: usize, step: &Step, awaited: &mut Awaited) {
        match self.door.call(peer, &self.hosts[peer], step) {
            Ok((Answer::Welcome, socket)) => self.door.hall().arrived[peer] = Some(socket),
            Ok((Answer::Later, _)) => awaited.sign_of_life = Instant::now(),
            Ok((Answer::Refused(reason), _)) => {
                awaited.refusal.get_or_insert(format!("refused: {reason}"));
            }
            Err(cause) => awaited.trouble = cause.to_string(),
        }
    }

    fn given_up(&self, step: &Step, silent: &[usize], peers: &[Awaited]) -> Error {
        let describe = |&peer: &usize| {
            let Awaited { trouble, refusal, .. } = &peers[peer];
            let reason = refusal.as_ref().unwrap_or(trouble);
            format!("process {peer} at {} ({reason})", self.hosts[peer])
        };
        let who = silent.iter().map(describe).collect::<Vec<_>>().join(", ");
        let patience = self.patience.as_secs_f32();
        match step.0 {
            0 => Error::new(Kind::Unavailable, format!("{who} did not come within {patience} s"))
                .help("start all processes together, of one version and with equal parameters"),
            _ => Error::new(Kind::Temporary, format!("{who} was lost for {patience} s")),
        }
    }
}

impl Drop for Mesh {
    /// Closes the listener.
    fn drop(&mut self) {
        self.door.hall().state = State::Gone;
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let Some(attendant) = self.attendant.take().filter(|_| woken) {
            let _ = attendant.join();
        }
    }
}
