#!/usr/bin/env python3
"""Takes days of recrawled pages through `run` one by one, and holds the clusters of each against those made from nothing.

    python3 bench-data/days.py BASE DAYS [DUPSIEVE] [--method components] [--add all]

BASE is a file of pages that are already held: it becomes the day before the first. DAYS is a folder with a file
DAY.jsonl for each day. Bands are kept, and clusters are asked for without their lists. After each day:

- the lists written from the clusters of the day are those of `cluster --matches` over all days so far, byte for byte;
- so are the counts, the sizes and the largest clusters in their reports;
- the lines of the day before with changes.tsv are the lines of the day.

Prints a line a day; ends with 1 at the first difference.
"""

import argparse
import collections
import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

CONFIG = """\
inputs = ["in/{{date}}.*"]
output = "out/{{date}}"
store = "out/store"
add = "{add}"
[fingerprint]
keep_bands = "minhash-14x8"
[dedup]
matches = "all"
[clusters]
method = "{method}"
lists = false
"""
LISTS = ["clusters.tsv", "sizes.tsv"]


def rows(path):
    return collections.Counter(tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()[1:])


def found(folder):
    """What a report says of the clusters, less how they were made."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))["found"]
    report["files"] = {name: report["files"].get(name) for name in LISTS}
    return {key: value for key, value in report.items() if key != "changes"}, report


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("base", type=pathlib.Path)
    arguments.add_argument("days", type=pathlib.Path)
    arguments.add_argument("dupsieve", nargs="?", default="dupsieve")
    arguments.add_argument("--method", default="components")
    arguments.add_argument("--add", default="all")
    given = arguments.parse_args()
    days = sorted(given.days.glob("*.jsonl"))
    first = datetime.date.fromisoformat(days[0].stem) - datetime.timedelta(days=1)
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)

        def run(*words):
            done = subprocess.run([given.dupsieve, *map(str, words), "-q"], cwd=home, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(done.stderr)

        (home / "in").mkdir()
        shutil.copy(given.base, home / "in" / f"{first}{''.join(given.base.suffixes)}")
        for day in days:
            shutil.copy(day, home / "in" / day.name)
        (home / "days.toml").write_text(CONFIG.format(add=given.add, method=given.method))
        before, names = collections.Counter(), []
        print("day         members clusters links changes")
        for day in [str(first), *(day.stem for day in days)]:
            names.append(day)
            run("run", "days.toml", "--date", day)
            own = home / "out" / day / "clusters"
            run("cluster", "--previous", own, "--output", home / "listed")
            run("cluster", "--matches", *(f"out/{name}" for name in names), "--method", given.method, "--output", home / "anew")
            for name in LISTS:
                if (home / "listed" / name).read_bytes() != (home / "anew" / name).read_bytes():
                    sys.exit(f"{day}: {name} differs from that of all days at once")
            (listed, _), (anew, _) = found(home / "listed"), found(home / "anew")
            if listed != anew:
                sys.exit(f"{day}: the reports differ: {listed}, {anew}")
            now, (_, report) = rows(home / "listed" / LISTS[0]), found(own)
            if len(names) > 1:
                changed = before.copy()
                for (cluster, member, diff, of), _ in rows(own / "changes.tsv").items():
                    changed[member, cluster, of] += int(diff)
                if {row: count for row, count in changed.items() if count} != dict(now):
                    sys.exit(f"{day}: changes.tsv is not what has changed")
            before = now
            counts = [report[key] for key in ("members", "clusters", "links")]
            print(day, *counts, report.get("changes", "-"))
            for output in ("listed", "anew"):
                shutil.rmtree(home / output)
            run("verify", f"out/{day}")


main()
