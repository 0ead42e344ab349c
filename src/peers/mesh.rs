//! One connection between every two processes of a cluster, made anew for each step of a run:
//! process I calls all lower ones.
//!
//! Patience is for silence: a peer that answers may come as late as its work takes it; one that
//! never answered, or refuses, is given up after a time, and one that answered and does so no more
//! after another.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::acceptor::{Answer, Door, Hall, Links, State, Step};
use super::identity::JobIdentity;
use super::topology::{Patience, Peers, Topology};
use crate::progress::{self, Activity};
use crate::{Error, Kind, Result};

/// The pause between two rounds of calls, at first and at last.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// This process among its peers.
pub(crate) struct Mesh {
    door: Arc<Door>,
    address: SocketAddr,
    hosts: Vec<String>,
    patience: Patience,
    attendant: Option<JoinHandle<()>>,
}

/// What is known of a peer that is waited for.
struct Awaited {
    sign_of_life: Instant,
    /// Whether it ever answered.
    answered: bool,
    /// Why it could not be reached at last.
    trouble: String,
    /// Why it did not want us, or we it, at first: says more than that it has given up since.
    refusal: Option<String>,
}

impl Mesh {
    /// Starts answering the calls that come to `listener`.
    pub(crate) fn new(
        topology: Topology,
        listener: TcpListener,
        peers: Peers,
        job: JobIdentity,
    ) -> io::Result<Mesh> {
        let Peers { hosts, secret, patience } = peers;
        let door = Arc::new(Door::new(topology, job, secret));
        let address = listener.local_addr()?;
        let attended = Arc::clone(&door);
        let attend = move || attended.attend(&listener);
        let attendant = Some(thread::Builder::new().name("attendant".into()).spawn(attend)?);
        Ok(Mesh { door, address, hosts, patience, attendant })
    }

    /// Comes to the next step, which is of this name and has yet to be prepared.
    pub(crate) fn begin(&self, step: &str) {
        let mut hall = self.door.hall();
        hall.step.1 = step.to_owned();
        hall.state = State::Preparing;
    }

    /// Lets the peers in and calls them until all have come. Once a round, `meanwhile` gets the
    /// connections to those that have.
    pub(crate) fn gather(&self, mut meanwhile: impl FnMut(&mut Links)) -> Result<()> {
        let mut peers = self.awaited();
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
            missing
                .retain(|&peer| peers[peer].sign_of_life.elapsed() > self.patience(&peers[peer]));
            if !missing.is_empty() {
                return Err(self.given_up(&missing, &peers));
            }
            self.door.wait(hall, pause);
            pause = (pause * 2).min(PAUSES[1]);
            // Those that are waited for see to it themselves that they get further.
            progress::tick(Activity::Hearing);
        }
    }

    /// Ends the step's gathering: lets nobody in any more and gives the connections to those that
    /// came, which are kept alive from now on.
    ///
    /// # Errors
    /// As [`Error::system`], if no thread can be had for that.
    pub(crate) fn close(&self) -> Result<Links> {
        let mut hall = self.door.hall();
        hall.state = State::Before;
        hall.step = Step(hall.step.0 + 1, String::new());
        let links: Links = hall.arrived.iter_mut().map(Option::take).collect();
        for (link, peer) in
            links.iter().zip(0..).filter_map(|(link, peer)| Some((link.as_ref()?, peer)))
        {
            link.keep_alive(self.name(peer), self.patience.silence)
                .map_err(|cause| Error::system("cannot keep a connection alive", &cause))?;
        }
        Ok(links)
    }

    /// What is known of the peers before the first call of a step.
    fn awaited(&self) -> Vec<Awaited> {
        let (sign_of_life, answered) = (Instant::now(), self.door.hall().step.0 > 0);
        let trouble = || "no answer".to_owned();
        let one =
            |_: &String| Awaited { sign_of_life, answered, trouble: trouble(), refusal: None };
        self.hosts.iter().map(one).collect()
    }

    /// What people call a peer.
    pub(super) fn name(&self, peer: usize) -> String {
        format!("process {peer} at {}", self.hosts[peer])
    }

    /// How long this peer may be silent.
    fn patience(&self, peer: &Awaited) -> Duration {
        if peer.answered { self.patience.silence } else { self.patience.arrival }
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
                let quiet = awaited.sign_of_life.elapsed() > self.patience(awaited) / 4;
                if missing.contains(&peer) && (peer < self.door.topology.process || quiet) {
                    round.spawn(move || self.call(peer, step, awaited));
                }
            }
        });
    }

    fn call(&self, peer: usize, step: &Step, awaited: &mut Awaited) {
        match self.door.call(peer, &self.hosts[peer], step) {
            Ok((Answer::Welcome, link)) => self.door.hall().arrived[peer] = Some(link),
            Ok((Answer::Later, _)) => awaited.lives(),
            Ok((Answer::Refused(reason), _)) => awaited.refuses(&reason),
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                awaited.refuses(&cause.to_string());
            }
            Err(cause) => awaited.trouble = cause.to_string(),
        }
    }

    fn given_up(&self, silent: &[usize], peers: &[Awaited]) -> Error {
        let describe = |&peer: &usize| {
            let Awaited { trouble, refusal, .. } = &peers[peer];
            format!("{} ({})", self.name(peer), refusal.as_ref().unwrap_or(trouble))
        };
        let who = silent.iter().map(describe).collect::<Vec<_>>().join(", ");
        // Where strangers crowd the door, that may be why.
        let crowd = self.door.crowd().map_or(String::new(), |crowd| format!("; {crowd}"));
        let Patience { arrival, silence } = self.patience;
        match silent.iter().all(|&peer| peers[peer].answered) {
            true => {
                let silence = silence.as_secs_f32();
                Error::new(
                    Kind::Temporary,
                    format!("lost {who}: no sign of life for {silence} s{crowd}"),
                )
            }
            false => {
                let arrival = arrival.as_secs_f32();
                Error::new(
                    Kind::Unavailable,
                    format!("{who} did not come within {arrival} s{crowd}"),
                )
                .help("start all processes together, of one version and with equal parameters")
            }
        }
    }
}

impl Awaited {
    fn lives(&mut self) {
        self.sign_of_life = Instant::now();
        self.answered = true;
    }

    fn refuses(&mut self, reason: &str) {
        self.refusal.get_or_insert_with(|| format!("refused: {reason}"));
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
