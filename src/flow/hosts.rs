//! The hosts file of a cluster: line I is the `host:port` of process I; blank lines and what
//! follows a `#` do not count.

use std::fs;
use std::path::Path;

use crate::error::At;
use crate::{Error, Kind, Result};

/// The addresses in the file at `path`, in the order of the processes.
///
/// # Errors
/// [`Kind::Config`] with the line of an address that is not `host:port`, or stands there twice, or
/// if there is none at all; and whatever reading the file gives.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<String>> {
    let path = path.as_ref();
    let bytes = fs::read(path).at(path)?;
    let text = str::from_utf8(&bytes).map_err(|wrong| {
        Error::new(Kind::Config, "the hosts file is not UTF-8 text")
            .at(path)
            .offset(wrong.valid_up_to() as u64)
    })?;
    parse(text, path)
}

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
    match hosts.is_empty() {
        true => Err(wrong("no process is named").expected("one host:port a line")),
        false => Ok(hosts),
    }
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
    use super::*;

    #[test]
    fn line_i_is_process_i_whatever_stands_between() {
        let text = "# the cluster\n\nalpha:2101 # the leader\n  10.0.0.2:2101\r\n\n[::1]:7\n";
        let hosts = parse(text, Path::new("hosts.txt")).unwrap();
        assert_eq!(hosts, ["alpha:2101", "10.0.0.2:2101", "[::1]:7"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, message) in [
            (
                "a:1\nb\n",
                "hosts.txt:2: not the address of a process: expected host:port, found \"b\"",
            ),
            (
                "a:1\n\n::1:7\n",
                "hosts.txt:3: not the address of a process: expected host:port, found \"::1:7\"",
            ),
            ("a:0", "hosts.txt:1: not the address of a process: expected host:port, found \"a:0\""),
            (
                "a b:1",
                "hosts.txt:1: not the address of a process: expected host:port, found \"a b:1\"",
            ),
            ("a:1\na:1", "hosts.txt:2: two processes cannot share an address: found a:1"),
            ("# none\n", "hosts.txt: no process is named: expected one host:port a line"),
        ] {
            let error = parse(text, Path::new("hosts.txt")).unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (Kind::Config, message));
        }
    }
}
