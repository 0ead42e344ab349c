//! Where a job runs: in this process alone, in several on this machine, or on many machines.

use std::env;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use clap::Args;
use dupsieve::flow::{Cluster, Fatal};
use dupsieve::peers::{JobIdentity, Patience, Peers, Secret, Topology, hosts};
use dupsieve::{Error, Kind, Result};
use serde::Deserialize;

use crate::commands::command_line::Common;
use crate::flags::settings::{ByteSize, typed};
use crate::outcome::exit;
use crate::processes::child::{self, Introduction};

/// How many worker threads a core may have.
const CORE_THREADS: usize = 8;

/// How long a name server may take to say where this process is to listen.
const RESOLVED: Duration = Duration::from_secs(10);

/// The flags that say in how many processes a job runs.
#[derive(Args, Debug)]
pub(crate) struct Flags {
    /// Processes to start and watch on this machine [env: DUPSIEVE_PROCESSES]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) processes: Option<usize>,
    /// The processes of a cluster, one host:port a line, of which this is one [env: DUPSIEVE_HOSTS]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
    /// Which of the hosts file's processes this is, counted from 0 [env: DUPSIEVE_PROCESS]
    #[arg(long, global = true, value_name = "I")]
    pub(crate) process: Option<usize>,
    /// A file with a secret that the processes of the hosts file share, open to nobody else; needed
    /// where one listens at another address than loopback [env: DUPSIEVE_SECRET_FILE]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// The address of this machine to listen at, instead of its line of the hosts file
    /// [env: DUPSIEVE_LISTEN]
    #[arg(long, global = true, value_name = "ADDR[:PORT]", value_parser = Listen::from_str)]
    pub(crate) listen: Option<Listen>,
    /// Abort (exit 69) when another process has not started after this long [default: 60]
    #[arg(long, global = true, value_name = "SECONDS", env = "DUPSIEVE_WAIT_FOR_PEERS")]
    pub(crate) wait_for_peers: Option<Seconds<86_400>>,
    /// Abort (exit 75) when another process gave no sign of life for this long [default: 30]
    #[arg(long, global = true, value_name = "SECONDS", env = "DUPSIEVE_PEER_TIMEOUT")]
    pub(crate) peer_timeout: Option<Seconds<36_000>>,
    /// Abort (exit 75) after this long without progress, for example on a hung disk [default: 600]
    #[arg(long, global = true, value_name = "SECONDS", env = "DUPSIEVE_STALL_TIMEOUT")]
    pub(crate) stall_timeout: Option<Seconds<{ u64::MAX }>>,
    /// Restart all processes of --processes at most this often when one is lost [default: 2]
    #[arg(long, global = true, value_name = "N", env = "DUPSIEVE_RESTARTS")]
    pub(crate) restarts: Option<u32>,
    /// Which of the supervised processes this is
    #[arg(long, global = true, hide = true)]
    pub(crate) child: Option<usize>,
}

impl Flags {
    /// How many processes are to be started and watched, if any.
    pub(crate) fn to_supervise(&self) -> Option<usize> {
        self.processes.filter(|&processes| processes > 1 && self.child.is_none())
    }

    /// How long a silent peer is waited for.
    pub(crate) fn patience(&self) -> Patience {
        Patience {
            arrival: self.wait_for_peers.map_or(Duration::from_secs(60), Seconds::duration),
            silence: self.peer_timeout.map_or(Duration::from_secs(30), Seconds::duration),
        }
    }

    /// How long the job may make no progress.
    pub(crate) fn longest_stall(&self) -> Duration {
        self.stall_timeout.map_or(Duration::from_secs(600), Seconds::duration)
    }

    /// How often all processes are started again.
    pub(crate) fn most_restarts(&self) -> u32 {
        self.restarts.unwrap_or(2)
    }
}

/// A time of 1 to `MOST` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seconds<const MOST: u64>(u64);

impl<const MOST: u64> Seconds<MOST> {
    fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl<const MOST: u64> FromStr for Seconds<MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Seconds<MOST>, String> {
        let seconds = text.parse().ok().filter(|seconds| (1..=MOST).contains(seconds));
        seconds.map(Seconds).ok_or_else(|| format!("expected 1 to {MOST} seconds"))
    }
}

/// Where to listen: an address of this machine, and the port if it is not the hosts file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    address: IpAddr,
    port: Option<u16>,
}

