//! Where a process of a hosts file listens.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dupsieve::peers::hosts;
use dupsieve::progress::{self, Activity};
use dupsieve::{Error, Kind, Result};

use crate::flags::{Listen, MachineFlags};

/// How long a name server may take to resolve the address to listen at.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);

const PAUSE: Duration = Duration::from_millis(500);

/// Listens at the address that the hosts file gives this process, or at the one of --listen. An
/// address that other machines can reach needs a secret.
///
/// A name may resolve only some time after its machine was started, and to another machine until then. So this waits for it, as
/// long as for the other processes.
pub(super) fn listen(
    flags: &MachineFlags,
    file: &Path,
    hosts: &[String],
    process: usize,
) -> Result<TcpListener> {
    let Some(host) = hosts.get(process) else { return Err(out_of_range(file, hosts, process)) };
    let (began, patience) = (Instant::now(), flags.patience().arrival);
    let mut is_told = false;
    loop {
        let cause = match try_listen(flags, host)? {
            Ok(listener) => return Ok(listener),
            Err(cause) => cause,
        };
        if !may_come(&cause, host) || began.elapsed() >= patience {
            return Err(failed(&cause, file, host, process));
        }
        if !is_told {
            let most = patience.as_secs();
            tracing::info!("waiting at most {most} s until {host} is this machine: {cause}");
            is_told = true;
        }
        progress::tick(Activity::Hearing);
        thread::sleep(PAUSE);
    }
}

fn try_listen(flags: &MachineFlags, host: &str) -> Result<io::Result<TcpListener>> {
    let addresses = match flags.listen {
        Some(Listen { address, port: Some(port) }) => vec![SocketAddr::new(address, port)],
        Some(Listen { address, port: None }) => vec![SocketAddr::new(address, port_of(host))],
        None => match hosts::resolve(host, RESOLVE_TIMEOUT) {
            Ok(addresses) => addresses,
            Err(cause) => return Ok(Err(cause)),
        },
    };
    if flags.secret_file.is_none() && addresses.iter().any(|at| !at.ip().is_loopback()) {
        let what = "a process without a secret may listen only at loopback addresses";
        return Err(Error::new(Kind::Usage, what)
            .found(host)
            .help("give all processes a secret with --secret-file"));
    }
    Ok(TcpListener::bind(&addresses[..]))
}

/// Whether it can be that `host` is the name of this machine soon.
fn may_come(cause: &io::Error, host: &str) -> bool {
    let is_name = host.parse::<SocketAddr>().is_err();
    is_name && !matches!(cause.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied)
}

fn failed(cause: &io::Error, file: &Path, host: &str, process: usize) -> Error {
    let what = format!("process {process} cannot listen at {host}: {cause}");
    match cause.kind() {
        ErrorKind::AddrInUse => {
            Error::new(Kind::Unavailable, what).help("is this process of the job running already?")
        }
        ErrorKind::AddrNotAvailable | ErrorKind::PermissionDenied => Error::new(Kind::Config, what)
            .at(file)
            .help("is this the machine that the hosts file names?"),
        _ => Error::new(Kind::Unavailable, what)
            .at(file)
            .help("does the name server answer, and does it know this name?"),
    }
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
        flags: MachineFlags,
    }

    fn typed(flags: &str) -> MachineFlags {
        Typed::parse_from(format!("dupsieve {flags}").split_whitespace()).flags
    }

    fn listen(flags: &str, host: &str, process: usize) -> Result<TcpListener> {
        let flags = typed(&format!("--hosts hosts.txt --process 0 {flags}"));
        super::listen(&flags, Path::new("hosts.txt"), &[host.to_owned()], process)
    }

    #[test]
    fn only_a_process_of_the_hosts_file_listens() {
        assert!(listen("", "127.0.0.1:0", 0).is_ok());
        let error = listen("", "127.0.0.1:0", 1).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().ends_with("expected 0 to 0, found 1"), "{error}");
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = other.local_addr().unwrap().to_string();
        assert_eq!(listen("", &taken, 0).unwrap_err().kind(), Kind::Unavailable);
        // An address for documents is that of no machine.
        let error = listen("--secret-file s", "192.0.2.1:1", 0).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
    }

    #[test]
    fn a_name_that_does_not_resolve_is_waited_for() {
        let began = Instant::now();
        let error = listen("--wait-for-peers 1", "no-such-host.invalid:1", 0).unwrap_err();
        assert!(began.elapsed() >= Duration::from_secs(1));
        assert_eq!(error.kind(), Kind::Unavailable, "{error}");
    }

    #[test]
    fn listening_for_other_machines_needs_a_secret() {
        for (flags, host) in
            [("", "0.0.0.0:0"), ("--listen 0.0.0.0:0", "localhost:1"), ("", "[::]:0")]
        {
            let error = listen(flags, host, 0).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{flags} {host}");
            assert!(error.to_string().contains("--secret-file"), "{error}");
            assert!(listen(&format!("{flags} --secret-file s"), host, 0).is_ok(), "{flags} {host}");
        }
        let elsewhere = listen("--listen 127.0.0.1:0", "no-such-host.invalid:1", 0).unwrap();
        assert!(elsewhere.local_addr().unwrap().ip().is_loopback());
    }
}
