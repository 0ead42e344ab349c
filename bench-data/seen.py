"""Measures what filters cost and save, with the program at --binary, in the folder --folder.

    python3 bench-data/seen.py --binary target/release/dupsieve --folder /tmp/seen pages --documents 20000 --rounds 5
    python3 bench-data/seen.py --binary target/release/dupsieve --folder /tmp/seen rows --count 1e7 --asked 1e6

`pages` fingerprints a day of which four fifths are in the store, with the store and without, in turns. `rows` makes a store of
random rows with ids and digests, then its filters, and asks for ids that are there and for ids that are not. Prints JSON lines.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import time


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--binary", type=pathlib.Path, required=True)
    words.add_argument("--folder", type=pathlib.Path, required=True)
    kinds = words.add_subparsers(dest="kind", required=True)
    pages = kinds.add_parser("pages")
    pages.add_argument("--documents", type=int, default=20_000)
    pages.add_argument("--rounds", type=int, default=5)
    pages.add_argument("--flags", default="", help="more flags of `fingerprint`")
    rows = kinds.add_parser("rows")
    rows.add_argument("--count", type=float, default=1e7)
    rows.add_argument("--asked", type=float, default=1e6)
    rows.add_argument("--rounds", type=int, default=3)
    asked = words.parse_args()
    asked.binary = asked.binary.resolve()
    asked.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(asked.folder)
    print(json.dumps({"pages": of_pages, "rows": of_rows}[asked.kind](asked)))


def run(binary, line):
    """The seconds that a command takes, and what it prints."""
    began = time.monotonic()
    done = subprocess.run([binary, *line.split()], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return time.monotonic() - began, done.stdout


def make(asked, name, more, output):
    """Fingerprints NAME.jsonl anew."""
    pathlib.Path(output).unlink(missing_ok=True)
    line = f"fingerprint --keep-digests --workers 1 {asked.flags} --input {name}.jsonl --output {output} {more}"
    return run(asked.binary, line)


def spread(times):
    return {"median": round(statistics.median(times), 3), "least": round(min(times), 3), "most": round(max(times), 3)}


def of_pages(asked):
    run(asked.binary, f"generate documents --overwrite --count {asked.documents * 6 // 5} --near-share 0 --output all.jsonl")
    lines = pathlib.Path("all.jsonl").read_text().splitlines(keepends=True)
    fifth = asked.documents // 5
    pathlib.Path("one.jsonl").write_text("".join(lines[: 5 * fifth]))
    pathlib.Path("two.jsonl").write_text("".join(lines[fifth : 6 * fifth]))
    shutil.rmtree("store", ignore_errors=True)
    make(asked, "one", "", "one.seg")
    run(asked.binary, "store init store")
    run(asked.binary, "store add store --segment one.seg --day 2026-11-21")
    run(asked.binary, "store index store --filters")
    plain, known = [], []
    for _ in range(asked.rounds):
        plain.append(make(asked, "two", "", "plain.seg")[0])
        seconds, told = make(asked, "two", "--store store", "known.seg")
        known.append(seconds)
    same = pathlib.Path("plain.seg").read_bytes() == pathlib.Path("known.seg").read_bytes()
    unchanged = json.loads(told)["counts"]["unchanged"]
    size = pathlib.Path("two.jsonl").stat().st_size
    return {"documents": 5 * fifth, "bytes": size, "unchanged": unchanged, "same": same,
            "without": spread(plain), "with": spread(known), "load": os.getloadavg()[0]}


def of_rows(asked):
    count, sought = int(asked.count), int(asked.asked)
    pathlib.Path("like.jsonl").write_text('{"id":"a","text":"some words"}\n')
    run(asked.binary, "fingerprint --overwrite --recipe words --keep-digests --input like.jsonl --output like.seg")
    run(asked.binary, f"generate segment --overwrite --count {count} --like like.seg --output rows.seg")
    shutil.rmtree("store", ignore_errors=True)
    run(asked.binary, "store init store")
    run(asked.binary, "store add store --segment rows.seg --day 2026-11-21")
    segment = next(pathlib.Path("store/segments").glob("*.seg"))
    segment.read_bytes()
    read = []
    for _ in range(asked.rounds):
        began = time.monotonic()
        with segment.open("rb") as file:
            while file.read(1 << 20):
                pass
        read.append(time.monotonic() - began)
    made, told = run(asked.binary, "store index store --filters --json")
    files = {kind: sum(path.stat().st_size for path in pathlib.Path("store/filters").glob(f"*-{kind}"))
             for kind in ("ids.fuse", "ids.seg", "texts.fuse", "texts.seg")}
    numbers = random.Random(1).sample(range(count), sought)
    pathlib.Path("there.txt").write_text("".join(f"{number}\n" for number in numbers))
    pathlib.Path("not.txt").write_text("".join(f"x{number}\n" for number in numbers))
    pathlib.Path("none.txt").write_text("none\n")
    times = {}
    for name in ("none", "not", "there"):
        line = f"seen --store store --workers 1 --ids {name}.txt"
        run(asked.binary, line)
        times[name] = spread([run(asked.binary, line)[0] for _ in range(asked.rounds)])
    return {"rows": count, "segment_bytes": segment.stat().st_size, "read_seconds": spread(read),
            "make_seconds": round(made, 2), "bytes_a_row": {kind: round(size / count, 3) for kind, size in files.items()},
            "asked": sought, "seconds": times, "load": os.getloadavg()[0]}


if __name__ == "__main__":
    main()
