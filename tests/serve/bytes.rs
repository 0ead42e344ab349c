//! Requests byte by byte: chunks, codings, pipelines and what ends in the middle.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::json;

use super::client::{JSON, PATIENCE, Served, exchange, head, request, until};

/// Bytes as chunks of seven bytes each.
fn chunked(body: &[u8]) -> Vec<u8> {
    let chunk = |some: &[u8]| [format!("{:x}\r\n", some.len()).as_bytes(), some, b"\r\n"].concat();
    let chunks: Vec<u8> = body.chunks(7).flat_map(chunk).collect();
    [&chunks[..], b"0\r\n\r\n"].concat()
}

#[test]
fn bodies_that_are_no_json_of_the_path_get_a_problem() {
    let (_bench, served) = Served::fresh("--recipe external-64 --max-body 200000");
    let page = |id: &str| {
        format!("{{\"pages\": [{{\"id\": {id}, \"fingerprint\": \"1\"}}]}}").into_bytes()
    };
    let query = |rest: &str| format!("{{\"fingerprints\": [\"1\"]{rest}}}").into_bytes();
    let cases = [
        (400, "bad-json", "/v1/query", b"{\"fingerprints\": [\"\xff\xfe\"]}".to_vec()),
        (400, "bad-json", "/v1/query", b"\xef\xbb\xbf{\"fingerprints\": []}".to_vec()),
        (400, "bad-json", "/v1/query", b"{\"fingerprints\": [\"\\ud800\"]}".to_vec()),
        (400, "bad-json", "/v1/query", b"{\"fingerprints\": [\"\0\"]}".to_vec()),
        (400, "bad-json", "/v1/query", query("} x")),
        (400, "bad-json", "/v1/query", query(", \"fingerprints\": []")),
        (400, "bad-json", "/v1/query", query(", \"distance\": 4294967296")),
        (400, "bad-json", "/v1/query", query(", \"distance\": 1.5")),
        (400, "bad-json", "/v1/query", query(", \"distance\": 1e99")),
        (400, "bad-json", "/v1/query", query(", \"distance\": \"3\"")),
        (400, "bad-request", "/v1/query", query(", \"distance\": 4294967295")),
        (400, "bad-request", "/v1/query", b"{\"fingerprints\": [\"10000000000000000\"]}".to_vec()),
        (400, "bad-request", "/v1/query", b"{\"fingerprints\": [\"-1\"]}".to_vec()),
        (400, "bad-request", "/v1/query", b"{\"fingerprints\": [\"0x\"]}".to_vec()),
        (400, "bad-json", "/v1/pages", page("1e30")),
        (400, "bad-json", "/v1/pages", page("18446744073709551616")),
        (400, "bad-json", "/v1/pages", page("null")),
        (422, "bad-page", "/v1/pages", page("\"a\\u0000b\"")),
        (422, "bad-page", "/v1/pages", page("\"a\\nb\"")),
        (422, "bad-page", "/v1/pages", page(&format!("\"{}\"", "a".repeat(70_000)))),
        (400, "bad-request", "/v1/commit", b"{\"day\": \"2026-02-30\"}".to_vec()),
        (400, "bad-json", "/v1/commit", b"{\"day\": 20261122}".to_vec()),
    ];
    for (status, kind, path, body) in cases {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let plain = head(path, &format!("Content-Length: {}\r\n\r\n", body.len()));
        served.refuses(status, kind, &[plain.as_bytes(), &body].concat());
        let chunks = head(path, "Transfer-Encoding: chunked\r\n\r\n").into_bytes();
        let reply = exchange(&served.address, &[chunks, chunked(&body)].concat()).unwrap();
        assert_eq!(
            (reply.status, &*reply.problem()),
            (status, kind),
            "in chunks: {shown}: {reply:?}"
        );
    }
    let twice = json!({ "pages": [{ "id": "a", "fingerprint": "1" }, { "id": "a", "fingerprint": "ffff" }] });
    let told = served.post("/v1/pages", twice);
    assert_eq!(
        (&told["answers"][0]["verdict"], &told["answers"][1]["verdict"]),
        (&json!("keep"), &json!("repeated"))
    );
    assert_eq!(served.end().code, 0);
}

#[test]
fn chunks_codings_and_odd_heads_are_taken_or_refused() {
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
    for (status, method, path) in [
        (405, "BREW", "/v1/query"),
        (405, "PUT", "/v1/pages"),
        (405, "OPTIONS", "/v1/commit"),
        (404, "POST", "/v1/query/"),
        (404, "POST", "//v1/query"),
        (404, "POST", "/v1/%00"),
        (404, "POST", "/v1/../etc"),
    ] {
        let reply = exchange(&served.address, &request(method, path, JSON, "{}")).unwrap();
        assert_eq!(reply.status, status, "{method} {path}: {reply:?}");
        assert!(!reply.problem().is_empty());
    }
    let many: String = (0..200).map(|number| format!("X-{number}: a\r\n")).collect();
    let wide = format!("X: {}\r\n", "a".repeat(300_000));
    for odd in [
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
