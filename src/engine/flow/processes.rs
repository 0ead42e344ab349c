//! One of the processes that run dataflows, step after step.
//!
//! A run is a sequence of steps, and all processes take the same steps in the same order. At each step,
//! process 0 decides something and tells the others ([`Processes::agree`]). Then all of them run a dataflow over
//! the connections of that step ([`Processes::execute`]), or go on to the next step. A job that makes an output
//! takes two steps:
//!
//! ```text
//!           process 0                                    the others
//! agree     look whether there is something to make,     wait, then learn what to make,
//!           lock the output, begin it                    check that they see the same inputs
//! execute   compute, gather the results                  compute
//! conclude  write the output                             wait until it is written
//! ```
//!
//! What process 0 alone holds in between, such as the lock, is a [`Role`].

use std::any::Any;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpListener};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use timely::CommunicationConfig;
use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::zero_copy::stream::Stream;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::execute::execute_from;
use timely::worker::Worker;

use super::fatal::Fatal;
use super::role::Role;
use crate::output::Locks;
use crate::peers::{JobIdentity, Link, Links, Mesh, Peers, Topology};
use crate::progress::{self, Activity};
use crate::work_queues::{Queues, WorkQueues};
use crate::{Error, Kind, Result};

/// The longest decision of process 0, in bytes.
const DECISION_BYTES: u64 = 64 << 20;

/// One of the processes of a run, as long as it lasts.
pub struct Processes {
    topology: Topology,
    mesh: Option<Mesh>,
    links: Option<Links>,
    /// Where the work of this step is dealt; none in a process alone, or before the first step.
    work: Option<Arc<dyn WorkQueues>>,
    fatal: Fatal,
}

/// What process 0 says to the processes that wait for its decision.
#[derive(Serialize, Deserialize)]
enum Word<T> {
    Wait,
    Decided(T),
    Failed(Error),
}

impl Processes {
    pub fn alone(workers: usize) -> Processes {
        let topology = Topology { workers, processes: 1, process: 0 };
        Processes { topology, mesh: None, links: None, work: None, fatal: Fatal::default() }
    }

    /// One of several processes. Others call it at `listener`, which stays open until the value is dropped.
    /// All processes must have the same `job`. If one gives no sign of life for too long, the run ends. The
    /// hook of `fatal` must end the process; there is no other way to end a failed step for all.
    pub fn join(
        topology: Topology,
        listener: TcpListener,
        peers: Peers,
        job: JobIdentity,
        fatal: Fatal,
    ) -> Result<Processes> {
        assert_eq!(topology.processes, peers.hosts.len(), "every process has an address");
        assert!(topology.process < topology.processes, "this process is one of them");
        let mesh = Mesh::new(topology, listener, peers, job)
            .map_err(|cause| Error::system("cannot listen for the other processes", &cause))?;
        Ok(Processes { topology, mesh: Some(mesh), links: None, work: None, fatal })
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Whether this is process 0, which decides, writes and reports.
    pub fn is_leader(&self) -> bool {
        self.topology.process == 0
    }

    /// Ends a step: process 0 writes the output with what it `held`, and the others wait until it has. If
    /// `write` fails, all fail alike.
    pub fn conclude<H, S>(
        &mut self,
        step: &str,
        held: Role<H>,
        write: impl FnOnce(H) -> Result<S>,
    ) -> Result<Role<S>> {
        self.agree(step, || match held {
            Role::Leader(held) => write(held).map(Role::Leader),
            Role::Follower => Ok(Role::Follower),
        })
    }

    pub fn fatal(&self) -> Fatal {
        self.fatal.clone()
    }

    /// Where the work of this step is dealt, for its one dataflow. A process alone has queues of its own for every dataflow.
    pub(super) fn work(&mut self) -> Arc<dyn WorkQueues> {
        let dealt = self.work.take();
        assert!(dealt.is_some() || self.mesh.is_none(), "the work of a step is dealt once");
        dealt.unwrap_or_else(|| Arc::new(Queues::default()))
    }

    /// Begins a step: process 0 decides by `lead`, and the others wait for its decision, however long it
    /// takes. If `lead` fails, all processes fail with its error.
    pub fn agree<T: Serialize + DeserializeOwned>(
        &mut self,
        step: &str,
        lead: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(mesh) = &self.mesh else { return lead() };
        (self.links, self.work) = (None, None);
        mesh.begin(step);
        let (links, decision) = match self.topology.process {
            0 => decide(mesh, lead)?,
            _ => follow(mesh)?,
        };
        self.work = Some(work(&links));
        self.links = Some(links);
        Ok(decision)
    }

    /// As [`Processes::execute`], for work whose result is gathered by the first worker.
    pub(super) fn execute_gathered<R: Send + 'static>(
        &mut self,
        work: impl Fn(&mut Worker) -> Result<R> + Send + Sync + 'static,
    ) -> Result<R> {
        let first = self.execute(work)?.into_iter().next();
        first.ok_or_else(|| Error::new(Kind::Internal, "the process has no worker"))
    }

