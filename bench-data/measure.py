#!/usr/bin/env python3
"""Measures one case, and its rivals, in turn, several times.

    python3 bench-data/measure.py bench-data/cases/CASE.toml [--rivals PYTHON] [--program DUPSIEVE]

Inputs are generated into a scratch folder; a case without `store` joins its batch with itself, and one with
`segments` joins it with a store of so many days and with one of a single day, as large. Each round runs
dupsieve with every number of workers and then each rival of the case; PYTHON is an interpreter with numpy,
faiss-cpu and simhash-pybind. With `cut_off` a rival is stopped after so many seconds of its join. Every answer is checked against what was planted. Prints medians with the
least and the greatest, as a table.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import tomllib
from datetime import date
from pathlib import Path

# Each prints a line when it has its input; then the seconds of the join alone, the pairs it found, and its
# peak memory in MB.
LOAD = """
import resource, sys, time, numpy as np
load = lambda path: np.fromfile(path, dtype=np.uint64, sep="\\n")
old, new, k = load(sys.argv[1]), load(sys.argv[2]), int(sys.argv[3])
def begin(): print("begun", flush=True); return time.perf_counter()
def tell(seconds, pairs): print(seconds, pairs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
RIVALS = {
    "simhash-pybind find_all, over both": LOAD + """
import simhash
both = np.concatenate([old, new]).tolist()
start = begin(); found = simhash.find_all(both, 6, k); tell(time.perf_counter() - start, len(found))
""",
    "faiss IndexBinaryMultiHash 4 x 16, build and queries": LOAD + """
import faiss
faiss.omp_set_num_threads(1)
rows = lambda array: array.view(np.uint8).reshape(-1, 8)
start = begin()
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
    old, new, stores = prepare(case, folder, program)
    rivals = rivals if case.get("rivals") else None
    if rivals:
        for segment in (old, new) if "store" in case else (new,):
            dump(program, segment)

    seen = {}
    for turn in range(case["times"]):
        for (of, store), workers in itertools.product(stores.items(), case["workers"]):
            output = folder / "out"
            shutil.rmtree(output, ignore_errors=True)
            wall, peak = run(program, "dedup", "--batch", new, *store, "--output", output,
                             "--distance", case["distance"], "--workers", workers)
            report = json.loads((output / "report.json").read_text())
            with open(output / "matches.tsv") as rows:
                next(rows)
                found = sum((row.split("\t")[3] == "batch") != ("store" in case) for row in rows)
            assert case["planted"] <= found <= case.get("expected", found), f"found {found}"
            seconds = report["run"]["seconds"]
            name = f"dupsieve{of}, {workers} worker(s), {report['run']['design']}"
            note(seen, name + ": the command", wall, found, peak)
            note(seen, name + ": tables and probe", seconds["tables"] + seconds["probe"], found, peak)
        for name, code in RIVALS.items() if rivals and turn < case.get("rival_times", case["times"]) else ():
            if name not in case["rivals"]:
                continue
            told = rival([rivals, "-c", code, f"{old}.txt", f"{new}.txt", str(case["distance"])], case.get("cut_off"))
            if told:
                wall, found, peak = map(float, told.split())
                note(seen, name, wall, int(found), peak)
            else:
                note(seen, name + ": cut off", case["cut_off"], 0, 0)

    print("| what | median s | least | greatest | found | peak MB |\n|---|---|---|---|---|---|")
    for name, runs in seen.items():
        walls, found, peaks = zip(*runs)
        print(f"| {name} | {statistics.median(walls):.2f} | {min(walls):.2f} | {max(walls):.2f} "
              f"| {max(found)} | {max(peaks):.0f} |")


def prepare(case, folder, program):
    """The segments of the store and of the batch, and by their names the stores it is joined with."""
    old, new = folder / "old.seg", folder / "new.seg"
    if "store" not in case:
        copies(case, folder / "new.tsv")
        run(program, "fingerprint", "--input", folder / "new.tsv", "--format", "fingerprints", "--recipe",
            "external-64", "--output", new)
        Path(f"{old}.txt").touch()
        return old, new, {"": []}
    run(program, "generate", "segment", "--count", case["store"], "--seed", 1, "--output", old)
    run(program, "generate", "segment", "--count", case["batch"], "--seed", 2, "--output", new, "--near", old,
        "--planted", case["planted"], "--planted-distance", case["distance"])
    stores = {"": ["--store", folder / "store"]}
    run(program, "store", "init", folder / "store")
    run(program, "store", "add", folder / "store", "--segment", old, "--day", "2026-01-01")
    if days := case.get("segments"):
        stores[f", {days} segments"] = ["--store", folder / "days"]
        run(program, "store", "init", folder / "days")
        for day in range(days):
            run(program, "generate", "segment", "--count", case["store"] // days, "--seed", 1000 + day, "--near", new,
                "--planted", case["planted"] // days, "--output", old, "--overwrite")
            run(program, "store", "add", folder / "days", "--segment", old, "--day", date.fromordinal(738_000 + day))
    return old, new, stores


def copies(case, path):
    """Writes random fingerprints with ids, the planted ones with a near one each."""
    draw = random.Random(1)
    with open(path, "w") as out:
        for at in range(case["batch"] - case["planted"]):
            fingerprint = draw.getrandbits(64)
            out.write(f"{at}\t{fingerprint:#018x}\n")
            if at < case["planted"]:
                for bit in draw.sample(range(64), case["distance"]):
                    fingerprint ^= 1 << bit
                out.write(f"near-{at}\t{fingerprint:#018x}\n")


def run(program, *arguments):
    """Runs dupsieve; gives the seconds it took and its peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen([program, *map(str, arguments), "-q"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, arguments
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def rival(command, cut_off):
    """What a rival tells of its join; nothing if that is not done in `cut_off` seconds."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "begun\n"
        try:
            return child.communicate(timeout=cut_off)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            return None


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
