//! Pages are read from object stores as from local copies of the same files, whatever goes wrong on the way: the result is the
//! same, or the job ends and says why.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Bench, Ended, Running};
use crate::world::{gzip, museum, record};
use server::Server;

mod failures;
mod machines;
mod server;

/// A record of a web archive, packed by itself as crawlers do it.
fn archived(url: &str, page: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    gzip(record("response", url, &format!("{head}<p>{page}</p>")))
}

/// A bench with the files of a crawl in all formats below `crawl`, and a server that has them too.
fn crawl() -> (Bench, Server) {
    let (bench, server) = Server::start();
    bench.write("crawl/part-0.jsonl", bench.documents(0, 60));
    bench.write("crawl/part-1.jsonl.gz", gzip(bench.documents(60, 140)));
    bench.write("crawl/more/rows.csv", "id,text\nc1,\"one, two three\"\nc2,four five six\n");
    let page = |at: usize| format!("page {at} of those with many words, {at} of them");
    bench.write(
        "crawl/a.warc.gz",
        [1, 2].map(|at| archived(&format!("h://{at}"), &page(at))).concat(),
    );
    for at in 3..6 {
        bench.write(&format!("crawl/html/{at}.html"), format!("<html><p>{}</p>", page(at)));
    }
    server.load(&bench, "crawl");
    (bench, server)
}

#[test]
fn pages_come_out_as_from_local_copies() {
    let (bench, server) = crawl();
    bench.same("crawl", "s3://b/crawl", "");
    let faults = json!([
        {"do": "status", "status": 429, "retry_after": 1, "times": 1},
        {"do": "status", "status": 503, "every": 7},
        {"do": "status", "status": 500, "method": "GET", "every": 8},
        {"do": "reset", "every": 11},
        {"do": "cut", "method": "GET", "path": "crawl/", "every": 5},
        {"do": "short", "method": "GET", "path": "crawl/", "every": 6},
        {"do": "long", "method": "GET", "path": "crawl/", "every": 9},
        {"do": "delay", "seconds": 0.1, "every": 10},
    ]);
    server.faults(&faults);
    bench.gives("s3://b/crawl/", "--workers 2");
    server.faults(&json!([]));
    for one in ["crawl/part-1.jsonl.gz", "crawl/a.warc.gz", "crawl/more/rows.csv"] {
        bench.same(one, &format!("s3://b/{one}"), "");
    }
    bench.same("crawl/part-?.*", "s3://b/crawl/part-?.*", "");
    bench.same("crawl/**/*.csv", "s3://b/crawl/**/*.csv", "");
    let web = format!("http://127.0.0.1:{}/b/crawl/part-0.jsonl", server.port);
    bench.same("crawl/part-0.jsonl", &web, "");
    // A signed address answers no HEAD.
    server.faults(&json!([{"do": "expired", "method": "HEAD"}]));
    bench.same("crawl/part-0.jsonl", &format!("{web}?X-Amz-Signature=5ec2e7/a&x"), "");
    bench.write("none.jsonl", "");
    server.put("/b/none.jsonl", "");
    let none = format!("http://127.0.0.1:{}/b/none.jsonl?X-Amz-Signature=5ec2e7", server.port);
    bench.same("none.jsonl", &none, "");
    let ended = bench.done(&format!("init --input {web}?X-Amz-Signature=5ec2e7/a&x"));
    let proposed = bench.read("dupsieve.toml");
    assert!(ended.stderr.contains("/b/crawl/part-0.jsonl"), "{ended:?}");
    assert!(!(proposed + &ended.stdout + &ended.stderr).contains("5ec2e7"));
    bench.write("wrong.toml", format!("input = [\"{web}?X-Amz-Signature=5ec2e7\"]\n"));
    let said = bench.fails(78, "run wrong.toml");
    assert!(said.contains("part-0.jsonl") && !said.contains("5ec2e7"), "{said}");
    server.faults(&json!([{"do": "expired"}]));
    let line = format!("fingerprint --input {web}?X-Amz-Signature=5ec2e7 --output r.seg");
    let said = bench.fails(77, &line);
    assert!(
        said.contains("/b/crawl/part-0.jsonl: the object") && !said.contains("5ec2e7"),
        "{said}"
    );
    server.faults(&json!([]));
    let file = format!("file://{}", bench.path("crawl/part-0.jsonl").display());
    bench.same("crawl/part-0.jsonl", &file, "");
}

