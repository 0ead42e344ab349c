//! How this process joins the others that the flags ask for: alone, as one of several on this
//! machine, or as one of the processes of a hosts file.

use dupsieve::Result;
use dupsieve::flow::{Fatal, Processes};
use dupsieve::peers::{JobIdentity, Peers, Secret, Topology, hosts};

use super::child::{self, Introduction};
use super::listen::listen;
use crate::flags::{GlobalFlags, mounts};
use crate::outcome::{exit, identity};

/// Joins the other processes that the flags ask for. `parameters` must be equal in every process of the job.
pub(crate) fn join(global: &GlobalFlags, parameters: &str) -> Result<Processes> {
    let flags = &global.machines;
    let patience = flags.patience();
    let (process, listener, hosts, secret, local) = match (global.child, &flags.hosts) {
        (Some(process), _) => {
            let (listener, Introduction { hosts, secret }) = child::meet(patience.silence)?;
            let local = hosts.len();
            (process, listener, hosts, Secret::new(secret.as_bytes()), local)
        }
        (None, Some(file)) => {
            let process = flags.process.unwrap_or_default();
            let hosts = hosts::read(file)?;
            let secret = flags.secret_file.as_deref().map(Secret::read).transpose()?;
            let listener = listen(flags, file, &hosts, process)?;
            (process, listener, hosts, secret.unwrap_or_else(|| Secret::new(b"")), 1)
        }
        (None, None) => return Ok(Processes::alone(global.workers(1))),
    };
    let topology = Topology { workers: global.workers(local), processes: hosts.len(), process };
    let job = JobIdentity::new(identity::job(), parameters);
    let fatal = Fatal::new(|error| exit::end(Err(error.clone())));
    let peers = Peers { hosts, secret, patience };
    let mut processes = Processes::join(topology, listener, peers, job, fatal)?;
    if flags.hosts.is_some() && mounts().inheritance().is_some() {
        // Another run may have written to an address after one machine has looked there, and before another has.
        let shown = processes.agree("look at the addresses", || shown(&topology))?;
        see(&processes, &shown)?;
    }
    Ok(processes)
}

/// What process 0 has in its mounts, for processes on other machines.
pub(crate) fn shown(topology: &Topology) -> Result<String> {
    if topology.processes == 1 { Ok(String::new()) } else { mounts().shown() }
}

/// Makes the mounts of every other process equal to what process 0 has `shown`.
pub(crate) fn see(processes: &Processes, shown: &str) -> Result<()> {
    if processes.is_leader() { Ok(()) } else { mounts().see(shown) }
}
