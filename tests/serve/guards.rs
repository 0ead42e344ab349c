//! What guards the service: the token, the limits, and the clean stop.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::json;

use super::client::{EXPECT, JSON, Served, begin, exchange, head, near, post, request, until};
use crate::support::{Bench, free_address};

#[test]
fn without_a_token_it_listens_at_loopback_only_and_with_one_it_asks_for_it() {
    let bench = Bench::new();
    bench.done("store init store");
    bench.refuses(2, "serve --store store --listen 0.0.0.0:0", &["--token-file"]);
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
    bench.refuses(
        69,
        &format!("serve --store other --create --listen {}", served.address),
        &["cannot listen"],
    );
    bench.refuses(
        75,
        &format!("serve --store store --listen {}", free_address()),
        &["another run holds the lock"],
    );
    assert_eq!(served.end().code, 0);
}

#[test]
fn a_token_that_can_be_guessed_is_refused_and_so_is_a_store_that_is_not_there() {
    let bench = Bench::new();
    bench.secret("token", "hello\n");
    bench.refuses(
        78,
        "serve --store store --create --token-file token",
        &["can be guessed", "16 bytes"],
    );
    bench.refuses(
        66,
        &format!("serve --store typo --listen {}", free_address()),
        &["there is no store here", "--create"],
    );
    assert!(!bench.path("typo").exists());
    let served = Served::start(&bench, "--create --preset paper");
    assert_eq!(served.end().code, 0);
}

#[test]
fn without_a_token_no_page_in_a_browser_is_answered() {
    let (_bench, served) = Served::fresh("--recipe external-64");
    let status = |lines: &str, path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n");
        let reply = exchange(&served.address, request.as_bytes()).unwrap();
        assert!(reply.status != 403 || reply.problem() == "forbidden", "{reply:?}");
        reply.status
    };
    let path = "/v1/status";
    for here in
        ["localhost", "localhost:8373", "LocalHost:1", "127.0.0.1", "127.8.8.8:80", "[::1]:8373"]
    {
        assert_eq!(status(&format!("Host: {here}\r\n"), path), 200, "{here}");
    }
    for there in [
        "evil.example",
        "evil.example:8373",
        "localhost.evil.example",
        "10.0.0.1",
        "[::2]",
        "",
        "a b",
    ] {
        assert_eq!(status(&format!("Host: {there}\r\n"), path), 403, "{there}");
    }
    assert_eq!(status("Host: localhost\r\n", "http://evil.example/v1/status"), 403);
    for origin in ["http://evil.example", "null", "http://localhost:8373"] {
        let lines = format!("Host: localhost\r\nOrigin: {origin}\r\n");
        assert_eq!(status(&lines, path), 403, "{origin}");
    }
    assert_eq!(status("Host: evil.example\r\n", "/healthz"), 200, "whoever looks after it");
    assert_eq!(served.end().code, 0);
}

#[test]
fn a_store_that_is_gone_is_told_and_comes_back() {
    let (bench, served) = Served::fresh("--recipe external-64");
    let asked = json!({ "fingerprints": ["1"] });
    served.post("/v1/query", asked.clone());
    let [current, away] = ["store/CURRENT", "store/away"].map(|name| bench.path(name));
    fs::rename(&current, &away).unwrap();
    let is = |status: u16| {
        let probes = ["/healthz", "/readyz", "/v1/status"].map(|path| served.get(path).unwrap());
        let query = post(&served.address, "/v1/query", &asked).unwrap();
        probes.iter().chain([&query]).all(|reply| {
            let told = || reply.problem() == "unavailable" && reply.body.contains("cannot be read");
            reply.status == status && (status == 200 || told())
        })
    };
    until("its absence is told", || is(503));
    fs::rename(&away, &current).unwrap();
    until("it is back", || is(200));
    let ended = served.end();
    let said = ended.stderr.matches("nothing is answered").count();
    assert_eq!((ended.code, said), (0, 1), "{ended:?}");
}

#[test]
fn too_many_connections_and_requests_are_told_to_come_again() {
    let flags = "--preset paper --max-connections 4 --max-requests 2 --max-time 600";
    let (_bench, served) = Served::fresh(flags);
    let is_full = || match served.get("/v1/status") {
        Ok(reply) if reply.status == 503 => {
            assert_eq!(reply.problem(), "overloaded");
            assert!(reply.head.to_lowercase().contains("retry-after: "), "{reply:?}");
            true
        }
        reply => reply.is_err(),
    };
    let begun = head("/v1/query", &format!("{EXPECT}Content-Length: 9\r\n\r\n"));
    let two = [(), ()].map(|()| begin(&served.address, begun.as_bytes()));
    assert!(is_full(), "two requests");
    drop(two);
    until("the requests are given up", || !is_full());
    let four = [(); 4].map(|()| TcpStream::connect(&served.address).unwrap());
    until("there are four connections", is_full);
    drop(four);
    until("the connections are closed", || !is_full());
    assert_eq!(served.end().code, 0);
}

#[test]
fn a_signal_lets_requests_finish_and_nothing_is_lost() {
    let (bench, served) = Served::fresh("--preset paper");
    let body = json!({ "pages": [{ "id": "last", "text": "the last page that is remembered" }] })
        .to_string();
    let whole = request("POST", "/v1/pages", &format!("{JSON}{EXPECT}"), &body);
    let (first, rest) = whole.split_at(whole.len() - 5);
    let mut stream = begin(&served.address, first);
    served.running.signal(Signal::TERM);
    until("no more are accepted", || TcpStream::connect(&served.address).is_err());
    stream.write_all(rest).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"keep\""), "{reply}");
    let ended = served.running.end();
    assert_eq!((ended.code, ended.count("remembered"), ended.count("journal_pages")), (0, 1, 1));
    let served = Served::start(&bench, "--preset paper");
    let again =
        json!({ "pages": [{ "id": "other", "text": "The last page that is remembered!" }] });
    assert_eq!(near(&served.post("/v1/query", again)["answers"][0])[0].1, "last");
    served.running.signal(Signal::INT);
    assert_eq!(served.running.end().code, 0);
}