#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_come_out_as_from_local_copies() {
    let (bench, server) = Server::start();
    for name in ["duckdb", "polars", "pyarrow"] {
        let path = museum(&format!("parquet/{name}.parquet"));
        bench.write(&format!("rows/{name}.parquet"), bench.bytes(&path));
    }
    server.load(&bench, "rows");
    server.faults(&json!([{"do": "cut", "method": "GET", "every": 4}]));
    bench.write("ids.txt", "a\nb\n");
    for name in ["duckdb", "polars", "pyarrow"] {
        let file = format!("rows/{name}.parquet");
        let copied = format!("copied/{name}.parquet");
        bench.done(&format!("filter --input {file} --ids ids.txt --output {copied}"));
        let line =
            format!("filter --input s3://b/{file} --ids ids.txt --output r.parquet --overwrite");
        assert_eq!(bench.run(&line).code, 0);
        assert_eq!(bench.bytes(&copied), bench.bytes("r.parquet"), "{name}");
    }
    server.load(&bench, "copied");
    for name in ["duckdb", "polars", "pyarrow"] {
        let file = format!("copied/{name}.parquet");
        bench.same(&file, &format!("s3://b/{file}"), "");
    }
    // When it is opened, and when its digest is made.
    for skip in [0, 1] {
        server.faults(&json!([{"do": "expired", "method": "GET", "skip": skip}]));
        bench.refuses(
            77,
            "fingerprint --format parquet --input s3://b/rows/duckdb.parquet --output r.seg",
            &["s3://b/rows/duckdb.parquet: the object store does not"],
        );
    }
    assert!(!bench.path("r.seg").exists());
}

#[test]
fn a_day_is_explained_by_a_configuration_that_is_an_object() {
    let (bench, server) = two_days();
    server.put("/b/run.toml", &bench.read("remote.toml"));
    bench.done(&format!("run s3://b/run.toml --date {}..{}", DAYS[0], DAYS[1]));
    let dropped = bench.read(&format!("out/{}/dedup/drop.txt", DAYS[1]));
    let id = dropped.lines().next().unwrap();
    let line = format!("explain --date {} {id} --config", DAYS[1]);
    let local = bench.run(&format!("{line} local.toml"));
    assert!(local.stdout.starts_with("verdict   drop: "), "{}", local.stdout);
    assert_eq!(bench.run(&format!("{line} s3://b/run.toml")).stdout, local.stdout);
    bench.refuses(66, "run s3://b/none.toml", &["s3://b/none.toml: there is no such object"]);
}

/// The days of [`two_days`].
const DAYS: [&str; 2] = ["2026-11-20", "2026-11-21"];

/// A bench and a server with two days, run here and there, by `local.toml` and `remote.toml`. These have no dates.
fn two_days() -> (Bench, Server) {
    two_days_at("s3")
}

fn two_days_at(scheme: &str) -> (Bench, Server) {
    let (bench, server) = crawl();
    let config = |root: &str, crawl: &str| {
        format!(
            "inputs = [\"{crawl}/{{date}}.jsonl\"]\noutput = \"{root}/{{date}}\"\n\
             store = \"{root}/store\"\n[clusters]\n"
        )
    };
    bench.write("local.toml", config("out", "days"));
    let [out, days] = ["out", "days"].map(|folder| format!("{scheme}://b/{folder}"));
    bench.write("remote.toml", config(&out, &days));
    for (day, pages) in DAYS.into_iter().zip([bench.documents(0, 60), bench.documents(40, 90)]) {
        bench.write(&format!("days/{day}.jsonl"), pages);
    }
    server.load(&bench, "days");
    bench.done(&format!("run local.toml --date {}..{}", DAYS[0], DAYS[1]));
    (bench, server)
}

