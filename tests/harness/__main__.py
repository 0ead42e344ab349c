"""Runs faults against real jobs and prints figures: cycles, violations, times, work redone.

    python3 tests/harness --program target/release/dupsieve --fault all --seed 1
    python3 tests/harness --program target/release/dupsieve --fault kills --seed 7 --cycles 1000

Faults: syscalls (a kill, ENOSPC, EIO at every call that changes the disk; all of them where no number of
cycles is given), kills (kill -9 at random moments), stores (the same of what changes a store), whole (the same of what changes one with bands, an index, filters
and clusters), power (a power cut on ext4 and on XFS; takes root), flips
(bits flipped and files cut), peers (frozen, killed and late peers, rogue clients, crowds of silent ones), redone
(the work of a killed join that is done again), endings (any signal, and limits of memory, files and stderr), serve (kill -9 of the service under load), readonly (a file system that becomes read-only
in the middle; takes strace), clocks (a clock that jumps while a job runs; takes libfaketime); what
networks do is in tests/network.py. A cycle depends on the seed and its number alone, up to the moments that the
machine decides on. Prints a line of JSON for each violation and each fault, then a table; ends with 1 if there was
a violation.
"""

import argparse
import functools
import json
import pathlib
import sys
import tempfile

import clocks
import endings
import flips
import kills
import peers
import power
import readonly
import redone
import serve
import stores
import syscalls
import whole
from bench import Bench
from tally import table

FAULTS = {
    "syscalls": [syscalls.run],
    "kills": [kills.run],
    "stores": [stores.run],
    "whole": [whole.run],
    "power": [functools.partial(power.run, kind="ext4"), functools.partial(power.run, kind="xfs")],
    "flips": [flips.run],
    "peers": [peers.run],
    "redone": [redone.run],
    "endings": [endings.run],
    "serve": [serve.run],
    "readonly": [readonly.run],
    "clocks": [clocks.run],
}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--program", type=pathlib.Path, default="target/release/dupsieve")
    words.add_argument("--fault", choices=[*FAULTS, "all"], default="all")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--cycles", type=int, help="of each fault, instead of as many as it has by itself")
    words.add_argument("--scratch", help="where to work; a disk in memory is fastest")
    asked = words.parse_args()
    names = FAULTS if asked.fault == "all" else [asked.fault]
    tallies = []
    with tempfile.TemporaryDirectory(dir=asked.scratch, prefix="dupsieve-faults-") as scratch:
        bench = Bench(asked.program, pathlib.Path(scratch))
        for run in [run for name in names for run in FAULTS[name]]:
            tallies.append(run(bench, asked.seed, asked.cycles))
            print(json.dumps(tallies[-1].figures()), flush=True)
    print(table(tallies))
    return 1 if any(tally.violations for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