    /// Runs `work` on every worker of every process, and then the dataflows that it built to their end.
    /// Returns what each worker of this process returned, in order, after all workers of all processes have
    /// returned. The dataflow uses the connections of the agreement before it.
    ///
    /// `work` waits for a dataflow with [`Fatal::step_while`], which ends when the run fails.
    pub(super) fn execute<R: Send + 'static>(
        &mut self,
        work: impl Fn(&mut Worker) -> Result<R> + Send + Sync + 'static,
    ) -> Result<Vec<R>> {
        let failed = |cause: String| {
            // The engine gives causes only as text. These mean that it could not start a thread.
            let no_thread = cause.contains("kind: WouldBlock") || cause.contains("(os error 11)");
            let kind = if no_thread { Kind::Temporary } else { Kind::Internal };
            Error::new(kind, format!("no dataflow: {cause}"))
        };
        let (builders, threads) = match self.mesh {
            None => CommunicationConfig::Process(self.topology.workers).try_build(),
            Some(_) => self.connected().map_err(|cause| cause.to_string()),
        }
        .map_err(failed)?;
        let fatal = self.fatal.clone();
        let watched = move |worker: &mut Worker| fatal.watch(worker, &work);
        let workers = execute_from(builders, threads, WorkerConfig::default(), watched);
        let results = workers.map_err(failed)?.join();
        self.fatal.check()?;
        results.into_iter().map(|result| result.map_err(failed)?).collect()
    }

    /// The connections of the last agreement, for the engine.
    fn connected(&mut self) -> io::Result<(Vec<AllocatorBuilder>, Box<dyn Any + Send>)> {
        let unconnected = || io::Error::other("no agreement came before this dataflow");
        let links = self.links.take().ok_or_else(unconnected)?;
        let Topology { workers, process, .. } = self.topology;
        let hooks = Hooks::default();
        let local = ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), None);
        let (builders, threads) =
            initialize_networking_from_sockets(local, links, process, workers, hooks)?;
        Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(threads)))
    }
}

/// The queues of a step: process 0 deals, and the others ask it.
fn work(links: &Links) -> Arc<dyn WorkQueues> {
    if let Some(Some(leader)) = links.first() {
        return Arc::new(leader.clone());
    }
    let queues = Arc::new(Queues::default());
    links.iter().flatten().for_each(|link| link.deal(&queues));
    queues
}

/// What the leader does in an agreement: it decides, waits for all peers, and tells them. That another run has taken over its lock
/// explains every other failure.
fn decide<T: Serialize>(mesh: &Mesh, lead: impl FnOnce() -> Result<T>) -> Result<(Links, T)> {
    let decision = lead().map_err(|error| Locks::of_this_thread().superseded().unwrap_or(error));
    let complete = mesh.gather(|arrived| {
        for peer in arrived {
            // A peer that is gone again is missing again.
            peer.take_if(|link| link.send(&Word::<()>::Wait, DECISION_BYTES).is_err());
        }
    });
    let decision = decision.and_then(|decision| complete.map(|()| decision));
    let links = mesh.close()?;
    let told = tell(&links, &decision);
    decision.and_then(|decision| told.map(|()| (links, decision)))
}

fn tell<T: Serialize>(links: &Links, decision: &Result<T>) -> Result<()> {
    let word = match decision {
        Ok(decision) => Word::Decided(decision),
        Err(error) => Word::Failed(error.clone()),
    };
    let mut links = links.iter().flatten();
    links.try_for_each(|link| link.send(&word, DECISION_BYTES)).map_err(|cause| lost(&cause))
}

/// What the others do in an agreement: they arrive, and wait for the decision.
fn follow<T: DeserializeOwned>(mesh: &Mesh) -> Result<(Links, T)> {
    let complete = mesh.gather(|_| ());
    let links = mesh.close()?;
    complete?;
    let leader = links.first().and_then(Option::as_ref);
    let leader = leader.ok_or_else(|| lost(&io::Error::other("process 0")))?;
    let decision = hear(leader).map_err(|cause| lost(&cause))?;
    decision.map(|decision| (links, decision))
}

fn hear<T: DeserializeOwned>(leader: &Link) -> io::Result<Result<T>> {
    loop {
        match leader.receive(DECISION_BYTES, None)? {
            Word::Wait => progress::tick(Activity::Hearing),
            Word::Decided(decision) => return Ok(Ok(decision)),
            Word::Failed(error) => return Ok(Err(error)),
        }
    }
}

fn lost(cause: &io::Error) -> Error {
    Error::new(Kind::Temporary, format!("lost {cause}"))
}

/// One clone reads, another writes, both of them blocking.
impl Stream for Link {
    fn try_clone(&self) -> io::Result<Link> {
        Ok(self.clone())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        if nonblocking { Err(ErrorKind::Unsupported.into()) } else { Ok(()) }
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.shut(how)
    }
}

#[cfg(test)]
mod tests;
