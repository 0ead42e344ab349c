//! One connection between every two processes of a job, made anew for each step of a run. Process I
//! calls all processes with lower numbers.
//!
//! A peer that answers may come as late as its work requires. A peer that never answered, or that refuses, is
//! given up after one time limit; a peer that answered before and is silent now, after another. See
//! [`Patience`]. A peer that was started again answers, but never comes to the step where the others are: it is known by the number of
//! its run, and given up at once.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::acceptor::{Acceptor, Answer, Arrivals, Links, Reply, State, Step};
use super::identity::JobIdentity;
use super::topology::{Patience, Peers, Topology};
use crate::progress::{self, Activity};
use crate::{Error, Kind, Result};

const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

pub(crate) struct Mesh {
    acceptor: Arc<Acceptor>,
    address: SocketAddr,
    hosts: Vec<String>,
    patience: Patience,
    accepting: Option<JoinHandle<()>>,
}

/// What is known of a peer that has not arrived yet.
#[derive(Clone, Default)]
struct Awaited {
    /// How long this process has waited since the last sign of life.
    silent: Duration,
    answered: bool,
    /// Whether what answered is another run of it than the one that arrived at the steps before.
    was_restarted: bool,
    trouble: String,
    /// The first reason for a refusal, by either side. It says more than later failures.
    refusal: Option<String>,
}

impl Mesh {
    pub(crate) fn new(
        topology: Topology,
        listener: TcpListener,
        peers: Peers,
        job: JobIdentity,
    ) -> io::Result<Mesh> {
        let Peers { hosts, secret, patience } = peers;
        let acceptor = Arc::new(Acceptor::new(topology, job, secret));
        let address = listener.local_addr()?;
        let accepting = Arc::clone(&acceptor);
        let accept = move || accepting.accept(&listener);
        let accepting = Some(thread::Builder::new().name("acceptor".into()).spawn(accept)?);
        Ok(Mesh { acceptor, address, hosts, patience, accepting })
    }

    pub(crate) fn begin(&self, step: &str) {
        let mut arrivals = self.acceptor.arrivals();
        arrivals.step.1 = step.to_owned();
        arrivals.state = State::Preparing;
    }

    /// Lets peers in and calls them until all have arrived. In each round, `meanwhile` gets the connections to
    /// those that have.
    pub(crate) fn gather(&self, mut meanwhile: impl FnMut(&mut Links)) -> Result<()> {
        let mut peers = self.awaited();
        let mut pause = PAUSES[0];
        self.acceptor.arrivals().state = State::Open;
        let mut round = Instant::now();
        loop {
            for awaited in &mut peers {
                awaited.waited(round.elapsed(), self.patience(awaited));
            }
            round = Instant::now();
            self.call_missing(&mut peers);
            if let Some(peer) = peers.iter().position(|peer| peer.was_restarted) {
                return Err(self.begun_anew(peer));
            }
            let mut arrivals = self.acceptor.arrivals();
            if let Some(peer) = arrivals.restarted {
                return Err(self.begun_anew(peer));
            }
            meanwhile(&mut arrivals.arrived);
            let mut missing = self.missing(&arrivals);
            if missing.is_empty() {
                return Ok(());
            }
            missing.retain(|&peer| peers[peer].silent > self.patience(&peers[peer]));
            if !missing.is_empty() {
                return Err(self.given_up(&missing, &peers));
            }
            self.acceptor.wait(arrivals, pause);
            pause = (pause * 2).min(PAUSES[1]);
            // A peer that makes no progress ends by itself.
            progress::tick(Activity::Hearing);
        }
    }

    /// Lets nobody in any more and returns the connections to the peers that arrived. They are kept alive from
    /// now on.
    pub(crate) fn close(&self) -> Result<Links> {
        let mut arrivals = self.acceptor.arrivals();
        arrivals.state = State::Before;
        arrivals.step = Step(arrivals.step.0 + 1, String::new());
        let links: Links = arrivals.arrived.iter_mut().map(Option::take).collect();
        for (link, peer) in
            links.iter().zip(0..).filter_map(|(link, peer)| Some((link.as_ref()?, peer)))
        {
            link.keep_alive(self.name(peer), self.patience.silence)
                .map_err(|cause| Error::system("cannot keep a connection alive", &cause))?;
        }
        Ok(links)
    }

    fn awaited(&self) -> Vec<Awaited> {
        let answered = self.acceptor.arrivals().step.0 > 0;
        let awaited = Awaited { answered, trouble: "no answer".into(), ..Awaited::default() };
        vec![awaited; self.hosts.len()]
    }

