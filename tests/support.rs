//! What the tests use: a folder for each, and the real program in it.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use serde_json::Value;
use tempfile::TempDir;

/// How long a test waits for what must happen. No test measures time by this clock: a machine that does other
/// things as well may be slow, and only what hangs takes so long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

/// How often [`Bench::killed_after`] and others begin a run again that was through before they could disturb the run.
pub(crate) const TRIES: usize = 50;

/// A folder for one test, with the program ready to run in it.
pub(crate) struct Bench {
    home: TempDir,
    cache: TempDir,
    /// What is set for the program beside that.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// The program while it runs, in a process group of its own. The group is killed with this value.
pub(crate) struct Running {
    child: Child,
    printed: Option<[JoinHandle<io::Result<String>>; 2]>,
}

/// How the program ended. The code is -1 if a signal ended it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The processor time that the program and its children took.
    pub(crate) worked: Duration,
}

/// A command whose process dies with the thread of the test that has started it, also where the tests are
/// killed. The process has none of dupsieve's settings in its environment, nor any for object stores.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    /// What becomes the program. Some systems have no such setpriv: there, what killed tests had started goes on.
    const BOUND: [&str; 3] = ["setpriv", "--pdeathsig", "KILL"];
    static IS_THERE: LazyLock<bool> = LazyLock::new(|| {
        let tried = Command::new(BOUND[0]).args(&BOUND[1..]).arg("true").output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    let mut command = Command::new(program.as_ref());
    if *IS_THERE {
        command = Command::new(BOUND[0]);
        command.args(&BOUND[1..]).arg(program);
    }
    let is_setting = |name: &String| {
        let settings = ["DUPSIEVE_", "AWS_", "GOOGLE_", "SERVICE_ACCOUNT"];
        settings.iter().any(|setting| name.starts_with(setting))
    };
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(is_setting) {
        command.env_remove(name);
    }
    command
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let late = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < late, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Lets a time limit of the program pass. A longer wait changes no result.
pub(crate) fn outlast(limit: Duration) {
    thread::sleep(limit + limit / 4);
}

pub(crate) fn children(parent: u32) -> Vec<Pid> {
    let listed = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// The processor time of a process and of those children that it has waited for.
fn processor_time(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program may contain spaces. utime, stime, cutime and cstime are the fields 14 to 17, after the state,
    // which is field 3.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_secs(ticks).div_f64(rustix::param::clock_ticks_per_second() as f64)
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
    pub(crate) fn start(command: Command) -> Running {
        Running::fed(command, Stdio::null())
    }

    pub(crate) fn fed(mut command: Command, stdin: Stdio) -> Running {
        let piped = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.process_group(0).spawn().unwrap();
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        Running { child, printed: Some([stdout, stderr]) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the program is still running. One that has ended keeps its number until [`Running::end`].
    pub(crate) fn is_running(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&self.child)), options).unwrap().is_none()
    }

    /// The processor time that the program and its children have taken up to now.
    fn worked(&self) -> Duration {
        let children = children(self.id()).into_iter();
        let children = children.map(|child| processor_time(child.as_raw_nonzero().get() as u32));
        processor_time(self.id()) + children.sum::<Duration>()
    }

    /// Waits until the program has taken so much processor time, or has ended. Returns whether it is running then.
    pub(crate) fn works_for(&self, time: Duration) -> bool {
        wait_until("the program works or ends", || !self.is_running() || self.worked() >= time);
        self.is_running()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let sent = kill_process(Pid::from_child(&self.child), signal);
        assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{sent:?}");
    }

    pub(crate) fn kill(self) -> bool {
        self.signal(Signal::KILL);
        self.end().code == -1
    }

    /// Whether it has begun to listen for signals. Before that, a signal kills it.
    pub(crate) fn listens(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        caught.is_some_and(|mask| mask >> (Signal::XFSZ.as_raw() - 1) & 1 == 1)
    }

    /// Waits until it ends, which must happen in bounded time.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        wait_until("the program ends", || !self.is_running());
        let worked = self.worked();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let printed = self.printed.take().unwrap();
        let [stdout, stderr] = printed.map(|read| read.join().unwrap().unwrap());
        Ended { code, stdout, stderr, worked }
    }
}

/// A test that fails leaves nothing that runs.
impl Drop for Running {
    fn drop(&mut self) {
        if self.printed.is_some() {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
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

    /// What a program said that failed: the error of its summary, if it has one, as one line, and its stderr.
    pub(crate) fn said(&self) -> String {
        let last = self.stdout.lines().last().unwrap_or_default();
        let summary: Value = serde_json::from_str(last).unwrap_or_default();
        format!("{}\n{}", summary["error"].as_str().unwrap_or_default(), self.stderr)
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.summary()["counts"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench::below(&env::temp_dir())
    }

    /// A bench whose folder every user can reach. The folder for temporary files may be below a private one.
    pub(crate) fn for_all_users() -> Bench {
        Bench::below(Path::new("/tmp"))
    }

    fn below(folder: &Path) -> Bench {
        let [home, cache] = [(), ()].map(|()| tempfile::tempdir_in(folder).unwrap());
        Bench { home, cache, variables: Vec::new() }
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

    /// Writes `hosts.txt` of two processes on free addresses of this machine, and their `secret`.
    pub(crate) fn two_hosts(&self) -> [String; 2] {
        let hosts = [(), ()].map(|()| free_address());
        self.write("hosts.txt", hosts.join("\n"));
        self.secret("secret", "known to the two of us");
        hosts
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = command(env!("CARGO_BIN_EXE_dupsieve"));
        command.current_dir(self.home.path()).args(line.split_whitespace());
        command.env("XDG_CACHE_HOME", self.cache.path()).envs(self.variables.iter().cloned());
        command
    }

    pub(crate) fn start(&self, line: &str) -> Running {
        Running::start(self.command(line))
    }

    /// Starts the program in a shell, after the command `before`, such as a limit.
    pub(crate) fn start_after(&self, before: &str, line: &str) -> Running {
        let mut shell = command("sh");
        shell.arg("-c").arg(format!("{before}; exec {} {line}", env!("CARGO_BIN_EXE_dupsieve")));
        shell.current_dir(self.home.path());
        Running::start(shell)
    }

    pub(crate) fn start_process(&self, process: usize, line: &str) -> Running {
        let of = format!("--hosts hosts.txt --process {process} --secret-file secret");
        self.start(&format!("{line} {of}"))
    }

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

    /// Runs the program, which must fail with `code`; returns what it said.
    pub(crate) fn fails(&self, code: i32, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, code, "{line}\n{}", ended.stderr);
        assert_eq!(ended.summary()["code"], code, "{line}");
        ended.said()
    }

    /// Like [`Bench::fails`], and what it says has all of these parts.
    #[track_caller]
    pub(crate) fn refuses(&self, code: i32, line: &str, says: &[&str]) {
        let said = self.fails(code, line);
        for part in says {
            assert!(said.contains(part), "{line}: no {part:?} in {said}");
        }
    }

    /// Like [`Bench::done`], and all was done already.
    #[track_caller]
    pub(crate) fn again(&self, line: &str) -> Ended {
        let ended = self.done(line);
        assert_eq!(ended.summary()["already_done"], true, "{line}");
        ended
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.answer(line)).unwrap()
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
    pub(crate) fn paths(&self, folder: &str) -> Vec<PathBuf> {
        let pattern = format!("{}/**/*", self.path(folder).display());
        let paths = glob::glob(&pattern).unwrap().map(|path| path.unwrap());
        paths.filter(|path| !is_lock(path)).collect()
    }

    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let names = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The rows of a table below its header, cell by cell.
    pub(crate) fn rows(&self, table: &str) -> Vec<Vec<String>> {
        let cells = |row: &str| row.split('\t').map(str::to_owned).collect();
        self.read(table).lines().skip(1).map(cells).collect()
    }

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

/// A lock contains who held it last, and when, so it differs from run to run. So does a note of inputs, which leaves out files that
/// were changed just before.
fn is_lock(path: &Path) -> bool {
    let is_aside = |extension| extension == "lock" || extension == "inputs";
    path.ends_with("LOCK") || path.extension().is_some_and(is_aside)
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
