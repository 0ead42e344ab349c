"""A clock that jumps back and forth by years, between the days of a store and within a job: nothing that is written depends on it."""

import json
import os
import pathlib
import random
import threading

from bench import JOBS, Running, Violation, files
from serve import STEP, Served
from tally import Tally

# From the package libfaketime of Debian.
LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
# Doctored clocks are those of the calendar; a clock that only counts does not jump.
KEPT = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1", "FAKE_STAT": "0", "NO_FAKE_STAT": "1"}
PAUSE = 0.005


def run(bench, seed, cycles=None):
    """Each job in turn, and then `serve`, under a clock that jumps every few milliseconds."""
    tally = Tally("clocks", seed)
    if not LIBRARY.exists():
        tally.skipped = "there is no libfaketime"
        return tally
    jobs = [*JOBS, None]
    for number in range(cycles or 10 * len(jobs)):
        job = jobs[number % len(jobs)]
        chance = random.Random(f"{seed} {number}")
        name = f"{number} {job.name if job else 'serve'}"
        tally.cycle(name, lambda: cycle(bench, tally, chance, job) if job else served(bench, tally, chance))
    return tally


class Clock:
    """A clock that jumps, for the processes that are started with its words."""

    def __init__(self, bench, chance):
        self.file, self.chance, self.stop, self.jumps = bench.scratch / "clock", chance, threading.Event(), 0
        self.jump()
        told = {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": self.file, **KEPT}
        self.words = ["env", *(f"{name}={value}" for name, value in told.items())]

    def jump(self):
        """By up to forty years, as one file that is there whole."""
        new = self.file.with_suffix(".new")
        new.write_text(f"{self.chance.uniform(-1.2e9, 1.2e9):+.0f}\n")
        os.replace(new, self.file)
        self.jumps += 1

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while not self.stop.wait(PAUSE):
            self.jump()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def cycle(bench, tally, chance, job):
    expected, _ = bench.undisturbed(job)
    home = bench.fresh()
    with Clock(bench, chance) as clock:
        ended = Running([*clock.words, *bench.command(*job.words)], home).end()
    tally.count("jumps", clock.jumps)
    tally.count(f"ended with {ended.code}")
    if ended.code != 0 or "panicked" in ended.stderr:
        raise Violation(f"ended with {ended.code}: {ended.stderr[-500:]}")
    found = files(home)
    if found != expected:
        differ = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
        raise Violation(f"other bytes in {differ}")


class Jumping(Served):
    """A service under such a clock."""

    def __init__(self, bench, home, clock):
        self.clock = clock
        super().__init__(bench, home)

    def start(self, words, home):
        return Running([*self.clock.words, *words], home)


def served(bench, tally, chance):
    """Every request is answered, every day committed, and every page there."""
    home = bench.fresh()
    with Clock(bench, chance) as clock:
        service = Jumping(bench, home, clock)
        try:
            told = []
            for day in range(1, 5):
                numbers = range(day * 100, day * 100 + 30)
                pages = [{"id": str(it), "fingerprint": f"{it * STEP % 2**64:x}"} for it in numbers]
                if service.ask("/v1/pages", {"remember": "all", "pages": pages}) is None:
                    raise Violation("pages were refused")
                told += [page["id"] for page in pages]
                if day < 4 and service.ask("/v1/commit", {"day": f"2026-01-{day:02}"}) is None:
                    raise Violation("a commit was refused")
                body = {"distance": 0, "fingerprints": [f"{int(it) * STEP % 2**64:x}" for it in told]}
                answers = json.loads(service.ask("/v1/query", body))["answers"]
                lost = [it for it, answer in zip(told, answers) if [page["id"] for page in answer["near"]] != [it]]
                if lost:
                    raise Violation(f"acknowledged and lost, or there twice: {lost}")
        finally:
            service.kill()
    tally.count("jumps", clock.jumps)
    tally.count("serve: pages there", len(told))
