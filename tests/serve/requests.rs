//! Bad requests: each gets a problem document, and leaves the service well.

use std::io::{Read, Write};
use std::net::TcpStream;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::client::{JSON, PATIENCE, Served, exchange, head, request};
use crate::hostile::changed;

pub(super) fn chunked(body: &[u8]) -> Vec<u8> {
    let chunk = |some: &[u8]| [format!("{:x}\r\n", some.len()).as_bytes(), some, b"\r\n"].concat();
    let chunks: Vec<u8> = body.chunks(7).flat_map(chunk).collect();
    [&chunks[..], b"0\r\n\r\n"].concat()
}

#[test]
fn bad_requests_of_every_kind_get_a_problem_and_leave_the_service_well() {
    let flags = "--preset paper --max-body 2000 --max-batch 3 --max-text 100 --max-time 2";
    let (_bench, served) = Served::fresh(flags);
    let long = format!("{{\"fingerprints\": [\"{}\"]}}", "0".repeat(3000));
    let text = format!("{{\"pages\": [{{\"id\": \"a\", \"text\": \"{}\"}}]}}", "a".repeat(200));
    let deep = "[".repeat(1900);
    let page = |rest: &str| format!("{{\"pages\": [{{\"id\": \"a\", {rest}}}]}}");
    let named = |id: &str| format!("{{\"pages\": [{{\"id\": {id}, \"text\": \"b\"}}]}}");
    let query = |rest: &str| format!("{{\"fingerprints\": [\"1\"]{rest}}}");
    let many = "{\"fingerprints\": [\"1\", \"2\", \"3\", \"4\"]}";
    for (status, kind, method, path, headers) in [
        (404, "not-found", "GET", "/v2/query", ""),
        (404, "not-found", "GET", "/", ""),
        (404, "not-found", "POST", "/v1/query/", JSON),
        (404, "not-found", "POST", "//v1/query", JSON),
        (404, "not-found", "POST", "/v1/%00", JSON),
        (404, "not-found", "POST", "/v1/../etc", JSON),
        (405, "method-not-allowed", "GET", "/v1/query", ""),
        (405, "method-not-allowed", "DELETE", "/v1/status", ""),
        (405, "method-not-allowed", "BREW", "/v1/query", JSON),
        (405, "method-not-allowed", "PUT", "/v1/pages", JSON),
        (405, "method-not-allowed", "OPTIONS", "/v1/commit", JSON),
        (415, "unsupported-media-type", "POST", "/v1/query", ""),
        (415, "unsupported-media-type", "POST", "/v1/pages", "Content-Type: text/plain\r\n"),
    ] {
        let reply = exchange(&served.address, &request(method, path, headers, "{}")).unwrap();
        assert_eq!((reply.status, &*reply.problem()), (status, kind), "{path}: {reply:?}");
        if status == 405 {
            assert!(reply.head.to_lowercase().contains("\nallow: "), "{reply:?}");
        }
    }
    let no_text =
        [&b"{\"fingerprints\": [\"\xff\xfe\"]}"[..], b"\xef\xbb\xbf{\"fingerprints\": []}"];
    let cases = [
        (413, "too-large", "query", &*long),
        (413, "too-large", "query", many),
        (413, "too-large", "pages", &text),
        (400, "bad-json", "query", ""),
        (400, "bad-json", "query", "{"),
        (400, "bad-json", "query", &deep),
        (400, "bad-json", "query", "{\"fingerprints\": [\"\\ud800\"]}"),
        (400, "bad-json", "query", "{\"fingerprints\": [\"\0\"]}"),
        (400, "bad-json", "query", "{\"fingerprint\": []}"),
        (400, "bad-json", "query", "{\"fingerprints\": [7]}"),
        (400, "bad-json", "query", &query("} x")),
        (400, "bad-json", "query", &query(", \"fingerprints\": []")),
        (400, "bad-json", "query", &query(", \"distance\": -1")),
        (400, "bad-json", "query", &query(", \"distance\": 4294967296")),
        (400, "bad-json", "query", &query(", \"distance\": 1.5")),
        (400, "bad-json", "query", &query(", \"distance\": 1e99")),
        (400, "bad-json", "query", &query(", \"distance\": \"3\"")),
        (400, "bad-json", "pages", "{\"remember\": \"some\", \"pages\": []}"),
        (400, "bad-json", "pages", &page("\"texts\": \"b\"")),
        (400, "bad-json", "pages", &named("1e30")),
        (400, "bad-json", "pages", &named("18446744073709551616")),
        (400, "bad-json", "pages", &named("null")),
        (400, "bad-json", "commit", "{\"day\": 20261122}"),
        (400, "bad-request", "query", "{}"),
        (400, "bad-request", "query", "{\"fingerprints\": [], \"pages\": []}"),
        (400, "bad-request", "query", &query(", \"distance\": 8")),
        (400, "bad-request", "query", &query(", \"distance\": 4294967295")),
        (400, "bad-request", "query", "{\"fingerprints\": [\"0xg\"]}"),
        (400, "bad-request", "query", "{\"fingerprints\": [\"0x\"]}"),
        (400, "bad-request", "query", "{\"fingerprints\": [\"-1\"]}"),
        (400, "bad-request", "query", "{\"fingerprints\": [\"10000000000000000\"]}"),
        (400, "bad-request", "commit", "{\"day\": \"today\"}"),
        (400, "bad-request", "commit", "{\"day\": \"2026-02-30\"}"),
        (422, "bad-page", "pages", &named("\"\"")),
        (422, "bad-page", "pages", &named("\"a\\tb\"")),
        (422, "bad-page", "pages", &named("\"a\\nb\"")),
        (422, "bad-page", "pages", &named("\"a\\u0000b\"")),
        (422, "bad-page", "pages", &page("\"text\": \"b\", \"time\": \"soon\"")),
        (422, "bad-page", "query", &page("\"text\": \"b\", \"fingerprint\": \"1\"")),
        (422, "bad-page", "query", "{\"pages\": [{\"id\": \"a\"}]}"),
        (422, "bad-page", "pages", &page("\"fingerprint\": \"0x1\"")),
    ];
    let cases = cases.map(|(status, kind, path, body)| (status, kind, path, body.as_bytes()));
    for (status, kind, path, body) in
        cases.into_iter().chain(no_text.map(|body| (400, "bad-json", "query", body)))
    {
        let path = format!("/v1/{path}");
        let plain = head(&path, &format!("Content-Length: {}\r\n\r\n", body.len()));
        served.refuses(status, kind, &[plain.as_bytes(), body].concat());
        let chunks = head(&path, "Transfer-Encoding: chunked\r\n\r\n");
        served.refuses(status, kind, &[chunks.as_bytes(), &chunked(body)].concat());
    }
    let slow = "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{";
    let reply = exchange(&served.address, slow.as_bytes()).unwrap();
    assert_eq!((reply.status, &*reply.problem()), (408, "timed-out"));
    let many: String = (0..200).map(|number| format!("X-{number}: a\r\n")).collect();
    let wide = format!("X: {}\r\n", "a".repeat(300_000));
    for odd in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"GET / ".repeat(30_000),
        request("GET", "/healthz", &many, ""),
        request("GET", "/healthz", &wide, ""),
        request("GET", "/healthz", "Content-Length: 7\r\n", ""),
        request("POST", "/v1/query", "Content-Length: -1\r\n", "{}"),
        b"POST /v1/query HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"GET /healthz HTTP/1.1\r\nA\0: b\r\n\r\n".to_vec(),
    ] {
        if let Ok(reply) = exchange(&served.address, &odd) {
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

#[test]
fn changed_bodies_are_answered_or_refused_and_never_hurt_the_service() {
    let (_bench, served) = Served::fresh("--preset balanced");
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
