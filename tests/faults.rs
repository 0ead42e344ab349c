//! Promise 5: every fault ends the job in bounded time, with a documented exit code, one line of JSON
//! on stdout that says so, and a message that says what to do.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;

use crate::support::{Bench, Ended, Page, Running};

/// The codes after which the same command may succeed.
const RETRYABLE: [i32; 4] = [69, 70, 74, 75];

/// It ended with `code`, said so in one line on stdout and nothing else, and said why on stderr.
fn assert_told(ended: &Ended, code: i32) {
    assert_eq!(ended.code, code, "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(summary["code"], code);
    assert_eq!(summary["retryable"], RETRYABLE.contains(&code));
    assert_eq!(summary["already_done"], false);
    assert!(summary["job"].is_string() && summary["paths"].is_object(), "{summary}");
    let error = summary["error"].as_str().unwrap();
    assert!(!error.is_empty() && ended.stderr.contains(error), "{ended:?}");
    assert!(!ended.stderr.contains("panicked"), "{ended:?}");
}

/// Runs a job that must fail with `code`; gives what it said.
fn fault(bench: &Bench, code: i32, line: &str) -> String {
    let ended = bench.run(line);
    assert_told(&ended, code);
    ended.summary()["error"].as_str().unwrap().to_owned()
}

/// As `fault`, of a job that was to make `output`: its report stands beside that, and it is not there.
fn fault_of(bench: &Bench, code: i32, output: &str, line: &str) -> String {
    let error = fault(bench, code, &format!("{line} --output {output}"));
    assert_reported(bench, code, output);
    error
}

fn assert_reported(bench: &Bench, code: i32, output: &str) {
    assert!(!bench.path(output).exists(), "{output} is there");
    let failure: Value =
        serde_json::from_str(&bench.read(&format!("{output}.failed.json"))).unwrap();
    assert_eq!(
        (&failure["code"], &failure["retryable"]),
        (&code.into(), &RETRYABLE.contains(&code).into())
    );
    assert!(!failure["error"].as_str().unwrap().is_empty());
}

/// A small batch, its input, and a store of one day.
fn small() -> Bench {
    let bench = Bench::new();
    bench.write("pages.jsonl", bench.documents(0, 20));
    let pages: Vec<Page> = (0..20).map(|i| (format!("p{i}"), i << 20 | i)).collect();
    bench.segment("batch", 64, &pages);
    bench.done("store init store");
    bench.done("store add store --segment batch.seg --day 2026-01-01");
    bench
}

#[test]
fn asking_for_what_cannot_be_done_is_2() {
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
        let said = fault(&bench, 65, "inspect damaged.seg");
        assert!(said.contains("damaged.seg"), "{said}");
        fault(&bench, 65, "store add store --segment damaged.seg --day 2026-01-02");
    }
    bench.write("damaged.seg", &sound[..sound.len() - 1]);
    fault_of(&bench, 65, "a", "dedup --batch damaged.seg");
    bench.write("damaged.seg", "");
    fault_of(&bench, 65, "b", "dedup --batch damaged.seg");
    fault_of(&bench, 65, "c", "dedup --batch pages.jsonl");
    let said = fault_of(&bench, 65, "d", "dedup --batch batch.seg --store store --max-matches 19");
    assert!(said.contains("--matches best") && said.contains("19"), "{said}");
    bench.done("dedup --batch batch.seg --store store --max-matches 1 --matches best --output d");
    assert!(!bench.path("d.failed.json").exists(), "success takes the report of the failure away");
}

#[test]
fn what_is_missing_is_66() {
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
        "inspect none.seg",
        "store list none",
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

/// An address that nobody listens at.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn a_peer_that_never_comes_or_is_refused_is_69() {
    let bench = small();
    let [ours, theirs] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("{ours}\n{theirs}\n"));
    bench.write("secret", "between us");
    bench.write("wrong", "something else");
    let line = "dedup --batch batch.seg --store store --hosts hosts.txt --wait-for-peers 1";
    for process in [0, 1] {
        let began = Instant::now();
        fault(&bench, 69, &format!("{line} --process {process} --secret-file secret --output a"));
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
    assert_reported(&bench, 69, "a");
    for [first, second] in [
        ["--secret-file secret --output b", "--secret-file wrong --output b"],
        ["--secret-file secret --output b", "--secret-file secret --output b --distance 2"],
    ] {
        let both = [(0, first), (1, second)]
            .map(|(process, flags)| bench.start(&format!("{line} --process {process} {flags}")));
        for ended in both.map(Running::end) {
            assert_told(&ended, 69);
        }
        assert!(!bench.path("b").exists());
    }
}

