//! `serve`: answers over HTTP against the definition, verdicts and days against `dedup` and `store add`, problems of
//! every kind, limits, the drain, and kills under load.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Bench, Ended, Running, free_address};

/// How long the service may take to answer anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service that runs.
struct Served {
    running: Running,
    address: String,
}

/// An answer.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The last part of the type of a problem document, which must be whole.
    fn problem(&self) -> String {
        let problem = self.json();
        assert!(self.head.contains("application/problem+json"), "{self:?}");
        assert_eq!(problem["status"], self.status, "{self:?}");
        assert!(problem["title"].is_string() && problem["detail"].is_string());
        let kind = problem["type"].as_str().unwrap().strip_prefix("urn:dupsieve:problem:");
        kind.unwrap().to_owned()
    }
}

/// Sends `bytes` and reads the answer, after which the service closes the connection.
fn exchange(address: &str, bytes: &[u8]) -> std::io::Result<Reply> {
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

/// A request as it is sent.
fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: store\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

const JSON: &str = "Content-Type: application/json\r\n";

fn post(address: &str, path: &str, body: &Value) -> std::io::Result<Reply> {
    exchange(address, &request("POST", path, JSON, &body.to_string()))
}

impl Served {
    /// Starts the service and waits until its store is open.
    fn start(bench: &Bench, flags: &str) -> Served {
        let address = free_address();
        let running = bench.start(&format!("serve --store store --listen {address} {flags}"));
        let mut served = Served { running, address };
        let late = Instant::now() + PATIENCE;
        while !served.get("/readyz").is_ok_and(|reply| reply.status == 200) {
            assert!(served.running.is_running(), "it ended: {:?}", served.running.end());
            assert!(Instant::now() < late, "the store is not open");
            thread::sleep(Duration::from_millis(5));
        }
        served
    }

    fn get(&self, path: &str) -> std::io::Result<Reply> {
        exchange(&self.address, &request("GET", path, "", ""))
    }

    /// Posts JSON, which must succeed.
    fn post(&self, path: &str, body: Value) -> Value {
        let reply = post(&self.address, path, &body).unwrap();
        assert_eq!(reply.status, 200, "{body}: {reply:?}");
        reply.json()
    }

    fn end(self) -> Ended {
        self.running.signal(Signal::TERM);
        self.running.end()
    }
}

/// Fingerprints made elsewhere, some near each other: id and bits.
fn prints(day: u64, count: u64) -> Vec<(String, u128)> {
    let bits = |number: u64| {
        let centre = (number % (count / 3 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        u128::from(centre ^ (1 << ((number * 7 + day) % 64)) ^ (1 << (number % 64)))
    };
    (0..count).map(|number| (format!("{day}/{number}"), bits(number))).collect()
}

/// The near pages of an answer.
fn near(answer: &Value) -> Vec<(u64, String, Option<String>)> {
    let pages = answer["near"].as_array().unwrap().iter();
    pages
        .map(|page| {
            let day = page["day"].as_str().map(str::to_owned);
            (page["distance"].as_u64().unwrap(), page["id"].as_str().unwrap().to_owned(), day)
        })
        .collect()
}

#[test]
fn fingerprints_get_the_answers_of_the_definition_from_store_and_journal() {
    let bench = Bench::new();
    bench.done("store init store");
    let mut held: Vec<(String, u128, Option<String>)> = Vec::new();
    for day in 1..=3 {
        let pages = prints(day, 90);
        bench.segment(&format!("{day}"), 64, &pages);
        let date = format!("2026-11-0{day}");
        bench.done(&format!("store add store --segment {day}.seg --day {date}"));
        held.extend(pages.into_iter().map(|(id, bits)| (id, bits, Some(date.clone()))));
    }
    let served = Served::start(&bench, "--limit 1000");
    let asked = prints(9, 60);
    let hex: Vec<String> = asked.iter().map(|(_, bits)| format!("{bits:#018x}")).collect();
    let printed = bench.answer(&format!("query --store store --fingerprint {}", hex.join(" ")));
    let answers = served.post("/v1/query", json!({ "fingerprints": hex }))["answers"].clone();
    for (line, answer) in printed.lines().zip(answers.as_array().unwrap()) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line.as_object_mut().unwrap().remove("store_version"), Some(json!(4)));
        assert_eq!(&line, answer, "the same as `query` prints");
    }
    let journal = prints(4, 50);
    let pages: Vec<Value> = journal
        .iter()
        .map(|(id, bits)| json!({ "id": id, "fingerprint": format!("{bits:x}") }))
        .collect();
    served.post("/v1/pages", json!({ "remember": "all", "pages": pages }));
    held.extend(journal.into_iter().map(|(id, bits)| (id, bits, None)));
    for distance in 0..=7 {
        let body = json!({ "distance": distance, "fingerprints": hex });
        let told = served.post("/v1/query", body);
        assert_eq!(told["store_version"], 4);
        let answers = told["answers"].as_array().unwrap();
        assert_eq!(answers.len(), asked.len());
        for (((_, bits), hex), answer) in asked.iter().zip(&hex).zip(answers) {
            let mut expected: Vec<_> = held
                .iter()
                .map(|(id, other, day)| {
                    (u64::from((bits ^ other).count_ones()), id.clone(), day.clone())
                })
                .filter(|(apart, ..)| *apart <= distance)
                .collect();
            expected.sort();
            assert_eq!(near(answer), expected, "{distance}");
            assert_eq!(answer["id"], *hex);
            assert_eq!(answer["verdict"], if expected.is_empty() { "keep" } else { "drop" });
        }
    }
    assert_eq!(served.end().code, 0);
}

/// The verdict of each id, in `verdicts.tsv`.
fn verdicts(bench: &Bench, output: &str) -> BTreeMap<String, String> {
    let lines = bench.read(&format!("{output}/verdicts.tsv"));
    let columns = lines.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    columns.map(|columns| (columns[0].to_owned(), columns[1].to_owned())).collect()
}

#[test]
fn days_of_texts_are_judged_as_dedup_does_and_become_the_same_segments() {
    let bench = Bench::new();
    bench.done("store init other");
    bench.done("store init store");
    let served = Served::start(&bench, "");
    for day in 1..=3 {
        let date = format!("2026-11-0{day}");
        bench.write("day.jsonl", bench.documents(120 * day, 120 * day + 160));
        bench.done(&format!("fingerprint --input day.jsonl --output {day}.seg"));
        bench.done(&format!(
            "dedup --batch {day}.seg --store other --output found-{day} --keep first-id"
        ));
        bench.done(&format!(
            "store add other --segment {day}.seg --day {date} --only found-{day}/keep.txt"
        ));
        let verdicts = verdicts(&bench, &format!("found-{day}"));
        let lines = bench.read("day.jsonl");
        let mut pages: Vec<Value> = lines
            .lines()
            .map(|line| {
                let page: Value = serde_json::from_str(line).unwrap();
                json!({ "id": page["id"], "text": page["text"] })
            })
            .collect();
        pages.sort_by_key(|page| page["id"].as_str().unwrap().to_owned());
        for some in pages.chunks(30) {
            let told = served.post("/v1/pages", json!({ "pages": some }));
            for (page, answer) in some.iter().zip(told["answers"].as_array().unwrap()) {
                assert_eq!(answer["id"], page["id"]);
                assert_eq!(answer["verdict"], verdicts[page["id"].as_str().unwrap()], "{answer}");
            }
        }
        let told = served.post("/v1/commit", json!({ "day": date }));
        assert_eq!((&told["store_version"], &told["already"]), (&json!(day + 1), &json!(false)));
        let again = served.post("/v1/commit", json!({ "day": date }));
        assert_eq!((&again["rows"], &again["already"]), (&told["rows"], &json!(true)));
    }
    bench.write("asked.jsonl", bench.documents(100, 500));
    let printed = bench.answer("query --store store --input asked.jsonl");
    let asked: Vec<Value> = bench
        .read("asked.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|page| json!({ "id": page["id"], "text": page["text"] }))
        .collect();
    let told = served.post("/v1/query", json!({ "pages": asked }));
    for (line, answer) in printed.lines().zip(told["answers"].as_array().unwrap()) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line.as_object_mut().unwrap().remove("store_version"), Some(json!(4)));
        assert_eq!(&line, answer, "the same as `query` prints");
    }
    let days = |store: &str| {
        let listed: Value =
            serde_json::from_str(&bench.answer(&format!("store list {store} --json"))).unwrap();
        let days = listed["days"].as_array().unwrap().clone().into_iter();
        // A segment also says what it was made from, so the bytes of the files differ.
        let contents =
            days.map(|day| (day["day"].clone(), day["rows"].clone(), day["digest"].clone()));
        contents.collect::<Vec<_>>()
    };
    assert_eq!(days("store"), days("other"), "the same rows in the same bytes");
    let status = served.get("/v1/status").unwrap().json();
    assert_eq!((&status["days"], &status["journal_pages"]), (&json!(3), &json!(0)));
    bench.done("store verify store");
    assert_eq!(served.end().code, 0);
}

