//! Promise 5: every fault ends the job in bounded time, with a documented exit code, one summary line of
//! JSON on stdout, and a message that says what to do.

pub(crate) mod codes;
mod exits;
mod peers;
mod signals;
mod supervised;
mod tampering;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode};
use rustix::process::{Pid, geteuid};
use serde_json::Value;

use crate::oracle::Page;
use crate::support::{Bench, Ended, Running, TRIES, command, free_address, wait_until};

/// The exit codes after which the same command may succeed.
const RETRYABLE: [i32; 4] = [69, 70, 74, 75];

/// Checks that the job ended with `code`, wrote only the summary line to stdout, and the reason to stderr.
pub(crate) fn assert_failed(ended: &Ended, code: i32) {
    assert_eq!(ended.code, code, "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(summary["code"], code);
    assert_eq!(summary["retryable"], RETRYABLE.contains(&code));
    assert_eq!(summary["already_done"], false);
    assert!(summary["job"].is_string() && summary["paths"].is_object(), "{summary}");
    let error = summary["error"].as_str().unwrap();
    // On stderr it takes several lines, the last ones; in the summary it is one line.
    let [help, kind] = ["help", "kind"].map(|it| summary[it].as_str().unwrap_or_default());
    assert!(ended.stderr.trim_end().ends_with(&format!("\nhelp: {help}")), "{ended:?}");
    let (_, shown) = ended.stderr.rsplit_once("error: ").unwrap();
    let what = shown.lines().next().unwrap();
    assert!(!what.is_empty() && error.contains(what), "{ended:?}");
    assert!(!kind.is_empty() && kind.bytes().all(|it| it.is_ascii_lowercase() || it == b'-'));
    assert!(!ended.stderr.contains("panicked"), "{ended:?}");
}

pub(super) fn fault(bench: &Bench, code: i32, line: &str) -> String {
    let ended = bench.run(line);
    assert_failed(&ended, code);
    ended.summary()["error"].as_str().unwrap().to_owned()
}

/// Like `fault`, for a job that makes `output`: checks that the report of the failure exists and the output
/// does not.
pub(super) fn fault_of(bench: &Bench, code: i32, output: &str, line: &str) -> String {
    let error = fault(bench, code, &format!("{line} --output {output}"));
    assert_reported(bench, code, output);
    error
}

pub(crate) fn assert_reported(bench: &Bench, code: i32, output: &str) {
    assert!(!bench.path(output).exists(), "{output} is there");
    let failure: Value =
        serde_json::from_str(&bench.read(&format!("{output}.failed.json"))).unwrap();
    assert_eq!(
        (&failure["code"], &failure["retryable"]),
        (&code.into(), &RETRYABLE.contains(&code).into())
    );
    assert!(!failure["error"].as_str().unwrap().is_empty() && failure["kind"].is_string());
}

/// A small batch, its input, and a store of one day.
pub(super) fn small() -> Bench {
    small_in(Bench::new())
}

pub(super) fn small_in(bench: Bench) -> Bench {
    bench.write("pages.jsonl", bench.documents(0, 20));
    let pages: Vec<Page> = (0..20).map(|i| (format!("p{i}"), i << 20 | i)).collect();
    bench.segment("batch", 64, &pages);
    bench.store(&[("2026-01-01", "batch")]);
    bench
}

pub(crate) fn long_job(bench: &Bench) -> &'static str {
    if !bench.path("b.seg").exists() {
        bench.done("generate segment --count 2e6 --density 2e7 --output a.seg");
        bench.done("generate segment --count 1e5 --density 1e6 --seed 2 --output b.seg");
        bench.done("store init big");
        bench.done("store add big --segment a.seg --day 2026-01-01");
    }
    "dedup --batch b.seg --store big --distance 5 --output out"
}

/// What a job has worked, in processor time, when a test disturbs the job.
const MIDST: Duration = Duration::from_millis(20);

/// Starts a job that makes `output`, and returns while it is at work, that is, when its unfinished output
/// exists. A job that has finished before this is seen is started again.
pub(crate) fn at_work<R: AsMut<Running>>(bench: &Bench, output: &str, start: impl Fn() -> R) -> R {
    for _ in 0..TRIES {
        let before = bench.names("");
        let prefix = format!(".{output}.tmp-");
        let begun = |name: &String| name.starts_with(&prefix) && !before.contains(name);
        let mut job = start();
        let first = job.as_mut();
        let has_begun = || bench.names("").iter().any(begun);
        wait_until("the job begins or ends", || has_begun() || !first.is_running());
        if has_begun() && first.works_for(MIDST) {
            return job;
        }
        drop(job);
        let _ = fs::remove_dir_all(bench.path(output));
    }
    panic!("the job is too short");
}

/// Whether a process is running. One that has ended and waits for its parent does not count.
pub(super) fn is_there(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

/// The program with the arguments in `line`, run by a user that is not root and has no other process. The user may be
/// unable to enter the folder of the program, so a copy in the bench is run, which is [`Bench::for_all_users`] and becomes
/// the user's own.
pub(super) fn as_somebody(bench: &Bench, before: &[&str], line: &str) -> Command {
    let program = bench.path("program");
    if !program.exists() {
        fs::copy(env!("CARGO_BIN_EXE_dupsieve"), &program).unwrap();
        fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
    }
    let words = [before, &["./program"]].concat();
    let mut somebody = command(words[0]);
    somebody.args(&words[1..]).args(line.split_whitespace()).current_dir(bench.path(""));
    if geteuid().is_root() {
        let user = 2_000_000_000 + std::process::id();
        chown(bench.path(""), Some(user), Some(user)).unwrap();
        somebody.uid(user).gid(user);
    }
    somebody
}

pub(super) fn pipe(path: &Path) {
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
}
