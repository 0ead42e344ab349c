//! What the tests use: a folder for each, the real program, and results computed by definition.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long the program may take before it counts as hanging and is killed.
const PATIENCE: Duration = Duration::from_secs(180);

/// A folder for one test, with the program ready to run in it.
pub(crate) struct Bench {
    home: TempDir,
}

/// The program while it runs.
pub(crate) struct Running {
    child: Child,
    stdout: JoinHandle<io::Result<String>>,
    stderr: JoinHandle<io::Result<String>>,
}

/// How the program ended. The code is -1 if a signal ended it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl AsMut<Running> for Running {
    fn as_mut(&mut self) -> &mut Running {
        self
    }
}

/// The first of several processes of one job.
impl<const N: usize> AsMut<Running> for [Running; N] {
    fn as_mut(&mut self) -> &mut Running {
        &mut self[0]
    }
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        Running { child, stdout, stderr }
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the program is still running.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends it a signal, unless it has ended.
    pub(crate) fn signal(&self, signal: Signal) {
        let sent = kill_process(Pid::from_child(&self.child), signal);
        assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{sent:?}");
    }

    /// Whether it has begun to listen for signals. Before that, a signal kills it.
    pub(crate) fn listens(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        caught.is_some_and(|mask| mask >> (Signal::TERM.as_raw() - 1) & 1 == 1)
    }

    /// Waits until it ends, which must happen in bounded time.
    pub(crate) fn end(mut self) -> Ended {
        let late = Instant::now() + PATIENCE;
        while self.is_running() {
            if Instant::now() > late {
                self.child.kill().unwrap();
                panic!("the program hangs");
            }
            thread::sleep(Duration::from_millis(1));
        }
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let [stdout, stderr] = [self.stdout, self.stderr].map(|read| read.join().unwrap().unwrap());
        Ended { code, stdout, stderr }
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<io::Result<String>> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).map(|_| text)
    })
}

impl Ended {
    /// The JSON line that closes stdout.
    pub(crate) fn summary(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|_| panic!("no summary in {self:?}"))
    }

    /// A count of the summary.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.summary()["counts"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn secret(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    /// The program, to run in this folder, with the arguments in `line`.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dupsieve"));
        command.current_dir(self.home.path()).args(line.split_whitespace());
        command
    }

    /// Starts the program.
    pub(crate) fn start(&self, line: &str) -> Running {
        Running::start(self.command(line))
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, line: &str) -> Ended {
        self.start(line).end()
    }

    /// Runs the program, which must succeed.
    pub(crate) fn done(&self, line: &str) -> Ended {
        let ended = self.run(line);
        assert_eq!(ended.code, 0, "{line}\n{}", ended.stderr);
        assert_eq!(ended.summary()["code"], 0);
        ended
    }

    /// Runs a command that answers a question; returns what it printed.
    pub(crate) fn answer(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, 0, "{line}\n{}", ended.stderr);
        ended.stdout
    }

    /// Runs the program, which must fail with `code`; returns its stderr.
    pub(crate) fn fails(&self, code: i32, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, code, "{line}\n{}", ended.stderr);
        assert_eq!(ended.summary()["code"], code, "{line}");
        ended.stderr
    }

    /// Runs a command that answers a question and must fail with `code`; returns its stderr.
    pub(crate) fn fails_to_answer(&self, code: i32, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, code, "{line}\n{}", ended.stderr);
        ended.stderr
    }

    /// The generated documents `from..to` as JSON lines, Chinese and English, some of them near-duplicates.
    pub(crate) fn documents(&self, from: usize, to: usize) -> String {
        if !self.path("documents.jsonl").exists() {
            self.done("generate documents --count 3000 --near-share 0.4 --output documents.jsonl");
        }
        self.read("documents.jsonl").split_inclusive('\n').take(to).skip(from).collect()
    }

    /// Makes the segment NAME.seg from given fingerprints.
    pub(crate) fn segment(&self, name: &str, width: u32, pages: &[Page]) {
        let lines: String = pages.iter().map(|(id, bits)| format!("{id}\t{bits:#x}\n")).collect();
        self.write(&format!("{name}.tsv"), lines);
        self.done(&format!(
            "fingerprint --format fingerprints --width {width} --input {name}.tsv --output {name}.seg"
        ));
    }

    /// The files below a folder by their paths in it. The part `run` of a report is left out, and so are
    /// locks.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        gather(&self.path(folder), "", &mut files);
        files
    }

    /// The files below a folder, without locks, and when each was last written.
    pub(crate) fn times(&self, folder: &str) -> BTreeMap<PathBuf, SystemTime> {
        let files = self.paths(folder).into_iter().filter(|path| path.is_file());
        files.map(|path| (path.clone(), path.metadata().unwrap().modified().unwrap())).collect()
    }

    /// The files and folders below a folder, in order, without locks.
    fn paths(&self, folder: &str) -> Vec<PathBuf> {
        let pattern = format!("{}/**/*", self.path(folder).display());
        let paths = glob::glob(&pattern).unwrap().map(|path| path.unwrap());
        paths.filter(|path| !is_lock(path)).collect()
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let names = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Every path of the bench.
    pub(crate) fn tree(&self) -> Vec<PathBuf> {
        self.paths("")
    }

    /// The report of an output folder.
    pub(crate) fn report(&self, folder: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{folder}/report.json"))).unwrap()
    }
}