#[test]
fn a_version_that_another_command_makes_is_taken_up() {
    let bench = Bench::new();
    bench.done("store init store");
    bench.segment("one", 64, &[("one".to_owned(), 0xff)]);
    bench.done("store add store --segment one.seg --day 2026-11-01");
    let served = Served::start(&bench, "");
    let page = json!({ "id": "ours", "fingerprint": "0xf0f" });
    served.post("/v1/pages", json!({ "pages": [page] }));
    bench.segment("two", 64, &[("two".to_owned(), 0xf0e)]);
    bench.done("store add store --segment two.seg --day 2026-11-02");
    let late = Instant::now() + PATIENCE;
    let told = loop {
        let told = served.post("/v1/query", json!({ "fingerprints": ["0xf0f"] }));
        if told["store_version"] == 3 {
            break told;
        }
        assert!(Instant::now() < late, "the version is not taken up");
        thread::sleep(Duration::from_millis(20));
    };
    let expected =
        [(0, "ours".to_owned(), None), (1, "two".to_owned(), Some("2026-11-02".to_owned()))];
    assert_eq!(near(&told["answers"][0]), expected);
    bench.done("store compact store");
    served.post("/v1/commit", json!({ "day": "2026-11-03" }));
    let told = served.post("/v1/query", json!({ "fingerprints": ["0xf0f"] }));
    assert_eq!(near(&told["answers"][0])[0].2.as_deref(), Some("2026-11-03"));
    bench.write("gone.txt", "one\n");
    bench.done("store remove store --ids gone.txt");
    let late = Instant::now() + PATIENCE;
    let asked = json!({ "distance": 0, "fingerprints": ["0xff"] });
    while !near(&served.post("/v1/query", asked.clone())["answers"][0]).is_empty() {
        assert!(Instant::now() < late, "a removed page still is an answer");
        thread::sleep(Duration::from_millis(20));
    }
    let refused = post(&served.address, "/v1/commit", &json!({ "day": "2026-11-32" })).unwrap();
    assert_eq!(refused.problem(), "bad-request");
    served.post("/v1/pages", json!({ "pages": [{ "id": "next", "fingerprint": "0xff00ff" }] }));
    let refused = post(&served.address, "/v1/commit", &json!({ "day": "2026-11-02" })).unwrap();
    assert_eq!((refused.status, refused.problem()), (409, "conflict".to_owned()));
    assert_eq!(served.end().code, 0);
}

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
    let slow = "POST /v1/query HTTP/1.1\r\nHost: store\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{";
    let reply = exchange(&served.address, slow.as_bytes()).unwrap();
    assert_eq!((reply.status, &*reply.problem()), (408, "timed-out"));
    for garbage in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", &"GET / ".repeat(30_000)] {
        if let Ok(reply) = exchange(&served.address, garbage.as_bytes()) {
            assert!((400..500).contains(&reply.status), "{reply:?}");
        }
    }
    let told = served
        .post("/v1/pages", json!({ "pages": [{ "id": 7, "text": "a page of words", "time": 5 }] }));
    assert_eq!(told["answers"][0], json!({ "id": "7", "near": [], "verdict": "keep" }));
    assert_eq!(served.end().code, 0);
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
    let mut served = Served::start(&bench, "--preset balanced");
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
                "POST {path} HTTP/1.1\r\nHost: store\r\nConnection: close\r\n{JSON}Content-Length: {}\r\n\r\n",
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
    let until = |status: u16, kind: &str| {
        let late = Instant::now() + PATIENCE;
        loop {
            match served.get("/v1/status") {
                Ok(reply) if reply.status == status => {
                    assert!(status == 200 || reply.problem() == kind, "{reply:?}");
                    assert!(status == 200 || reply.head.to_lowercase().contains("retry-after: "));
                    return;
                }
                _ => assert!(Instant::now() < late, "no {status} comes"),
            }
            thread::sleep(Duration::from_millis(10));
        }
    };
    let two = open(2);
    until(503, "overloaded");
    drop(two);
    until(200, "");
    let four = open(4);
    until(503, "overloaded");
    // Silent clients are given up.
    until(200, "");
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

