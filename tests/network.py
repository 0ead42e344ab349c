"""Two processes on two networks of their own: what a partition and lost packets do to a job.

    python3 tests/network.py target/release/dupsieve [--runs 5] [--seed 1]

Makes two network namespaces joined by a pair of virtual devices, and runs one join in them, a process in
each: undisturbed, with 5 % of all packets lost, and cut off from each other at random moments. Prints a
line of JSON for each case: the exit codes, the seconds the job took, and the seconds from the cut to the
last end. Exits with 1 if a result differs, a code is none of the documented ones, or a process hangs;
with 0, saying so, where namespaces cannot be made (that takes root, and iproute2 and nftables).
"""

import argparse
import filecmp
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SPACES = ["dupsieve-a", "dupsieve-b"]
ADDRESSES = ["10.77.0.1", "10.77.0.2"]
PEER_TIMEOUT = 3
WAIT_FOR_PEERS = 5
PATIENCE = 60
FILES = ["matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt"]


def shell(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


def inside(space, *words):
    return ["ip", "netns", "exec", space, *words]


def make_networks():
    for space in SPACES:
        shell("ip", "netns", "add", space)
    shell("ip", "link", "add", "dupsieve0", "netns", SPACES[0], "type", "veth",
          "peer", "name", "dupsieve0", "netns", SPACES[1])
    for space, address in zip(SPACES, ADDRESSES):
        shell(*inside(space, "ip", "address", "add", f"{address}/24", "dev", "dupsieve0"))
        shell(*inside(space, "ip", "link", "set", "dupsieve0", "up"))
        shell(*inside(space, "ip", "link", "set", "lo", "up"))


def remove_networks():
    for space in SPACES:
        subprocess.run(["ip", "netns", "del", space], capture_output=True)


def disturb(rule):
    """Applies a rule of nftables to all that comes in, or none."""
    for space in SPACES:
        subprocess.run(inside(space, "nft", "delete", "table", "inet", "dupsieve"), capture_output=True)
        if rule:
            shell(*inside(space, "nft", "add table inet dupsieve"))
            shell(*inside(space, "nft", "add chain inet dupsieve in { type filter hook input priority 0; }"))
            shell(*inside(space, "nft", f"add rule inet dupsieve in {rule}"))


class Bench:
    def __init__(self, program, home):
        self.program, self.home = program, home
        self.run("generate", "segment", "--count", "4e6", "--density", "4e7", "--output", "a.seg")
        self.run("generate", "segment", "--count", "1e5", "--density", "1e6", "--seed", "2",
                 "--near", "a.seg", "--planted", "5e4", "--truth", "truth.tsv", "--output", "b.seg")
        self.run("store", "init", "store")
        self.run("store", "add", "store", "--segment", "a.seg", "--day", "2026-01-01")
        self.job = ["dedup", "--batch", "b.seg", "--store", "store", "--distance", "5", "--matches", "all"]
        self.run(*self.job, "--output", "alone")
        (home / "hosts.txt").write_text("".join(f"{address}:2101\n" for address in ADDRESSES))
        (home / "secret").write_text("known to the two of us\n")
        (home / "secret").chmod(0o600)

    def run(self, *words):
        subprocess.run([self.program, *words, "--quiet"], cwd=self.home, check=True, stdout=subprocess.DEVNULL)

    def pair(self, output):
        """Starts both processes."""
        flags = ["--hosts", "hosts.txt", "--secret-file", "secret", "--workers", "1", "--quiet",
                 "--peer-timeout", str(PEER_TIMEOUT), "--wait-for-peers", str(WAIT_FOR_PEERS)]
        return [
            subprocess.Popen(
                inside(space, self.program, *self.job, "--output", output, "--process", str(process), *flags),
                cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for process, space in enumerate(SPACES)
        ]

    def is_right(self, output):
        return not any(filecmp.cmpfiles(self.home / "alone", self.home / output, FILES, shallow=False)[1:])


def end(pair):
    """How both ended, and what they said; None for one that hangs."""
    late = time.monotonic() + PATIENCE
    codes = []
    for process in pair:
        try:
            codes.append(process.wait(max(0.1, late - time.monotonic())))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append(None)
    return codes, [process.stderr.read().strip() for process in pair]


def case(bench, name, output, rule=None, cut_after=None):
    began = time.monotonic()
    if rule:
        disturb(rule)
    pair, cut = bench.pair(output), None
    if cut_after is not None:
        time.sleep(cut_after)
        disturb("drop")
        cut = time.monotonic()
    codes, said = end(pair)
    now = time.monotonic()
    disturb(None)
    right = codes[0] != 0 or bench.is_right(output)
    allowed = {0} if cut is None else {0, 69, 75}
    violation = not right or not set(codes) <= allowed
    print(json.dumps({
        "case": name, "codes": codes, "seconds": round(now - began, 2), "cut_after": cut_after,
        "seconds_from_cut": None if cut is None else round(now - cut, 2), "said": said, "violation": violation,
    }), flush=True)
    return violation


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("program", type=pathlib.Path)
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    chance = random.Random(asked.seed)
    remove_networks()
    try:
        make_networks()
        disturb("accept")
        disturb(None)
    except (subprocess.CalledProcessError, FileNotFoundError) as cause:
        remove_networks()
        print(f"skipped: no network namespaces here: {cause}")
        return 0
    try:
        with tempfile.TemporaryDirectory() as home:
            bench = Bench(asked.program.resolve(), pathlib.Path(home))
            violations = 0
            for run in range(asked.runs):
                violations += case(bench, "undisturbed", f"calm-{run}")
                violations += case(bench, "5 % lost", f"lossy-{run}", rule="numgen random mod 100 < 5 drop")
                cut_after = round(chance.uniform(0, 1.5), 3)
                violations += case(bench, "cut off", f"cut-{run}", cut_after=cut_after)
        print(json.dumps({"runs": 3 * asked.runs, "violations": violations}))
        return 1 if violations else 0
    finally:
        remove_networks()


if __name__ == "__main__":
    sys.exit(main())
