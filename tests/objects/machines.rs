//! Machines that have nothing in common but an object store: the bytes are those of one process on local files, whichever machine is
//! lost, and whatever a machine has lost with its disk.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::server::Server;
use crate::support::{Bench, Ended, Running, TRIES, free_address, wait_until};

const DAYS: [&str; 3] = ["2026-11-18", "2026-11-19", "2026-11-20"];

/// The files of a day that are the same for any number of processes.
const MADE: [&str; 7] = [
    "batch.seg",
    "dedup/verdicts.tsv",
    "dedup/matches.tsv",
    "dedup/keep.txt",
    "dedup/drop.txt",
    "clusters/clusters.tsv",
    "clusters/sizes.tsv",
];

/// Three days as one process has run them on local files, and a server with the same pages and with nothing made of them.
fn three_days() -> (Bench, Server) {
    let (bench, server) = Server::start();
    let config = |root: &str, days: &str| {
        format!(
            "inputs = [\"{days}/{{date}}/*.jsonl\"]\noutput = \"{root}/{{date}}\"\n\
             store = \"{root}/store\"\ndates = {DAYS:?}\n[fingerprint]\nkeep_bands = \"minhash-14x8\"\n\
             [clusters]\n"
        )
    };
    bench.write("local.toml", config("out", "days"));
    for (at, day) in DAYS.into_iter().enumerate() {
        let from = 150 * at;
        bench.write(&format!("days/{day}/a.jsonl"), bench.documents(from, from + 120));
        bench.write(&format!("days/{day}/b.jsonl"), bench.documents(from + 120, from + 240));
    }
    server.load(&bench, "days");
    server.put("/b/run.toml", &config("s3://b/out", "s3://b/days"));
    bench.done("run local.toml --workers 1");
    bench.secret("secret", "known to all machines");
    (bench, server)
}

fn disk(bench: &Bench, machine: usize) -> PathBuf {
    bench.path(&format!("machine-{machine}"))
}

/// Starts a job on so many machines, each with a home, a folder for temporary files and a cache of its own.
fn start(bench: &Bench, line: &str, machines: usize) -> Vec<Running> {
    let hosts: Vec<String> = (0..machines).map(|_| free_address()).collect();
    bench.write("hosts.txt", hosts.join("\n"));
    let machine = |number: usize| {
        let disk = disk(bench, number);
        let flags = "--workers 1 --peer-timeout 10 --wait-for-peers 60";
        let mut command = bench.command(&format!("{line} {flags}"));
        for (variable, name) in [("HOME", "home"), ("TMPDIR", "tmp")] {
            fs::create_dir_all(disk.join(name)).unwrap();
            command.env(variable, disk.join(name));
        }
        command.env_remove("DUPSIEVE_CACHE").env_remove("XDG_CACHE_HOME");
        command.arg("--hosts").arg(bench.path("hosts.txt"));
        command.arg("--secret-file").arg(bench.path("secret"));
        command.args(["--process", &number.to_string()]).current_dir(&disk);
        Running::start(command)
    };
    (0..machines).map(machine).collect()
}

fn done(bench: &Bench, line: &str, machines: usize) -> Vec<Ended> {
    let ended: Vec<Ended> = start(bench, line, machines).into_iter().map(Running::end).collect();
    for machine in &ended {
        assert_eq!(machine.code, 0, "{line}\n{}", shown(&ended));
    }
    ended
}

fn shown(ended: &[Ended]) -> String {
    ended.iter().map(|it| format!("{}\n{}\n", it.code, it.stderr)).collect()
}

fn has(server: &Server, key: &str) -> bool {
    let path = format!("/b?list-type=2&prefix={key}");
    String::from_utf8(server.ask("GET", &path, b"")).unwrap().contains(&format!("<Key>{key}</Key>"))
}

/// All that stands at the addresses is what one process has made of local files, and nothing is left of other attempts.
fn expect_same(bench: &Bench, server: &Server) {
    for day in DAYS {
        for name in MADE {
            let here = bench.bytes(&format!("out/{day}/{name}"));
            assert!(server.held(&format!("out/{day}"), name) == here, "{day} {name}");
        }
        assert!(!has(server, &format!("out/{day}/_UNFINISHED")));
    }
    let list = server.list("out/store");
    let published: Vec<&String> = list["files"].as_object().unwrap().keys().collect();
    let mut here: Vec<String> = bench.files("out/store").into_keys().collect();
    here.retain(|name| !name.ends_with("LOCK"));
    assert_eq!(published, here.iter().collect::<Vec<_>>());
    for name in here.iter().filter(|name| name.ends_with(".seg")) {
        assert!(server.held("out/store", name) == bench.bytes(&format!("out/store/{name}")));
    }
}

