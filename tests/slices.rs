//! Short slices of the long fault loops in tests/harness, from fixed seeds.

use std::path::Path;

use serde_json::Value;

use crate::support::command;

/// Runs some cycles of a fault, none of which may break a promise. Gives the reasons for what the
/// harness skipped.
pub(crate) fn slice(fault: &str, cycles: u32) -> Vec<String> {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harness");
    let ended = command("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(harness)
        .args(["--program", env!("CARGO_BIN_EXE_dupsieve"), "--fault", fault])
        .args(["--cycles", &cycles.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    let figures = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    figures.filter_map(|figures| figures["skipped"].as_str().map(str::to_owned)).collect()
}

#[test]
fn system_calls_that_kill_or_fail() {
    slice("syscalls", 24);
}

#[test]
fn kills() {
    slice("kills", 16);
}

#[test]
fn kills_of_what_changes_a_store() {
    slice("stores", 16);
}

#[test]
fn disks_that_become_read_only() {
    slice("readonly", 16);
}

#[test]
fn clocks_that_jump() {
    slice("clocks", 20);
}

#[test]
fn flips() {
    slice("flips", 100);
}

#[test]
fn power_cuts() {
    slice("power", 3);
}

#[test]
fn peers_that_freeze_and_die() {
    slice("peers", 8);
}

#[test]
fn endings_that_nobody_plans_for() {
    slice("endings", 48);
}

#[test]
fn work_redone() {
    slice("redone", 4);
}

#[cfg(feature = "serve")]
#[test]
fn kills_of_the_service_under_load() {
    slice("serve", 10);
}
