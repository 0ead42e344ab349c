//! The side of a connection between two processes that is called.
//!
//! The listener stays open for the whole run. A thread answers every caller:
//!
//! - A peer of the same job at the same step is welcome.
//! - A peer that comes too early is told so. That is a sign of life as well.
//! - A peer of another job, version, step or number of processes is refused, with the reason.
//! - A caller that does not know the secret (a port scan, a health probe, a silent client) is dropped after
//!   two seconds, or earlier if there are many.

use std::collections::BTreeSet;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::callers::{Caller, Callers};
use super::identity::JobIdentity;
use super::link::Link;
use super::secret::Secret;
use super::topology::Topology;
use super::wait::Wait;
use super::wire;
use crate::parallel::lock;

const GREETING_BYTES: u64 = 4 << 10;
/// How many different reasons for a refusal are logged.
const MOST_REASONS: usize = 32;

/// What a caller says: who it is, whom it calls, and everything that must be equal in both.
#[derive(Serialize, Deserialize)]
struct Hello {
    job: JobIdentity,
    version: String,
    processes: usize,
    workers: usize,
    step: Step,
    /// The number of this run of the caller.
    run: u64,
    from: usize,
    to: usize,
}

/// A step of the run: the number of steps before it, and its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Step(pub(super) u64, pub(super) String);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Answer {
    Welcome,
    /// The called process is not ready. Call again.
    Later,
    /// The connection will never be made; this is why.
    Refused(String),
}

/// The answer, and which run of the called process has given it.
#[derive(Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) answer: Answer,
    pub(super) run: u64,
}

/// The last word of a welcome caller. Without it, one side could keep a connection that the other gave up.
#[derive(Serialize, Deserialize)]
struct Here;

/// The connections to all other processes, by their numbers; none at the own number.
pub(crate) type Links = Vec<Option<Link>>;

pub(super) struct Acceptor {
    pub(super) topology: Topology,
    job: JobIdentity,
    secret: Secret,
    /// A random number: a process that is started again has another.
    run: u64,
    callers: Arc<Callers>,
    arrivals: Mutex<Arrivals>,
    arrival: Condvar,
}

#[derive(Default)]
pub(super) struct Arrivals {
    pub(super) step: Step,
    pub(super) state: State,
    pub(super) arrived: Links,
    runs: Vec<Option<u64>>,
    /// A peer that called from a step that is over, in another run than the one that had arrived.
    pub(super) restarted: Option<usize>,
    refusals: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum State {
    #[default]
    Before,
    /// At the step, which the leader prepares. Nobody is let in.
    Preparing,
    Open,
    Gone,
}

impl Arrivals {
    pub(super) fn arrives(&mut self, peer: usize, run: u64, link: Link) {
        self.arrived[peer] = Some(link);
        self.runs[peer] = Some(run);
    }

    /// Whether a peer that has arrived before gives another run now: it was started again, and will never arrive at this step.
    pub(super) fn is_another(&self, peer: usize, run: u64) -> bool {
        self.runs[peer].is_some_and(|known| known != run)
    }
}

impl Acceptor {
    pub(super) fn new(topology: Topology, job: JobIdentity, secret: Secret) -> Acceptor {
        let arrived = (0..topology.processes).map(|_| None).collect();
        let runs = vec![None; topology.processes];
        let arrivals = Mutex::new(Arrivals { arrived, runs, ..Arrivals::default() });
        Acceptor {
            topology,
            job,
            secret,
            run: rand::random(),
            callers: Arc::default(),
            arrivals,
            arrival: Condvar::new(),
        }
    }

    pub(super) fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        lock(&self.arrivals)
    }

    pub(super) fn wait(&self, arrivals: MutexGuard<'_, Arrivals>, longest: Duration) {
        drop(self.arrival.wait_timeout(arrivals, longest));
    }

    /// What is known of callers that were turned away; none if there were none.
    pub(super) fn crowd(&self) -> Option<String> {
        self.callers.crowd()
    }