#[test]
fn strangers_at_the_door_disturb_nobody() {
    let bench = small();
    let [leader, other] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("{leader}\n{other}\n"));
    bench.write("secret", "between us");
    let line =
        "dedup --batch batch.seg --store store --hosts hosts.txt --secret-file secret --output out";
    let waiting = bench.start(&format!("{line} --process 0"));
    let mut silent = Vec::new();
    let late = Instant::now() + Duration::from_secs(10);
    while silent.len() < 12 && Instant::now() < late {
        let Ok(mut caller) = std::net::TcpStream::connect(&leader) else { continue };
        match silent.len() % 3 {
            0 => caller.write_all(b"GET / HTTP/1.1\r\nHost: health\r\n\r\n").unwrap(),
            1 => caller.write_all(&[0; 8]).unwrap(),
            _ => {}
        }
        silent.push(caller);
    }
    let came = bench.start(&format!("{line} --process 1"));
    let (waiting, came) = (waiting.end(), came.end());
    assert_eq!((waiting.code, came.code), (0, 0), "{}{}", waiting.stderr, came.stderr);
    assert!(bench.path("out/_SUCCESS").exists());
}

/// A small file system, unmounted when dropped.
struct Small(PathBuf);

impl Small {
    /// None where none can be mounted.
    fn mount(place: PathBuf, size: &str) -> Option<Small> {
        fs::create_dir_all(&place).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&place);
        mount.output().is_ok_and(|mount| mount.status.success()).then_some(Small(place))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_74() {
    let bench = small();
    bench.write("many.jsonl", bench.documents(0, 3000));
    bench.done("generate segment --count 100000 --output big.seg");
    let Some(full) = Small::mount(bench.path("full"), "16k") else {
        eprintln!("skipped: no small file system can be mounted here");
        return;
    };
    let ended = bench.run("fingerprint --input many.jsonl --output full/a.seg");
    assert_told(&ended, 74);
    assert!(ended.stderr.contains("free some space"), "{}", ended.stderr);
    assert!(!bench.path("full/a.seg").exists());
    let ended = bench.run("dedup --batch big.seg --output full/out");
    assert_told(&ended, 74);
    let ours = |name: &String| name.ends_with(".lock") || name.ends_with(".failed.json");
    assert!(bench.names("full").iter().all(ours), "{:?}", bench.names("full"));
    drop(full);
    let _full = Small::mount(bench.path("full"), "200k").unwrap();
    bench.done("store init full/store");
    let before = bench.tree();
    assert_told(&bench.run("store add full/store --segment big.seg --day 2026-01-01"), 74);
    assert_eq!(bench.done("store verify full/store").count("version"), 1);
    assert_eq!(bench.tree(), before);
}

/// Something that takes a while.
fn long_job(bench: &Bench) -> &'static str {
    if !bench.path("b.seg").exists() {
        bench.done("generate segment --count 2e6 --density 2e7 --output a.seg");
        bench.done("generate segment --count 1e5 --density 1e6 --seed 2 --output b.seg");
        bench.done("store init big");
        bench.done("store add big --segment a.seg --day 2026-01-01");
    }
    "dedup --batch b.seg --store big --distance 5 --output out"
}

/// Waits until the long job is at its work: its output is being built, and was not before.
fn wait_for_work(bench: &Bench, running: &mut Running) {
    let before = bench.names("");
    let begun = |name: &String| name.starts_with(".out.tmp-") && !before.contains(name);
    while !bench.names("").iter().any(begun) {
        assert!(running.goes_on(), "the job was too short");
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(20));
}