#[test]
fn an_output_of_another_day_that_cannot_be_reached_is_no_missing_one() {
    let (bench, server) = two_days();
    bench.done(&format!("run remote.toml --date {}", DAYS[0]));
    server.faults(&json!([{"do": "expired", "path": format!("out/{}", DAYS[0])}]));
    let line = format!("run remote.toml --date {}", DAYS[1]);
    bench.refuses(77, &line, &["the object store does not allow this"]);
    server.faults(&json!([]));
    bench.done(&line);
}

#[test]
fn a_segment_of_a_store_at_an_address_enters_another_store() {
    let (bench, server) = two_days();
    bench.done(&format!("run remote.toml --date {}", DAYS[0]));
    let list = server.list("out/store");
    let mut names = list["files"].as_object().unwrap().keys();
    let name = names.find(|name| name.starts_with("segments/")).unwrap();
    bench.done("store init copied");
    let line = format!("store add copied --day {} --segment s3://b/out/store/{name}", DAYS[0]);
    bench.done(&line);
    let copied = bench.names("copied/segments");
    assert_eq!(
        bench.bytes(&format!("copied/segments/{}", copied[0])),
        server.held("out/store", name)
    );
}

#[test]
fn an_output_that_is_one_file_is_put_only_over_what_was_there() {
    let (bench, server) = crawl();
    bench.done("fingerprint --input crawl/part-0.jsonl --output l.seg");
    let theirs = json!({"do": "replace", "method": "PUT", "path": "one.seg", "body": "theirs"});
    for scheme in ["s3", "gs"] {
        let output = format!("{scheme}://b/one.seg");
        let line = format!("fingerprint --input {scheme}://b/crawl/part-0.jsonl --output {output}");
        let is_late = |line: &str| {
            server.faults(&json!([theirs]));
            bench.refuses(75, line, &[&format!("{output}: another run has written here")]);
            assert_eq!(server.ask("GET", "/b/one.seg", b""), b"theirs");
            server.ask("DELETE", "/b/one.seg", b"");
        };
        is_late(&line);
        // The answer is lost, and the client asks again.
        server.faults(&json!([{"do": "lost", "method": "PUT", "path": "one.seg", "times": 1}]));
        bench.done(&line);
        assert_eq!(server.ask("GET", "/b/one.seg", b""), bench.bytes("l.seg"));
        is_late(&format!("{} --overwrite", line.replace("part-0.jsonl", "more/rows.csv")));
        server.faults(&json!([]));
    }
    let web = format!("http://127.0.0.1:{}/b/two.seg", server.port);
    let line = format!("fingerprint --input s3://b/crawl --output {web}");
    bench.refuses(2, &line, &["a server of files takes no outputs"]);
}

#[test]
fn a_table_at_an_address_is_found_however_it_is_named() {
    let (bench, server) = crawl();
    let page = |at: usize| format!("{{\"id\":\"h{at}\",\"text\":\"Home\\nabout page {at}\"}}\n");
    bench.write("pages.jsonl", (0..20).map(page).collect::<String>());
    fs::create_dir(bench.path("tables")).unwrap();
    bench.done("weights --lines --input pages.jsonl --output tables/lines.counts");
    server.load(&bench, "tables");
    let table = "s3://b/tables/lines.counts";
    bench.write("table.toml", format!("[fingerprint]\nboilerplate = \"{table}\"\n"));
    let line = "fingerprint --input pages.jsonl --output";
    bench.done(&format!("{line} l.seg --boilerplate tables/lines.counts"));
    let mut command = bench.command(&format!("{line} named.seg"));
    command.env("DUPSIEVE_BOILERPLATE", table);
    assert_eq!(Running::start(command).end().code, 0);
    bench.done(&format!("{line} filed.seg --config table.toml"));
    for made in ["named.seg", "filed.seg"] {
        assert_eq!(bench.bytes(made), bench.bytes("l.seg"), "{made}");
    }
}

