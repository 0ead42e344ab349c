//! The hosts file: line I is the `host:port` of process I. Blank lines are skipped, and so is
//! everything after a `#`.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use crate::{Error, Kind, Result, parallel, small_file};

pub fn read(path: impl AsRef<Path>) -> Result<Vec<String>> {
    let path = path.as_ref();
    parse(&small_file::read_text(path, LONGEST, Kind::Config)?, path)
}

/// The addresses of `host`, which is `host:port`, if its name server answers within `limit`.
pub fn resolve(host: &str, limit: Duration) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    let host = host.to_owned();
    in_time(limit, move || Ok(host.to_socket_addrs()?.collect()))
}

/// Runs `look_up`, which may take minutes, on another thread. After `limit` the thread is left to itself.
fn in_time<T: Send + 'static>(
    limit: Duration,
    look_up: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    parallel::in_time("resolver", limit, look_up)?.unwrap_or_else(|| {
        let what = format!("its name was not resolved within {} s", limit.as_secs_f32());
        Err(io::Error::new(io::ErrorKind::TimedOut, what))
    })
}

const LONGEST: u64 = 1 << 20;

fn parse(text: &str, path: &Path) -> Result<Vec<String>> {
    let wrong = |what: &str| Error::new(Kind::Config, what).at(path);
    let mut hosts: Vec<String> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let address = line.split('#').next().unwrap_or_default().trim();
        if address.is_empty() {
            continue;
        }
        if !is_address(address) {
            let error = wrong("not the address of a process").line(number);
            return Err(error.expected("host:port").found(format!("{address:?}")));
        }
        if hosts.iter().any(|host| host == address) {
            return Err(wrong("two processes cannot share an address").line(number).found(address));
        }
        hosts.push(address.to_owned());
    }
    if hosts.is_empty() {
        return Err(wrong("no process is named").expected("one host:port a line"));
    }
    Ok(hosts)
}

/// Whether `text` is `host:port`, where the host may be an IPv6 address in brackets.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let whole = !host.is_empty() && !host.contains(char::is_whitespace);
    whole && (bracketed || !host.contains(':')) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn line_i_is_process_i_whatever_stands_between() {
        let text = "# the machines\n\nalpha:2101 # the leader\n  10.0.0.2:2101\r\n\n[::1]:7\n";
        let hosts = parse(text, Path::new("hosts.txt")).unwrap();
        assert_eq!(hosts, ["alpha:2101", "10.0.0.2:2101", "[::1]:7"]);
    }

    #[test]
    fn a_name_server_that_does_not_answer_is_not_waited_for() {
        let (answer, never) = mpsc::channel::<()>();
        let look_up = move || never.recv().map_err(io::Error::other);
        let error = in_time(Duration::from_millis(50), look_up).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(answer);
        assert_eq!(in_time(Duration::from_secs(60), || Ok(7)).unwrap(), 7);
        let found = resolve("127.0.0.1:7", Duration::ZERO).unwrap();
        assert_eq!(found, ["127.0.0.1:7".parse().unwrap()], "an address needs no name server");
    }

    #[test]
    fn a_wrong_line_is_named() {
        let no_address = |line: u32, found: &str| {
            let wrong = "not the address of a process: expected host:port";
            format!("hosts.txt:{line}: {wrong}, found {found:?}")
        };
        for (text, message) in [
            ("a:1\nb\n", no_address(2, "b")),
            ("a:1\n\n::1:7\n", no_address(3, "::1:7")),
            ("a:0", no_address(1, "a:0")),
            ("a b:1", no_address(1, "a b:1")),
            ("a:1\na:1", "hosts.txt:2: two processes cannot share an address: found a:1".into()),
            ("# none\n", "hosts.txt: no process is named: expected one host:port a line".into()),
        ] {
            let error = parse(text, Path::new("hosts.txt")).unwrap_err();
            assert_eq!((error.kind(), error.to_string()), (Kind::Config, message));
        }
    }
}