/// The schema that `name` refers to, or `schema` itself.
fn resolved<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(path) => {
            resolved(api, api.pointer(path.trim_start_matches('#')).expect("it is defined"))
        }
        None => schema,
    }
}

/// Fails unless `value` is as `schema` says, and has nothing else in it.
fn conforms(api: &Value, schema: &Value, value: &Value) {
    let schema = resolved(api, schema);
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(some) => some.iter().filter_map(Value::as_str).collect(),
        _ => panic!("no type in {schema}"),
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert!(types.contains(&found), "{value} is no {types:?}");
    for item in value.as_array().into_iter().flatten() {
        conforms(api, &schema["items"], item);
    }
    if let Value::Object(parts) = value {
        for (name, part) in parts {
            conforms(api, &schema["properties"][name], part);
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(parts.contains_key(name.as_str().unwrap()), "{name} is not in {value}");
        }
    }
}

#[test]
fn the_description_fits_the_answers_and_the_metrics_count() {
    let bench = Bench::new();
    bench.done("store init store");
    let served = Served::start(&bench, "--preset paper");
    let api = served.get("/openapi.json").unwrap().json();
    let body = |path: &str, method: &str, status: &str, kind: &str| {
        let response = &api["paths"][path][method]["responses"][status];
        response["content"][kind]["schema"].clone()
    };
    let page = |id: &str| json!({ "id": id, "text": "one and the same page" });
    for (path, request) in [
        ("/v1/pages", json!({ "pages": [page("a"), page("b")] })),
        ("/v1/query", json!({ "pages": [page("c")] })),
        ("/v1/commit", json!({ "day": "2026-11-22" })),
        ("/v1/query", json!({ "fingerprints": ["0x1"] })),
    ] {
        let schema = body(path, "post", "200", "application/json");
        conforms(&api, &schema, &served.post(path, request));
        let problem = post(&served.address, path, &json!({ "no": "such field" })).unwrap();
        let schema = body(path, "post", "default", "application/json");
        conforms(&api, &schema, &problem.json());
    }
    let schema = body("/v1/status", "get", "200", "application/json");
    conforms(&api, &schema, &served.get("/v1/status").unwrap().json());
    let paths: BTreeSet<&str> =
        api["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let known = [
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/readyz",
        "/v1/commit",
        "/v1/pages",
        "/v1/query",
        "/v1/status",
    ];
    assert!(paths.into_iter().eq(known));
    let metrics = served.get("/metrics").unwrap().body;
    for line in [
        "dupsieve_requests_total{path=\"/v1/query\",status=\"200\"} 2",
        "dupsieve_requests_total{path=\"/v1/query\",status=\"400\"} 2",
        "dupsieve_asked_total 2",
        "dupsieve_remembered_total 2",
        "dupsieve_commits_total 1",
        "dupsieve_store_version 2",
        "dupsieve_store_rows 1",
        "dupsieve_journal_pages 0",
        "dupsieve_request_seconds_count{path=\"/v1/commit\"} 2",
    ] {
        assert!(metrics.lines().any(|it| it == line), "no {line} in {metrics}");
    }
    assert_eq!(served.end().code, 0);
}

