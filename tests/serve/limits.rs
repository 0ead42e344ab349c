//! What bounds the memory: bodies and answers together, an answer, and clients that take one slowly.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use serde_json::json;

use super::client::{JSON, PATIENCE, Served, exchange, head, near, post, request, until};

#[test]
fn bodies_and_answers_share_a_bounded_memory() {
    let limits = "--max-in-flight 128KiB --max-body 64KiB --max-answer 100KiB --max-time 600";
    let (bench, served) = Served::fresh(&format!("--recipe external-64 {limits}"));
    let small = request("POST", "/v1/query", JSON, "{\"fingerprints\": [\"1\"]}");
    let is_full = || {
        let reply = exchange(&served.address, &small).unwrap();
        let is_full = reply.status == 503;
        if is_full {
            assert_eq!(reply.problem(), "overloaded");
            assert!(reply.head.to_lowercase().contains("retry-after: "), "{reply:?}");
        }
        is_full
    };
    // What is only announced takes nothing.
    let announced = head("/v1/query", "Content-Length: 65536\r\n\r\n").into_bytes();
    let idle: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.write_all(&announced).unwrap();
            stream
        })
        .collect();
    until("all are heard", || served.counts("dupsieve_connections 9"));
    assert!(!is_full());
    drop(idle);
    // What has come takes twice its length.
    let announced = [announced, b" ".repeat(0xffff)].concat();
    let chunk = [&b"ffff\r\n"[..], &b" ".repeat(0xffff), b"\r\n"].concat();
    let chunked = head("/v1/query", "Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for begun in [announced, [chunked, chunk].concat()] {
        until("a body takes the memory", || {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            stream.write_all(&begun).unwrap();
            // It may come too early, when the memory of the answer before is not free yet: then another one is sent.
            (0..20).any(|_| is_full())
        });
        until("the memory is free again", || !is_full());
    }
    // So does an answer.
    let id = "a".repeat(30_000);
    let page = json!({ "pages": [{ "id": id, "fingerprint": "1" }] });
    until("a page is taken", || post(&served.address, "/v1/pages", &page).unwrap().status == 200);
    let asked = request("POST", "/v1/query", JSON, "{\"fingerprints\": [\"1\", \"1\", \"1\"]}");
    let reply = exchange(&served.address, &asked).unwrap();
    assert_eq!(
        (reply.status, &*reply.problem()),
        (503, "overloaded"),
        "three times, as it is found and as it is written"
    );
    assert!(!is_full(), "once");
    assert_eq!(served.end().code, 0);
    bench.refuses(
        2,
        "serve --store store --max-in-flight 1KiB",
        &["--max-body is more than half of --max-in-flight"],
    );
}

#[test]
fn an_answer_names_a_bounded_number_of_bytes_and_counts_the_rest() {
    let (_bench, served) = Served::fresh("--recipe external-64 --max-answer 10KiB");
    let page = |number: u64| json!({ "id": format!("{number}{}", "a".repeat(999)), "fingerprint": format!("{:x}", 1_u64 << number) });
    let pages: Vec<_> = (0..30).map(page).collect();
    let told = served.post("/v1/pages", json!({ "remember": "all", "pages": pages }));
    let check = |answers: &serde_json::Value, near_of: &dyn Fn(usize) -> u64| {
        let mut named = 0;
        for (number, answer) in answers.as_array().unwrap().iter().enumerate() {
            let listed = near(answer).len() as u64;
            named += listed;
            assert_eq!(listed + answer["more"].as_u64().unwrap_or(0), near_of(number));
            assert_eq!(answer["verdict"], if near_of(number) == 0 { "keep" } else { "drop" });
        }
        assert!((5..=20).contains(&named), "{named}");
    };
    check(&told["answers"], &|number| number as u64);
    let asked = json!({ "fingerprints": ["1", "2", "4"] });
    check(&served.post("/v1/query", asked.clone())["answers"], &|_| 30);
    served.post("/v1/commit", json!({ "day": "2026-11-21" }));
    check(&served.post("/v1/query", asked)["answers"], &|_| 30);
    assert_eq!(served.end().code, 0);
}

#[test]
fn a_client_that_takes_its_answer_slowly_is_given_up_and_its_memory_is_free() {
    let limits = "--max-in-flight 60MiB --max-answer 25MiB --max-time 5";
    let (_bench, served) = Served::fresh(&format!("--recipe external-64 {limits}"));
    let page = json!({ "id": "a".repeat(50_000), "fingerprint": "1" });
    served.post("/v1/pages", json!({ "pages": [page] }));
    let body = json!({ "fingerprints": vec!["1"; 400] }).to_string();
    let whole = request("POST", "/v1/query", JSON, &body);
    let mut slow = TcpStream::connect(&served.address).unwrap();
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    slow.write_all(&whole).unwrap();
    // It takes a few bytes between two other requests.
    let mut byte = [0; 100];
    while let Ok(1..) = slow.read(&mut byte) {
        if served.counts("dupsieve_connections 1") {
            break;
        }
    }
    until("it is given up", || served.counts("dupsieve_connections 1"));
    let reply = exchange(&served.address, &whole).unwrap();
    assert!(reply.status == 200 && reply.body.len() > 20_000_000, "{}", reply.head);
    assert_eq!(served.end().code, 0);
}

#[test]
fn hostile_bodies_take_no_more_than_is_promised() {
    let (_bench, served) = Served::fresh("--recipe external-64 --max-in-flight 128MiB");
    let bytes = 15 << 20;
    let many = |begin: &str, one: &str, end: &str| {
        let room = bytes - begin.len() - end.len();
        format!("{begin}{}0{end}", one.repeat(room / one.len()))
    };
    let hostile = [
        many("{\"pages\": [{\"id\": [", "0,", "], \"text\": \"\"}]}"),
        many("{\"pages\": [{\"time\": {\"\": [", "[],", "]}, \"text\": \"\"}]}"),
        many("{\"pages\": [", "{\"id\":0},", "]}"),
        many("{\"fingerprints\": [", "\"\",", "]}"),
        many("{\"pages\": [{\"", "\\u0001", "\": 0}]}"),
    ];
    let requests = ["/v1/query", "/v1/pages"]
        .iter()
        .flat_map(|path| hostile.iter().map(move |body| request("POST", path, JSON, body)));
    let requests: Vec<Vec<u8>> = requests.collect();
    thread::scope(|scope| {
        for request in requests.iter().chain(&requests[..4]) {
            let address = &served.address;
            scope.spawn(move || {
                if let Ok(reply) = exchange(address, request) {
                    assert!(matches!(reply.status, 400 | 413 | 503), "{reply:?}");
                    assert!(reply.body.len() < 1000, "{} bytes of problem", reply.body.len());
                }
            });
        }
    });
    let status = fs::read_to_string(format!("/proc/{}/status", served.running.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // The bodies, and what the program itself takes.
    assert!(peak < (128 + 100) << 10, "{peak} kB");
    assert_eq!(served.end().code, 0);
}
