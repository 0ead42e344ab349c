//! What guards the service: the token, the limits, and the clean stop.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::client::{JSON, Served, exchange, near, request, until};
use crate::support::{Bench, free_address};

#[test]
fn without_a_token_it_listens_at_loopback_only_and_with_one_it_asks_for_it() {
    let bench = Bench::new();
    bench.done("store init store");
    let refused = bench.fails(2, "serve --store store --listen 0.0.0.0:0");
    assert!(refused.contains("--token-file"), "{refused}");
    bench.secret("token", "a token that nobody guesses\n");
    let served = Served::start(&bench, "--preset paper --token-file token");
    for (header, status) in [
        ("", 401),
        ("Authorization: Bearer another\r\n", 401),
        ("Authorization: Basic a token that nobody guesses\r\n", 401),
        ("Authorization: Bearer a token that nobody guesses\r\n", 200),
        ("Authorization: bearer a token that nobody guesses\r\n", 200),
        ("Authorization: BEARER  a token that nobody guesses\r\n", 200),
        ("Authorization: Bearera token that nobody guesses\r\n", 401),
    ] {
        let reply = exchange(&served.address, &request("GET", "/v1/status", header, "")).unwrap();
        assert_eq!(reply.status, status, "{reply:?}");
        if status == 401 {
            assert_eq!(reply.problem(), "unauthorised");
        }
    }
    assert_eq!(served.get("/healthz").unwrap().status, 200);
    assert_eq!(served.get("/v2").unwrap().status, 401, "a stranger learns nothing");
    let taken = bench.fails(69, &format!("serve --store other --listen {}", served.address));
    assert!(taken.contains("cannot listen"), "{taken}");
    let second = bench.fails(75, &format!("serve --store store --listen {}", free_address()));
    assert!(second.contains("another run holds the lock"), "{second}");
    assert_eq!(served.end().code, 0);
}

#[test]
fn too_many_connections_and_requests_are_told_to_come_again() {
    let bench = Bench::new();
    bench.done("store init store");
    let served =
        Served::start(&bench, "--preset paper --max-connections 4 --max-requests 2 --max-time 3");
    let begun = "POST /v1/query HTTP/1.1\r\nHost: store\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n";
    let open = |count: usize| -> Vec<TcpStream> {
        let streams = (0..count).map(|_| {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.write_all(begun.as_bytes()).unwrap();
            stream
        });
        streams.collect()
    };
    let comes = |status: u16| {
        until("another status", || match served.get("/v1/status") {
            Ok(reply) if reply.status == status => {
                assert!(status == 200 || reply.problem() == "overloaded", "{reply:?}");
                status == 200 || reply.head.to_lowercase().contains("retry-after: ")
            }
            _ => false,
        });
    };
    let two = open(2);
    comes(503);
    drop(two);
    comes(200);
    let four = open(4);
    comes(503);
    // Silent clients are given up.
    comes(200);
    drop(four);
    assert_eq!(served.end().code, 0);
}

#[test]
fn a_signal_lets_requests_finish_and_nothing_is_lost() {
    let bench = Bench::new();
    bench.done("store init store");
    let served = Served::start(&bench, "--preset paper");
    let body = json!({ "pages": [{ "id": "last", "text": "the last page that is remembered" }] })
        .to_string();
    let whole = request("POST", "/v1/pages", JSON, &body);
    let (first, rest) = whole.split_at(whole.len() - 5);
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.write_all(first).unwrap();
    thread::sleep(Duration::from_millis(200));
    served.running.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(200));
    stream.write_all(rest).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"keep\""), "{reply}");
    assert!(TcpStream::connect(&served.address).is_err(), "no more are accepted");
    let ended = served.running.end();
    assert_eq!((ended.code, ended.count("remembered"), ended.count("journal_pages")), (0, 1, 1));
    let served = Served::start(&bench, "--preset paper");
    let again =
        json!({ "pages": [{ "id": "other", "text": "The last page that is remembered!" }] });
    assert_eq!(near(&served.post("/v1/query", again)["answers"][0])[0].1, "last");
    served.running.signal(Signal::INT);
    assert_eq!(served.running.end().code, 0);
}