#[test]
fn a_list_and_a_page_may_be_at_addresses() {
    let (bench, server) = two_days();
    let line = format!("sample out/{day} --input days/{day}.jsonl --output", day = DAYS[0]);
    bench.answer(&format!("{line} pairs.html"));
    assert_eq!(bench.run(&format!("{line} s3://b/pairs.html")).code, 0);
    assert_eq!(server.ask("GET", "/b/pairs.html", b""), bench.bytes("pairs.html"));

    let page = |at: usize| {
        let host = ["one", "other"][at % 2];
        format!("{{\"id\":\"{at}\",\"text\":\"page {at}\",\"host\":\"{host}\"}}\n")
    };
    bench.write("pages.jsonl", (0..10).map(page).collect::<String>());
    bench.write("trust/hosts.txt", "other\none\n");
    server.load(&bench, "trust");
    let line = "fingerprint --input pages.jsonl --keep host";
    bench.done(&format!("{line}:trust/hosts.txt --output l.seg"));
    bench.done(&format!("{line}:s3://b/trust/hosts.txt --output r.seg"));
    assert_eq!(bench.bytes("l.seg"), bench.bytes("r.seg"));
}

#[test]
fn days_at_addresses_are_those_of_local_copies_and_all_that_shows_and_checks_them_says_so() {
    for scheme in ["s3", "gs"] {
        let (bench, server) = two_days_at(scheme);
        let run = format!("run remote.toml --date {}..{}", DAYS[0], DAYS[1]);
        bench.done(&run);
        bench.again(&run);
        bench.done(&format!("run remote.toml --redo {}", DAYS[0]));
        let day = DAYS[1];
        for name in ["batch.seg", "dedup/verdicts.tsv", "dedup/keep.txt"] {
            let published = server.held(&format!("out/{day}"), name);
            assert_eq!(published, bench.bytes(&format!("out/{day}/{name}")), "{name}");
        }
        for line in [
            format!("sample OUT/{day}"),
            format!("sample OUT/{day}/dedup --input days/{{date}}.jsonl"),
            format!("inspect OUT/{day}/batch.seg"),
            format!("inspect OUT/{day}/batch.seg --json"),
            format!("inspect OUT/{day}/batch.seg --dump"),
            format!("verify OUT/{day}"),
            format!("verify OUT/{day}/clusters"),
            format!("verify OUT/{day}/batch.seg"),
            "verify OUT/store".to_owned(),
            "store list OUT/store".to_owned(),
            "store list OUT/store --json".to_owned(),
            "store log OUT/store".to_owned(),
            "store verify OUT/store".to_owned(),
        ] {
            let local = bench.answer(&line.replace("OUT", "out"));
            let remote = bench.answer(&line.replace("OUT", &format!("{scheme}://b/out")));
            assert_eq!(local, remote.replace(&format!("{scheme}://b/"), ""), "{line}");
        }
    }
}

#[test]
fn damage_in_a_mounted_store_is_named_by_its_address() {
    let (bench, server) = two_days();
    bench.done(&format!("run remote.toml --date {}", DAYS[0]));
    let list = server.list("out/store");
    let files = list["files"].as_object().unwrap();
    let (name, held) = files.iter().find(|(name, _)| name.starts_with("segments/")).unwrap();
    let object = format!("/b/out/store/{}", held["object"].as_str().unwrap());
    let mut bytes = server.ask("GET", &object, b"");
    bytes[100] ^= 1;
    server.ask("PUT", &object, &bytes);
    let said = bench.fails(65, "verify s3://b/out/store");
    assert!(said.contains(&format!("s3://b/out/store/{name}")), "{said}");
    assert!(!said.contains(bench.path("cache").to_str().unwrap()), "{said}");
}

#[test]
fn only_folders_that_match_a_pattern_are_listed() {
    let (bench, server) = Server::start();
    for day in 10..30 {
        for part in 0..9 {
            let name = format!("pages/2026-11-{day}/x-{part}.jsonl");
            bench.write(&name, bench.documents(9 * day + part, 9 * day + part + 1));
        }
    }
    server.load(&bench, "pages");
    server.requests("GET", "");
    // Seven pages of three days each, and three objects a page of one day: all of it would take 60 requests.
    bench.same("pages/2026-11-20/x-*", "s3://b/pages/2026-11-20/x-*", "");
    assert_eq!(server.requests("GET", "list-type=2"), 3);
    bench.same("pages/2026-11-2[01]/x-*", "s3://b/pages/2026-11-2[01]/x-*", "");
    assert_eq!(server.requests("GET", "list-type=2"), 7 + 2 * 3);
    server.faults(&json!([{"do": "empty_token"}]));
    bench.gives("s3://b/pages/2026-11-2[01]/x-*", "");
}

