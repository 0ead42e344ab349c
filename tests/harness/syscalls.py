"""A kill, a full disk and a failing disk at every system call by which a job changes the disk."""

import itertools
import re
import shutil

from bench import DOCUMENTED, JOBS, Running, Violation, strays
from tally import Tally

CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "renameat", "renameat2", "link", "linkat",
         "openat", "unlink", "unlinkat", "mkdir", "rmdir", "fallocate"]
FAULTS = ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]
# By the environment, since some jobs refuse the flag: they have no workers.
ONE_WORKER = ("-E", "DUPSIEVE_WORKERS=1")
# Where the loader itself cannot open a library.
NOT_LOADED = 127


def run(bench, seed, cycles=None):
    """Every job, every call, every fault, every occurrence of the call in a thread; all of them, or as
    many cycles as asked for, taken evenly from the list."""
    tally = Tally("syscalls", seed)
    if not shutil.which("strace"):
        tally.skipped = "there is no strace"
        return tally
    cases = [(job, call, fault, number) for job in JOBS for call, most in occurrences(bench, job).items()
             for fault, number in itertools.product(FAULTS, range(1, most + 1))]
    tally.count("cases in all", len(cases))
    step = max(1, len(cases) // cycles) if cycles else 1
    for case in cases[seed % step::step]:
        tally.cycle(" ".join(str(getattr(part, "name", part)) for part in case), lambda: cycle(bench, tally, *case))
    return tally


def occurrences(bench, job):
    """How often the thread that calls it most calls each of the calls."""
    home = bench.fresh()
    trace(bench, home, job, "-e", f"trace={','.join(CALLS)}").expect(0)
    called = {}
    for line in (bench.scratch / "trace").read_text(errors="replace").splitlines():
        found = re.match(r"(\d+) +(\w+)\(", line)
        if found:
            called[found.groups()] = called.get(found.groups(), 0) + 1
    return {call: max((number for (_, name), number in called.items() if name == call), default=0) for call in CALLS}


def trace(bench, home, job, *words):
    record = ["strace", "-f", *ONE_WORKER, "-o", bench.scratch / "trace", *words]
    return Running([*record, *bench.command(*job.words)], home).end()


def cycle(bench, tally, job, call, fault, number):
    expected, _ = bench.undisturbed(job)
    home = bench.fresh()
    ended = trace(bench, home, job, "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={number}")
    tally.count(f"{fault}, ended with {ended.code}")
    if ended.code == 0:
        tally.count(f"through all the same: {call}")
    killed = fault == "signal=SIGKILL" and ended.code in {-9, 137}
    if not killed and ended.code not in DOCUMENTED | {NOT_LOADED}:
        raise Violation(f"ended with {ended.code}: {ended.stderr[-500:]}")
    if "panicked" in ended.stderr:
        raise Violation(f"panicked: {ended.stderr[-500:]}")
    bench.check(home, job, expected, ended)
    _, seconds = bench.complete(home, job, expected)
    tally.sample("seconds to complete", seconds)
    for stray in strays(home):
        tally.count(f"left unfinished after it was completed: {job.name}")
