//! One exit code for each kind of failure of one process.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::{as_somebody, assert_failed, assert_reported, fault, fault_of, small, small_in};
use crate::skipped::is_skipped;
use crate::support::{Bench, Running, command};

#[test]
fn wrong_usage_is_2() {
    let bench = small();
    for line in [
        "",
        "frobnicate",
        "dedup",
        "dedup --batch batch.seg",
        "dedup --batch batch.seg --output out --no-such-flag",
        "dedup --batch batch.seg --output out --distance many",
        "dedup --batch batch.seg --output out --distance -1",
        "dedup --batch batch.seg --output out --max-matches 1.5",
        "dedup --batch batch.seg --output out --matches some",
        "dedup --batch batch.seg --output out --keep newest",
        "dedup --batch batch.seg --output out --design 12",
        "dedup --batch batch.seg --output out --design blocks:3,choose:4",
        "dedup --batch batch.seg --output out --as-of 1",
        "dedup --batch batch.seg --output out --workers 0",
        "dedup --batch batch.seg --output out --processes 0",
        "dedup --batch batch.seg --output out --wait-for-peers 0",
        "dedup --batch batch.seg --output out --peer-timeout 0",
        "dedup --batch batch.seg --output out --stall-timeout 0",
        "dedup --batch batch.seg --output out --listen 127.0.0.1",
        "dedup --batch batch.seg --output out --hosts pages.jsonl --process 0 --listen somewhere",
        "dedup --batch batch.seg --output out --processes 2 --hosts pages.jsonl --process 0",
        "dedup --batch batch.seg --output out --hosts pages.jsonl",
        "dedup --batch batch.seg --output out --process 1",
        "dedup --batch batch.seg --output out --secret-file pages.jsonl",
        "dedup --batch batch.seg --output out --memory lots",
        "fingerprint --output out.seg",
        "fingerprint --input pages.jsonl --output out.seg --width 65",
        "fingerprint --input pages.jsonl --output out.seg --format xml",
        "fingerprint --input pages.jsonl --output out.seg --max-bad 200%",
        "store add store --segment batch.seg --day tomorrow",
        "store",
        "generate segment --count 10 --planted 5 --output out.seg",
        "generate documents --count 10 --near-share 1 --output out.jsonl",
    ] {
        fault(&bench, 2, line);
    }
    for help in ["--help", "help dedup", "--version"] {
        assert_eq!(bench.run(help).code, 0);
    }
}

#[test]
fn contradictions_found_later_are_2_and_reported() {
    let bench = small();
    let dedup = "dedup --batch batch.seg";
    let said = fault_of(&bench, 2, "a", &format!("{dedup} --keep longest"));
    assert!(said.contains("longest") && said.contains("batch.seg"), "{said}");
    let said = fault_of(&bench, 2, "b", &format!("{dedup} --keep oldest"));
    assert!(said.contains("--time-field"), "{said}");
    let said = fault_of(&bench, 2, "c", &format!("{dedup} --distance 4 --design 16"));
    assert!(said.contains("blocks:"), "those that do cover it are named: {said}");
    fault_of(&bench, 2, "d", &format!("{dedup} --distance 65"));
    let fingerprint = "fingerprint --input pages.jsonl";
    let said = fault_of(&bench, 2, "e.seg", &format!("{fingerprint} --recipe good"));
    assert!(said.contains("default"), "those that there are are named: {said}");
    fault_of(&bench, 2, "f.seg", &format!("{fingerprint} --recipe external-64 --width 128"));
    fault_of(&bench, 2, "g.seg", &format!("{fingerprint} --id-field text"));
    fault_of(&bench, 2, "h.seg", &format!("{fingerprint} --recipe external-64"));
    bench.done("fingerprint --input pages.jsonl --output words.seg");
    let said = fault_of(&bench, 2, "i", "dedup --batch words.seg --store store");
    assert!(said.contains("external") && said.contains("words"), "both are shown: {said}");
    fault_of(&bench, 2, "far/away/j", &format!("{dedup} --keep longest"));
}

