#!/usr/bin/env python3
"""Measures one case, and its rivals, in turn, several times.

    python3 bench-data/measure.py bench-data/cases/CASE.toml [--rivals PYTHON] [--program DUPSIEVE]

Inputs are generated into a scratch folder. Each round runs dupsieve with every number of workers and
then each rival; PYTHON is an interpreter with numpy, faiss-cpu and simhash-pybind. Every answer is
checked against what was planted. Prints medians with the least and the greatest, as a table to paste
into bench-data/runs.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
import tomllib
from pathlib import Path

# Each prints the seconds of the join alone, the pairs it found, and its peak memory in MB.
LOAD = """
import resource, sys, time, numpy as np
load = lambda path: np.loadtxt(path, dtype=np.uint64)
old, new, k = load(sys.argv[1]), load(sys.argv[2]), int(sys.argv[3])
def tell(seconds, pairs): print(seconds, pairs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
RIVALS = {
    "simhash-pybind find_all, over both": LOAD + """
import simhash
both = np.concatenate([old, new]).tolist()
start = time.perf_counter(); found = simhash.find_all(both, 6, k); tell(time.perf_counter() - start, len(found))
""",
    "faiss IndexBinaryMultiHash 4 x 16, build and queries": LOAD + """
import faiss
faiss.omp_set_num_threads(1)
rows = lambda array: array.view(np.uint8).reshape(-1, 8)
start = time.perf_counter()
index = faiss.IndexBinaryMultiHash(64, 4, 16); index.add(rows(old))
limits, _, _ = index.range_search(rows(new), k + 1); tell(time.perf_counter() - start, limits[-1])
""",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=Path)
    parser.add_argument("--rivals", help="a Python with the rivals installed")
    parser.add_argument("--program", default="target/release/dupsieve")
    options = parser.parse_args()
    case = tomllib.loads(options.case.read_text())
    with tempfile.TemporaryDirectory() as folder:
        measure(case, Path(folder), str(Path(options.program).resolve()), options.rivals)


def measure(case, folder, program, rivals):
    store, old, new = folder / "store", folder / "old.seg", folder / "new.seg"
    run(program, "generate", "segment", "--count", case["store"], "--seed", 1, "--output", old)
    run(program, "generate", "segment", "--count", case["batch"], "--seed", 2, "--output", new, "--near", old,
        "--planted", case["planted"], "--planted-distance", case["distance"])
    run(program, "store", "init", store)
    run(program, "store", "add", store, "--segment", old, "--day", "2026-01-01")
    if rivals:
        for segment in (old, new):
            dump(program, segment)

    seen = {}
    for turn in range(case["times"]):
        for workers in case["workers"]:
            output = folder / f"out-{turn}-{workers}"
            wall, peak = run(program, "dedup", "--batch", new, "--store", store, "--output", output,
                             "--distance", case["distance"], "--workers", workers)
            report = json.loads((output / "report.json").read_text())
            with open(output / "matches.tsv") as rows:
                found = sum(not row.endswith("\tbatch\n") for row in rows) - 1
            assert found == case["expected"], f"found {found}"
            seconds = report["run"]["seconds"]
            name = f"dupsieve, {workers} worker(s), {report['run']['design']}"
            note(seen, name + ": the command", wall, found, peak)
            note(seen, name + ": tables and probe", seconds["tables"] + seconds["probe"], found, peak)
        for name, code in RIVALS.items() if rivals else ():
            line = subprocess.run([rivals, "-c", code, f"{old}.txt", f"{new}.txt", str(case["distance"])],
                                  capture_output=True, text=True, check=True).stdout
            wall, found, peak = map(float, line.split())
            note(seen, name, wall, int(found), peak)

    print("| what | median s | least | greatest | found | peak MB |\n|---|---|---|---|---|---|")
    for name, runs in seen.items():
        walls, found, peaks = zip(*runs)
        print(f"| {name} | {statistics.median(walls):.2f} | {min(walls):.2f} | {max(walls):.2f} "
              f"| {max(found)} | {max(peaks):.0f} |")


def run(program, *arguments):
    """Runs dupsieve; gives the seconds it took and its peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen([program, *map(str, arguments), "-q"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, arguments
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def dump(program, segment):
    """Writes the fingerprints of a segment beside it as decimal text, one a line."""
    # Line by line: a child starts with the peak memory of this process as its own.
    command = [program, "inspect", "--dump", "-q", str(segment)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child, \
            open(f"{segment}.txt", "w") as out:
        for line in child.stdout:
            if "\t0x" in line:
                out.write(f"{int(line.split(chr(9))[1], 16)}\n")


def note(seen, name, wall, found, peak):
    seen.setdefault(name, []).append((wall, found, peak))


if __name__ == "__main__":
    main()
