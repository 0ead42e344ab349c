"""A file system that becomes read-only in the middle: from some call on, no file or folder gets or loses its name."""

import json
import pathlib
import shutil
import signal
import time

import syscalls
from bench import JOBS, PATIENCE, Running, Violation
from serve import STEP, Served
from tally import Tally

CALLS = ["mkdir", "rmdir", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat"]
# Not allowed to write.
CODES = {0, 77, syscalls.NOT_LOADED}
# How often `serve` is tried.
SERVED = 4


def run(bench, seed, cycles=None):
    """Every job, from every occurrence of a call on, and `serve`; or as many as are asked for, taken evenly."""
    tally = Tally("readonly", seed)
    if not shutil.which("strace"):
        tally.skipped = "there is no strace"
        return tally
    cases = [(None, number) for number in range(1, SERVED + 1)]
    cases += [(job, number) for job in JOBS for number in range(1, most(bench, job) + 1)]
    tally.count("cases in all", len(cases))
    step = max(1, len(cases) // cycles) if cycles else 1
    for job, number in cases[seed % step::step]:
        name = f"{job.name} from {number} on" if job else f"serve {number}"
        tally.cycle(name, lambda: cycle(bench, tally, job, number) if job else served(bench, tally))
    return tally


def most(bench, job):
    called = syscalls.occurrences(bench, job)
    return max(called.get(call, 0) for call in CALLS)


def inject(number):
    names = ",".join(CALLS)
    return "-e", f"trace={names}", "-e", f"inject={names}:error=EROFS:when={number}+"


def cycle(bench, tally, job, number):
    expected, _ = bench.undisturbed(job)
    home = bench.fresh()
    ended = syscalls.trace(bench, home, job, *inject(number))
    tally.count(f"{job.name}, ended with {ended.code}")
    if ended.code not in CODES or "panicked" in ended.stderr:
        raise Violation(f"ended with {ended.code}: {ended.stderr[-500:]}")
    bench.check(home, job, expected, ended)
    bench.complete(home, job, expected)


def served(bench, tally):
    """The disk becomes read-only between two days and writable again: what was acknowledged is there, and the days are committed then."""
    home, told = bench.fresh(), []

    def remember(day):
        pages = [{"id": str(it), "fingerprint": f"{it * STEP % 2**64:x}"} for it in range(day * 100, day * 100 + 20)]
        taken = service.ask("/v1/pages", {"remember": "all", "pages": pages}) is not None
        told.extend(page["id"] for page in pages if taken)
        return taken

    def commit(day):
        return service.ask("/v1/commit", {"day": f"2026-01-{day:02}"}) is not None

    service = Served(bench, home)
    try:
        if not (remember(1) and commit(1)):
            raise Violation("a writable store takes no day")
        with ReadOnly(service.running.process.pid, bench.scratch / "trace"):
            tally.count(f"serve: pages {'taken' if remember(2) else 'refused'} without a new name")
            if commit(2):
                raise Violation("a day was committed on a read-only disk")
            if service.get("/healthz") is None or not service.running.goes_on():
                raise Violation("the service does not live on")
        if not commit(2) and not (remember(3) and commit(3)):
            raise Violation("a store that is writable again takes no day")
    finally:
        service.kill()
    again = Served(bench, home)
    try:
        body = {"distance": 0, "fingerprints": [f"{int(it) * STEP % 2**64:x}" for it in told]}
        answers = json.loads(again.ask("/v1/query", body))["answers"]
        lost = [it for it, answer in zip(told, answers) if [page["id"] for page in answer["near"]] != [it]]
        if lost:
            raise Violation(f"acknowledged and lost, or there twice: {lost}")
        tally.count("serve: pages acknowledged and there", len(told))
    finally:
        again.kill()


class ReadOnly:
    """While it is entered, a process that runs changes no name."""

    def __init__(self, process, record):
        self.process, self.record = process, record

    def __enter__(self):
        words = ["strace", "-f", "-p", str(self.process), "-o", self.record, *inject(1)]
        self.tracer = Running(words, "/")
        late = time.monotonic() + PATIENCE
        while not self.is_traced():
            if time.monotonic() > late or not self.tracer.goes_on():
                raise Violation(f"strace does not take hold: {self.tracer.end(1).stderr[-300:]}")
            time.sleep(0.01)

    def is_traced(self):
        threads = pathlib.Path(f"/proc/{self.process}/task").iterdir()
        return all("TracerPid:\t0\n" not in (thread / "status").read_text() for thread in threads)

    def __exit__(self, *_):
        self.tracer.signal_all(signal.SIGINT)
        self.tracer.end()
