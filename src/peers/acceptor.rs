//! Who is let in: the side of the connections between processes that is called.
//!
//! The listener stays open from the start of the run to its end, and a thread of its own answers
//! whoever calls: a peer of the same job at the same step is welcome; one that comes too early is
//! told so, which is also a sign of life; a peer of another job, version, step or shape is refused
//! with the reason; whoever does not know the secret, and anybody else (port scans, health probes,
//! silent clients), is dropped after two seconds at most, or earlier when there are many.

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

/// The longest greeting, in bytes.
const GREETING_BYTES: u64 = 4 << 10;
/// How many different reasons for a refusal are logged.
const MOST_REASONS: usize = 32;

/// What a caller says: who it is, whom it wants, and all that must be equal in both.
#[derive(Serialize, Deserialize)]
struct Hello {
    job: JobIdentity,
    version: String,
    processes: usize,
    workers: usize,
    step: Step,
    from: usize,
    to: usize,
}

/// A step of the run: how many went before it, and its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Step(pub(super) u64, pub(super) String);

/// What the called process says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Answer {
    Welcome,
    Later,
    Refused(String),
}

/// What a welcome caller says last, so that neither side keeps a connection the other gave up.
#[derive(Serialize, Deserialize)]
struct Here;

/// The connections to all other processes by index; none at one's own.
pub(crate) type Links = Vec<Option<Link>>;

/// The place where peers arrive.
pub(super) struct Door {
    pub(super) topology: Topology,
    job: JobIdentity,
    secret: Secret,
    callers: Arc<Callers>,
    hall: Mutex<Hall>,
    arrival: Condvar,
}

/// What the door goes by, and who came through it.
pub(super) struct Hall {
    pub(super) step: Step,
    pub(super) state: State,
    pub(super) arrived: Links,
    /// Why callers were refused, each reason once.
    refusals: BTreeSet<String>,
}

/// Where this process is in its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// Not at the step yet.
    Before,
    /// At the step, which the leader prepares: nobody is let in.
    Preparing,
    /// Peers are let in.
    Open,
    /// The run is over.
    Gone,
}

impl Door {
    pub(super) fn new(topology: Topology, job: JobIdentity, secret: Secret) -> Door {
        let arrived = (0..topology.processes).map(|_| None).collect();
        let (step, state) = (Step::default(), State::Before);
        let hall = Mutex::new(Hall { step, state, arrived, refusals: BTreeSet::new() });
        Door { topology, job, secret, callers: Arc::default(), hall, arrival: Condvar::new() }
    }

    pub(super) fn hall(&self) -> MutexGuard<'_, Hall> {
        self.hall.lock().expect("nobody panics in the hall")
    }

    /// Waits until somebody arrives, or for so long.
    pub(super) fn wait(&self, hall: MutexGuard<'_, Hall>, longest: Duration) {
        drop(self.arrival.wait_timeout(hall, longest));
    }

    /// What there is to know of callers that were turned away, if any were.
    pub(super) fn crowd(&self) -> Option<String> {
        self.callers.crowd()
    }

    /// Hears every caller on a thread of its own, so that none keeps another waiting, until the run
    /// is over.
    pub(super) fn attend(self: &Arc<Door>, listener: &TcpListener) {
        for socket in listener.incoming() {
            if self.hall().state == State::Gone {
                return;
            }
            let admitted = socket.and_then(|socket| Ok((self.callers.admit(&socket)?, socket)));
            let Ok((caller, socket)) = admitted else {
                // Too many open files, most likely.
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let door = Arc::clone(self);
            let hear = move || door.hear(socket, caller);
            // Without a thread for it the caller is turned away, and calls again.
            drop(thread::Builder::new().name("caller".into()).spawn(hear));
        }
    }

    /// Hears one caller out; why callers are refused is logged, each reason once.
    fn hear(&self, socket: TcpStream, caller: Caller) {
        let address = socket.peer_addr().map_or("unknown".into(), |address| address.to_string());
        let reason = match self.receive(socket, caller) {
            Ok(Answer::Refused(reason)) => reason,
            Ok(_) => return,
            Err(cause) => cause.to_string(),
        };
        let mut hall = self.hall();
        let is_worth_telling = hall.state != State::Gone && hall.refusals.len() < MOST_REASONS;
        if is_worth_telling && hall.refusals.insert(reason.clone()) {
            tracing::warn!(caller = address, reason, "refused a caller");
        }
    }

    fn receive(&self, socket: TcpStream, mut caller: Caller) -> io::Result<Answer> {
        let mut wait = Wait::promptly();
        let link = Link::answer(socket, &self.secret, &mut wait)?;
        caller.is_known()?;
        let hello: Hello = link.receive(GREETING_BYTES, Some(&mut wait))?;
        let answer = self.answer(&self.hall(), &hello);
        link.send(&answer, GREETING_BYTES)?;
        if answer == Answer::Welcome {
            let Here = link.receive(GREETING_BYTES, Some(&mut wait))?;
            let mut hall = self.hall();
            if self.answer(&hall, &hello) == Answer::Welcome {
                hall.arrived[hello.from] = Some(link);
                self.arrival.notify_all();
            }
        }
        Ok(answer)
    }

    fn answer(&self, hall: &Hall, caller: &Hello) -> Answer {
        if let Some(reason) = self.difference(caller) {
            return Answer::Refused(reason);
        }
        let here = hall.state != State::Before && caller.step.0 == hall.step.0;
        if caller.step.0 < hall.step.0 || (here && caller.step != hall.step) {
            let (Step(ours, our_name), Step(theirs, their_name)) = (&hall.step, &caller.step);
            return Answer::Refused(format!(
                "another step: expected {ours} {our_name:?}, found {theirs} {their_name:?}"
            ));
        }
        match here && hall.state == State::Open && caller.from > self.topology.process {
            true => Answer::Welcome,
            false => Answer::Later,
        }
    }

    /// What differs of that which must be equal.
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
        Hello { job: self.job, version, processes, workers, step, from, to }
    }

    /// Calls process `to` at `host` to be let in at its door, or for a sign of life. A welcome
    /// comes with the connection to it.
    pub(super) fn call(&self, to: usize, host: &str, step: &Step) -> io::Result<(Answer, Link)> {
        let mut wait = Wait::promptly();
        let link = Link::call(wire::connect(host)?, &self.secret, &mut wait)?;
        link.send(&self.hello(to, step.clone()), GREETING_BYTES)?;
        let answer = link.receive(GREETING_BYTES, Some(&mut wait))?;
        if answer == Answer::Welcome {
            link.send(&Here, GREETING_BYTES)?;
        }
        Ok((answer, link))
    }
}