#[test]
fn each_object_is_read_once_and_not_at_all_if_it_is_as_it_was() {
    let (bench, server) = crawl();
    bench.write(
        "run.toml",
        "inputs = [\"s3://b/crawl/part-*\"]\noutput = \"s3://b/out/{date}\"\nstore = \"s3://b/out/store\"\n\
         dates = [\"2026-11-20\"]\n",
    );
    // A machine that comes back empty reads the inputs, and then knows them as well.
    for (emptied, again, requests) in
        [(false, false, 2), (false, true, 0), (true, true, 2), (false, true, 0)]
    {
        if emptied {
            fs::remove_dir_all(bench.path("cache")).unwrap();
        }
        server.bill();
        let ended = bench.done("run run.toml");
        assert_eq!(ended.summary()["already_done"], again, "{}", ended.stderr);
        let bill = server.bill_of("/b/crawl/");
        assert_eq!(bill.get("get").copied().unwrap_or(0), requests, "{again} {bill:?}");
    }
    server.put("/b/crawl/part-0.jsonl", &bench.documents(0, 61));
    bench.fails(73, "run run.toml");
}

#[test]
fn what_object_stores_were_asked_for_is_told_by_kind() {
    let (bench, server) = crawl();
    server.faults(&json!([{"do": "status", "status": 503, "method": "GET", "every": 9}]));
    server.bill();
    let line = "dedup --input s3://b/crawl --output s3://b/out --metrics-file m.prom";
    bench.done(line);
    let served = server.bill();
    server.faults(&json!([]));
    let metrics = bench.read("m.prom");
    for (kind, requests) in &served {
        let sample =
            format!("dupsieve_object_requests{{command=\"dedup\",kind=\"{kind}\"}} {requests}\n");
        assert!(metrics.contains(&sample), "{sample}{served:?}\n{metrics}");
    }
    let report: Value = serde_json::from_slice(&server.held("out", "dedup/report.json")).unwrap();
    let told = &report["run"]["requests"];
    assert!(told["list"]["requests"].as_u64() > Some(0), "{told}");
    // The output is put after its report is written.
    let get = &told["get"];
    assert!(get["requests"].as_u64() > Some(6) && get["bytes"].as_u64() > Some(10_000), "{told}");
}

#[test]
fn many_small_objects_are_on_their_way_at_once_within_the_memory() {
    let (bench, server) = Server::start();
    for (at, page) in bench.documents(0, 200).split_inclusive('\n').enumerate() {
        bench.write(&format!("small/{at:03}.jsonl"), page);
    }
    server.load(&bench, "small");
    server.faults(&json!([{"do": "delay", "seconds": 0.05, "method": "GET", "path": "small/"}]));
    bench.same("small", "s3://b/small", "");
    assert!(server.most_at_once() > 32);
    bench.write("long/a.jsonl", bench.documents(0, 3000));
    server.load(&bench, "long");
    bench.same("long", "s3://b/long", "--memory 4MiB");
    assert!(server.most_at_once() <= 16);
}

#[test]
fn no_key_is_taken_for_another() {
    let (bench, server) = Server::start();
    for name in ["a b.txt", "100%2F.txt", "é[1].txt", "plus+.txt", "_SUCCESS", "sub/.hidden"] {
        bench.write(&format!("odd/{name}"), format!("the page {name} has its name in it"));
    }
    bench.write("odd/empty.txt", "");
    server.load(&bench, "odd");
    server.ask("PUT", "/b/odd/folder/", b"");
    bench.same("odd", "s3://b/odd", "--format text");
    for name in ["a b.txt", "100%2F.txt", "é[1].txt", "plus+.txt"] {
        let input = format!("s3://b/odd/{name}");
        let line = "fingerprint --overwrite --output r.seg --input";
        let mut command = bench.command(line);
        command.arg(&input);
        let ended = Running::start(command).end();
        assert_eq!((ended.code, ended.count("fingerprinted")), (0, 1), "{name} {}", ended.stderr);
    }
    std::fs::remove_file(bench.path("r.seg")).unwrap();
    for (folder, key) in [("dots", "../x.txt"), ("gap", "a//x.txt"), ("line", "a%0Ax.txt")] {
        server.put(&format!("/b/{folder}/{key}"), "a page");
        server.put(&format!("/b/{folder}/x.txt"), "a page");
        let line = format!("fingerprint --input s3://b/{folder} --output r.seg");
        bench.refuses(2, &line, &["cannot be the address of an object"]);
    }
    assert!(!bench.path("r.seg").exists());
}