#[test]
fn damaged_files_and_too_many_matches_are_65() {
    let bench = small();
    let sound = bench.bytes("batch.seg");
    for at in [0, 9, 20, sound.len() / 2, sound.len() - 30, sound.len() - 1] {
        let mut damaged = sound.clone();
        damaged[at] ^= 4;
        bench.write("damaged.seg", damaged);
        let said = fault(&bench, 65, "inspect damaged.seg --json");
        assert!(said.contains("damaged.seg"), "{said}");
        fault(&bench, 65, "store add store --segment damaged.seg --day 2026-01-02");
    }
    bench.write("damaged.seg", &sound[..sound.len() - 1]);
    fault_of(&bench, 65, "a", "dedup --batch damaged.seg");
    bench.write("damaged.seg", "");
    fault_of(&bench, 65, "b", "dedup --batch damaged.seg");
    fault_of(&bench, 65, "c", "dedup --batch pages.jsonl");
    let all = "dedup --batch batch.seg --store store --matches all --max-matches 19";
    let said = fault_of(&bench, 65, "d", all);
    assert!(said.contains("--matches best") && said.contains("19"), "{said}");
    bench.done("dedup --batch batch.seg --store store --max-matches 1 --output d");
    assert!(!bench.path("d.failed.json").exists(), "success takes the report of the failure away");
}

#[test]
fn missing_inputs_are_66() {
    let bench = small();
    for input in ["none.jsonl", "none/*.jsonl", "pages.jsonl none.jsonl"] {
        fault_of(&bench, 66, "a.seg", &format!("fingerprint --input {input}"));
    }
    let said = fault_of(&bench, 66, "b", "dedup --batch none.seg");
    assert!(said.contains("none.seg"), "{said}");
    let said = fault_of(&bench, 66, "c", "dedup --batch batch.seg --store none");
    assert!(said.contains("store init"), "{said}");
    fault_of(&bench, 66, "d", "dedup --batch batch.seg --store store --as-of 9");
    for line in [
        "inspect none.seg --json",
        "store list none --json",
        "store verify none",
        "store add none --segment batch.seg --day 2026-01-02",
        "store add store --segment none.seg --day 2026-01-02",
        "store add store --segment batch.seg --day 2026-01-02 --only none.txt",
        "run none.toml",
        "dedup --batch batch.seg --output out --config none.toml",
    ] {
        fault(&bench, 66, line);
    }
}

/// Whether a small file system can be mounted here.
pub(crate) fn can_mount() -> bool {
    Small::mount(Bench::new().path("small"), "16k").is_some()
}

/// A small file system, unmounted when dropped.
struct Small(PathBuf);

impl Small {
    /// None if none can be mounted.
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
    let before = bench.tree();
    assert_failed(&bench.run("store add full/store --segment big.seg --day 2026-01-01"), 74);
    assert_eq!(bench.done("store verify full/store").count("version"), 1);
    assert_eq!(bench.tree(), before);
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
fn a_wrong_configuration_is_78_with_its_line() {
    let bench = small();
    let whole = "inputs = [\"pages.jsonl\"]\noutput = \"out/{date}\"\nstore = \"held\"\ndates = [\"2026-01-01\"]\n";
    for (wrong, line, what) in [
        ("iputs = [\"x\"]\n", 1, "iputs"),
        ("# a comment\n[dedup]\ndistanse = 3\n", 3, "distanse"),
        ("[fingerprint]\nrecipe = \"words\n", 2, ""),
        ("[fingerprint]\nmax_bad = \"many\"\n", 2, "many"),
        ("[dedup]\n\n\nkeep = \"youngest\"\n", 4, "youngest"),
        ("[dedup]\ndistance = \"three\"\n", 2, "three"),
        ("[machines]\nworkers = -1\n", 2, "-1"),
        ("[clutser]\nworkers = 1\n", 1, "clutser"),
        ("dates = [\"2026-02-30\"]\n", 1, "2026-02-30"),
        ("add = \"some\"\n", 1, "some"),
        ("output = \"a\"\noutput = \"b\"\n", 2, "duplicate"),
    ] {
        bench.write("wrong.toml", wrong);
        for job in ["run wrong.toml", "dedup --batch batch.seg --output out --config wrong.toml"] {
            let said = fault(&bench, 78, job);
            assert!(said.contains(&format!("wrong.toml:{line}")) && said.contains(what), "{said}");
        }
    }
    for key in ["inputs", "output", "store"] {
        let lines = whole.split_inclusive('\n').filter(|line| !line.starts_with(key));
        bench.write("short.toml", lines.collect::<String>());
        let said = fault(&bench, 78, "run short.toml");
        assert!(said.contains(key), "{said}");
    }
    bench.write("same.toml", whole.replace("{date}", "day"));
    assert!(fault(&bench, 78, "run same.toml").contains("{date}"));
    bench.write("hosts.txt", "host-without-a-port\n");
    let said =
        fault(&bench, 78, "dedup --batch batch.seg --output out --hosts hosts.txt --process 0");
    assert!(said.contains("hosts.txt"), "{said}");
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
