//! One exit code for each kind of failure of one process.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::{as_somebody, assert_failed, assert_reported, fault, fault_of, small, small_in};
use crate::skipped::is_skipped;
use crate::support::{Bench, Running, command};

pub(crate) fn can_mount() -> bool {
    Small::mount(Bench::new().path("small"), "16k").is_some()
}

/// A small file system, unmounted when dropped.
struct Small(PathBuf);

impl Small {
    fn mount(place: PathBuf, size: &str) -> Option<Small> {
        fs::create_dir_all(&place).unwrap();
        let mut mount = command("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&place);
        mount.output().is_ok_and(|mount| mount.status.success()).then_some(Small(place))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = command("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_74() {
    let bench = small();
    bench.write("many.jsonl", bench.documents(0, 3000));
    bench.done("generate segment --count 100000 --output big.seg");
    let Some(full) = Small::mount(bench.path("full"), "16k") else {
        assert!(is_skipped("faults::codes::a_full_disk_is_74"));
        return;
    };
    let ended = bench.run("fingerprint --input many.jsonl --output full/a.seg");
    assert_failed(&ended, 74);
    assert!(ended.stderr.contains("free some space"), "{}", ended.stderr);
    assert!(!bench.path("full/a.seg").exists());
    let ended = bench.run("dedup --batch big.seg --output full/out");
    assert_failed(&ended, 74);
    let ours = |name: &String| name.ends_with(".lock") || name.ends_with(".failed.json");
    assert!(bench.names("full").iter().all(ours), "{:?}", bench.names("full"));
    drop(full);
    let _full = Small::mount(bench.path("full"), "200k").unwrap();
    bench.done("store init full/store");
    let before = bench.paths("");
    assert_failed(&bench.run("store add full/store --segment big.seg --day 2026-01-01"), 74);
    assert_eq!(bench.done("store verify full/store").count("version"), 1);
    assert_eq!(bench.paths(""), before);
}

#[test]
fn a_locked_output_or_store_is_75() {
    let bench = small();
    let held = [".out.lock", ".out.seg.lock", "store/LOCK"].map(|name| {
        let file = fs::File::options().create(true).append(true).open(bench.path(name)).unwrap();
        file.lock().unwrap();
        file
    });
    fault_of(&bench, 75, "out", "dedup --batch batch.seg");
    fault_of(&bench, 75, "out.seg", "fingerprint --input pages.jsonl");
    fault(&bench, 75, "store add store --segment batch.seg --day 2026-01-02");
    fault(&bench, 75, "store rollback store --to 1");
    bench.answer("store list store");
    bench.done("dedup --batch batch.seg --store store --output reading-needs-no-lock");
    drop(held);
    bench.done("dedup --batch batch.seg --output out");
    bench.done("store add store --segment batch.seg --day 2026-01-02");
}

#[test]
fn missing_permissions_are_77() {
    let bench = small_in(Bench::for_all_users());
    fs::create_dir(bench.path("closed")).unwrap();
    fs::copy(bench.path("batch.seg"), bench.path("closed.seg")).unwrap();
    for path in ["closed", "closed.seg"] {
        fs::set_permissions(bench.path(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let run = |line: &str| Running::start(as_somebody(&bench, &[], line)).end();
    assert_failed(&run("dedup --batch closed.seg --output out"), 77);
    assert_reported(&bench, 77, "out");
    assert_failed(&run("inspect closed.seg --json"), 77);
    assert_failed(&run("dedup --batch batch.seg --output closed/out"), 77);
    assert_failed(&run("fingerprint --input pages.jsonl --output closed/out.seg"), 77);
    assert_failed(&run("store init closed/store"), 77);
}

#[test]
fn a_closed_stdout_causes_no_panic() {
    let bench = Bench::new();
    bench.done("generate segment --count 300000 --output a.seg");
    let mut command = bench.command("inspect a.seg --dump");
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut few = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut few).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(74), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_success_that_cannot_be_reported_is_74_and_done_the_next_time() {
    let bench = small();
    let line = "dedup --batch batch.seg --output out";
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let ended = bench.command(line).stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(74));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("stdout"));
    assert!(bench.done(line).stdout.contains("\"already_done\":true"));
}
