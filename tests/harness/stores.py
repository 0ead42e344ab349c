"""kill -9, at random moments, of the commands that change a store.

Afterwards the store is sound and shows what it showed before, or what it is to show then, or the days of both where one is added and another expires; and
the same command completes it.
"""

import json
import random
import signal
import time

from bench import JOBS, Running, Violation
from tally import Tally

NAMES = ["store remove", "store purge", "store prune", "store index", "store expire", "store compact",
         "store add, merging", "store add, replacing"]


def run(bench, seed, cycles=None):
    """Cycles of every command in turn; by themselves a hundred of each."""
    tally = Tally("stores", seed)
    jobs = [job for job in JOBS if job.name in NAMES]
    for number in range(cycles or 100 * len(jobs)):
        job = jobs[number % len(jobs)]
        tally.cycle(f"{number} {job.name}", lambda: cycle(bench, tally, random.Random(f"{seed} {number}"), job))
    return tally


def cycle(bench, tally, chance, job):
    expected, seconds = bench.undisturbed(job)
    home, running = begun(bench, chance, job, seconds)
    running.signal_all(signal.SIGKILL)
    ended = running.end().expect(0, -signal.SIGKILL)
    bench.check(home, job, expected, ended)
    found = shown(bench, home, job)
    _, seconds = bench.complete(home, job, expected)
    before, after = shown(bench, bench.made, job), shown(bench, home, job)
    between = sorted({*before, *after})
    if found not in (before, between, after):
        raise Violation(f"shows {found}, and neither {before} nor {after}")
    changed = ", in the new state" if before != after and found == after else ""
    tally.count(f"{job.name}: killed{changed}")
    tally.sample("seconds to complete", seconds)


def begun(bench, chance, job, seconds):
    """A run of the job that has not ended at a random moment."""
    while True:
        home = bench.fresh()
        running = Running(bench.command(*job.words), home)
        time.sleep(chance.uniform(0, seconds))
        if running.goes_on():
            return home, running
        running.end().expect(0)


def shown(bench, home, job):
    """The rows of each day that the store shows."""
    listed = json.loads(bench.run(home, "store", "list", job.store, "--json").expect(0).stdout)
    return [(day["day"], day["rows"]) for day in listed["days"]]
