#!/usr/bin/env python3
"""Joins a batch with a store too large for memory, in turn with reading the store's file once.

    python3 bench-data/cold.py bench-data/cases/CASE.toml --scratch FOLDER [--program DUPSIEVE]

Needs root, to drop the system's cache before each run. The inputs are generated into FOLDER, where they
stay: another run finds them there. Every answer must hold all planted pairs. Prints the seconds of `cat`
and of the whole command, medians with the least and the greatest, their ratio, processor time, and the
peak of anonymous memory with each number of workers. With `hot` in the case the column that is probed
is read into the system's cache before each run, instead of nothing, and `cat` is left out.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import time
import tomllib
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=Path)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--program", default="target/release/dupsieve")
    options = parser.parse_args()
    case = tomllib.loads(options.case.read_text())
    program = str(Path(options.program).resolve())
    options.scratch.mkdir(parents=True, exist_ok=True)
    prepare(case, options.scratch, program)
    measure(case, options.scratch, program)


def prepare(case, folder, program):
    store, old, new, truth = (folder / name for name in ("store", "old.seg", "batch.seg", "truth.tsv"))
    if store.exists():
        return
    make = ["generate", "segment", "--count"]
    call(program, *make, case["store"], "--seed", 1, "--output", old)
    call(program, *make, case["batch"], "--seed", 2, "--near", old, "--planted", case["planted"],
         "--planted-distance", case["distance"], "--truth", truth, "--output", new)
    making = folder / "making"
    call(program, "store", "init", making)
    call(program, "store", "add", making, "--segment", old, "--day", "2026-01-01")
    old.unlink()
    making.rename(store)


def measure(case, folder, program):
    (segment,) = (folder / "store/segments").iterdir()
    print(f"{segment.stat().st_size} bytes, {8 * segment.stat().st_size / case['store']:.3f} bits a fingerprint\n")
    hot = hot_bytes(program, segment) if case.get("hot") else 0
    print("| workers | cat, s | the command, s | ratio | probe, s | user + system, s | anonymous memory, MB |")
    print("|---|---|---|---|---|---|---|")
    for workers, times in case["workers"].items():
        turns = [turn(case, folder, program, segment, hot, workers) for _ in range(times)]
        cells = [f"{statistics.median(column):.2f} ({min(column):.2f} to {max(column):.2f})" for column in zip(*turns)]
        print(f"| {workers} | {' | '.join(cells)} |")


def turn(case, folder, program, segment, hot, workers):
    """Seconds of cat, of the command, their ratio, of the probe, of the processors; anonymous MB."""
    drop_caches()
    cat = timed("head", "-c", hot, segment) if hot else timed("cat", segment)
    if not hot:
        drop_caches()
    output = folder / "out"
    shutil.rmtree(output, ignore_errors=True)
    start = time.perf_counter()
    child = subprocess.Popen([program, "dedup", "--batch", folder / "batch.seg", "--store", folder / "store", "-q",
                              "--output", output, "--distance", str(case["distance"]), "--workers", workers,
                              "--matches", "all"],
                             stdout=subprocess.DEVNULL)
    peak = 0
    while child.poll() is None:
        status = Path(f"/proc/{child.pid}/status").read_text()
        peak = max(peak, *map(int, re.findall(r"RssAnon:\s+(\d+)", status)), 0)
        cpu = sum(map(int, Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) / 100
        time.sleep(0.02)
    wall = time.perf_counter() - start
    assert child.returncode == 0
    planted = {tuple(line.split("\t")[:2]) for line in (folder / "truth.tsv").read_text().splitlines()[1:]}
    rows = [line.split("\t") for line in (output / "matches.tsv").read_text().splitlines()[1:]]
    missed = planted - {(row[0], row[1]) for row in rows}
    assert not missed, f"{len(missed)} of {len(planted)} missed"
    probe = json.loads((output / "report.json").read_text())["run"]["seconds"]["probe"]
    return cat, wall, wall / cat, probe, cpu, peak * 1024 / 1e6


def hot_bytes(program, segment):
    """How many bytes the column has that is probed, with which the file begins."""
    told = subprocess.run([program, "inspect", segment], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"column\s+fingerprints\s+\d+ rows\s+(\d+) bytes", told)[1])


def timed(*command):
    start = time.perf_counter()
    subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def drop_caches():
    subprocess.run("sync; echo 3 > /proc/sys/vm/drop_caches", shell=True, check=True)


def call(program, *arguments):
    subprocess.run([program, *map(str, arguments), "-q"], stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
