//! A server of objects, which fails as it is told. Its other half is `objects_server.py`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Bench, Ended, Running, assert_says, command};

pub(super) struct Server {
    child: Child,
    pub(super) port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Server {
    pub(super) fn start() -> Server {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects_server.py");
        let mut command = command("python3");
        command.args([script, "--page", "3"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        Server { child, port: told["port"].as_u64().unwrap().try_into().unwrap() }
    }

    /// The body of the answer to a request, which must succeed.
    pub(super) fn ask(&self, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 20"), "{}", String::from_utf8_lossy(&answer));
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        answer.split_off(end + 4)
    }

    pub(super) fn put(&self, path: &str, body: &str) {
        self.ask("PUT", path, body.as_bytes());
    }

    /// Makes the files of a folder of the bench objects of the bucket `b`, below the same name.
    pub(super) fn load(&self, bench: &Bench, folder: &str) {
        let told = json!({"folder": bench.path(folder), "bucket": "b", "prefix": folder});
        self.put("/-/load", &told.to_string());
    }

    pub(super) fn faults(&self, rules: &Value) {
        self.put("/-/faults", &rules.to_string());
    }

    pub(super) fn requests(&self, method: &str, part: &str) -> usize {
        let log: Vec<(String, String, u16)> =
            serde_json::from_slice(&self.ask("GET", "/-/log", b"")).unwrap();
        log.iter().filter(|(it, path, _)| it == method && path.contains(part)).count()
    }

    pub(super) fn most_at_once(&self) -> u64 {
        let told: Value = serde_json::from_slice(&self.ask("GET", "/-/most", b"")).unwrap();
        told["most"].as_u64().unwrap()
    }

    /// How many requests there were since the last time, by their kinds as the program bills them.
    pub(super) fn bill(&self) -> BTreeMap<&'static str, u64> {
        self.bill_of("")
    }

    pub(super) fn bill_of(&self, part: &str) -> BTreeMap<&'static str, u64> {
        let log: Vec<(String, String, u16)> =
            serde_json::from_slice(&self.ask("GET", "/-/log", b"")).unwrap();
        let mut bill = BTreeMap::new();
        for (method, path, _) in log.into_iter().filter(|(_, path, _)| path.contains(part)) {
            *bill.entry(kind(&method, &path)).or_default() += 1;
        }
        bill
    }

    pub(super) fn list(&self, key: &str) -> Value {
        serde_json::from_slice(&self.ask("GET", &format!("/b/{key}/_SUCCESS"), b"")).unwrap()
    }

    pub(super) fn held(&self, key: &str, name: &str) -> Vec<u8> {
        let list = self.list(key);
        let object = list["files"][name]["object"].as_str().unwrap_or_else(|| panic!("{list}"));
        self.ask("GET", &format!("/b/{key}/{object}"), b"")
    }

    /// Runs the program with this server as its S3.
    pub(super) fn run(&self, bench: &Bench, line: &str) -> Ended {
        Running::start(self.command(bench, line)).end()
    }

    pub(super) fn done(&self, bench: &Bench, line: &str) -> Ended {
        let ended = self.run(bench, line);
        assert_eq!(ended.code, 0, "{line}\n{}", ended.stderr);
        ended
    }

    /// The program with this server as its S3, and as Google's storage.
    pub(super) fn command(&self, bench: &Bench, line: &str) -> Command {
        let mut command = bench.command(line);
        // What is set here for other servers.
        let is_for_servers = |name: &str| {
            ["AWS_", "GOOGLE_", "SERVICE_ACCOUNT"].iter().any(|part| name.starts_with(part))
        };
        let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        set.filter(|name| is_for_servers(name)).for_each(|name| {
            command.env_remove(name);
        });
        let server = format!("http://127.0.0.1:{}", self.port);
        let account = json!({
            "gcs_base_url": server, "disable_oauth": true, "client_email": "", "private_key": "",
            "private_key_id": "",
        });
        command
            .env("GOOGLE_SERVICE_ACCOUNT_KEY", account.to_string())
            .env("GOOGLE_ALLOW_HTTP", "true")
            .env("AWS_ENDPOINT_URL", server)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", "a")
            .env("AWS_SECRET_ACCESS_KEY", "b")
            .env("AWS_REGION", "us-east-1")
            .env("DUPSIEVE_CACHE", bench.path("cache"))
            .env("DUPSIEVE_OBJECT_PATIENCE", "5");
        command
    }

    /// Runs the program, which must fail with `code`; returns what it said.
    pub(super) fn fails(&self, bench: &Bench, code: i32, line: &str) -> String {
        let ended = self.run(bench, line);
        assert_eq!(ended.code, code, "{line}\n{}", ended.stderr);
        assert!(!bench.path("r.seg").exists());
        ended.said()
    }

    /// Like [`Server::fails`], and what it says has all of these parts.
    #[track_caller]
    pub(super) fn refuses(&self, bench: &Bench, code: i32, line: &str, says: &[&str]) {
        assert_says(&self.fails(bench, code, line), line, says);
    }

    /// Fingerprints `local` and `remote`, which must give the same bytes.
    pub(super) fn same(&self, bench: &Bench, local: &str, remote: &str, more: &str) {
        bench.done(&format!("fingerprint --overwrite --input {local} --output l.seg {more}"));
        self.gives(bench, remote, more);
    }

    /// Fingerprints `remote`, which must give the bytes of the last local run.
    pub(super) fn gives(&self, bench: &Bench, remote: &str, more: &str) {
        let line = format!("fingerprint --overwrite --input {remote} --output r.seg {more}");
        let ended = self.run(bench, &line);
        assert_eq!(ended.code, 0, "{line}\n{}", ended.stderr);
        assert_eq!(bench.bytes("l.seg"), bench.bytes("r.seg"), "{remote}");
        std::fs::remove_file(bench.path("r.seg")).unwrap();
    }
}

fn kind(method: &str, path: &str) -> &'static str {
    match method {
        "GET" if path.contains("list-type=") => "list",
        "GET" => "get",
        "HEAD" => "head",
        "DELETE" => "delete",
        "POST" if path.contains("?delete") => "delete",
        _ => "put",
    }
}
