#!/usr/bin/env python3
"""Counts the kept pages that are near to a dropped page: the copies of copies that a store of kept pages lets in.

    python3 bench-data/twins.py BASE DAYS [DUPSIEVE] [--presets paper balanced]

BASE is a file of pages that are already held: it becomes the day before the first. DAYS is a folder with a file
DAY.jsonl for each day. With each preset the days go through `run` one by one, with `add = "kept"`. Beside it, a second
store takes every page of each day, and `dedup --matches all` finds in it what each page of the day is near to.

Prints a row for each preset: the pages of DAYS; those that were kept; the kept pages that are near to a page that was
dropped on an earlier day ("twin before"); those that are near to none such, but to a page of their own day that was dropped
in favour of another page ("twin that day"); and the pages that are kept with `add = "all"`, where dropped pages stay in
the store.
"""

import argparse
import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

CONFIG = """\
inputs = ["in/{{date}}.*"]
output = "{add}/{{date}}"
store = "{add}/store"
add = "{add}"
preset = "{preset}"
"""


def table(path):
    head, *rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [dict(zip(head, row)) for row in rows]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("base", type=pathlib.Path)
    arguments.add_argument("days", type=pathlib.Path)
    arguments.add_argument("dupsieve", nargs="?", default="dupsieve")
    arguments.add_argument("--presets", nargs="+", default=["paper", "balanced"])
    given = arguments.parse_args()
    print("preset    pages  kept  twin before  twin that day  kept with all")
    for preset in given.presets:
        print(f"{preset:8}", *measured(given, preset), sep="  ", flush=True)


def measured(given, preset):
    days = sorted(given.days.glob("*.jsonl"))
    first = str(datetime.date.fromisoformat(days[0].stem) - datetime.timedelta(days=1))
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
        for add in ("kept", "all"):
            (home / f"{add}.toml").write_text(CONFIG.format(add=add, preset=preset))
        run("store", "init", "every")
        pages = kept = before = that_day = kept_with_all = 0
        for day in [first, *(day.stem for day in days)]:
            for add in ("kept", "all"):
                run("run", f"{add}.toml", "--date", day)
            batch = f"kept/{day}/batch.seg"
            run("dedup", "--batch", batch, "--store", "every", "--preset", preset, "--matches", "all", "--output", f"near/{day}")
            run("store", "add", "every", "--segment", batch, "--day", day)
            if day == first:
                continue
            verdicts = {row["id"]: row for row in table(home / "kept" / day / "dedup/verdicts.tsv")}
            stays = {id for id, row in verdicts.items() if row["verdict"] == "keep"}
            near_before, near_that_day = set(), set()
            for row in table(home / "near" / day / "matches.tsv"):
                new, existing = row["new"], row["existing"]
                # A kept page that is near to an earlier page is not near to a page of the store: that page was dropped.
                if row["against"] != "batch":
                    near_before |= {new} & stays
                    continue
                for page, other in ((new, existing), (existing, new)):
                    if page in stays and verdicts[other]["of"] != page:
                        near_that_day.add(page)
            pages += len(verdicts)
            kept += len(stays)
            before += len(near_before)
            that_day += len(near_that_day - near_before)
            report = json.loads((home / "all" / day / "dedup/report.json").read_text())
            kept_with_all += report["outcome"]["kept"]
        return pages, kept, before, that_day, kept_with_all


main()
