//! How this process joins the cluster that the flags ask for: alone, as one of several on this
//! machine, or as one of the processes of a hosts file.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use dupsieve::flow::{Cluster, Fatal};
use dupsieve::peers::{JobIdentity, Peers, Secret, Topology, hosts};
use dupsieve::{Error, Kind, Result};

use super::child::{self, Introduction};
use crate::flags::cluster::{ClusterFlags, Listen};
use crate::flags::global::GlobalFlags;
use crate::outcome::exit;
use crate::outcome::identity;

/// How long a name server may take to resolve the address to listen at.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Joins the cluster that the flags ask for. `parameters` must be equal in every process of the job.
pub(crate) fn join(global: &GlobalFlags, parameters: &str) -> Result<Cluster> {
    let flags = &global.cluster;
    let patience = flags.patience();
    let (process, listener, hosts, secret, local) = match (flags.child, &flags.hosts) {
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
        (None, None) => return Ok(Cluster::alone(global.workers(1))),
    };
    let topology = Topology { workers: global.workers(local), processes: hosts.len(), process };
    let job = JobIdentity::new(identity::job(), parameters);
    let fatal = Fatal::new(|error| exit::end(Err(error.clone())));
    Cluster::join(topology, listener, Peers { hosts, secret, patience }, job, fatal)
}

/// Listens at the address that the hosts file gives this process, or at the one of --listen. An
/// address that other machines can reach needs a secret.
fn listen(
    flags: &ClusterFlags,
    file: &Path,
    hosts: &[String],
    process: usize,
) -> Result<TcpListener> {
    let Some(host) = hosts.get(process) else { return Err(out_of_range(file, hosts, process)) };
    let wrong = |cause: io::Error| {
        let what = format!("process {process} cannot listen at {host}: {cause}");
        match cause.kind() {
            io::ErrorKind::AddrInUse => Error::new(Kind::Unavailable, what)
                .help("is this process of the cluster running already?"),
            io::ErrorKind::TimedOut => {
                Error::new(Kind::Unavailable, what).help("does the name server answer?")
            }
            _ => Error::new(Kind::Config, what)
                .at(file)
                .help("is this the machine that the hosts file names?"),
        }
    };
    let addresses = match flags.listen {
        Some(Listen { address, port: Some(port) }) => vec![SocketAddr::new(address, port)],
        Some(Listen { address, port: None }) => vec![SocketAddr::new(address, port_of(host))],
        None => hosts::resolve(host, RESOLVE_TIMEOUT).map_err(wrong)?,
    };
    if flags.secret_file.is_none() && addresses.iter().any(|at| !at.ip().is_loopback()) {
        let what = "a process without a secret may listen only at loopback addresses";
        return Err(Error::new(Kind::Usage, what)
            .found(host)
            .help("give all processes a secret with --secret-file"));
    }
    TcpListener::bind(&addresses[..]).map_err(wrong)
}

fn out_of_range(file: &Path, hosts: &[String], process: usize) -> Error {
    let what = match hosts.len() {
        1 => "--process is out of range: the hosts file has 1 line".to_owned(),
        count => format!("--process is out of range: the hosts file has {count} lines"),
    };
    let last = hosts.len().saturating_sub(1);
    Error::new(Kind::Usage, what).at(file).expected(format!("0 to {last}")).found(process)
}

/// The port of `host:port`. Reading the hosts file has checked that there is one.
fn port_of(host: &str) -> u16 {
    host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        flags: ClusterFlags,
    }

    fn typed(flags: &str) -> ClusterFlags {
        Typed::parse_from(format!("dupsieve {flags}").split_whitespace()).flags
    }

    #[test]
    fn only_a_process_of_the_hosts_file_listens() {
        let hosts = ["127.0.0.1:0".to_owned()];
        let listen = |hosts: &[String], process| {
            let flags = typed("--hosts hosts.txt --process 0");
            super::listen(&flags, Path::new("hosts.txt"), hosts, process)
        };
        assert!(listen(&hosts, 0).is_ok());
        let error = listen(&hosts, 1).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().ends_with("expected 0 to 0, found 1"), "{error}");
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = [other.local_addr().unwrap().to_string()];
        assert_eq!(listen(&taken, 0).unwrap_err().kind(), Kind::Unavailable);
    }

    #[test]
    fn listening_for_other_machines_needs_a_secret() {
        let listen = |flags: &str, host: &str| {
            let flags = typed(&format!("--hosts hosts.txt --process 0 {flags}"));
            super::listen(&flags, Path::new("hosts.txt"), &[host.to_owned()], 0)
        };
        for (flags, host) in
            [("", "0.0.0.0:0"), ("--listen 0.0.0.0:0", "localhost:1"), ("", "[::]:0")]
        {
            let error = listen(flags, host).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{flags} {host}");
            assert!(error.to_string().contains("--secret-file"), "{error}");
            assert!(listen(&format!("{flags} --secret-file s"), host).is_ok(), "{flags} {host}");
        }
        let elsewhere = listen("--listen 127.0.0.1:0", "no-such-host.invalid:1").unwrap();
        assert!(elsewhere.local_addr().unwrap().ip().is_loopback());
    }
}