#[test]
fn days_are_run_without_a_common_disk() {
    let (bench, server) = three_days();
    let line = "run s3://b/run.toml";
    done(&bench, line, 2);
    expect_same(&bench, &server);
    for (machines, is_empty) in [(2, false), (3, true)] {
        if is_empty {
            (0..3).for_each(|machine| drop(fs::remove_dir_all(disk(&bench, machine))));
        }
        let again = done(&bench, line, machines);
        assert_eq!(again[0].summary()["already_done"], true, "{}", shown(&again));
    }
    // A day is made again by one of them.
    bench.write(&format!("days/{}/a.jsonl", DAYS[1]), bench.documents(160, 240));
    server.load(&bench, "days");
    bench.done(&format!("run local.toml --redo {}", DAYS[1]));
    done(&bench, &format!("{line} --redo {}", DAYS[1]), 2);
    for day in DAYS {
        for name in MADE {
            let here = bench.bytes(&format!("out/{day}/{name}"));
            assert!(server.held(&format!("out/{day}"), name) == here, "{day} {name}");
        }
    }
}

#[test]
fn a_machine_that_is_lost_and_comes_back_empty_costs_what_only_that_machine_had() {
    // The one that is killed, and on how many machines the job runs then.
    for (lost, machines) in [(0, 2), (1, 3), (1, 1)] {
        let (bench, server) = three_days();
        let day = DAYS[1];
        // The join of the second day takes its time: it reads the store.
        let rule = json!({"do": "delay", "seconds": 2, "method": "GET", "path": "/segments/"});
        server.faults(&json!([rule]));
        let mut running = start(&bench, "run s3://b/run.toml", 2);
        let is_made = || has(&server, &format!("out/{day}/_UNFINISHED"));
        wait_until("a batch is shown", || is_made() || !running[0].is_running());
        assert!(is_made(), "{:?}", running.remove(0).end());
        assert!(running.remove(lost).kill());
        let other = running.remove(0).end();
        assert!([69, 75].contains(&other.code), "{other:?}");
        assert!(has(&server, &format!("out/{}/_SUCCESS", DAYS[0])));
        assert!(!has(&server, &format!("out/{day}/_SUCCESS")));
        fs::remove_dir_all(disk(&bench, lost)).unwrap();
        server.faults(&json!([]));
        let ended = done(&bench, "run s3://b/run.toml", machines);
        // What was shown to the other machine is not made again.
        let told = &ended[0].stderr;
        assert!(told.contains(&format!("s3://b/out/{day}/batch.seg is done already")), "{told}");
        expect_same(&bench, &server);
    }
}

#[test]
fn what_a_dead_run_has_left_and_is_gone_is_made_again() {
    let (bench, server) = three_days();
    let list = format!("out/{}/_SUCCESS", DAYS[0]);
    server.faults(&json!([{"do": "status", "status": 503, "method": "PUT", "path": list}]));
    let running = start(&bench, "run s3://b/run.toml", 2);
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    // All fail alike.
    assert_eq!(ended.iter().map(|it| it.code).collect::<Vec<_>>(), [74, 74], "{}", shown(&ended));
    server.faults(&json!([]));
    let key = format!("out/{}", DAYS[0]);
    let draft: Value =
        serde_json::from_slice(&server.ask("GET", &format!("/b/{key}/_UNFINISHED"), b"")).unwrap();
    let object = draft["files"]["batch.seg"]["object"].as_str().unwrap();
    server.ask("DELETE", &format!("/b/{key}/{object}"), b"");
    (0..2).for_each(|machine| fs::remove_dir_all(disk(&bench, machine)).unwrap());
    // One that is alone goes on in the same way.
    let ended = done(&bench, "run s3://b/run.toml", 1);
    assert!(ended[0].stderr.contains("is made again"), "{}", shown(&ended));
    expect_same(&bench, &server);
}

