//! Pages are read from object stores as from local copies of the same files, whatever goes wrong on the way: the result is the
//! same, or the job ends and says why. The other side is `objects_server.py`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::{Bench, Ended, Running};

/// An object store, for one test.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Server {
    fn start() -> Server {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects_server.py");
        let mut command = Command::new("python3");
        command.args([script, "--page", "3"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        Server { child, port: told["port"].as_u64().unwrap().try_into().unwrap() }
    }

    /// The body of the answer to a request, which must succeed.
    fn ask(&self, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        answer.split_off(end + 4)
    }

    fn put(&self, path: &str, body: &str) {
        self.ask("PUT", path, body.as_bytes());
    }

    /// Makes the files of a folder of the bench objects of the bucket `b`, below the same name.
    fn load(&self, bench: &Bench, folder: &str) {
        let told = json!({"folder": bench.path(folder), "bucket": "b", "prefix": folder});
        self.put("/-/load", &told.to_string());
    }

    fn faults(&self, rules: &Value) {
        self.put("/-/faults", &rules.to_string());
    }

    /// Runs the program with this server as its S3.
    fn run(&self, bench: &Bench, line: &str) -> Ended {
        self.run_with(bench, line, &[])
    }

    /// Like [`Server::run`], with arguments that may have spaces.
    fn run_with(&self, bench: &Bench, line: &str, more: &[&str]) -> Ended {
        let mut command = bench.command(line);
        command
            .args(more)
            .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", "a")
            .env("AWS_SECRET_ACCESS_KEY", "b")
            .env("AWS_REGION", "us-east-1")
            .env("DUPSIEVE_CACHE", bench.path("cache"))
            .env("DUPSIEVE_OBJECT_PATIENCE", "5");
        Running::start(command).end()
    }

    /// Runs the program, which must fail with `code` within seconds; returns what it said.
    fn fails(&self, bench: &Bench, code: i32, line: &str) -> String {
        let began = Instant::now();
        let ended = self.run(bench, line);
        assert_eq!(ended.code, code, "{line}\n{}", ended.stderr);
        assert!(began.elapsed() < Duration::from_secs(30), "{line}: {:?}", began.elapsed());
        assert!(!bench.path("r.seg").exists());
        ended.stderr
    }

    /// Fingerprints `local` and `remote`, which must give the same bytes.
    fn same(&self, bench: &Bench, local: &str, remote: &str, more: &str) {
        bench.done(&format!("fingerprint --overwrite --input {local} --output l.seg {more}"));
        self.gives(bench, remote, more);
    }

    /// Fingerprints `remote`, which must give the bytes of the last local run.
    fn gives(&self, bench: &Bench, remote: &str, more: &str) {
        let line = format!("fingerprint --overwrite --input {remote} --output r.seg {more}");
        let ended = self.run(bench, &line);
        assert_eq!(ended.code, 0, "{line}\n{}", ended.stderr);
        assert_eq!(bench.bytes("l.seg"), bench.bytes("r.seg"), "{remote}");
        std::fs::remove_file(bench.path("r.seg")).unwrap();
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A record of a web archive, packed by itself as crawlers do it.
fn archived(url: &str, page: &str) -> Vec<u8> {
    let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{page}</p>");
    let length = body.len();
    packed(
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n\
             WARC-Date: 2026-11-20T00:00:00Z\r\n\
             Content-Type: application/http; msgtype=response\r\n\
             Content-Length: {length}\r\n\r\n{body}\r\n\r\n"
        )
        .as_bytes(),
    )
}

/// A bench with the files of a crawl in all formats below `crawl`, and a server that has them too.
fn crawl() -> (Bench, Server) {
    let (bench, server) = (Bench::new(), Server::start());
    bench.write("crawl/part-0.jsonl", bench.documents(0, 60));
    bench.write("crawl/part-1.jsonl.gz", packed(bench.documents(60, 140).as_bytes()));
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
    server.same(&bench, "crawl", "s3://b/crawl", "");
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
    server.gives(&bench, "s3://b/crawl/", "--workers 2");
    server.faults(&json!([]));
    for one in ["crawl/part-1.jsonl.gz", "crawl/a.warc.gz", "crawl/more/rows.csv"] {
        server.same(&bench, one, &format!("s3://b/{one}"), "");
    }
    server.same(&bench, "crawl/part-?.*", "s3://b/crawl/part-?.*", "");
    server.same(&bench, "crawl/**/*.csv", "s3://b/crawl/**/*.csv", "");
    let web = format!("http://127.0.0.1:{}/b/crawl/part-0.jsonl", server.port);
    server.same(&bench, "crawl/part-0.jsonl", &web, "");
    let file = format!("file://{}", bench.path("crawl/part-0.jsonl").display());
    server.same(&bench, "crawl/part-0.jsonl", &file, "");
}

#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_come_out_as_from_local_copies() {
    let (bench, server) = (Bench::new(), Server::start());
    for name in ["duckdb", "polars", "pyarrow"] {
        let path = format!("{}/tests/data/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
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
        assert_eq!(server.run(&bench, &line).code, 0);
        assert_eq!(bench.bytes(&copied), bench.bytes("r.parquet"), "{name}");
    }
    server.load(&bench, "copied");
    for name in ["duckdb", "polars", "pyarrow"] {
        let file = format!("copied/{name}.parquet");
        server.same(&bench, &file, &format!("s3://b/{file}"), "");
    }
    server.faults(&json!([{"do": "expired", "method": "GET", "skip": 2}]));
    let said = server.fails(
        &bench,
        77,
        "fingerprint --format parquet --input s3://b/rows/duckdb.parquet --output r.seg",
    );
    assert!(said.contains("s3://b/rows/duckdb.parquet: the object store does not"), "{said}");
}

#[test]
fn a_day_is_run_with_everything_in_an_object_store() {
    let (bench, server) = crawl();
    let config = |root: &str, crawl: &str| {
        format!(
            "inputs = [\"{crawl}/part-*\"]\noutput = \"{root}/{{date}}\"\nstore = \"{root}/store\"\n\
             dates = [\"2026-11-20\"]\n"
        )
    };
    bench.write("local.toml", config("out", "crawl"));
    bench.write("remote.toml", config("s3://b/out", "s3://b/crawl"));
    bench.done("run local.toml");
    let ended = server.run(&bench, "run remote.toml");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let list = server.ask("GET", "/b/out/2026-11-20/_SUCCESS", b"");
    let list: Value = serde_json::from_slice(&list).unwrap();
    for name in ["batch.seg", "dedup/verdicts.tsv", "dedup/keep.txt"] {
        let object = list["files"][name]["object"].as_str().unwrap_or_else(|| panic!("{list}"));
        let published = server.ask("GET", &format!("/b/out/2026-11-20/{object}"), b"");
        assert_eq!(published, bench.bytes(&format!("out/2026-11-20/{name}")), "{name}");
    }
    let again = server.run(&bench, "run remote.toml");
    assert_eq!((again.code, &again.summary()["already_done"]), (0, &json!(true)));
}

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
        let shown = server.fails(&bench, code, line);
        assert!(shown.contains(said), "{said}: {shown}");
    }
    server.faults(&json!([]));
    for nothing in ["s3://b/none", "s3://none/at/all", "s3://b/crawl/none-*"] {
        let said =
            server.fails(&bench, 66, &format!("fingerprint --input {nothing} --output r.seg"));
        assert!(said.contains(&format!("{nothing}: there is no such input")), "{said}");
    }
    let web = format!("http://me:secret@127.0.0.1:{}/b/none", server.port);
    let line = format!("fingerprint --input {web} --output r.seg");
    let said = server.fails(&bench, 66, &line);
    assert!(said.contains("/b/none: there is no such input") && !said.contains("secret"), "{said}");
    server.faults(&json!([{"do": "expired"}]));
    let said = server.fails(&bench, 77, &line);
    assert!(
        said.contains("/b/none: the object store does not") && !said.contains("secret"),
        "{said}"
    );
}

