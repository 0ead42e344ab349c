//! Events of OpenLineage: a start and one end for each run, with what was read and written.

use rustix::process::Signal;
use serde_json::Value;

use crate::faults::{at_work, long_job};
use crate::support::{Bench, Running};

/// A day of pages, and a configuration for it.
fn day() -> Bench {
    let bench = Bench::new();
    bench.write("in/2026-01-01.jsonl", bench.documents(0, 30));
    bench.write(
        "day.toml",
        "inputs = ['in/{date}.jsonl']\noutput = 'out/{date}'\nstore = 'store'\n\
         dates = ['2026-01-01']\npreset = 'paper'\n",
    );
    bench
}

/// The events, each of which must have what every event has.
fn events(bench: &Bench) -> Vec<Value> {
    let text = bench.read("events.jsonl");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        let schema = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
        assert_eq!(event["schemaURL"], schema);
        assert_eq!(event["run"]["runId"].as_str().unwrap().len(), 36);
        assert!(event["eventTime"].as_str().unwrap().ends_with('Z'), "{event}");
        assert!(event["producer"].as_str().unwrap().starts_with("urn:dupsieve:"));
        check_facets(event);
    }
    events
}

/// Every facet must say who made it and where it is specified.
fn check_facets(value: &Value) {
    let Some(members) = value.as_object() else {
        value.as_array().into_iter().flatten().for_each(check_facets);
        return;
    };
    for (name, member) in members {
        check_facets(member);
        if name.to_lowercase().ends_with("facets") {
            for facet in member.as_object().unwrap().values() {
                assert!(
                    facet["_producer"].is_string() && facet["_schemaURL"].is_string(),
                    "{facet}"
                );
            }
        }
    }
}

/// The kinds of the events, and the run they are of, which must be one.
fn run(events: &[Value]) -> (Vec<&str>, &str) {
    let ids: Vec<&str> = events.iter().map(|it| it["run"]["runId"].as_str().unwrap()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    (events.iter().map(|event| event["eventType"].as_str().unwrap()).collect(), ids[0])
}

/// The dataset whose name ends so.
fn named<'a>(datasets: &'a Value, end: &str) -> &'a Value {
    let mut all = datasets.as_array().unwrap().iter();
    let found = all.find(|it| it["name"].as_str().unwrap().ends_with(end));
    found.unwrap_or_else(|| panic!("no {end} in {datasets:#}"))
}

#[test]
fn a_day_tells_what_it_read_and_wrote() {
    let bench = day();
    let mut command = bench.command("run day.toml --lineage events.jsonl --processes 2");
    let parent = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000";
    command.env("OPENLINEAGE_PARENT_ID", format!("prod/dag.task/{parent}"));
    let ended = Running::start(command).end();
    assert_eq!(ended.code, 0, "{ended:?}");
    let events = events(&bench);
    assert_eq!(run(&events).0, ["START", "COMPLETE"]);
    let end = &events[1];
    assert_eq!(
        (&end["job"]["namespace"], &end["job"]["name"]),
        (&"dupsieve".into(), &"run.day".into())
    );
    assert_eq!(end["run"]["facets"]["parent"]["run"]["runId"], parent);
    assert_eq!(end["run"]["facets"]["parent"]["job"]["name"], "dag.task");
    let input = named(&end["inputs"], "in/2026-01-01.jsonl");
    assert_eq!(input["namespace"], "file");
    named(&end["outputs"], "/store");
    let verdicts = named(&end["outputs"], "out/2026-01-01/dedup/verdicts.tsv");
    let fields = &verdicts["facets"]["schema"]["fields"];
    assert_eq!((&fields[0]["name"], &fields[3]["type"]), (&"id".into(), &"integer".into()));
    let statistics = &verdicts["outputFacets"]["outputStatistics"];
    let table = bench.read("out/2026-01-01/dedup/verdicts.tsv");
    assert_eq!(statistics["rowCount"], table.lines().count() - 1);
    assert_eq!(statistics["size"], table.len());
    assert!(verdicts["facets"]["dataSource"]["uri"].as_str().unwrap().starts_with("file:///"));
}

#[test]
fn a_failure_says_why_and_a_signal_aborts() {
    let bench = day();
    bench.write("in/2026-01-01.jsonl", "no record\n");
    let error = bench.run("run day.toml --lineage events.jsonl").summary()["error"].clone();
    let failed = events(&bench);
    assert_eq!(run(&failed).0, ["START", "FAIL"]);
    assert_eq!(failed[1]["run"]["facets"]["errorMessage"]["message"], error);

    let bench = Bench::new();
    let line = format!("{} --lineage events.jsonl", long_job(&bench));
    let job = at_work(&bench, "out", || {
        let _ = std::fs::remove_file(bench.path("events.jsonl"));
        bench.start(&line)
    });
    job.signal(Signal::TERM);
    assert_eq!(job.end().code, 75);
    assert_eq!(run(&events(&bench)).0, ["START", "ABORT"]);
}

#[test]
fn a_place_where_no_event_can_go_is_refused_before_any_work() {
    let bench = day();
    bench.fails(66, "run day.toml --lineage no/such/folder/events.jsonl");
    let told = bench.fails(2, "run day.toml --lineage env");
    assert!(told.contains("OPENLINEAGE_URL"), "{told}");
    assert!(!bench.path("out").exists());
}

#[cfg(not(feature = "object-store"))]
#[test]
fn a_build_without_http_names_the_feature() {
    let told = day().fails(2, "run day.toml --lineage http://127.0.0.1:1");
    assert!(told.contains("`object-store`"), "{told}");
}

/// Answers requests at an address of its own with `status`; returns the bodies once there were so many.
#[cfg(feature = "object-store")]
fn catalogue(status: &str, requests: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let serve = move || {
        let body = |_| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let head: Vec<String> = (&mut reader)
                .lines()
                .map(|line| line.unwrap().to_lowercase())
                .take_while(|line| !line.is_empty())
                .collect();
            assert!(head[0].starts_with("post /api/v1/lineage "), "{head:?}");
            let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(body).unwrap()
        };
        (0..requests).map(body).collect()
    };
    (address, std::thread::spawn(serve))
}

#[cfg(feature = "object-store")]
#[test]
fn a_catalogue_gets_the_events_and_its_failure_fails_no_job() {
    for status in ["201 Created", "500 Internal Server Error"] {
        let bench = day();
        let (address, served) = catalogue(status, 2);
        let ended = bench.done(&format!("run day.toml --lineage http://{address}"));
        assert_eq!(ended.stderr.contains("WARN"), status.starts_with('5'), "{ended:?}");
        bench.write("events.jsonl", served.join().unwrap().join("\n"));
        assert_eq!(run(&events(&bench)).0, ["START", "COMPLETE"]);
    }
    let nobody = format!("http://{}", crate::support::free_address());
    let ended = day().done(&format!("run day.toml --lineage {nobody}"));
    assert!(ended.stderr.contains("the end of the job could not be told"), "{ended:?}");
}
