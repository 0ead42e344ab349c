//! Bad requests: each gets a problem document, and leaves the service well.

use std::io::{Read, Write};
use std::net::TcpStream;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::client::{JSON, PATIENCE, Served, exchange, request};
use crate::support::Bench;

#[test]
fn bad_requests_of_every_kind_get_a_problem_and_leave_the_service_well() {
    let bench = Bench::new();
    bench.done("store init store");
    let flags = "--preset paper --max-body 2000 --max-batch 3 --max-text 100 --max-time 2";
    let served = Served::start(&bench, flags);
    let long = format!("{{\"fingerprints\": [\"{}\"]}}", "0".repeat(3000));
    let text = format!("{{\"pages\": [{{\"id\": \"a\", \"text\": \"{}\"}}]}}", "a".repeat(200));
    let deep = "[".repeat(1900);
    let page = |rest: &str| format!("{{\"pages\": [{{\"id\": \"a\", {rest}}}]}}");
    let many = "{\"fingerprints\": [\"1\", \"2\", \"3\", \"4\"]}";
    for (status, kind, method, path, headers, body) in [
        (404, "not-found", "GET", "/v2/query", "", ""),
        (404, "not-found", "GET", "/", "", ""),
        (405, "method-not-allowed", "GET", "/v1/query", "", ""),
        (405, "method-not-allowed", "DELETE", "/v1/status", "", ""),
        (415, "unsupported-media-type", "POST", "/v1/query", "", "{}"),
        (415, "unsupported-media-type", "POST", "/v1/pages", "Content-Type: text/plain\r\n", "{}"),
        (413, "too-large", "POST", "/v1/query", JSON, &long),
        (413, "too-large", "POST", "/v1/query", JSON, many),
        (413, "too-large", "POST", "/v1/pages", JSON, &text),
        (400, "bad-json", "POST", "/v1/query", JSON, ""),
        (400, "bad-json", "POST", "/v1/query", JSON, "{"),
        (400, "bad-json", "POST", "/v1/query", JSON, &deep),
        (400, "bad-json", "POST", "/v1/query", JSON, "{\"fingerprint\": []}"),
        (400, "bad-json", "POST", "/v1/query", JSON, "{\"fingerprints\": [7]}"),
        (400, "bad-json", "POST", "/v1/query", JSON, "{\"distance\": -1, \"fingerprints\": []}"),
        (400, "bad-json", "POST", "/v1/pages", JSON, "{\"remember\": \"some\", \"pages\": []}"),
        (400, "bad-json", "POST", "/v1/pages", JSON, &page("\"texts\": \"b\"")),
        (400, "bad-request", "POST", "/v1/query", JSON, "{}"),
        (400, "bad-request", "POST", "/v1/query", JSON, "{\"fingerprints\": [], \"pages\": []}"),
        (400, "bad-request", "POST", "/v1/query", JSON, "{\"distance\": 8, \"fingerprints\": []}"),
        (400, "bad-request", "POST", "/v1/query", JSON, "{\"fingerprints\": [\"0xg\"]}"),
        (400, "bad-request", "POST", "/v1/commit", JSON, "{\"day\": \"today\"}"),
        (
            422,
            "bad-page",
            "POST",
            "/v1/pages",
            JSON,
            "{\"pages\": [{\"id\": \"\", \"text\": \"b\"}]}",
        ),
        (
            422,
            "bad-page",
            "POST",
            "/v1/pages",
            JSON,
            "{\"pages\": [{\"id\": \"a\\tb\", \"text\": \"b\"}]}",
        ),
        (422, "bad-page", "POST", "/v1/pages", JSON, &page("\"text\": \"b\", \"time\": \"soon\"")),
        (
            422,
            "bad-page",
            "POST",
            "/v1/query",
            JSON,
            &page("\"text\": \"b\", \"fingerprint\": \"1\""),
        ),
        (422, "bad-page", "POST", "/v1/query", JSON, "{\"pages\": [{\"id\": \"a\"}]}"),
        (422, "bad-page", "POST", "/v1/pages", JSON, &page("\"fingerprint\": \"0x1\"")),
    ] {
        let reply = exchange(&served.address, &request(method, path, headers, body)).unwrap();
        assert_eq!((reply.status, &*reply.problem()), (status, kind), "{body}: {reply:?}");
        if status == 405 {
            assert!(reply.head.to_lowercase().contains("\nallow: "), "{reply:?}");
        }
    }
    let slow = "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{";
    let reply = exchange(&served.address, slow.as_bytes()).unwrap();
    assert_eq!((reply.status, &*reply.problem()), (408, "timed-out"));
    for garbage in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", &"GET / ".repeat(30_000)] {
        if let Ok(reply) = exchange(&served.address, garbage.as_bytes()) {
            assert!((400..500).contains(&reply.status), "{reply:?}");
        }
    }
    // A head may have 64 KiB.
    for (bytes, status) in
        [(60_000, "HTTP/1.1 200"), (70_000, "HTTP/1.1 431"), (100_000, "HTTP/1.1 431")]
    {
        let header = format!("X-Long: {}\r\n", "a".repeat(bytes));
        let reply = first_bytes(&served.address, &request("GET", "/healthz", &header, ""));
        assert_eq!(reply, status, "{bytes}");
    }
    let told = served
        .post("/v1/pages", json!({ "pages": [{ "id": 7, "text": "a page of words", "time": 5 }] }));
    assert_eq!(told["answers"][0], json!({ "id": "7", "near": [], "verdict": "keep" }));
    assert_eq!(served.end().code, 0);
}