#[test]
fn an_accepted_end_is_one_of_the_data_and_not_of_the_server() {
    let (bench, server) = crawl();
    server.faults(&json!([{"do": "expired", "method": "GET", "path": "part-1", "skip": 1}]));
    let line = "fingerprint --accept-truncated --input s3://b/crawl/part-1.jsonl.gz --output r.seg";
    server.fails(&bench, 77, line);
}

#[test]
fn no_key_is_taken_for_another() {
    let (bench, server) = (Bench::new(), Server::start());
    for name in ["a b.txt", "100%2F.txt", "é[1].txt", "plus+.txt", "_SUCCESS", "sub/.hidden"] {
        bench.write(&format!("odd/{name}"), format!("the page {name} has its name in it"));
    }
    bench.write("odd/empty.txt", "");
    server.load(&bench, "odd");
    server.ask("PUT", "/b/odd/folder/", b"");
    server.same(&bench, "odd", "s3://b/odd", "--format text");
    for name in ["a b.txt", "100%2F.txt", "é[1].txt", "plus+.txt"] {
        let input = format!("s3://b/odd/{name}");
        let line = "fingerprint --overwrite --output r.seg --input";
        let ended = server.run_with(&bench, line, &[&input]);
        assert_eq!((ended.code, ended.count("fingerprinted")), (0, 1), "{name} {}", ended.stderr);
    }
    std::fs::remove_file(bench.path("r.seg")).unwrap();
    for (folder, key) in [("dots", "../x.txt"), ("gap", "a//x.txt"), ("line", "a%0Ax.txt")] {
        server.put(&format!("/b/{folder}/{key}"), "a page");
        server.put(&format!("/b/{folder}/x.txt"), "a page");
        let line = format!("fingerprint --input s3://b/{folder} --output r.seg");
        let said = server.fails(&bench, 2, &line);
        assert!(said.contains("cannot be the address of an object"), "{said}");
    }
}

#[test]
fn an_output_in_an_input_prefix_is_refused() {
    let (bench, server) = crawl();
    let line = "fingerprint --input s3://b/crawl --output s3://b/crawl/out.seg";
    let said = server.fails(&bench, 2, line);
    assert!(said.contains("the output lies in an input folder"), "{said}");
}

#[test]
fn a_server_of_files_that_redirects_to_itself_ends_the_job() {
    let (bench, server) = crawl();
    server.faults(&json!([{"do": "redirect"}]));
    let file = format!("http://127.0.0.1:{}/b/crawl/part-1.jsonl.gz", server.port);
    let said = server.fails(&bench, 74, &format!("fingerprint --input {file} --output r.seg"));
    assert!(said.contains(&file) && said.contains("too many redirects"), "{said}");
}

#[test]
fn nothing_is_there_if_the_credentials_expire_before_the_commit() {
    let (bench, server) = crawl();
    bench.done("fingerprint --input crawl --output l.seg");
    let line = "dedup --batch l.seg --output s3://b/out";
    server.faults(&json!([{"do": "expired", "method": "PUT", "path": "_SUCCESS"}]));
    assert!(server.fails(&bench, 77, line).contains("check the credentials"));
    server.faults(&json!([]));
    server.fails(&bench, 66, "verify s3://b/out");
    assert_eq!(server.run(&bench, line).code, 0);
    assert_eq!(server.run(&bench, "verify s3://b/out").code, 0);
}
