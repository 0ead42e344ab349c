//! A service under test, and a client of it that sends what it is told, byte by byte.

use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Bench, Ended, Running, free_address};
pub(super) use crate::support::{PATIENCE, wait_until as until};

pub(crate) struct Served {
    pub(super) running: Running,
    pub(super) address: String,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The last part of the type of a problem document, which must be whole.
    pub(super) fn problem(&self) -> String {
        let problem = self.json();
        assert!(self.head.contains("application/problem+json"), "{self:?}");
        assert_eq!(problem["status"], self.status, "{self:?}");
        assert!(problem["title"].is_string() && problem["detail"].is_string());
        let kind = problem["type"].as_str().unwrap().strip_prefix("urn:dupsieve:problem:");
        kind.unwrap().to_owned()
    }
}

/// Sends `bytes` and reads the answer, after which the service closes the connection.
pub(super) fn exchange(address: &str, bytes: &[u8]) -> std::io::Result<Reply> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(bytes)?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or(std::io::ErrorKind::UnexpectedEof)?;
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let status = status.ok_or(std::io::ErrorKind::InvalidData)?;
    Ok(Reply { status, head: head.to_owned(), body: body.to_owned() })
}

pub(super) fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

pub(super) const JSON: &str = "Content-Type: application/json\r\n";

pub(super) fn head(path: &str, headers: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{JSON}{headers}")
}

pub(super) fn post(address: &str, path: &str, body: &Value) -> std::io::Result<Reply> {
    exchange(address, &request("POST", path, JSON, &body.to_string()))
}

/// Begins a request whose `bytes` announce more, and returns when the service waits for the rest: the head is to have
/// [`EXPECT`].
pub(super) fn begin(address: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut told = [0; CONTINUE.len()];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, CONTINUE, "{}", String::from_utf8_lossy(&told));
    stream
}

pub(super) const EXPECT: &str = "Expect: 100-continue\r\n";
const CONTINUE: &[u8; 25] = b"HTTP/1.1 100 Continue\r\n\r\n";

impl Served {
    /// Starts the service and waits until its store is open.
    pub(crate) fn start(bench: &Bench, flags: &str) -> Served {
        let address = free_address();
        let running = bench.start(&format!("serve --store store --listen {address} {flags}"));
        let served = Served { running, address };
        let is_open = || served.get("/readyz").is_ok_and(|reply| reply.status == 200);
        until("the store is open", || is_open() || !served.running.is_running());
        if !served.running.is_running() {
            panic!("the service ended: {:?}", served.running.end());
        }
        served
    }

    pub(super) fn fresh(flags: &str) -> (Bench, Served) {
        let bench = Bench::new();
        bench.done("store init store");
        let served = Served::start(&bench, flags);
        (bench, served)
    }

    #[track_caller]
    pub(super) fn refuses(&self, status: u16, kind: &str, bytes: &[u8]) {
        let reply = exchange(&self.address, bytes).unwrap();
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
        assert_eq!((reply.status, &*reply.problem()), (status, kind), "{shown}: {reply:?}");
    }

    pub(crate) fn get(&self, path: &str) -> std::io::Result<Reply> {
        exchange(&self.address, &request("GET", path, "", ""))
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Value {
        let reply = post(&self.address, path, &body).unwrap();
        assert_eq!(reply.status, 200, "{body}: {reply:?}");
        reply.json()
    }

    pub(super) fn counts(&self, line: &str) -> bool {
        self.get("/metrics").is_ok_and(|reply| reply.body.lines().any(|it| it == line))
    }

    pub(crate) fn end(self) -> Ended {
        self.running.signal(Signal::TERM);
        self.running.end()
    }
}

/// Fingerprints made elsewhere, some near each other: id and bits.
pub(super) fn prints(day: u64, count: u64) -> Vec<(String, u128)> {
    let bits = |number: u64| {
        let centre = (number % (count / 3 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        u128::from(centre ^ (1 << ((number * 7 + day) % 64)) ^ (1 << (number % 64)))
    };
    (0..count).map(|number| (format!("{day}/{number}"), bits(number))).collect()
}

pub(super) fn near(answer: &Value) -> Vec<(u64, String, Option<String>)> {
    let pages = answer["near"].as_array().unwrap().iter();
    pages
        .map(|page| {
            let day = page["day"].as_str().map(str::to_owned);
            (page["distance"].as_u64().unwrap(), page["id"].as_str().unwrap().to_owned(), day)
        })
        .collect()
}