/// The version and the status of the answer. The service may close the connection before it has read all.
fn first_bytes(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.write_all(bytes);
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    String::from_utf8_lossy(&first).into_owned()
}

/// Some bytes replaced, inserted, repeated or left out.
fn changed(mut bytes: Vec<u8>, random: &mut ChaCha8Rng) -> Vec<u8> {
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..bytes.len().max(1));
        let to = (at + random.random_range(0..9)).min(bytes.len());
        match random.random_range(0..4) {
            _ if at >= bytes.len() => bytes.push(b'{'),
            0 => drop(bytes.drain(at..to)),
            1 => bytes.splice(at..at, bytes[at..to].to_vec()).for_each(drop),
            2 => bytes.insert(at, *b"\0\"\\{}[],9e-\xff".choose(random).unwrap()),
            _ => bytes[at] ^= 1 << random.random_range(0..8),
        }
    }
    bytes
}

#[test]
fn changed_bodies_are_answered_or_refused_and_never_hurt_the_service() {
    let bench = Bench::new();
    bench.done("store init store");
    let served = Served::start(&bench, "--preset balanced");
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let bodies = [
        ("/v1/query", json!({ "distance": 3, "fingerprints": ["0x9ae16a3b2f90404f", "7"] })),
        (
            "/v1/query",
            json!({ "pages": [{ "id": "a", "text": "人工智能 and words", "time": "2026-11-22" }] }),
        ),
        (
            "/v1/pages",
            json!({ "remember": "all", "pages": [{ "id": 5, "text": "a\u{0}b\n" }, { "id": "b", "text": "" }] }),
        ),
        ("/v1/commit", json!({ "day": "2026-11-22" })),
    ];
    for (path, body) in bodies {
        for _ in 0..100 {
            let body = changed(body.to_string().into_bytes(), &mut random);
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{JSON}Content-Length: {}\r\n\r\n",
                body.len()
            );
            let reply = exchange(&served.address, &[head.as_bytes(), &body].concat()).unwrap();
            assert!(matches!(reply.status, 200 | 400 | 409 | 413 | 422), "{body:?}: {reply:?}");
            assert!(reply.status == 200 || !reply.problem().is_empty());
        }
    }
    assert!(served.running.is_running());
    assert_eq!(served.end().code, 0);
}