/// What `report --json` says, without the seconds.
fn figures(told: &str) -> Vec<Value> {
    let figures = |line: &str| {
        let mut day: Value = serde_json::from_str(line).unwrap();
        day.as_object_mut().unwrap().remove("seconds");
        day
    };
    told.lines().map(figures).collect()
}

#[test]
fn outputs_at_addresses_are_read_one_by_one_by_a_pattern_and_by_their_folder() {
    let (bench, _server) = two_days();
    bench.done(&format!("run remote.toml --date {}..{}", DAYS[0], DAYS[1]));
    let expected = figures(&bench.answer("report out --json"));
    assert_eq!(expected.len(), 3, "two days, and what all of them hold");
    let each = DAYS.map(|day| format!("s3://b/out/{day}")).join(" ");
    for outputs in [&*each, "s3://b/out", "s3://b/out/2026-*", "s3://b/o?t/*/dedup"] {
        let told = bench.answer(&format!("report --json {outputs}"));
        assert_eq!(figures(&told), expected, "{outputs}");
    }
    for nothing in ["s3://b/out/2025-*", "s3://b/none"] {
        let ended = bench.run(&format!("report {nothing}"));
        let said = format!("there is no finished output here\n  {nothing}\n");
        assert!(ended.code == 66 && ended.stderr.contains(&said), "{ended:?}");
    }

    let kept = bench.read(&format!("out/{}/dedup/keep.txt", DAYS[0]));
    bench.write("ids.txt", kept);
    bench.done("store remove out/store --ids ids.txt");
    let outputs = format!("out/{} out/{}", DAYS[0], DAYS[1]);
    bench.done(&format!("store readmit out/store --output l.txt --outputs {outputs}"));
    bench.done("store remove s3://b/out/store --ids ids.txt");
    let outputs = "--outputs=s3://b/out/2026-*";
    bench.done(&format!("store readmit s3://b/out/store --output r.txt {outputs}"));
    assert!(bench.read("l.txt").lines().count() > 10);
    assert_eq!(bench.read("l.txt"), bench.read("r.txt"));
}

#[test]
fn doctor_tries_an_address_out_and_leaves_nothing_there() {
    let (bench, server) = crawl();
    let found = |ended: &Ended| -> Value {
        let told: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
        let is_of_address = |it: &&Value| it["what"].as_str().unwrap().contains("://");
        told["findings"].as_array().unwrap().iter().find(is_of_address).unwrap().clone()
    };
    let ended = bench.run("doctor s3://b/out --json");
    assert_eq!(found(&ended)["state"], "ok", "{ended:?}");
    assert!(server.requests("PUT", "/b/out/dupsieve-") > 0);
    let left = server.ask("GET", "/b?list-type=2&prefix=out/", b"");
    assert!(!String::from_utf8(left).unwrap().contains("dupsieve-"));
    let web = format!("http://127.0.0.1:{}/b/out", server.port);
    for (fault, place, said) in [
        (json!({"do": "expired", "method": "PUT"}), "s3://b/out", "does not allow this"),
        (json!({"do": "expired", "method": "POST"}), "s3://b/out", "s3://b/out/dupsieve-"),
        (json!({"do": "long"}), &*web, "a server of files takes no outputs"),
    ] {
        server.faults(&json!([fault]));
        let ended = bench.run(&format!("doctor {place} --json"));
        assert_eq!((ended.code, &found(&ended)["state"]), (78, &json!("wrong")), "{ended:?}");
        assert!(found(&ended)["found"].as_str().unwrap().contains(said), "{ended:?}");
    }
}
