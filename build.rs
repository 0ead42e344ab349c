//! Tells the program which commit it is built from, for `dupsieve --version`.
//!
//! Who packs the program names the commit in the variable DUPSIEVE_COMMIT, so that the same source gives the same bytes. Else git is asked, in a
//! clone. What is built from an archive of the source has no commit, and says so.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable in which who packs the program names the commit.
const COMMIT: &str = "DUPSIEVE_COMMIT";

/// What the program is compiled from.
const SOURCES: [&str; 5] = ["build.rs", "Cargo.lock", "Cargo.toml", "jobs", "src"];

/// The files of a clone that change when another commit is taken.
const HEADS: [&str; 2] = ["HEAD", "logs/HEAD"];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let named = env::var(COMMIT).ok().filter(|commit| !commit.is_empty());
    println!("cargo::rustc-env=DUPSIEVE_BUILT_FROM={}", built_from(&root, named));
    println!("cargo::rerun-if-env-changed={COMMIT}");
    for path in watched(&root) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The commit, and whether the source differs from it; or why no commit is known.
pub(crate) fn built_from(root: &Path, named: Option<String>) -> String {
    if let Some(named) = named {
        return named;
    }
    if !is_clone(root) {
        return "not recorded, because the source is no clone of the repository".to_owned();
    }
    let changes = [&["status", "--porcelain", "--"][..], &SOURCES].concat();
    match (git(root, &["rev-parse", "HEAD"]), git(root, &changes)) {
        (Some(commit), Some(changes)) if changes.is_empty() => commit,
        (Some(commit), Some(_)) => format!("{commit}, with changes that were not committed"),
        _ => "not recorded, because git did not tell it".to_owned(),
    }
}

/// What there is of the files and folders on which the answer depends. One that is missing would have cargo build anew each time.
pub(crate) fn watched(root: &Path) -> Vec<PathBuf> {
    let in_clone = |name: &str| Some(root.join(git(root, &["rev-parse", "--git-path", name])?));
    let heads = HEADS.into_iter().filter(|_| is_clone(root)).filter_map(in_clone);
    let sources = SOURCES.into_iter().map(|name| root.join(name));
    sources.chain(heads).filter(|path| path.exists()).collect()
}

/// Whether the folder is that of a clone itself. An archive that was unpacked in a clone of something else is none.
fn is_clone(root: &Path) -> bool {
    root.join(".git").exists()
}

/// What git says in the folder `root`; none if it fails. What is set for another clone, as in a hook, is left out.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.current_dir(root).arg("--no-optional-locks").args(words);
    for set in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(set);
    }
    let said = command.output().ok().filter(|said| said.status.success())?;
    Some(String::from_utf8(said.stdout).ok()?.trim().to_owned())
}
