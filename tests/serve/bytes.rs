//! Requests byte by byte: chunks, codings, pipelines and what ends in the middle.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::json;

use super::client::{JSON, PATIENCE, Served, exchange, head, request, until};
use super::requests::chunked;

#[test]
fn chunks_and_codings_are_taken_or_refused() {
    let (_bench, served) = Served::fresh("--recipe external-64 --max-body 1000 --max-time 2");
    let body = b"{\"fingerprints\": [\"1\", \"2\"]}";
    let chunks = |head: String, body: &[u8]| [head.as_bytes(), body].concat();
    let in_chunks = || head("/v1/query", "Transfer-Encoding: chunked\r\n\r\n");
    let reply = exchange(&served.address, &chunks(in_chunks(), &chunked(body))).unwrap();
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.json()["answers"].as_array().unwrap().len(), 2);
    let long = chunked(&b" ".repeat(2000));
    served.refuses(413, "too-large", &chunks(in_chunks(), &long));
    served.refuses(400, "bad-request", &chunks(in_chunks(), b"zz\r\n"));
    for coding in ["gzip", "br", "identity, gzip"] {
        let coded = format!("Content-Encoding: {coding}\r\n");
        let sent = request("POST", "/v1/query", &format!("{JSON}{coded}"), "{}");
        let reply = exchange(&served.address, &sent).unwrap();
        assert_eq!((reply.status, &*reply.problem()), (415, "unsupported-media-type"));
        assert!(reply.body.contains("Content-Encoding"), "{reply:?}");
    }
    let text = String::from_utf8_lossy(body);
    let identity = format!("{JSON}Content-Encoding: identity\r\n");
    let reply = exchange(&served.address, &request("POST", "/v1/query", &identity, &text)).unwrap();
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(served.get("/v1/status").unwrap().status, 200);
    assert_eq!(served.end().code, 0);
}

#[test]
fn pipelined_requests_are_answered_in_order_and_halves_are_given_up() {
    let (_bench, served) = Served::fresh("--recipe external-64 --max-time 1");
    let ask = |bits: &str, headers: &str| {
        let body = json!({ "fingerprints": [bits] }).to_string();
        let length = body.len();
        format!(
            "POST /v1/query HTTP/1.1\r\nHost: localhost\r\n{JSON}{headers}Content-Length: {length}\r\n\r\n{body}"
        )
    };
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let all = ["1", "2", "x", "4"].map(|bits| ask(bits, "")).concat()
        + &ask("5", "Connection: close\r\n");
    stream.write_all(all.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let statuses: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|it| &it[..3]).collect();
    assert_eq!(statuses, ["200", "200", "400", "200", "200"]);
    let places: Vec<_> =
        ["1", "2", "4", "5"].map(|id| text.find(&format!("\"id\":\"{id}\""))).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    let whole =
        String::from_utf8(request("POST", "/v1/query", JSON, "{\"fingerprints\": [\"1\"]}"))
            .unwrap();
    for cut in [1, 20, whole.find("\r\n\r\n").unwrap() + 2, whole.len() - 3] {
        for is_shut in [true, false] {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.write_all(&whole.as_bytes()[..cut]).unwrap();
            if is_shut {
                stream.shutdown(Shutdown::Write).unwrap();
            }
            let mut told = String::new();
            // The service ends the connection, with an answer or without.
            let _ = stream.read_to_string(&mut told);
            assert!(told.is_empty() || told.starts_with("HTTP/1.1 4"), "{told}");
        }
    }
    until("no connection is left but the one that asks", || {
        let metrics = served.get("/metrics").unwrap().body;
        metrics.lines().any(|line| line == "dupsieve_connections 1")
    });
    assert_eq!(served.end().code, 0);
}