    /// Hears every caller until the run is over, each on a thread of its own, so that no caller has to
    /// wait for another.
    pub(super) fn accept(self: &Arc<Acceptor>, listener: &TcpListener) {
        for socket in listener.incoming() {
            if self.arrivals().state == State::Gone {
                return;
            }
            let admitted = socket.and_then(|socket| Ok((self.callers.admit(&socket)?, socket)));
            let Ok((caller, socket)) = admitted else {
                // Most likely, too many files are open.
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let acceptor = Arc::clone(self);
            let hear = move || acceptor.hear(socket, caller);
            // If no thread can be started, the caller is turned away and calls again.
            drop(thread::Builder::new().name("caller".into()).spawn(hear));
        }
    }

    /// Hears one caller. The reason for a refusal is logged, each reason once.
    fn hear(&self, socket: TcpStream, caller: Caller) {
        let address = socket.peer_addr().map_or("unknown".into(), |address| address.to_string());
        let reason = match self.receive(socket, caller) {
            Ok(Answer::Refused(reason)) => reason,
            Ok(_) => return,
            Err(cause) => cause.to_string(),
        };
        let mut arrivals = self.arrivals();
        let is_worth_telling =
            arrivals.state != State::Gone && arrivals.refusals.len() < MOST_REASONS;
        if is_worth_telling && arrivals.refusals.insert(reason.clone()) {
            tracing::warn!(caller = address, reason, "refused a caller");
        }
    }

    fn receive(&self, socket: TcpStream, mut caller: Caller) -> io::Result<Answer> {
        let mut wait = Wait::promptly();
        let link = Link::answer(socket, &self.secret, &mut wait)?;
        caller.is_known()?;
        let hello: Hello = link.receive(GREETING_BYTES, Some(&mut wait))?;
        let reply = Reply { answer: self.hail(&hello), run: self.run };
        link.send(&reply, GREETING_BYTES)?;
        if reply.answer == Answer::Welcome {
            let Here = link.receive(GREETING_BYTES, Some(&mut wait))?;
            let mut arrivals = self.arrivals();
            if self.answer(&arrivals, &hello) == Answer::Welcome {
                arrivals.arrives(hello.from, hello.run, link);
                self.arrival.notify_all();
            }
        }
        Ok(reply.answer)
    }

    /// Answers a caller. One that calls from an earlier step in another run was started again: it will never arrive, and if it had arrived
    /// before, this process does not miss it, and so would not call it.
    fn hail(&self, caller: &Hello) -> Answer {
        let mut arrivals = self.arrivals();
        let answer = self.answer(&arrivals, caller);
        let is_behind = caller.step.0 < arrivals.step.0 && self.difference(caller).is_none();
        if is_behind && arrivals.is_another(caller.from, caller.run) {
            arrivals.restarted = Some(caller.from);
            self.arrival.notify_all();
        }
        answer
    }

    fn answer(&self, arrivals: &Arrivals, caller: &Hello) -> Answer {
        if let Some(reason) = self.difference(caller) {
            return Answer::Refused(reason);
        }
        let here = arrivals.state != State::Before && caller.step.0 == arrivals.step.0;
        if caller.step.0 < arrivals.step.0 || (here && caller.step != arrivals.step) {
            let Step(ours, our_name) = &arrivals.step;
            let Step(theirs, their_name) = &caller.step;
            return Answer::Refused(format!(
                "another step: expected {ours} {our_name:?}, found {theirs} {their_name:?}"
            ));
        }
        if here && arrivals.state == State::Open && caller.from > self.topology.process {
            return Answer::Welcome;
        }
        Answer::Later
    }

    /// What differs although it must be equal; none if nothing does.
    fn difference(&self, caller: &Hello) -> Option<String> {
        let own = self.hello(self.topology.process, Step::default());
        let known = caller.from < own.processes && caller.from != own.from;
        [
            ("version of dupsieve", own.version, caller.version.clone()),
            ("number of processes", own.processes.to_string(), caller.processes.to_string()),
            ("number of workers", own.workers.to_string(), caller.workers.to_string()),
            ("process here", own.from.to_string(), caller.to.to_string()),
        ]
        .into_iter()
        .find(|(_, ours, theirs)| ours != theirs)
        .map(|(what, ours, theirs)| format!("another {what}: expected {ours}, found {theirs}"))
        .or_else(|| (own.job != caller.job).then(|| "another job, or other parameters".into()))
        .or_else(|| (!known).then(|| format!("no other process has the number {}", caller.from)))
    }

    fn hello(&self, to: usize, step: Step) -> Hello {
        let Topology { workers, processes, process: from } = self.topology;
        let version = env!("CARGO_PKG_VERSION").into();
        Hello { job: self.job, version, processes, workers, step, run: self.run, from, to }
    }

    /// Calls process `to` at `host`, to be connected or for a sign of life. If the answer is a welcome, the
    /// link is the connection to it.
    pub(super) fn call(&self, to: usize, host: &str, step: &Step) -> io::Result<(Reply, Link)> {
        let mut wait = Wait::promptly();
        let link = Link::call(wire::connect(host)?, &self.secret, &mut wait)?;
        link.send(&self.hello(to, step.clone()), GREETING_BYTES)?;
        let reply: Reply = link.receive(GREETING_BYTES, Some(&mut wait))?;
        if reply.answer == Answer::Welcome {
            link.send(&Here, GREETING_BYTES)?;
        }
        Ok((reply, link))
    }
}