    pub(super) fn name(&self, peer: usize) -> String {
        format!("process {peer} at {}", self.hosts[peer])
    }

    fn patience(&self, peer: &Awaited) -> Duration {
        if peer.answered { self.patience.silence } else { self.patience.arrival }
    }

    fn missing(&self, arrivals: &Arrivals) -> Vec<usize> {
        let me = self.acceptor.topology.process;
        (0..self.hosts.len())
            .filter(|&peer| peer != me && arrivals.arrived[peer].is_none())
            .collect()
    }

    /// One round of calls to the missing peers, all at the same time: to those with lower numbers to be let in,
    /// to the others, if they have been silent for a while, for a sign of life.
    fn call_missing(&self, peers: &mut [Awaited]) {
        let arrivals = self.acceptor.arrivals();
        let missing = self.missing(&arrivals);
        let step = &arrivals.step.clone();
        drop(arrivals);
        thread::scope(|round| {
            for (peer, awaited) in peers.iter_mut().enumerate() {
                let quiet = awaited.silent > self.patience(awaited) / 4;
                if missing.contains(&peer) && (peer < self.acceptor.topology.process || quiet) {
                    round.spawn(move || self.call(peer, step, awaited));
                }
            }
        });
    }

    fn call(&self, peer: usize, step: &Step, awaited: &mut Awaited) {
        match self.acceptor.call(peer, &self.hosts[peer], step) {
            Ok((Reply { run, .. }, _)) if self.acceptor.arrivals().is_another(peer, run) => {
                awaited.was_restarted = true;
            }
            Ok((Reply { answer: Answer::Welcome, run }, link)) => {
                self.acceptor.arrivals().arrives(peer, run, link);
            }
            Ok((Reply { answer: Answer::Later, .. }, _)) => awaited.lives(),
            Ok((Reply { answer: Answer::Refused(reason), .. }, _)) => awaited.refuses(&reason),
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                awaited.refuses(&cause.to_string());
            }
            Err(cause) => awaited.trouble = cause.to_string(),
        }
    }

    fn begun_anew(&self, peer: usize) -> Error {
        let what = format!("{} was started again while the others ran", self.name(peer));
        Error::new(Kind::Temporary, what).help("try again, in all processes")
    }

    fn given_up(&self, silent: &[usize], peers: &[Awaited]) -> Error {
        let describe = |&peer: &usize| {
            let Awaited { trouble, refusal, .. } = &peers[peer];
            format!("{} ({})", self.name(peer), refusal.as_ref().unwrap_or(trouble))
        };
        let who = silent.iter().map(describe).collect::<Vec<_>>().join(", ");
        // Many strangers may be the reason.
        let crowd = self.acceptor.crowd().map_or(String::new(), |crowd| format!("; {crowd}"));
        let Patience { arrival, silence } = self.patience;
        if silent.iter().all(|&peer| peers[peer].answered) {
            let silence = silence.as_secs_f32();
            let what = format!("lost {who}: no sign of life for {silence} s{crowd}");
            return Error::new(Kind::Temporary, what).called("peer-lost");
        }
        let arrival = arrival.as_secs_f32();
        let what = format!("{who} did not come within {arrival} s{crowd}");
        Error::new(Kind::Unavailable, what)
            .called("peer-missing")
            .help("start all processes together, with the same version and the same parameters")
    }
}

impl Awaited {
    /// A round has taken so long. In a longer one than a quarter of the `patience` this process was stopped itself, or its machine slept: then
    /// the peer was not silent all the time.
    fn waited(&mut self, round: Duration, patience: Duration) {
        self.silent += round.min(patience / 4);
    }

    fn lives(&mut self) {
        self.silent = Duration::ZERO;
        self.answered = true;
    }

    fn refuses(&mut self, reason: &str) {
        self.refusal.get_or_insert_with(|| format!("refused: {reason}"));
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.acceptor.arrivals().state = State::Gone;
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_stopped_itself_counts_no_peer_as_lost() {
        let mut peer = Awaited { answered: true, ..Awaited::default() };
        let patience = Duration::from_secs(4);
        peer.waited(Duration::from_secs(3600), patience);
        assert_eq!(peer.silent, patience / 4);
        (0..40).for_each(|_| peer.waited(Duration::from_millis(100), patience));
        assert!(peer.silent > patience);
        peer.lives();
        assert_eq!(peer.silent, Duration::ZERO);
    }
}
