#!/usr/bin/env python3
"""Measures two commands in turn, several times: what one costs, as a multiple of the other.

    python3 bench-data/pairs.py bench-data/cases/CASE.toml... [--scratch FOLDER] [--program DUPSIEVE] [--short]

A case has commands for bash, which run in a folder of their own with `dupsieve` on their path: `inputs` once,
`fresh` before each of the two, and then `first` and `second` in turn, as often as `rounds` says. Names in braces are
the numbers of its table `sizes`. With `cold` the system's cache is dropped before each (that needs root). Prints wall
seconds and user seconds, medians with the least and the greatest, and the ratio of the wall seconds to be held against
`goal`. With `--short` every case runs once with its table `short` instead: that shows that its commands still work, and
a missed goal is no failure.
"""

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
import tomllib
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--scratch", type=Path, help="where inputs are made [default: the system's folder for that]")
    parser.add_argument("--program", type=Path, default="target/release/dupsieve")
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    if options.scratch:
        options.scratch.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{options.program.resolve().parent}:{os.environ['PATH']}"
    print("| case | wall s, first | second | user s, first | second | ratio | goal |\n|---|---|---|---|---|---|---|")
    for path in options.cases:
        case = tomllib.loads(path.read_text())
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            seen = measure(case, folder, options.short)
        ratio = statistics.median(second[0] / first[0] for first, second in seen)
        columns = [[turn[which][clock] for turn in seen] for clock in (0, 1) for which in (0, 1)]
        cells = [f"{statistics.median(it):.2f} ({min(it):.2f} to {max(it):.2f})" for it in columns]
        print(f"| {path.stem} | {' | '.join(cells)} | {ratio:.2f} | {case['goal']} |", flush=True)


def measure(case, folder, short):
    """The wall and user seconds of the first and of the second command, in each round."""
    sizes = case["short" if short else "sizes"]

    def run(command):
        for name, size in sizes.items():
            command = command.replace(f"{{{name}}}", str(size))
        subprocess.run(["bash", "-euc", command], cwd=folder, stdout=subprocess.DEVNULL, check=True)

    def timed(command):
        for before in case.get("fresh", []):
            run(before)
        if case.get("cold") and not short:
            subprocess.run("sync; echo 3 > /proc/sys/vm/drop_caches", shell=True, check=True)
        user, wall = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
        run(command)
        return time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - user

    for command in case["inputs"]:
        run(command)
    rounds = 1 if short else case["rounds"]
    return [(timed(case["first"]), timed(case["second"])) for _ in range(rounds)]


if __name__ == "__main__":
    main()
