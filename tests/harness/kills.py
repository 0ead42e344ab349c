"""kill -9 at random moments: all processes, the supervisor alone, or one of its children."""

import os
import random
import signal
import time

from bench import RUN, Running
from tally import Tally

TOPOLOGIES = [(1, 1), (1, 2), (2, 1), (2, 2)]


def run(bench, seed, cycles=None):
    """Cycles of every topology (processes x workers) in turn; in each, something is killed while it runs."""
    tally = Tally("kills", seed)
    for number in range(cycles or 1000):
        tally.cycle(number, lambda: cycle(bench, tally, random.Random(f"{seed} {number}"), number))
    return tally


def cycle(bench, tally, chance, number):
    processes, workers = TOPOLOGIES[number % len(TOPOLOGIES)]
    flags = ("--workers", str(workers), "--processes", str(processes))
    expected, seconds = bench.undisturbed(RUN, flags)
    victim = None
    while not victim:
        home = bench.fresh()
        running = Running(bench.command(*RUN.words, *flags), home)
        time.sleep(chance.uniform(0, seconds))
        victim = kill(running, chance)
        ended = running.end().expect(0, 75, -signal.SIGKILL)
    tally.count(f"{processes}x{workers}")
    tally.count(f"killed {victim}")
    bench.check(home, RUN, expected, ended)
    runs, seconds = bench.complete(home, RUN, expected, flags)
    tally.sample("runs to complete", runs)
    tally.sample("seconds to complete", seconds)


def kill(running, chance):
    """Kills the processes that chance picks, and says which; nothing where the job is through."""
    children = running.children()
    victim = chance.choice(["all", "the supervisor", "a child"]) if children else "all"
    if not running.goes_on():
        return None
    if victim == "all":
        running.signal_all(signal.SIGKILL)
        return victim
    try:
        os.kill(running.process.pid if victim == "the supervisor" else chance.choice(children), signal.SIGKILL)
    except ProcessLookupError:
        return None
    return victim
