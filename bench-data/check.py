#!/usr/bin/env python3
"""Plants pairs among generated fingerprints and holds what dupsieve finds against them.

    python3 bench-data/check.py [DUPSIEVE]

A store of random fingerprints is generated, and a batch some of whose fingerprints lie within 3
bits of one in the store. Chance adds no pair at this size, so what is found in the store has to be
what was planted: all of it, nothing else, and the same bytes whatever the number of workers. (Two
planted near the same one may be near each other as well; such pairs of the batch do not count.)
Prints the counts; ends with 1 where they differ.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

STORE, BATCH, PLANTED, DISTANCE = 200_000, 5_000, 500, 3


def pairs(path):
    """The new and the existing id of each row of a file with a header, less the batch's own."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return [tuple(row[:2]) for row in rows if row[3:4] != ["batch"]]


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def run(*arguments):
            subprocess.run([program, *map(str, arguments), "-q"], stdout=subprocess.DEVNULL, check=True)

        store, old, batch, truth = (folder / name for name in ("store", "old.seg", "batch.seg", "truth.tsv"))
        run("generate", "segment", "--count", STORE, "--seed", 1, "--ids", "numbers", "--output", old)
        run("generate", "segment", "--count", BATCH, "--seed", 2, "--ids", "numbers", "--output", batch,
            "--near", old, "--planted", PLANTED, "--planted-distance", DISTANCE, "--truth", truth)
        run("store", "init", store)
        run("store", "add", store, "--segment", old, "--day", "2026-11-18")

        outputs = []
        for workers in (1, 2):
            output = folder / f"found-{workers}"
            started = time.monotonic()
            run("dedup", "--batch", batch, "--store", store, "--distance", DISTANCE, "--matches", "all",
                "--workers", workers, "--output", output)
            print(f"{workers} worker(s): {time.monotonic() - started:.2f} s")
            assert (output / "_SUCCESS").exists(), "no _SUCCESS"
            outputs.append(output)

        for name in ("matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt"):
            one, two = ((output / name).read_bytes() for output in outputs)
            assert one == two, f"{name} depends on the number of workers"
        found, planted = pairs(outputs[0] / "matches.tsv"), set(pairs(truth))
        missed, strange = planted - set(found), set(found) - planted
        print(f"planted {len(planted)}, found {len(found)}, missed {len(missed)}, strange {len(strange)}")
        assert len(planted) == PLANTED and len(found) == len(set(found)), "planted or found twice"
        return 1 if missed or strange else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "target/release/dupsieve"))