impl FromStr for Listen {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Listen, &'static str> {
        let whole =
            text.parse().map(|at: SocketAddr| Listen { address: at.ip(), port: Some(at.port()) });
        let address = text.trim_start_matches('[').trim_end_matches(']').parse();
        whole.or(address.map(|address| Listen { address, port: None })).map_err(
            |_| "expected an IP address, with or without a port, such as 10.0.0.2 or 0.0.0.0:2101",
        )
    }
}

/// The same in a configuration file, with what each process may use.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClusterSettings {
    workers: Option<usize>,
    processes: Option<usize>,
    hosts: Option<PathBuf>,
    process: Option<usize>,
    secret_file: Option<PathBuf>,
    #[serde(deserialize_with = "typed")]
    listen: Option<Listen>,
    #[serde(deserialize_with = "typed")]
    wait_for_peers: Option<Seconds<86_400>>,
    #[serde(deserialize_with = "typed")]
    peer_timeout: Option<Seconds<36_000>>,
    #[serde(deserialize_with = "typed")]
    stall_timeout: Option<Seconds<{ u64::MAX }>>,
    restarts: Option<u32>,
    #[serde(deserialize_with = "typed")]
    memory: Option<ByteSize>,
}

impl ClusterSettings {
    /// What the environment says of where a job runs. It is a layer of its own between flags and file,
    /// so that it is never at odds with a flag, nor with a job that runs in one process.
    pub(crate) fn from_environment() -> Result<ClusterSettings> {
        Ok(ClusterSettings {
            processes: variable("DUPSIEVE_PROCESSES")?,
            hosts: variable("DUPSIEVE_HOSTS")?,
            process: variable("DUPSIEVE_PROCESS")?,
            secret_file: variable("DUPSIEVE_SECRET_FILE")?,
            listen: variable("DUPSIEVE_LISTEN")?,
            ..ClusterSettings::default()
        })
    }

    /// Settles what is still open. Flags that say where a job runs stand for all of these, so that
    /// `--processes 2` is not at odds with hosts in the file.
    pub(crate) fn settle(self, common: &mut Common, can_be_shared: bool) {
        common.workers = common.workers.or(self.workers);
        common.memory = common.memory.or(self.memory);
        let flags = &mut common.cluster;
        flags.wait_for_peers = flags.wait_for_peers.or(self.wait_for_peers);
        flags.peer_timeout = flags.peer_timeout.or(self.peer_timeout);
        flags.stall_timeout = flags.stall_timeout.or(self.stall_timeout);
        flags.restarts = flags.restarts.or(self.restarts);
        if can_be_shared && flags.processes.is_none() && flags.hosts.is_none() {
            flags.processes = self.processes;
            flags.hosts = self.hosts;
        }
        if flags.hosts.is_some() {
            flags.process = flags.process.or(self.process);
            flags.secret_file = flags.secret_file.take().or(self.secret_file);
            flags.listen = flags.listen.or(self.listen);
        }
    }
}

/// The value of an environment variable, if it is set.
fn variable<T: FromStr>(name: &str) -> Result<Option<T>> {
    let Some(text) = env::var_os(name) else { return Ok(None) };
    let value = text.to_str().and_then(|text| text.parse().ok());
    value.map(Some).ok_or_else(|| {
        Error::new(Kind::Usage, format!("{name} cannot be read")).found(text.to_string_lossy())
    })
}

/// Finds flags that do not go together, before any work.
pub(crate) fn check(common: &Common, can_be_shared: bool) -> Result<()> {
    let flags = &common.cluster;
    let (hosts, process) = (flags.hosts.is_some(), flags.process.is_some());
    let contradictions = [
        (common.workers == Some(0), "--workers must be at least 1"),
        (flags.processes == Some(0), "--processes must be at least 1"),
        (hosts && flags.processes.is_some(), "--processes and --hosts exclude each other"),
        (
            !can_be_shared && (hosts || flags.processes.is_some_and(|processes| processes > 1)),
            "this job runs in one process; run, fingerprint, dedup and weights can be shared",
        ),
        (hosts && !process, "--hosts needs --process, which of them this is"),
        (process && !hosts, "--process needs --hosts"),
        (flags.secret_file.is_some() && !hosts, "--secret-file needs --hosts"),
        (flags.listen.is_some() && !hosts, "--listen needs --hosts"),
    ];
    match contradictions.into_iter().find(|(found, _)| *found) {
        Some((_, what)) => Err(Error::new(Kind::Usage, what)),
        None => check_threads(common, flags.processes.unwrap_or(1)),
    }
}

