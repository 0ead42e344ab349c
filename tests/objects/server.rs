//! A server of objects, which fails as it is told. Its other half is `objects_server.py`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{Bench, command};

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
    /// A server, and a bench whose programs take it for S3 and for Google's storage.
    pub(super) fn start() -> (Bench, Server) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects_server.py");
        let mut command = command("python3");
        command.args([script, "--page", "3"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let port = told["port"].as_u64().unwrap().try_into().unwrap();
        let address = format!("http://127.0.0.1:{port}");
        let account = json!({
            "gcs_base_url": address, "disable_oauth": true, "client_email": "", "private_key": "",
            "private_key_id": "",
        });
        let mut bench = Bench::new();
        let cache = bench.path("cache").display().to_string();
        bench.variables = vec![
            ("GOOGLE_SERVICE_ACCOUNT_KEY", account.to_string()),
            ("GOOGLE_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ENDPOINT_URL", address),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "a".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "b".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("DUPSIEVE_CACHE", cache),
            ("DUPSIEVE_OBJECT_PATIENCE", "5".to_owned()),
        ];
        (bench, Server { child, port })
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
}

impl Bench {
    /// Fingerprints `local` and `remote`, which must give the same bytes.
    pub(super) fn same(&self, local: &str, remote: &str, more: &str) {
        self.done(&format!("fingerprint --overwrite --input {local} --output l.seg {more}"));
        self.gives(remote, more);
    }

    /// Fingerprints `remote`, which must give the bytes of the last local run.
    pub(super) fn gives(&self, remote: &str, more: &str) {
        self.done(&format!("fingerprint --overwrite --input {remote} --output r.seg {more}"));
        assert_eq!(self.bytes("l.seg"), self.bytes("r.seg"), "{remote}");
        std::fs::remove_file(self.path("r.seg")).unwrap();
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