#[test]
fn each_command_runs_without_a_common_disk() {
    let (bench, server) = three_days();
    let both = |line: &str, here: &str| {
        bench.done(here);
        done(&bench, line, 2);
    };
    let same = |key: &str, names: &[&str]| {
        for name in names {
            assert!(
                server.held(key, name) == bench.bytes(&format!("{key}/{name}")),
                "{key} {name}"
            );
        }
    };
    let tables = ["verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt"];
    let bands = "--keep-bands minhash-14x8";
    both(
        &format!("fingerprint --input s3://b/days/2026-11-18 --output s3://b/one.seg {bands}"),
        &format!("fingerprint --input days/2026-11-18 --output one.seg {bands}"),
    );
    assert!(server.ask("GET", "/b/one.seg", b"") == bench.bytes("one.seg"));
    both(
        "dedup --batch s3://b/one.seg --output s3://b/alone",
        "dedup --batch one.seg --output alone",
    );
    same("alone", &tables);
    both(
        "lsh --input s3://b/days/2026-11-19 --similarity 0.6 --output s3://b/overlapping",
        "lsh --input days/2026-11-19 --similarity 0.6 --output overlapping",
    );
    same("overlapping", &["batch.seg", "dedup/verdicts.tsv", "dedup/matches.tsv"]);
    both(
        "cluster --from s3://b/alone --day 2026-11-18 --output s3://b/clusters",
        "cluster --from alone --day 2026-11-18 --output clusters",
    );
    same("clusters", &["clusters.tsv", "sizes.tsv"]);
    both(
        "dedup --input s3://b/days --output s3://b/corpus --kept s3://b/kept",
        "dedup --input days --output corpus --kept kept",
    );
    same("corpus", &["dedup/verdicts.tsv", "dedup/keep.txt"]);
    same("kept", &["2026-11-18/a.jsonl", "2026-11-20/b.jsonl"]);
    both(
        "weights --input s3://b/days --recipe words-1 --output s3://b/words.table",
        "weights --input days --recipe words-1 --output words.table",
    );
    assert!(server.ask("GET", "/b/words.table", b"") == bench.bytes("words.table"));
}

#[test]
fn each_machine_goes_on_with_the_chunks_that_are_on_its_disk() {
    let (bench, server) = Server::start();
    bench.secret("secret", "known to all machines");
    bench.done("generate segment --count 400000 --output old.seg");
    bench.done(
        "generate segment --count 20000 --seed 2 --near old.seg --planted 2000 --output batch.seg",
    );
    bench.done("store init here/store");
    bench.done("store add here/store --segment old.seg --day 2026-01-01");
    bench.done("dedup --batch batch.seg --store here/store --distance 4 --output here/out");
    bench.done("store init s3://b/store");
    bench.done("store add s3://b/store --segment old.seg --day 2026-01-01");
    bench.write("there/batch.seg", bench.bytes("batch.seg"));
    server.load(&bench, "there");
    let line = "dedup --batch s3://b/there/batch.seg --store s3://b/store --distance 4 \
                --output s3://b/found/out";
    let noted = |machine: usize| {
        let cache = disk(&bench, machine).join("home/.cache/dupsieve");
        let slots = fs::read_dir(cache).into_iter().flatten().flatten();
        let folders = slots.map(|slot| slot.path().join("0/.out.resume"));
        let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        files.map(|file| file.metadata().map_or(0, |it| it.len())).sum::<u64>()
    };
    for _ in 0..TRIES {
        let mut running = start(&bench, line, 2);
        let is_running = |running: &[Running]| running.iter().all(Running::is_running);
        wait_until("both have noted chunks", || {
            !is_running(&running) || (0..2).all(|machine| noted(machine) > 500)
        });
        running.iter().for_each(|machine| machine.signal(Signal::KILL));
        let ended: Vec<Ended> = running.drain(..).map(Running::end).collect();
        if ended.iter().all(|machine| machine.code == -1) {
            break;
        }
        assert!(ended.iter().all(|machine| machine.code == 0), "{}", shown(&ended));
        server.ask("DELETE", "/b/found/out/_SUCCESS", b"");
    }
    fs::remove_dir_all(disk(&bench, 1)).unwrap();
    done(&bench, line, 2);
    for name in ["verdicts.tsv", "matches.tsv"] {
        assert!(server.held("found/out", name) == bench.bytes(&format!("here/out/{name}")));
    }
    let report: Value = serde_json::from_slice(&server.held("found/out", "report.json")).unwrap();
    let [resumed, planned] = [&report["run"]["chunks_resumed"], &report["probe"]["chunks_planned"]]
        .map(|count| count.as_u64().unwrap());
    assert!(0 < resumed && resumed < planned, "{resumed} of {planned}");
    assert_eq!((noted(0), noted(1)), (0, 0), "nothing is left");
}
