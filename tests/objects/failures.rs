//! Object stores and servers of files that deny, redirect, break off or are not there: the job ends with a code, and says why.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::crawl;
use super::server::Server;
use crate::support::Running;

#[test]
fn what_goes_wrong_ends_the_job_and_is_said() {
    let (bench, server) = crawl();
    let line = "fingerprint --input s3://b/crawl --output r.seg";
    for (fault, code, said) in [
        (json!({"do": "expired"}), 77, "s3://b/crawl: the object store does not allow this"),
        (json!({"do": "expired", "method": "GET", "path": "a.warc"}), 77, "a.warc.gz: the object"),
        (json!({"do": "redirect"}), 74, "s3://b/crawl: the object store cannot be reached"),
        (json!({"do": "same_token"}), 74, "s3://b/crawl: the listing repeats itself"),
        (json!({"do": "short", "method": "GET", "path": "part-1"}), 74, "another number of bytes"),
        (json!({"do": "replace", "method": "GET", "path": "part-1", "body": "x"}), 75, "part-1"),
    ] {
        server.faults(&json!([fault]));
        bench.refuses(code, line, &[said]);
    }
    server.faults(&json!([]));
    for nothing in ["s3://b/none", "s3://none/at/all", "s3://b/crawl/none-*"] {
        bench.refuses(
            66,
            &format!("fingerprint --input {nothing} --output r.seg"),
            &[&format!("{nothing}: there is no such input")],
        );
    }
    server.faults(&json!([{"do": "same_token"}]));
    bench.refuses(
        74,
        "fingerprint --input s3://b/*/part-* --output r.seg",
        &["s3://b: the listing repeats itself"],
    );
    server.faults(&json!([]));
    let web = format!("http://me:secret@127.0.0.1:{}/b/none", server.port);
    let line = format!("fingerprint --input {web} --output r.seg");
    let said = bench.fails(66, &line);
    assert!(said.contains("/b/none: there is no such input") && !said.contains("secret"), "{said}");
    server.faults(&json!([{"do": "expired"}]));
    let said = bench.fails(77, &line);
    assert!(said.contains("/b/none: the object store does not") && !said.contains("secret"));
    // A server of files redirects to itself.
    server.faults(&json!([{"do": "redirect"}]));
    let file = format!("http://127.0.0.1:{}/b/crawl/part-1.jsonl.gz", server.port);
    let line = format!("fingerprint --input {file} --output r.seg");
    bench.refuses(74, &line, &[&file, "too many redirects"]);
    server.faults(&json!([]));
    let line = "fingerprint --input s3://b/crawl --output s3://b/crawl/out.seg";
    bench.refuses(2, line, &["the output lies in an input folder"]);
    assert!(!bench.path("r.seg").exists());
}

#[test]
fn the_list_of_a_failed_job_is_where_the_message_says() {
    let (bench, _server) = crawl();
    bench.write("bad.jsonl", "no page\n{\n");
    for again in [false, true] {
        let line = "fingerprint --input bad.jsonl --format jsonl --output s3://b/bad.seg";
        let said = bench.fails(65, line);
        let list = bench.path("cache/failed/s3___b_bad.seg.quarantine.tsv");
        assert!(said.contains(&list.display().to_string()), "{again}: {said}");
        assert!(list.exists(), "{again}");
    }
}

#[test]
fn an_accepted_end_is_one_of_the_data_and_not_of_the_server() {
    let (bench, server) = Server::start();
    let mut stored = GzEncoder::new(Vec::new(), Compression::none());
    stored.write_all(bench.documents(0, 3000).as_bytes()).unwrap();
    bench.write("crawl/long.jsonl.gz", stored.finish().unwrap());
    server.load(&bench, "crawl");
    server.faults(&json!([{"do": "expired", "method": "GET", "path": "long", "skip": 2}]));
    // With so little memory, an object is read by ranges of a quarter of a MiB.
    let line = "fingerprint --accept-truncated --memory 4MiB --input s3://b/crawl/long.jsonl.gz --output r.seg";
    bench.fails(77, line);
    assert!(!bench.path("r.seg").exists());
}

#[test]
fn a_bucket_that_is_missing_is_said_before_any_work() {
    let (bench, server) = crawl();
    let missing = json!({"do": "status", "status": 404, "code": "NoSuchBucket", "path": "nobody/"});
    server.faults(&json!([missing]));
    for output in ["s3://nobody/batch.seg", "s3://nobody/day/batch.seg"] {
        let line = format!("fingerprint --input s3://b/crawl --output {output}");
        bench.refuses(66, &line, &["there is no such bucket"]);
    }
    assert_eq!(server.requests("GET", "crawl"), 0);
}

#[test]
fn nothing_is_there_if_the_credentials_expire_before_the_commit() {
    let (bench, server) = crawl();
    bench.done("fingerprint --input crawl --output l.seg");
    let line = "dedup --batch l.seg --output s3://b/out";
    server.faults(&json!([{"do": "expired", "method": "PUT", "path": "_SUCCESS"}]));
    bench.refuses(77, line, &["check the credentials"]);
    server.faults(&json!([]));
    bench.fails(66, "verify s3://b/out");
    assert_eq!(bench.run(line).code, 0);
    assert_eq!(bench.run("verify s3://b/out").code, 0);
}

#[test]
fn an_endpoint_that_is_http_is_spoken_to_only_if_that_is_allowed() {
    let (bench, _server) = crawl();
    // For Google's servers, the library allows http unless the variable says no.
    for (scheme, set, variable) in
        [("s3", None, "AWS_ALLOW_HTTP"), ("gs", Some("false"), "GOOGLE_ALLOW_HTTP")]
    {
        let line = format!("fingerprint --input {scheme}://b/crawl --output r.seg");
        let mut command = bench.command(&line);
        command.env_remove(variable).envs(set.map(|value| (variable, value)));
        let ended = Running::start(command).end();
        assert_eq!(ended.code, 78, "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("{variable}=true")), "{}", ended.stderr);
        assert_eq!(ended.summary()["retryable"], false);
    }
}
