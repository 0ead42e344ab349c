#!/usr/bin/env python3
"""Measures `dupsieve lsh` beside other programs that find documents which overlap, on the same documents.

    cargo build --release
    python3 bench-data/overlap.py 1e4 FOLDER [--rivals PYTHON] [--only PROGRAM...] [--times 3]

PYTHON is an interpreter with datatrove, text-dedup, datasketch and rensa. FOLDER gets the documents, which
`dupsieve generate documents` makes: an eighth are copies with words replaced. Those in Chinese are left out,
for some of the programs know words only by the blanks between them. All programs make 112 MinHashes
of runs of five words and put them into 14 bands of 8 rows. dupsieve, and no other, also confirms each pair and
names it; it copies the kept documents with `filter` as well, since datatrove and text-dedup write them too.

Prints a table. Pairs of one cluster count as found. The truth is exact: documents that
are no copies of each other share no run of five words, which is checked for 10,000 documents and fewer. Time
on the clock, time of the processor and memory are those of all processes together, looked at several times a
second.
"""

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from overlap_rivals import PROGRAMS, documents, shingles

HERE = Path(__file__).parent
DUPSIEVE = HERE.parent / "target/release/dupsieve"
SIMILAR = 0.8
FLAGS = {
    "dupsieve": [],
    "dupsieve, one permutation": ["--permutations", "one"],
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=lambda text: int(float(text)))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rivals", metavar="PYTHON")
    parser.add_argument("--only", nargs="+", default=[*FLAGS, *PROGRAMS])
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--dupsieve", type=Path, default=DUPSIEVE)
    options = parser.parse_args()
    truth = make(options)
    similar = [similarity for similarity in truth.values() if similarity >= SIMILAR]
    expected = statistics.mean(1 - (1 - similarity**8) ** 14 for similarity in similar)
    print(f"{len(similar):,} pairs are {SIMILAR} or more alike; the formula promises {expected:.4f} of them\n")
    print("| program | clock | processor | most memory | disk | pairs or clusters | recall | wrong |")
    print("|---|---|---|---|---|---|---|---|")
    for program in options.only:
        if program in FLAGS:
            command = shell(options, FLAGS[program])
        elif options.rivals:
            command = [options.rivals, HERE / "overlap_rivals.py", program, options.folder]
        else:
            continue
        runs = [measure(command, options.folder) for _ in range(options.times)]
        clock, processor, memory, disk = ([run[at] for run in runs] for at in range(4))
        found = read(options.folder / "pairs.tsv")
        print(
            f"| {program} | {spread(clock)} s | {spread(processor)} s | {max(memory) / 1e6:,.0f} MB "
            f"| {max(disk) / 1e6:,.0f} MB | {' | '.join(judge(found, truth))} |",
            flush=True,
        )


