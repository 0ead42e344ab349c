//! Some tests need more than every machine has. What cannot be tried here is listed and counted where
//! everybody sees it, by one test.

use std::io::{self, Write};

use crate::faults::codes;
use crate::slices::slice;

/// A test that may be skipped, what it needs, and whether that is there.
type Need = (&'static str, &'static str, fn() -> bool);

const NEEDS: [Need; 5] = [
    ("faults::codes::a_full_disk_is_74", "to mount a small file system", codes::can_mount),
    ("slices::system_calls_that_kill_or_fail", "strace", || slice("syscalls", 1).is_empty()),
    ("slices::disks_that_become_read_only", "strace", || slice("readonly", 1).is_empty()),
    ("slices::clocks_that_jump", "libfaketime", || slice("clocks", 1).is_empty()),
    ("slices::power_cuts", "ext4 and XFS on loop devices", || slice("power", 1).is_empty()),
];

/// Whether the test of this name cannot run here; it must be one of those that are listed.
pub(crate) fn is_skipped(test: &str) -> bool {
    let (_, _, is_there) = NEEDS.iter().find(|(name, ..)| *name == test).expect("it is listed");
    !is_there()
}

#[test]
fn what_cannot_run_here_is_counted() {
    let skipped: Vec<_> = NEEDS.iter().filter(|(_, _, is_there)| !is_there()).collect();
    let mut said = format!("skipped: {} of {} tests that need more\n", skipped.len(), NEEDS.len());
    for (test, need, _) in skipped {
        said += &format!("skipped: {test}, which needs {need}\n");
    }
    // Not by a macro, whose output nobody sees when a test passes.
    io::stderr().write_all(said.as_bytes()).unwrap();
    let sources = [include_str!("faults/codes.rs"), include_str!("slices.rs")].concat();
    for (test, ..) in NEEDS {
        let name = test.rsplit("::").next().unwrap();
        assert!(sources.contains(&format!("fn {name}()")), "there is no test {test}");
    }
}
