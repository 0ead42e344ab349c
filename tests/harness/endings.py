"""Endings that nobody plans for: any signal at a random moment, little memory, few files, small files, and an stderr
that takes nothing. Each ends with a documented code and a summary line, and the job completes afterwards."""

import random
import shlex
import signal
import struct
import time

from bench import DOCUMENTED, JOBS, Running, Violation
from tally import Tally

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM,
           signal.SIGABRT, signal.SIGXCPU]
# Fewer files or less memory, and the system cannot load the program. Memory is counted from what the program takes itself.
LIMITS = {"ulimit -v": (10_000, 100_000), "ulimit -n": (5, 30), "ulimit -f": (0, 60)}


def run(bench, seed, cycles=None):
    """Cycles of every job in turn."""
    tally = Tally("endings", seed)
    faults = [signalled, limited, unheard]
    for number in range(cycles or 600):
        job, fault = JOBS[number // len(faults) % len(JOBS)], faults[number % len(faults)]
        chance = random.Random(f"{seed} {number}")
        tally.cycle(f"{number} {job.name} {fault.__name__}", lambda: cycle(bench, tally, chance, job, fault))
    return tally


def cycle(bench, tally, chance, job, fault):
    expected, seconds = bench.undisturbed(job)
    home = bench.fresh()
    name, ended = fault(bench, tally, chance, job, home, seconds)
    tally.count(f"{name}: ended with {ended.code}")
    if ended.code not in DOCUMENTED:
        raise Violation(f"{name}: ended with {ended.code}: {ended.stderr[-500:]}")
    if "panicked" in ended.stderr:
        raise Violation(f"{name}: panicked: {ended.stderr[-500:]}")
    if not ended.stdout.startswith("{") or ended.summary()["code"] != ended.code:
        raise Violation(f"{name}: ended with {ended.code} and another summary, or none: {ended.stdout[-500:]}")
    bench.check(home, job, expected, ended)
    bench.complete(home, job, expected)


def signalled(bench, tally, chance, job, home, seconds):
    """A signal at a random moment after the program has begun to listen; a job that is through before is done again."""
    number = chance.choice(SIGNALS)
    while True:
        running = Running(["env", "--default-signal", *bench.command(*job.words)], home)
        while running.goes_on() and not running.listens():
            pass
        time.sleep(chance.uniform(0, seconds))
        if running.goes_on():
            running.process.send_signal(number)
            return number.name, running.end()
        running.end().expect(0)
        home = bench.fresh()


def limited(bench, tally, chance, job, home, seconds):
    limit = chance.choice(list(LIMITS))
    number = chance.randint(*LIMITS[limit])
    if limit == "ulimit -v":
        number += loaded_kilobytes(bench.program)
    line = f"{limit} {number}; exec {shlex.join(map(str, bench.command(*job.words)))}"
    return limit, Running(["sh", "-c", line], home).end()


def loaded_kilobytes(program):
    """What the segments of the program take that the system loads: most of it is code, and grows with the program."""
    header = program.read_bytes()[:4096]
    first, = struct.unpack_from("<Q", header, 32)
    size, count = struct.unpack_from("<HH", header, 54)
    segments = [struct.unpack_from("<I36xQ", header, first + at * size) for at in range(count)]
    return sum(memory for kind, memory in segments if kind == 1) // 1024


def unheard(bench, tally, chance, job, home, seconds):
    """Nobody reads stderr, and there is more to say than with --quiet."""
    place = chance.choice(["2>/dev/full", "2>&-"])
    line = shlex.join(map(str, bench.command(*job.words)[:-1])) + f" {place}"
    ended = Running(["sh", "-c", line], home).end()
    return "stderr", ended.expect(0)