/// What clients were told and what they have sent, over several lives of the service.
#[derive(Default)]
struct Ledger {
    next: AtomicU64,
    acknowledged: Mutex<Vec<u64>>,
}

/// The fingerprint of a page; those of any two are far apart.
fn bits(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Ledger {
    /// Sends pages until the service is gone.
    fn send(&self, address: &str, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(3, Ordering::Relaxed);
            let pages = (first..first + 3).map(
                |number| json!({ "id": number, "fingerprint": format!("{:x}", bits(number)) }),
            );
            let pages: Vec<Value> = pages.collect();
            let Ok(reply) =
                post(address, "/v1/pages", &json!({ "remember": "all", "pages": pages }))
            else {
                continue;
            };
            assert_eq!(reply.status, 200, "{reply:?}");
            self.acknowledged.lock().unwrap().extend(first..first + 3);
        }
    }

    /// Checks that the service has all that was acknowledged, each page once and as it was sent.
    fn check(&self, served: &Served) {
        let sent = self.next.load(Ordering::Relaxed);
        let acknowledged: BTreeSet<u64> =
            self.acknowledged.lock().unwrap().iter().copied().collect();
        let all: Vec<u64> = (0..sent).collect();
        let mut found = 0;
        for some in all.chunks(500) {
            let hex: Vec<String> =
                some.iter().map(|&number| format!("{:x}", bits(number))).collect();
            let told = served.post("/v1/query", json!({ "distance": 0, "fingerprints": hex }));
            for (number, answer) in some.iter().zip(told["answers"].as_array().unwrap()) {
                let near = near(answer);
                found += near.len() as u64;
                assert!(
                    near.len() <= 1 && near.iter().all(|it| it.1 == number.to_string()),
                    "{answer}"
                );
                assert!(!near.is_empty() || !acknowledged.contains(number), "{number} is lost");
            }
        }
        let status = served.get("/v1/status").unwrap().json();
        let held = status["rows"].as_u64().unwrap() + status["journal_pages"].as_u64().unwrap();
        assert_eq!(held, found, "none is invented");
    }
}