def make(options):
    """The documents in two halves, and the similarity of all pairs that are not wholly different."""
    folder, count = options.folder, options.count
    halves = folder / "documents"
    if not halves.exists():
        halves.mkdir(parents=True)
        generate(options.dupsieve, folder, 3 * count + 300)
        with open(folder / "generated.jsonl") as lines:
            latin = filter(str.isascii, (json.dumps(json.loads(line), ensure_ascii=False) for line in lines))
            for half, size in [("0", count // 2), ("1", count - count // 2)]:
                with open(halves / f"{half}.jsonl", "w") as out:
                    written = sum(out.write(f"{line}\n") > 0 for line in itertools.islice(latin, size))
                assert written == size, "too few of the generated documents have words between blanks"
        (folder / "generated.jsonl").unlink()
    families = Forest()
    with open(folder / "truth.tsv") as rows:
        next(rows)
        for row in rows:
            families.join(*row.split("\t")[:2])
    texts = {id: text for id, text in documents(folder) if id in families.parent}
    similarity = {}
    for family in families.groups():
        runs = {id: shingles(texts[id]) for id in family if id in texts}
        for one, other in itertools.combinations(sorted(runs), 2):
            shared = len(runs[one] & runs[other])
            similarity[one, other] = shared / (len(runs[one]) + len(runs[other]) - shared)
    if count <= 10_000:
        check_that_no_others_share(folder, similarity)
    return similarity


def generate(program, folder, count):
    command = [program, "generate", "documents", "--count", str(count), "--near-share", "0.125", "-q"]
    command += ["--output", folder / "generated.jsonl", "--truth", folder / "truth.tsv"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def check_that_no_others_share(folder, similarity):
    first = defaultdict(list)
    for id, text in documents(folder):
        for run in shingles(text):
            first[run].append(id)
    for ids in first.values():
        for pair in itertools.combinations(sorted(ids), 2):
            assert pair in similarity, f"{pair} share a run of words and are no copies"


class Forest:
    """Documents that belong together."""

    def __init__(self):
        self.parent = {}

    def find(self, id):
        while (parent := self.parent.setdefault(id, id)) != id:
            self.parent[id] = self.parent[parent]
            id = parent
        return id

    def join(self, one, other):
        self.parent[self.find(one)] = self.find(other)

    def groups(self):
        groups = defaultdict(list)
        for id in self.parent:
            groups[self.find(id)].append(id)
        return groups.values()


def shell(options, flags):
    folder, program = options.folder, options.dupsieve
    lsh = [program, "lsh", "--input", folder / "documents", "--bands", 14, "--rows", 8]
    lsh += ["--similarity", SIMILAR, "--matches", "all", "--output", folder / "dupsieve", "-q", *flags]
    kept = [program, "filter", "--input", folder / "documents", "-q"]
    kept += ["--ids", folder / "dupsieve/dedup/keep.txt", "--output", folder / "dupsieve.kept.jsonl"]
    pairs = f"tail -n +2 {folder}/dupsieve/dedup/matches.tsv | cut -f1,2 > {folder}/pairs.tsv"
    steps = [" ".join(f"'{part}'" for part in step) + " > /dev/null" for step in [lsh, kept]]
    return ["sh", "-ec", "\n".join([*steps, pairs])]


def measure(command, folder):
    """Seconds on the clock and of the processor, the most memory in bytes, and bytes on disk."""
    for left in ["dupsieve", "dupsieve.kept.jsonl", "datatrove", "text-dedup"]:
        path = folder / left
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    before, start = size(folder), time.monotonic()
    with open(folder / "log", "w") as log:
        child = subprocess.Popen([str(part) for part in command], start_new_session=True, stdout=log, stderr=log)
        processor, memory = {}, 0
        while child.poll() is None:
            memory = max(memory, look(child.pid, processor))
            time.sleep(0.2)
    assert child.returncode == 0, f"{command} failed: see {folder / 'log'}"
    (folder / "log").unlink()
    clock = time.monotonic() - start
    return clock, sum(processor.values()), memory, max(0, size(folder) - before)


def look(session, processor):
    """Notes the processor time of every process of a session; gives the memory of all, shared pages once."""
    memory = 0
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            ticks = sum(int(fields[at]) for at in [11, 12])
            processor[process.name] = ticks / os.sysconf("SC_CLK_TCK")
            rollup = (process / "smaps_rollup").read_text()
            memory += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        except (OSError, ValueError, StopIteration):
            pass
    return memory * 1024


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def read(file):
    with open(file) as pairs:
        return [tuple(line.split()) for line in pairs]


def judge(found, truth):
    """What was found, the share of the similar pairs that were, and how many found pairs are not similar."""
    families, direct = Forest(), set()
    for one, other in found:
        families.join(one, other)
        direct.add((min(one, other), max(one, other)))
    similar = {pair for pair, similarity in truth.items() if similarity >= SIMILAR}
    together = sum(
        one in families.parent and other in families.parent and families.find(one) == families.find(other)
        for one, other in similar
    )
    wrong = sum(truth.get(pair, 0) < SIMILAR for pair in direct)
    clusters = len(families.groups())
    return f"{len(direct):,} in {clusters:,}", f"{together / len(similar):.4f}", f"{wrong:,}"


def spread(values):
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.1f}" if len(values) == 1 else f"{middle:.1f} ({low:.1f} to {high:.1f})"


if __name__ == "__main__":
    sys.exit(main())