/// The files below a folder. `report.html` draws what `report.json` has, with the times that it took.
fn gather(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        if entry.path().is_dir() {
            gather(&entry.path(), &format!("{name}/"), files);
        } else if !is_lock(&entry.path()) && !entry.path().ends_with("report.html") {
            files.insert(name, content(&entry.path()));
        }
    }
}

/// A lock contains who held it last, and when, so it differs from run to run.
fn is_lock(path: &Path) -> bool {
    path.ends_with("LOCK") || path.extension().is_some_and(|extension| extension == "lock")
}

fn content(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    if !path.ends_with("report.json") {
        return bytes;
    }
    let mut report: Value = serde_json::from_slice(&bytes).unwrap();
    report.as_object_mut().unwrap().remove("run").unwrap();
    report.to_string().into_bytes()
}

/// A page: its id and its fingerprint.
pub(crate) type Page = (String, u128);

/// A store for the definitions: the pages of each day.
pub(crate) type Days = Vec<(&'static str, Vec<Page>)>;

/// `matches.tsv` by definition: compares every pair.
pub(crate) fn matches(batch: &[Page], store: &Days, k: u32) -> String {
    let mut rows = Vec::new();
    for (new, fingerprint) in batch {
        for (existing, other) in batch {
            let distance = (fingerprint ^ other).count_ones();
            if new > existing && distance <= k {
                rows.push((new.as_str(), distance, existing.as_str(), "batch"));
            }
        }
        for (day, pages) in store {
            for (existing, other) in pages {
                let distance = (fingerprint ^ other).count_ones();
                if distance <= k {
                    rows.push((new, distance, existing, day));
                }
            }
        }
    }
    rows.sort();
    let lines = rows.iter().map(|(new, distance, existing, against)| {
        format!("{new}\t{existing}\t{distance}\t{against}\n")
    });
    format!("new\texisting\tdistance\tagainst\n{}", lines.collect::<String>())
}

/// `verdicts.tsv` by definition: takes the batch in keep order, one page after the other.
pub(crate) fn verdicts(keep_order: &[Page], store: &Days, k: u32) -> String {
    let near = |a: &Page, b: &Page| (a.1 ^ b.1).count_ones() <= k;
    let held = |page: &Page| store.iter().any(|(_, pages)| pages.iter().any(|old| near(page, old)));
    let mut kept: Vec<&Page> = Vec::new();
    for page in keep_order {
        if !held(page) && !kept.iter().any(|other| near(page, other)) {
            kept.push(page);
        }
    }
    let mut lines: Vec<String> = keep_order
        .iter()
        .map(|page| {
            if kept.contains(&page) {
                return format!("{}\tkeep\t\t\t\n", page.0);
            }
            format!("{}\tdrop\t{}\n", page.0, nearest(page, &kept, store))
        })
        .collect();
    lines.sort_by(|a, b| a.split('\t').next().cmp(&b.split('\t').next()));
    format!("id\tverdict\tof\tdistance\tagainst\n{}", lines.concat())
}

/// The nearest kept page: smallest distance, the store before the batch, smallest id, earliest day.
fn nearest(page: &Page, kept: &[&Page], store: &Days) -> String {
    let held = store.iter().flat_map(|(day, pages)| pages.iter().map(move |old| (old, *day, 0)));
    let (distance, _, id, against) = held
        .chain(kept.iter().map(|other| (*other, "batch", 1)))
        .map(|(other, against, side)| ((page.1 ^ other.1).count_ones(), side, &other.0, against))
        .min()
        .unwrap();
    format!("{id}\t{distance}\t{against}")
}

/// An address that nobody listens at and that no other test gets. Its port is outside the range from which
/// the system picks ports.
pub(crate) fn free_address() -> String {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    loop {
        let next = GIVEN.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + (process::id() as u16).wrapping_mul(97).wrapping_add(next) % 20_000;
        let address = format!("127.0.0.1:{port}");
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}