#[test]
fn interrupted_is_75() {
    let bench = Bench::new();
    let job = long_job(&bench);
    for signal in [Signal::TERM, Signal::INT] {
        for flags in ["--workers 2", "--workers 1 --processes 2"] {
            let mut running = bench.start(&format!("{job} {flags}"));
            wait_for_work(&bench, &mut running);
            let began = Instant::now();
            running.signal(signal);
            let ended = running.end();
            assert_told(&ended, 75);
            assert!(ended.stderr.contains("interrupted by SIG"), "{ended:?}");
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
            assert_reported(&bench, 75, "out");
        }
    }
}

/// The children of a process.
fn children(parent: u32) -> Vec<Pid> {
    let listed = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

#[test]
fn a_killed_child_is_75_and_takes_the_others_with_it() {
    let bench = Bench::new();
    let job = long_job(&bench);
    for victim in [0, 1, 2] {
        let mut running = bench.start(&format!("{job} --workers 1 --processes 3"));
        wait_for_work(&bench, &mut running);
        let crew = children(running.id());
        assert_eq!(crew.len(), 3, "the job was too short");
        kill_process(crew[victim], Signal::KILL).unwrap();
        let ended = running.end();
        assert_told(&ended, 75);
        assert!(ended.stderr.contains("SIGKILL"), "{}", ended.stderr);
        assert!(!bench.path("out").exists());
        assert!(crew.iter().all(|&child| rustix::process::test_kill_process(child).is_err()));
    }
    bench.done(&format!("{job} --workers 1 --processes 2"));
}

#[test]
fn children_end_with_a_supervisor_that_is_killed() {
    let bench = Bench::new();
    let job = long_job(&bench);
    let mut running = bench.start(&format!("{job} --workers 1 --processes 2"));
    wait_for_work(&bench, &mut running);
    let crew = children(running.id());
    assert_eq!(crew.len(), 2, "the job was too short");
    running.signal(Signal::KILL);
    let began = Instant::now();
    running.end();
    while crew.iter().any(|&child| rustix::process::test_kill_process(child).is_ok()) {
        assert!(began.elapsed() < Duration::from_secs(30), "they are still there");
        thread::sleep(Duration::from_millis(10));
    }
    assert!(!bench.path("out").exists());
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
    bench.done("store list store").count("version");
    bench.done("dedup --batch batch.seg --store store --output reading-needs-no-lock");
    drop(held);
    bench.done("dedup --batch batch.seg --output out");
    bench.done("store add store --segment batch.seg --day 2026-01-02");
}

#[test]
fn what_is_not_allowed_is_77() {
    let bench = small();
    fs::create_dir(bench.path("closed")).unwrap();
    fs::copy(bench.path("batch.seg"), bench.path("closed.seg")).unwrap();
    for path in ["closed", "closed.seg"] {
        fs::set_permissions(bench.path(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let home = bench.path("");
    let nobody = geteuid().is_root();
    if nobody {
        chown(&home, Some(65534), Some(65534)).unwrap();
        assert_eq!(fs::metadata(&home).unwrap().uid(), 65534);
    }
    let run = |line: &str| {
        let mut command = bench.command(line);
        if nobody {
            command.uid(65534).gid(65534);
        }
        Running::start(command).end()
    };
    let version = bench.command("--version").uid(geteuid().as_raw()).output();
    let reachable = version.is_ok() && bench.command("--version").uid(65534).output().is_ok();
    if nobody && !reachable {
        eprintln!("skipped: nobody but root can run the program where it stands");
        return;
    }
    assert_told(&run("dedup --batch closed.seg --output out"), 77);
    assert_reported(&bench, 77, "out");
    assert_told(&run("inspect closed.seg"), 77);
    assert_told(&run("dedup --batch batch.seg --output closed/out"), 77);
    assert_told(&run("fingerprint --input pages.jsonl --output closed/out.seg"), 77);
    assert_told(&run("store init closed/store"), 77);
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
        ("[dedup]\n\n\nkeep = \"newest\"\n", 4, "newest"),
        ("[dedup]\ndistance = \"three\"\n", 2, "three"),
        ("[cluster]\nworkers = -1\n", 2, "-1"),
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
fn a_reader_that_leaves_is_no_panic() {
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
