//! The program says what it was built from: which commit, and whether the source differed from it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{Bench, command};

#[allow(dead_code)] // Cargo runs `main`.
#[path = "../build.rs"]
mod build;

#[test]
fn the_version_says_how_the_program_was_built() {
    let bench = Bench::new();
    let told =
        |flag: &str| String::from_utf8(bench.command(flag).output().unwrap().stdout).unwrap();
    let version = format!("dupsieve {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(told("-V"), version);
    let long = told("--version");
    assert!(long.starts_with(&version) && long.contains(std::env::consts::ARCH), "{long}");
    assert!(long.contains(concat!("\ncommit: ", env!("DUPSIEVE_BUILT_FROM"), "\n")), "{long}");
    for (feature, is_built) in [
        ("parquet", cfg!(feature = "parquet")),
        ("serve", cfg!(feature = "serve")),
        ("object-store", cfg!(feature = "object-store")),
        ("segmenter", cfg!(feature = "segmenter")),
    ] {
        let line = if is_built { "features:" } else { "without:" };
        let line = long.lines().find(|it| it.starts_with(line)).unwrap();
        assert!(line.contains(feature), "{long}");
    }
}

/// All features but the default ones stand in each place that names the features of a package, and in the gate.
#[test]
fn packages_and_the_gate_have_all_features() {
    let read = |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let manifest: toml::Table = read("Cargo.toml").unwrap().parse().unwrap();
    let features = manifest["features"].as_table().unwrap();
    let defaults = features["default"].as_array().unwrap();
    let is_default = |name: &str| defaults.iter().any(|it| it.as_str() == Some(name));
    let others = features.keys().filter(|name| *name != "default" && !is_default(name));
    let others: BTreeSet<&str> = others.map(String::as_str).collect();
    for (name, before) in [
        (".ci/run", "--features "),
        ("Dockerfile", "FEATURES="),
        ("docs/src/installing.md", "--features "),
        ("packaging/build.sh", "\nfeatures="),
        ("packaging/python/backend.py", "\"--features\", \""),
    ] {
        let text = read(name).unwrap();
        let (_, list) = text.split_once(before).unwrap();
        let end = list.find(|it: char| !(it.is_ascii_lowercase() || "-,".contains(it))).unwrap();
        let list: BTreeSet<&str> = list[..end].split(',').collect();
        assert_eq!(list, others, "{name}");
    }
}

fn git(folder: &Path, words: &str) -> String {
    let mut git = command("git");
    git.current_dir(folder).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").args(words.split(' '));
    let said = git.output().unwrap();
    assert!(said.status.success(), "{words}: {said:?}");
    String::from_utf8(said.stdout).unwrap().trim().to_owned()
}

fn told(folder: &Path) -> String {
    build::built_from(folder, None)
}

fn watched(folder: &Path) -> Vec<String> {
    let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    build::watched(folder).iter().map(|path| name(path)).collect()
}

#[test]
fn the_commit_of_a_clone_is_told_and_whether_the_source_differs() {
    let bench = Bench::new();
    let clone = bench.path("clone");
    for name in ["Cargo.toml", "build.rs", "src/lib.rs", "docs/a.md"] {
        bench.write(&format!("clone/{name}"), name);
    }
    let sources = ["build.rs", "Cargo.toml", "src"];
    let unknown = "not recorded, because the source is no clone of the repository";
    assert_eq!(told(&clone), unknown);
    assert_eq!(watched(&clone), sources);

    git(&clone, "init --quiet");
    assert_eq!(told(&clone), "not recorded, because git did not tell it");
    git(&clone, "add .");
    git(&clone, "commit --quiet -m first");
    let first = git(&clone, "rev-parse HEAD");
    assert_eq!(told(&clone), first);
    assert_eq!(watched(&clone), [&sources[..], &[".git/HEAD", ".git/logs/HEAD"]].concat());

    // What nothing is compiled from may differ.
    bench.write("clone/docs/a.md", "other words");
    bench.write("clone/notes.txt", "");
    assert_eq!(told(&clone), first);
    let differs = format!("{first}, with changes that were not committed");
    for (name, text) in [("src/lib.rs", "other"), ("src/new.rs", "")] {
        bench.write(&format!("clone/{name}"), text);
        assert_eq!(told(&clone), differs, "{name}");
        git(&clone, "checkout --quiet -- src");
        git(&clone, "clean --quiet --force src");
        assert_eq!(told(&clone), first, "{name}");
    }
    git(&clone, "commit --quiet -a -m second");
    assert_ne!(told(&clone), first);

    // A tree of work beside the clone.
    git(&clone, "worktree add --quiet ../beside");
    let beside = bench.path("beside");
    assert_eq!(told(&beside), git(&clone, "rev-parse HEAD"));
    assert_eq!(build::watched(&beside).len(), 5);
    // An archive that was unpacked in a clone of something else.
    bench.write("clone/unpacked/src/lib.rs", "");
    assert_eq!(told(&clone.join("unpacked")), unknown);
    assert_eq!(build::built_from(&clone, Some("named".to_owned())), "named");
}