#[test]
fn after_kills_under_load_no_acknowledged_page_is_lost_and_none_invented() {
    let bench = Bench::new();
    bench.done("store init store");
    let ledger = Arc::new(Ledger::default());
    for life in 0..20 {
        let served = Served::start(&bench, "--recipe external-64 --distance 3");
        ledger.check(&served);
        let is_over = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..3)
            .map(|_| {
                let (ledger, is_over) = (Arc::clone(&ledger), Arc::clone(&is_over));
                let address = served.address.clone();
                thread::spawn(move || ledger.send(&address, &is_over))
            })
            .collect();
        thread::sleep(Duration::from_millis(20 + 13 * life));
        let committing = (life % 3 == 1).then(|| {
            let address = served.address.clone();
            let day = format!("2026-11-{:02}", life + 1);
            thread::spawn(move || drop(post(&address, "/v1/commit", &json!({ "day": day }))))
        });
        thread::sleep(Duration::from_millis(life * 3 % 17));
        served.running.signal(Signal::KILL);
        is_over.store(true, Ordering::Relaxed);
        clients.into_iter().chain(committing).for_each(|client| client.join().unwrap());
        served.running.end();
    }
    let served = Served::start(&bench, "--recipe external-64 --distance 3");
    ledger.check(&served);
    assert!(!ledger.acknowledged.lock().unwrap().is_empty());
    served.post("/v1/commit", json!({ "day": "2026-12-01" }));
    ledger.check(&served);
    bench.done("store verify store");
    assert_eq!(served.end().code, 0);
}