/// Refuses far more threads than the machine has cores: each takes memory, and none is faster.
fn check_threads(common: &Common, processes: usize) -> Result<()> {
    let most = most_threads();
    let threads = workers(common, processes).saturating_mul(processes);
    match threads <= most {
        true => Ok(()),
        false => Err(Error::new(Kind::Usage, "more worker threads than this machine can use")
            .expected(format_args!("at most {most}, {CORE_THREADS} for each core"))
            .found(threads)
            .help("lower --workers, or --processes")),
    }
}

/// How many worker threads a machine may have in all: more only where it has few cores.
fn most_threads() -> usize {
    (cores() * CORE_THREADS).max(4 * CORE_THREADS)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// This process of the cluster the flags ask for. `parameters` is all that must be equal in every
/// process of the job.
pub(crate) fn cluster(common: &Common, parameters: &str) -> Result<Cluster> {
    let flags = &common.cluster;
    let patience = flags.patience();
    let (process, listener, hosts, secret, local) = match (flags.child, &flags.hosts) {
        (Some(process), _) => {
            let (listener, Introduction { hosts, secret }) = child::meet(patience.silence)?;
            let local = hosts.len();
            (process, listener, hosts, Secret::new(secret.as_bytes()), local)
        }
        (None, Some(file)) => {
            let (process, hosts) = (flags.process.unwrap_or_default(), hosts::read(file)?);
            let secret = flags.secret_file.as_deref().map(Secret::read).transpose()?;
            let listener = listen(flags, file, &hosts, process)?;
            (process, listener, hosts, secret.unwrap_or_else(|| Secret::new(b"")), 1)
        }
        (None, None) => return Ok(Cluster::alone(workers(common, 1))),
    };
    let topology = Topology { workers: workers(common, local), processes: hosts.len(), process };
    let job = JobIdentity::new(exit::job(), parameters);
    let fatal = Fatal::new(|error| exit::end(Err(error.clone())));
    Cluster::join(topology, listener, Peers { hosts, secret, patience }, job, fatal)
}

/// As many worker threads as were asked for, or as the machine has cores for `local` processes.
pub(crate) fn workers(common: &Common, local: usize) -> usize {
    common.workers.unwrap_or((cores() / local).max(1))
}

/// Listens at the address that the hosts file gives this process, or at the one of its flag. Where
/// others than this machine can call, there must be a secret.
fn listen(flags: &Flags, file: &Path, hosts: &[String], process: usize) -> Result<TcpListener> {
    let Some(host) = hosts.get(process) else {
        let error = Error::new(Kind::Usage, "--process is none of the hosts file").at(file);
        return Err(error.expected(format!("0 to {}", hosts.len() - 1)).found(process));
    };
    let wrong = |cause: io::Error| {
        let what = format!("process {process} cannot listen at {host}: {cause}");
        match cause.kind() {
            io::ErrorKind::AddrInUse => Error::new(Kind::Unavailable, what)
                .help("is this process of the cluster running already?"),
            io::ErrorKind::TimedOut => {
                Error::new(Kind::Unavailable, what).help("does the name server answer?")
            }
            _ => Error::new(Kind::Config, what).at(file).help("is this its machine?"),
        }
    };
    let addresses = match flags.listen {
        Some(Listen { address, port: Some(port) }) => vec![SocketAddr::new(address, port)],
        Some(Listen { address, port: None }) => vec![SocketAddr::new(address, port_of(host))],
        None => hosts::resolve(host, RESOLVED).map_err(wrong)?,
    };
    if flags.secret_file.is_none() && addresses.iter().any(|at| !at.ip().is_loopback()) {
        let what = "without a secret a process listens at loopback addresses alone";
        return Err(Error::new(Kind::Usage, what).found(host).help("name one with --secret-file"));
    }
    TcpListener::bind(&addresses[..]).map_err(wrong)
}

/// The port of `host:port`, as the hosts file was found to hold.
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
        common: Common,
    }

    fn typed(flags: &str) -> Common {
        Typed::parse_from(format!("dupsieve {flags}").split_whitespace()).common
    }

    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        for flags in ["", "--workers 2", "--processes 2", "--hosts f --process 0 --secret-file s"] {
            assert_eq!(check(&typed(flags), true), Ok(()), "{flags}");
        }
        for flags in [
            "--workers 0",
            "--processes 0",
            "--listen 127.0.0.1",
            "--hosts f",
            "--process 0",
            "--secret-file s",
            "--hosts f --process 0 --processes 2",
        ] {
            assert_eq!(check(&typed(flags), true).unwrap_err().kind(), Kind::Usage, "{flags}");
        }
    }

    #[test]
    fn a_core_has_so_many_threads_and_no_more() {
        let most = most_threads();
        let more = most + 1;
        for flags in [format!("--workers {most}"), format!("--workers {} --processes 2", most / 2)]
        {
            assert_eq!(check(&typed(&flags), true), Ok(()), "{flags}");
        }
        for flags in [
            format!("--workers {more}"),
            format!("--processes {more}"),
            format!("--workers {} --processes 3", most / 2),
        ] {
            assert_eq!(check(&typed(&flags), true).unwrap_err().kind(), Kind::Usage, "{flags}");
        }
    }

    #[test]
    fn the_file_takes_every_flag_and_the_flags_win() {
        let file = "workers = 3\nhosts = \"h\"\nprocess = 1\nsecret_file = \"s\"\n\
            listen = \"127.0.0.1:7\"\nwait_for_peers = 5\npeer_timeout = 6\n\
            stall_timeout = 7\nrestarts = 8\nmemory = \"1GiB\"\n";
        let settle = |flags: &str| {
            let mut common = typed(flags);
            toml::from_str::<ClusterSettings>(file).unwrap().settle(&mut common, true);
            common
        };
        let common = settle("");
        let flags = &common.cluster;
        assert_eq!((common.workers, common.memory), (Some(3), Some(ByteSize(1 << 30))));
        assert_eq!((flags.process, flags.listen), (Some(1), "127.0.0.1:7".parse().ok()));
        assert_eq!((&flags.hosts, &flags.secret_file), (&Some("h".into()), &Some("s".into())));
        let Patience { arrival, silence } = flags.patience();
        assert_eq!([arrival, silence, flags.longest_stall()].map(|it| it.as_secs()), [5, 6, 7]);
        assert_eq!(flags.most_restarts(), 8);
        let flags = settle("--peer-timeout 9 --stall-timeout 10 --restarts 0").cluster;
        assert_eq!((flags.patience().silence.as_secs(), flags.most_restarts()), (9, 0));
        for wrong in ["wait_for_peers = 0", "peer_timeout = 36001", "restarts = -1", "listen = 1"] {
            assert!(toml::from_str::<ClusterSettings>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_can_name_every_flag() {
        let listed = toml::from_str::<ClusterSettings>("no_such_flag = 1").unwrap_err().to_string();
        for flag in Flags::augment_args(clap::Command::new("flags")).get_arguments() {
            let name = flag.get_id().as_str();
            assert!(flag.is_hide_set() || listed.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn a_parent_of_several_supervises_and_its_children_do_not() {
        for (flags, processes) in [
            ("", None),
            ("--processes 1", None),
            ("--processes 3", Some(3)),
            ("--processes 3 --child 0", None),
        ] {
            assert_eq!(typed(flags).cluster.to_supervise(), processes, "{flags}");
        }
    }

    #[test]
    fn only_a_process_of_the_hosts_file_listens() {
        let hosts = ["127.0.0.1:0".to_owned()];
        let listen = |hosts: &[String], process| {
            let flags = typed("--hosts hosts.txt --process 0").cluster;
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
    fn without_a_secret_nobody_else_can_call() {
        let listen = |flags: &str, host: &str| {
            let flags = typed(&format!("--hosts hosts.txt --process 0 {flags}")).cluster;
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

    #[test]
    fn an_address_has_a_port_or_none() {
        let parse = |text: &str| text.parse().map(|Listen { address, port }| (address, port));
        assert_eq!(parse("10.0.0.2"), Ok(([10, 0, 0, 2].into(), None)));
        assert_eq!(parse("10.0.0.2:21"), Ok(([10, 0, 0, 2].into(), Some(21))));
        assert_eq!(parse("[::1]:21").unwrap().1, Some(21));
        assert_eq!(parse("[::1]"), parse("::1"));
        assert!(parse("host").is_err() && parse("").is_err());
    }
}
